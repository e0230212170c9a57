import { ParleyError } from '@parley/contract';
import type { LiveQuery, LiveSink, LiveStream } from '../domain/live.ts';
import type { EventRow } from '../store/events.ts';
import { type Frame, frameOf, opening, placeFrame } from './frame.ts';

/** Frames that wait in memory for a reader; beyond them it reads on from the log, at its own pace. */
const mostHeld = 256;

/** Why a stream came to its end. */
export type StreamEnd = 'left' | 'too slow' | 'access ended' | 'expired' | 'stopping' | 'failed';

export interface StreamParts {
  /** How far events are being told, and up to where that is done. */
  readonly feed: { readonly position: number; readonly told: number };
  /** The next events of the log for this reader, up to one id. Throws where they are no longer kept. */
  readonly read: (query: LiveQuery, after: number, upTo: number) => Promise<{ events: EventRow[]; reached: number }>;
  /** Milliseconds on a clock that nobody sets. */
  readonly monotonic: () => number;
  /** Something is written at least this often. */
  readonly quietMs: number;
  /** A reader that takes in nothing for this long is cut off. */
  readonly stallMs: number;
  /** How soon to come back after a break. */
  readonly retryMs: () => number;
  readonly ended: (stream: Stream, why: StreamEnd, cause?: unknown) => void;
}

/**
 * One reader of the log. As long as it keeps up, it is written to as events happen. One that begins in the past, or does not
 * keep up, reads the log instead until it has caught up; what happens meanwhile is held, or read too where that is too much.
 * So it gets every event once and in order, and a slow one costs little memory.
 */
export class Stream implements LiveStream {
  readonly query: LiveQuery;
  readonly #parts: StreamParts;
  #sink: LiveSink | undefined;
  /** Everything up to here has been written. */
  #cursor: number;
  #held: Frame[] = [];
  /** Whether something is still to be read from the log. */
  #isBehind: boolean;
  /** Whether it is written to by `#catchUp`, and not as events happen. */
  #isBusy = true;
  #ended = false;
  /** Since when the connection takes nothing in; undefined while it does. */
  #blockedSince: number | undefined;
  #lastWrite: number;
  readonly #openedAt: number;
  /** Events that were written. */
  count = 0;

  constructor(parts: StreamParts, query: LiveQuery) {
    const after = query.after ?? parts.feed.position;
    this.#parts = parts;
    this.query = query;
    this.#cursor = after;
    this.#isBehind = after < parts.feed.position;
    this.#openedAt = parts.monotonic();
    this.#lastWrite = this.#openedAt;
  }

  follow(sink: LiveSink): void {
    if (this.#ended) {
      sink.end();
      return;
    }
    this.#sink = sink;
    void this.#catchUp(this.#write(opening(this.#parts.retryMs(), this.#cursor)));
  }

  /** Something happens that this reader may see. */
  offer(frame: Frame): void {
    if (this.#ended || !this.#wants(frame) || (frame.id !== undefined && frame.id <= this.#cursor)) return;
    if (!this.#isBusy) {
      const room = this.#writeFrame(frame);
      if (room) void this.#catchUp(room);
    } else if (this.#held.length < mostHeld) {
      this.#held.push(frame);
    } else {
      this.#held = [];
      this.#isBehind = true;
    }
  }

  /**
   * Cuts off a reader that has taken in nothing for too long. Otherwise, where nothing was written for a while, says that the
   * connection is alive, and how far the log has been gone through.
   */
  beat(): void {
    const { monotonic, quietMs, stallMs } = this.#parts;
    const now = monotonic();
    if (this.#blockedSince !== undefined && now - this.#blockedSince >= stallMs) this.end('too slow');
    if (this.#isBusy || this.#ended || now - this.#lastWrite < quietMs) return;
    this.#cursor = Math.max(this.#cursor, this.#parts.feed.told);
    const room = this.#write(placeFrame(this.#cursor));
    if (room) void this.#catchUp(room);
  }

  /** Seconds since it was opened. */
  get age(): number {
    return Math.round(this.#parts.monotonic() - this.#openedAt) / 1_000;
  }

  leave(): void {
    this.end('left');
  }

  end(why: StreamEnd, cause?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#held = [];
    this.#sink?.end();
    this.#parts.ended(this, why, cause);
  }

  #wants({ chatId, name }: Frame): boolean {
    const { chatId: only, names } = this.query;
    return (only === undefined || only === chatId) && (names === undefined || names.has(name));
  }

  /** Never throws: a connection that cannot be written to is no reason to tell others nothing. */
  #write(bytes: Uint8Array): Promise<unknown> | undefined {
    this.#lastWrite = this.#parts.monotonic();
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

  /** Writes as the reader takes it in, until it is up to the moment. */
  async #catchUp(room: Promise<unknown> | undefined): Promise<void> {
    this.#isBusy = true;
    try {
      await this.#untilRoom(room);
      while (!this.#ended && (this.#isBehind || this.#held.length > 0)) {
        if (this.#isBehind) await this.#readOn();
        const held = this.#held;
        this.#held = [];
        for (const frame of held) {
          if (this.#ended || this.#isBehind) break;
          if (frame.id === undefined || frame.id > this.#cursor) await this.#untilRoom(this.#writeFrame(frame));
        }
      }
      this.#isBusy = false;
    } catch (cause) {
      this.end(whyOf(cause), cause);
    }
  }

  /** From the log, up to what is told live by then. */
  async #readOn(): Promise<void> {
    this.#isBehind = false;
    const upTo = this.#parts.feed.position;
    while (this.#cursor < upTo && !this.#ended) {
      const { events, reached } = await this.#parts.read(this.query, this.#cursor, upTo);
      for (const event of events) {
        if (this.#ended) return;
        await this.#untilRoom(this.#writeFrame(frameOf(event)));
      }
      this.#cursor = Math.max(this.#cursor, reached);
      // Where neither the log nor the reader has anybody wait, nobody else would get a turn until all is read.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #untilRoom(room: Promise<unknown> | undefined): Promise<void> {
    if (!room) return;
    this.#blockedSince = this.#parts.monotonic();
    await room;
    this.#blockedSince = undefined;
  }
}

function whyOf(cause: unknown): StreamEnd {
  return cause instanceof ParleyError && cause.code === 'cursor_expired' ? 'expired' : 'failed';
}
