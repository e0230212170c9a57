import { Worker } from 'node:worker_threads';
import { embedded } from '../../../lib/embedded.ts';
import { asUnavailable } from '../failure.ts';
import type { Request, Response } from './protocol.ts';

export type Waiter = Pick<PromiseWithResolvers<unknown>, 'resolve' | 'reject'>;

/** Nothing can be stored any more. It is thrown where nobody catches it. */
export class ThreadEnded extends Error {}

/** Returns the first line of what a thread died of. A module that is not found has several. */
const reasonOf = (cause: unknown): string =>
  cause === undefined ? '' : `: ${(cause instanceof Error ? cause.message : String(cause)).split('\n')[0]}`;

/** The main thread's handle of the writer thread. */
export class WriterThread {
  readonly #worker = new Worker(new URL(embedded?.threadUrl ?? 'thread.ts', import.meta.url));
  /** The waiters of each request, in the order of the requests. Responses come in the same order. */
  readonly #waiting: (readonly Waiter[])[] = [];
  #state: 'opening' | 'open' | 'closing' = 'opening';

  private constructor() {
    this.#worker.on('message', (text: string) =>
      this.#receive(text.startsWith('[') ? (JSON.parse(text) as Response) : [{ value: text }]),
    );
    // The thread reports failed calls itself. An error event means that it died, and nothing can be stored any more.
    this.#worker.on('error', (cause) => this.#fail(cause));
    this.#worker.on('exit', () => this.#fail(undefined));
  }

  /** Rejects if the thread cannot start, or cannot open the file. */
  static async open(file: string): Promise<WriterThread> {
    const thread = new WriterThread();
    try {
      await thread.ask({ open: file });
      thread.#state = 'open';
    } catch (error) {
      await thread.#end();
      throw error;
    }
    return thread;
  }

  async close(): Promise<void> {
    try {
      await this.ask({ close: true });
    } finally {
      await this.#end();
    }
  }

  async #end(): Promise<void> {
    this.#state = 'closing';
    await this.#worker.terminate();
  }

  /**
   * Throws an uncaught error to end the process, because it could neither store anything nor stop in order. An error thrown
   * by a listener of the worker would only be printed. Whoever is opening the database gets the error instead.
   */
  #fail(cause: unknown): void {
    if (this.#state === 'closing') return;
    if (this.#state === 'open') {
      setImmediate(() => {
        throw new ThreadEnded(`the writer thread of the database has ended${reasonOf(cause)}`);
      });
    }
    const error = new Error(`the writer thread of the database cannot start${reasonOf(cause)}`);
    for (const { reject } of this.#waiting.splice(0).flat()) reject(error);
  }

  /** Sends a request that has one result. */
  ask(request: Request): Promise<unknown> {
    return new Promise((resolve, reject) => this.send(request, [{ resolve, reject }]));
  }

  /** Sends a request whose results settle the waiters. Keeps the process alive only while a response is awaited. */
  send(request: Request, waiting: readonly Waiter[]): void {
    if (this.#waiting.length === 0) this.#worker.ref();
    this.#waiting.push(waiting);
    this.#worker.postMessage(JSON.stringify(request));
  }

  #receive(response: Response): void {
    const waiting = this.#waiting.shift() ?? [];
    if (this.#waiting.length === 0) this.#worker.unref();
    for (const [i, { resolve, reject }] of waiting.entries()) {
      const result = response[i] ?? { failure: { message: 'the writer thread gave no result' } };
      if ('failure' in result) reject(asUnavailable(Object.assign(new Error(result.failure.message), result.failure)));
      else resolve(result.value);
    }
  }
}
