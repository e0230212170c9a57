import { type ClientInput, type EventName, signalNames } from '@parley/contract';
import type { Clock } from './clock.ts';
import { type ApiError, TransportError } from './errors.ts';
import { type AskForStream, EventConnection } from './event-connection.ts';
import { readBlock, type Streamed, type StreamedName, type Told } from './event-items.ts';
import type { OtherName } from './other-name.ts';
import { mayPass, pauseBeforeReturn } from './reconnect.ts';

/** The server says something every 15 s. */
const usualSilenceMs = 45_000;

/** Until the server has said when to come back. */
const usualRetryMs = 1_000;

type Input = ClientInput<'events.stream'>;

export interface FollowOptions<N extends StreamedName | OtherName, S extends boolean> extends Omit<Input, 'events'> {
  /** Only events of these names, and signals only if they are named here. All events where it is left out. */
  readonly events?: readonly N[] | undefined;
  /** Whether all signals come too; otherwise only those that `events` names. */
  readonly signals?: S | undefined;
  /** Ends it: what waits for the next item gets the signal's reason thrown, as with other calls. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds without a sign of life after which a connection is made anew; 45,000 by default. */
  readonly silenceMs?: number | undefined;
  /** Told each time that a connection stands. */
  readonly onOpen?: (() => void) | undefined;
  /** Told each time that one broke, or could not be made, with the milliseconds until the next attempt. */
  readonly onBreak?: ((error: ApiError | TransportError, pauseMs: number) => void) | undefined;
}

/** Events as they happen, one after the other. Leaving a `for await` over it ends it, and so does `return()`. */
export interface EventIterator<T> extends AsyncIterableIterator<T, undefined, undefined> {
  /**
   * The place in the log after the item that was given last: passed as `after` it goes on from there. It also moves while
   * nothing comes that was asked for. Undefined until it is known, which is once `open` has answered.
   */
  readonly cursor: number | undefined;
  /** Connects, unless it is, and answers the cursor: from then on nothing is missed, whenever it is asked for. */
  open(): Promise<number>;
  return(): Promise<IteratorReturnResult<undefined>>;
}

/**
 * Follows the events of your chats: those after the cursor `after`, or without one those that happen from now on. It connects
 * when the first item is asked for. A connection that breaks is made anew for as long as it takes, and goes on
 * where it was: no event comes twice, and none is missed. What time will not mend is thrown as an `ApiError`: no access any more,
 * or a cursor that the log does not hold (`cursor_expired`).
 */
export type Follow = <N extends StreamedName | OtherName = EventName | OtherName, S extends boolean = false>(
  options?: FollowOptions<N, S>,
) => EventIterator<Streamed<N, S>>;

/** What `ask` leads to, as `client.events`. */
export const follower =
  (ask: AskForStream, clock: Clock): Follow =>
  (options = {}) =>
    new EventStream(ask, clock, options as FollowOptions<StreamedName, boolean>) as EventIterator<never>;

class EventStream implements EventIterator<Streamed> {
  readonly #ask: AskForStream;
  readonly #clock: Clock;
  readonly #input: Input;
  readonly #options: FollowOptions<StreamedName, boolean>;
  readonly #givesSignals: boolean;
  readonly #ending = new AbortController();
  readonly #closed = new DOMException('The stream was closed.', 'AbortError');
  readonly #items: AsyncGenerator<Streamed, undefined, undefined>;
  #cursor: number | undefined;
  #connecting: Promise<EventConnection> | undefined;
  #pauseMs = 0;
  #retryMs = usualRetryMs;
  /** Attempts in a row that brought nothing. */
  #failures = 0;

  constructor(ask: AskForStream, clock: Clock, options: FollowOptions<StreamedName, boolean>) {
    const { events, signals, signal, silenceMs: _silenceMs, onOpen: _onOpen, onBreak: _onBreak, ...input } = options;
    this.#ask = ask;
    this.#clock = clock;
    this.#options = options;
    this.#input = { ...input, events: events && [...new Set([...events, ...(signals ? signalNames : [])])] };
    // Where names were given, the server sends no other.
    this.#givesSignals = signals === true || events !== undefined;
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
        const { place, item } = await this.#next();
        this.#cursor = place ?? this.#cursor;
        if (item && (this.#givesSignals || place !== undefined)) yield item;
      }
    } catch (error) {
      if (error === this.#closed) return undefined;
      throw error;
    } finally {
      this.#end();
    }
  }

  /** What is told next, by this connection or one after it. */
  async #next(): Promise<Told> {
    for (;;) {
      const connection = await this.#connected();
      try {
        const told = readBlock(await connection.take());
        this.#failures = 0;
        return told;
      } catch (error) {
        this.#connecting = undefined;
        this.#broke(connection, error);
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
      const connection = new EventConnection(signal, this.#clock, this.#options.silenceMs ?? usualSilenceMs);
      try {
        await connection.open(this.#ask, { ...this.#input, after: this.#cursor });
        await this.#begin(connection);
        this.#options.onOpen?.();
        return connection;
      } catch (error) {
        this.#broke(connection, error);
      }
    }
  }

  /** A stream begins with its place in the log, and says when to come back after a break. */
  async #begin(connection: EventConnection): Promise<void> {
    const first = await connection.take();
    const { place, item } = readBlock(first);
    if (place === undefined || item) throw new TransportError('The stream does not begin with a place in the log.');
    this.#cursor = place;
    this.#retryMs = first.retry ?? this.#retryMs;
  }

  /** Plans the next attempt, or throws what makes one useless. */
  #broke(connection: EventConnection, error: unknown): void {
    connection.close(error);
    this.#ending.signal.throwIfAborted();
    if (!mayPass(error)) throw error;
    this.#pauseMs = pauseBeforeReturn(this.#failures++, this.#retryMs, error);
    this.#options.onBreak?.(error, this.#pauseMs);
  }
}
