import type { Clock } from './clock.ts';
import { type ApiError, TransportError } from './errors.ts';
import { EventConnection, type RequestStream } from './event-connection.ts';
import { type EventName, readBlock, type Streamed, type StreamedName, type StreamUpdate } from './event-items.ts';
import type { ClientInput } from './methods.ts';
import { signalNames } from './operations.ts';
import type { OtherName } from './other-name.ts';
import { isTransient, reconnectDelay } from './retry.ts';

/** Three times the server's heartbeat interval. */
const defaultSilenceMs = 45_000;

/** Applies until the server has sent its own value. */
const defaultRetryMs = 1_000;

type Input = ClientInput<'events.stream'>;

export interface FollowOptions<N extends StreamedName | OtherName, S extends boolean> extends Omit<Input, 'events'> {
  /** The names of the events and signals to receive. Defaults to all events and no signals. */
  readonly events?: readonly N[] | undefined;
  /** Receives all signals too. Otherwise only those that `events` names arrive. */
  readonly signals?: S | undefined;
  /** Aborting it ends the iterator, which throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Reconnects after so many milliseconds without a byte from the server. Defaults to 45,000. */
  readonly silenceMs?: number | undefined;
  /** Called each time a connection opens. */
  readonly onOpen?: (() => void) | undefined;
  /** Called each time a connection breaks or fails to open, with the milliseconds until the next attempt. */
  readonly onBreak?: ((error: ApiError | TransportError, pauseMs: number) => void) | undefined;
}

/** An iterator over events as they happen. Leaving a `for await` loop ends it, and so does `return()`. */
export interface EventIterator<T> {
  /**
   * The cursor after the last item that was returned. Pass it as `after` to resume there. It also advances over events that
   * the filter skips. Undefined until `open` has resolved.
   */
  readonly cursor: number | undefined;
  /** Connects if necessary, and returns the cursor. The iterator misses no event after it. */
  open(): Promise<number>;
  next(): Promise<IteratorResult<T, undefined>>;
  return(): Promise<IteratorReturnResult<undefined>>;
  [Symbol.asyncIterator](): EventIterator<T>;
}

/**
 * Follows the events of your chats: those after the cursor `after`, or new ones if it is not set. It connects on the first
 * `next()`. A broken connection is retried until it succeeds and resumes at the cursor, so no event is lost or repeated.
 * Permanent failures throw an `ApiError`: access was revoked, or `cursor_expired`: events after
 * the cursor are deleted, or it belongs to another log. Then load the state and start without a cursor.
 */
export type Follow = <N extends StreamedName | OtherName = EventName | OtherName, S extends boolean = false>(
  options?: FollowOptions<N, S>,
) => EventIterator<Streamed<N, S>>;

/** Returns `client.events`. */
export const follower =
  (request: RequestStream, clock: Clock): Follow =>
  (options = {}) =>
    new EventStream(request, clock, options as FollowOptions<StreamedName, boolean>) as EventIterator<never>;

class EventStream implements EventIterator<Streamed> {
  readonly #request: RequestStream;
  readonly #clock: Clock;
  readonly #input: Input;
  readonly #options: FollowOptions<StreamedName, boolean>;
  readonly #wantsSignals: boolean;
  readonly #ending = new AbortController();
  readonly #closed = new DOMException('The stream was closed.', 'AbortError');
  readonly #items: AsyncGenerator<Streamed, undefined, undefined>;
  #cursor: number | undefined;
  #connecting: Promise<EventConnection> | undefined;
  #pauseMs = 0;
  #retryMs = defaultRetryMs;
  /** Consecutive attempts without a block. */
  #failures = 0;

  constructor(request: RequestStream, clock: Clock, options: FollowOptions<StreamedName, boolean>) {
    const { events, signals, signal, silenceMs: _silenceMs, onOpen: _onOpen, onBreak: _onBreak, ...input } = options;
    this.#request = request;
    this.#clock = clock;
    this.#options = options;
    this.#input = { ...input, events: events && [...new Set([...events, ...(signals ? signalNames : [])])] };
    // With `events` set, the server itself filters the signals.
    this.#wantsSignals = signals === true || events !== undefined;
    this.#cursor = options.after;
    this.#items = this.#follow();
    if (signal?.aborted) this.#abort();
    else signal?.addEventListener('abort', this.#abort, { once: true });
  }

  get cursor(): number | undefined {
    return this.#cursor;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Streamed, undefined>> {
    return this.#items.next();
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#end();
    await this.#items.return(undefined);
    return { done: true, value: undefined };
  }

  async open(): Promise<number> {
    await this.#connected();
    return this.#cursor ?? 0;
  }

  readonly #abort = (): void => this.#ending.abort(this.#options.signal?.reason);

  #end(): void {
    this.#options.signal?.removeEventListener('abort', this.#abort);
    this.#ending.abort(this.#closed);
  }

  async *#follow(): AsyncGenerator<Streamed, undefined, undefined> {
    try {
      for (;;) {
        const { cursor, item } = await this.#next();
        this.#cursor = cursor ?? this.#cursor;
        if (item && (this.#wantsSignals || cursor !== undefined)) yield item;
      }
    } catch (error) {
      if (error === this.#closed) return undefined;
      throw error;
    } finally {
      this.#end();
    }
  }

  /** Returns the next block, from this connection or a later one. */
  async #next(): Promise<StreamUpdate> {
    for (;;) {
      const connection = await this.#connected();
      try {
        const update = readBlock(await connection.take());
        this.#failures = 0;
        return update;
      } catch (error) {
        this.#connecting = undefined;
        this.#handleBreak(connection, error);
      }
    }
  }

  async #connected(): Promise<EventConnection> {
    this.#ending.signal.throwIfAborted();
    this.#connecting ??= this.#connect();
    return this.#connecting;
  }

  async #connect(): Promise<EventConnection> {
    const { signal } = this.#ending;
    for (;;) {
      if (this.#pauseMs > 0) await this.#clock.sleep(this.#pauseMs, signal);
      const connection = new EventConnection(signal, this.#clock, this.#options.silenceMs ?? defaultSilenceMs);
      try {
        await connection.open(this.#request, { ...this.#input, after: this.#cursor });
        await this.#readOpening(connection);
        this.#options.onOpen?.();
        return connection;
      } catch (error) {
        this.#handleBreak(connection, error);
      }
    }
  }

  /** Reads the first block of a stream: its cursor and the reconnect delay. */
  async #readOpening(connection: EventConnection): Promise<void> {
    const first = await connection.take();
    const { cursor, item } = readBlock(first);
    if (cursor === undefined || item) throw new TransportError('The stream does not start with a cursor.');
    this.#cursor = cursor;
    this.#retryMs = first.retry ?? this.#retryMs;
  }

  /** Schedules the next attempt. Throws the error if a retry cannot help. */
  #handleBreak(connection: EventConnection, error: unknown): void {
    connection.close(error);
    this.#ending.signal.throwIfAborted();
    if (!isTransient(error)) throw error;
    this.#pauseMs = reconnectDelay(this.#failures++, this.#retryMs, error);
    this.#options.onBreak?.(error, this.#pauseMs);
  }
}
