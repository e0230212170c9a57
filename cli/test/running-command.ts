import type { EndingSignal } from '../context.ts';
import { run } from '../run.ts';
import { type Surroundings, TestContext } from './context.ts';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A `parley` that runs within the process of the tests, while the test does other things. */
export class RunningCommand {
  readonly context: TestContext;
  readonly #status: Promise<number | EndingSignal>;
  #hasEnded = false;

  constructor(words: readonly string[], surroundings: Surroundings = {}) {
    this.context = new TestContext(surroundings);
    const ending = Promise.race([run(words, this.context), this.context.exited]);
    this.#status = ending.finally(() => {
      this.#hasEnded = true;
    });
    // A test may end before it asks.
    this.#status.catch(() => {});
  }

  get stdout(): string {
    return this.context.stdout.text;
  }

  get stderr(): string {
    return this.context.stderr.text;
  }

  /** Its exit code, or the signal that its process ends by. */
  get status(): Promise<number | EndingSignal> {
    return this.#status;
  }

  async end(): Promise<Outcome> {
    const status = await this.#status;
    if (typeof status !== 'number') throw new Error(`the command ended by ${status}: ${this.stderr}`);
    return { code: status, stdout: this.stdout, stderr: this.stderr };
  }

  /** Sends a signal that the command listens to. */
  signal(signal: EndingSignal): void {
    if (!this.context.signal(signal)) throw new Error(`the command does not listen to ${signal}`);
  }

  /** Sends a signal, and returns what the command ends with. */
  stop(signal: EndingSignal): Promise<number | EndingSignal> {
    this.signal(signal);
    return this.#status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded) this.context.signal('SIGTERM');
    await this.#status.catch(() => {});
  }
}
