import { ParleyError } from '@parley/contract';
import type { LiveQuery, LiveSink, LiveStream } from '../domain/live.ts';
import type { LogEntry } from '../store/engine/engine.ts';
import { cursorFrame, eventFrame, type Frame, openingFrame } from './frames.ts';

/** Frames that wait in memory for a slow client. If there are more, the stream reads them from the database later. */
const maxQueued = 256;

/** Why a stream ended. */
export type StreamEnd = 'client_left' | 'too_slow' | 'access_ended' | 'cursor_expired' | 'stopping' | 'failed';

export interface StreamDeps {
  /** The event that is delivered to the streams, and up to which event all are delivered. */
  readonly progress: { readonly position: number; readonly delivered: number };
  /** Returns the next events that a stream may see, up to an id. Fails with `cursor_expired` if they are pruned. */
  readonly read: (query: LiveQuery, after: number, upTo: number) => Promise<{ events: LogEntry[]; reached: number }>;
  readonly monotonic: () => number;
  /** Something is written at least this often. */
  readonly quietMs: number;
  /** A client that reads nothing for this long is disconnected. */
  readonly stallMs: number;
  /** How long a client waits before it reconnects. */
  readonly retryMs: () => number;
  readonly ended: (stream: Stream, reason: StreamEnd, cause?: unknown) => void;
}

/**
 * One stream of events to a client. A client that keeps up gets events as they are offered. One that starts in the past,
 * or is slow, gets them from the database until it has caught up. So it gets every event once and in order, and a slow
 * client costs little memory.
 */
export class Stream implements LiveStream {
  readonly query: LiveQuery;
  readonly #deps: StreamDeps;
  #sink: LiveSink | undefined;
  /** Every event up to here is written. */
  #cursor: number;
  #queue: Frame[] = [];
  /** Events are left to be read from the database. */
  #isBehind: boolean;
  /** `#catchUp` is writing. Frames that are offered meanwhile are queued. */
  #isBusy = true;
  #isEnded = false;
  /** When the connection stopped accepting data; undefined while it accepts. */
  #blockedSince: number | undefined;
  #lastWrite: number;
  readonly #openedAt: number;
  /** Events that were written. */
  count = 0;

  constructor(deps: StreamDeps, query: LiveQuery) {
    const after = query.after ?? deps.progress.position;
    this.#deps = deps;
    this.query = query;
    this.#cursor = after;
    this.#isBehind = after < deps.progress.position;
    this.#openedAt = deps.monotonic();
    this.#lastWrite = this.#openedAt;
  }

  follow(sink: LiveSink): void {
    if (this.#isEnded) {
      sink.end();
      return;
    }
    this.#sink = sink;
    void this.#catchUp(this.#write(openingFrame(this.#deps.retryMs(), this.#cursor)));
  }

  /** Offers an event or signal that the user may see. */
  offer(frame: Frame): void {
    if (this.#isEnded || !this.#wants(frame) || (frame.id !== undefined && frame.id <= this.#cursor)) return;
    if (!this.#isBusy) {
      const room = this.#writeFrame(frame);
      if (room) void this.#catchUp(room);
    } else if (this.#queue.length < maxQueued) {
      this.#queue.push(frame);
    } else {
      this.#queue = [];
      this.#isBehind = true;
    }
  }

  /** Disconnects a stalled client. Otherwise, after a silence, writes the cursor, which shows that the connection lives. */
  beat(): void {
    const { monotonic, quietMs, stallMs } = this.#deps;
    const now = monotonic();
    if (this.#blockedSince !== undefined && now - this.#blockedSince >= stallMs) this.end('too_slow');
    if (this.#isBusy || this.#isEnded || now - this.#lastWrite < quietMs) return;
    this.#cursor = Math.max(this.#cursor, this.#deps.progress.delivered);
    const room = this.#write(cursorFrame(this.#cursor));
    if (room) void this.#catchUp(room);
  }

  /** Seconds since it was opened. */
  get age(): number {
    return Math.round(this.#deps.monotonic() - this.#openedAt) / 1_000;
  }

  leave(): void {
    this.end('client_left');
  }

  end(reason: StreamEnd, cause?: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#queue = [];
    this.#sink?.end();
    this.#deps.ended(this, reason, cause);
  }

  #wants({ chatId, name }: Frame): boolean {
    const { chatId: only, names } = this.query;
    return (only === undefined || only === chatId) && (names === undefined || names.has(name));
  }

  /** Never throws: other streams must get the event even if this connection is broken. */
  #write(bytes: Uint8Array): Promise<unknown> | undefined {
    this.#lastWrite = this.#deps.monotonic();
    try {
      return this.#sink?.write(bytes);
    } catch (cause) {
      return Promise.reject(cause);
    }
  }

  #writeFrame(frame: Frame): Promise<unknown> | undefined {
    if (frame.id !== undefined) {
      this.#cursor = frame.id;
      this.count++;
    }
    return this.#write(frame.bytes);
  }

  /** Writes as fast as the client reads, until nothing is left. */
  async #catchUp(room: Promise<unknown> | undefined): Promise<void> {
    this.#isBusy = true;
    try {
      await this.#untilRoom(room);
      while (!this.#isEnded && (this.#isBehind || this.#queue.length > 0)) {
        if (this.#isBehind) await this.#readOn();
        const queue = this.#queue;
        this.#queue = [];
        for (const frame of queue) {
          if (this.#isEnded || this.#isBehind) break;
          if (frame.id === undefined || frame.id > this.#cursor) await this.#untilRoom(this.#writeFrame(frame));
        }
      }
      this.#isBusy = false;
    } catch (cause) {
      const isExpired = cause instanceof ParleyError && cause.code === 'cursor_expired';
      this.end(isExpired ? 'cursor_expired' : 'failed', cause);
    }
  }

  /** Reads the database up to the event that is delivered live now. */
  async #readOn(): Promise<void> {
    this.#isBehind = false;
    const upTo = this.#deps.progress.position;
    while (this.#cursor < upTo && !this.#isEnded) {
      const { events, reached } = await this.#deps.read(this.query, this.#cursor, upTo);
      for (const event of events) {
        if (this.#isEnded) return;
        await this.#untilRoom(this.#writeFrame(eventFrame(event)));
      }
      this.#cursor = Math.max(this.#cursor, reached);
      // Without this, a fast client of a long log would keep everyone else from the event loop.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #untilRoom(room: Promise<unknown> | undefined): Promise<void> {
    if (!room) return;
    this.#blockedSince = this.#deps.monotonic();
    await room;
    this.#blockedSince = undefined;
  }
}
