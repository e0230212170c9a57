import { Worker } from 'node:worker_threads';
import { asUnavailable } from '../failure.ts';
import type { ProcedureCall, ProcedureResult, Request, Response } from './protocol.ts';
import type { Call } from './writer.ts';

interface Waiter {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Ends the process with an uncaught error. An error thrown by a listener of the worker would only be printed. */
function fail(cause: unknown): void {
  setImmediate(() => {
    throw new Error('the writer thread of the database has ended', { cause });
  });
}

/** The main thread's handle of the writer thread. */
export class WriterThread {
  readonly #worker = new Worker(new URL('thread.ts', import.meta.url));
  /** The waiters of each request, in the order of the requests. Responses come in the same order. */
  readonly #waiting: (readonly Waiter[])[] = [];
  #isClosing = false;

  private constructor() {
    this.#worker.on('message', (response: string | Response) =>
      this.#receive(typeof response === 'string' ? (JSON.parse(response) as Response) : response),
    );
    // The thread reports failed calls itself. An error event means that it died, and nothing can be stored any more.
    this.#worker.on('error', (cause) => fail(cause));
    this.#worker.on('exit', () => {
      if (!this.#isClosing) fail(undefined);
    });
  }

  static async open(file: string): Promise<WriterThread> {
    const thread = new WriterThread();
    try {
      await thread.#askOne({ open: file });
    } catch (error) {
      await thread.#end();
      throw error;
    }
    return thread;
  }

  ask(transaction: number, calls: readonly Call[], waiting: readonly Waiter[]): void {
    this.#send({ transaction, calls }, waiting);
  }

  /** Runs a procedure in a transaction of its own. */
  call(procedure: string, input: unknown, at: number): Promise<ProcedureResult> {
    return new Promise((resolve, reject) => {
      this.#post({ procedure, input, at }, [{ resolve: resolve as Waiter['resolve'], reject }]);
    });
  }

  async close(): Promise<void> {
    try {
      await this.#askOne({ close: true });
    } finally {
      await this.#end();
    }
  }

  async #end(): Promise<void> {
    this.#isClosing = true;
    await this.#worker.terminate();
  }

  #askOne(request: Request): Promise<unknown> {
    return new Promise((resolve, reject) => this.#send(request, [{ resolve, reject }]));
  }

  #send(request: Request, waiting: readonly Waiter[]): void {
    this.#post(JSON.stringify(request), waiting);
  }

  /** Keeps the process alive only while a response is awaited. */
  #post(request: string | ProcedureCall, waiting: readonly Waiter[]): void {
    if (this.#waiting.length === 0) this.#worker.ref();
    this.#waiting.push(waiting);
    this.#worker.postMessage(request);
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

/** Sends the calls of one transaction to the writer. Calls made in one microtask turn go together. */
export class TransactionCalls {
  readonly #thread: WriterThread;
  readonly #transaction: number;
  #calls: Call[] = [];
  #waiting: Waiter[] = [];
  #isScheduled = false;

  constructor(thread: WriterThread, transaction: number) {
    this.#thread = thread;
    this.#transaction = transaction;
  }

  call(call: Call): Promise<unknown> {
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      queueMicrotask(() => this.#send());
    }
    this.#calls.push(call);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #send(): void {
    this.#isScheduled = false;
    this.#thread.ask(this.#transaction, this.#calls, this.#waiting);
    this.#calls = [];
    this.#waiting = [];
  }
}
