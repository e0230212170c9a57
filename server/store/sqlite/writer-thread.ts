import { Worker } from 'node:worker_threads';
import { asUnavailable } from '../failure.ts';
import type { Answer, Request } from './messages.ts';
import type { Call } from './writer.ts';

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Ends the process as an uncaught error does. What a listener itself throws is only shown. */
function fail(cause: unknown): void {
  setImmediate(() => {
    throw new Error('the thread that writes to the database has ended', { cause });
  });
}

/** The thread that writes, seen from the others. */
export class WriterThread {
  readonly #worker = new Worker(new URL('thread.ts', import.meta.url));
  /** Those who wait for each request, in the order in which the requests went over: that of the answers too. */
  readonly #waiting: (readonly Waiting[])[] = [];
  #isClosing = false;

  private constructor() {
    this.#worker.on('message', (text: string) => this.#answered(JSON.parse(text) as Answer));
    // Its own faults it answers; this is the end of the thread, and without it nothing can be kept any more.
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

  ask(transaction: number, calls: readonly Call[], waiting: readonly Waiting[]): void {
    this.#send({ transaction, calls }, waiting);
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

  /** The process is kept alive while an answer is awaited, and only then. */
  #send(request: Request, waiting: readonly Waiting[]): void {
    const text = JSON.stringify(request);
    if (this.#waiting.length === 0) this.#worker.ref();
    this.#waiting.push(waiting);
    this.#worker.postMessage(text);
  }

  #answered(answer: Answer): void {
    const waiting = this.#waiting.shift() ?? [];
    if (this.#waiting.length === 0) this.#worker.unref();
    for (const [i, { resolve, reject }] of waiting.entries()) {
      const result = answer[i] ?? { failure: { message: 'the thread that writes gave no answer' } };
      if ('failure' in result) reject(asUnavailable(Object.assign(new Error(result.failure.message), result.failure)));
      else resolve(result.value);
    }
  }
}

/** What is asked of the writer for one transaction. All that is asked at one moment goes over together. */
export class Conversation {
  readonly #thread: WriterThread;
  readonly #transaction: number;
  #calls: Call[] = [];
  #waiting: Waiting[] = [];
  #isHeldBack = false;
  #isDue = false;

  constructor(thread: WriterThread, transaction: number) {
    this.#thread = thread;
    this.#transaction = transaction;
  }

  ask(call: Call): Promise<unknown> {
    if (!this.#isHeldBack && !this.#isDue) {
      this.#isDue = true;
      queueMicrotask(() => this.#send());
    }
    this.#calls.push(call);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** What this asks for at once goes over with whatever is asked for next. */
  holdBack<T>(work: () => Promise<T>): Promise<T> {
    this.#isHeldBack = true;
    try {
      return work();
    } finally {
      this.#isHeldBack = false;
    }
  }

  #send(): void {
    this.#isDue = false;
    this.#thread.ask(this.#transaction, this.#calls, this.#waiting);
    this.#calls = [];
    this.#waiting = [];
  }
}
