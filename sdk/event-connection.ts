import type { ClientInput } from '@parley/contract';
import type { Clock } from './clock.ts';
import { innermost, TransportError } from './errors.ts';
import { type Block, BlockCutter } from './event-blocks.ts';
import { untilAborted } from './retry.ts';

/** Waits for some work, but not longer than is reasonable. */
export type Within = <T>(work: Promise<T>) => Promise<T>;

/** Asks the server for a stream once. `within` is for what the server does; what else it takes may last as it likes. */
export type AskForStream = (
  input: ClientInput<'events.stream'>,
  signal: AbortSignal,
  within: Within,
) => Promise<Response>;

/**
 * One connection of a stream. It reads only what is asked of it: what a slow program has not taken stays with the server.
 * While it is waited for, its silence is measured: a connection can be dead without either side being told.
 */
export class EventConnection {
  readonly #controller = new AbortController();
  readonly #cutter = new BlockCutter();
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #ending: AbortSignal;
  readonly #clock: Clock;
  readonly #silenceMs: number;
  readonly #end = () => this.close(this.#ending.reason);
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #blocks: Block[] = [];

  /** It is closed when the signal is aborted. */
  constructor(ending: AbortSignal, clock: Clock, silenceMs: number) {
    this.#ending = ending;
    this.#clock = clock;
    this.#silenceMs = silenceMs;
    ending.addEventListener('abort', this.#end, { once: true });
  }

  async open(ask: AskForStream, input: ClientInput<'events.stream'>): Promise<void> {
    const { body } = await ask(input, this.#controller.signal, (work) => this.#within(work));
    if (!body) throw new TransportError('The answer is no stream.', { status: 200 });
    this.#reader = body.getReader();
  }

  /** The next block; the reason of its end where there is none. */
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
    // For a `fetch` that stands in for the global one, and takes no notice of the signal.
    this.#reader?.cancel().catch(() => {});
  }

  async #read(): Promise<Block[]> {
    try {
      const read = this.#reader && (await this.#within(this.#reader.read()));
      if (read && !read.done) return this.#cutter.cut(this.#decoder.decode(read.value, { stream: true }));
    } catch (cause) {
      this.#controller.signal.throwIfAborted();
      throw new TransportError(`The stream broke off: ${innermost(cause)}`, { cause });
    }
    throw new TransportError('The stream has ended.');
  }

  async #within<T>(work: Promise<T>): Promise<T> {
    const silent = () => this.close(new TransportError(`The server was silent for ${this.#silenceMs / 1_000} s.`));
    const cancel = this.#clock.timeout(this.#silenceMs, silent);
    try {
      return await untilAborted(work, this.#controller.signal);
    } finally {
      cancel();
    }
  }
}
