import type { Clock } from './clock.ts';
import { innermost, TransportError } from './errors.ts';
import type { ClientInput } from './methods.ts';
import { untilAborted } from './retry.ts';
import { type Block, SseParser } from './sse-parser.ts';

/** Waits for work, and rejects once the server is silent for too long. */
export type Within = <T>(work: Promise<T>) => Promise<T>;

/** Requests a stream once. `within` limits the wait for the server, not for the caller's token source. */
export type RequestStream = (
  input: ClientInput<'events.stream'>,
  signal: AbortSignal,
  within: Within,
) => Promise<Response>;

/**
 * One connection of a stream. It reads on demand: events that a slow program has not taken stay on the server. The silence
 * timeout runs only during a read. A connection can be dead without either side noticing.
 */
export class EventConnection {
  readonly #controller = new AbortController();
  readonly #parser = new SseParser();
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #ending: AbortSignal;
  readonly #clock: Clock;
  readonly #silenceMs: number;
  readonly #end = () => this.close(this.#ending.reason);
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #blocks: Block[] = [];

  /** Aborting `ending` closes the connection. */
  constructor(ending: AbortSignal, clock: Clock, silenceMs: number) {
    this.#ending = ending;
    this.#clock = clock;
    this.#silenceMs = silenceMs;
    ending.addEventListener('abort', this.#end, { once: true });
  }

  async open(request: RequestStream, input: ClientInput<'events.stream'>): Promise<void> {
    const { body } = await request(input, this.#controller.signal, (work) => this.#within(work));
    if (!body) throw new TransportError('The response has no body.', { status: 200 });
    this.#reader = body.getReader();
  }

  /** Returns the next block. Throws the reason once the connection is closed. */
  async take(): Promise<Block> {
    for (;;) {
      this.#controller.signal.throwIfAborted();
      const block = this.#blocks.shift();
      if (block) return block;
      this.#blocks = await this.#read();
    }
  }

  close(reason: unknown): void {
    this.#ending.removeEventListener('abort', this.#end);
    this.#controller.abort(reason);
    // A custom `fetch` may ignore the signal.
    this.#reader?.cancel().catch(() => {});
  }

  async #read(): Promise<Block[]> {
    try {
      const read = this.#reader && (await this.#within(this.#reader.read()));
      if (read && !read.done) return this.#parser.push(this.#decoder.decode(read.value, { stream: true }));
    } catch (cause) {
      this.#controller.signal.throwIfAborted();
      throw new TransportError(`The stream broke: ${innermost(cause)}`, { cause });
    }
    throw new TransportError('The stream ended.');
  }

  async #within<T>(work: Promise<T>): Promise<T> {
    const expired = () => this.close(new TransportError(`The server was silent for ${this.#silenceMs / 1_000} s.`));
    const cancel = this.#clock.timeout(this.#silenceMs, expired);
    try {
      return await untilAborted(work, this.#controller.signal);
    } finally {
      cancel();
    }
  }
}
