import type { Trouble } from '../observe/trouble.ts';

/** Does the same work again and again, never twice at once: whoever asks meanwhile gets another round after it. */
export class Rounds {
  readonly #work: () => Promise<void>;
  readonly #trouble: Trouble;
  #running: Promise<void> | undefined;
  #next: PromiseWithResolvers<void> | undefined;
  #stopped = false;

  constructor(work: () => Promise<void>, trouble: Trouble) {
    this.#work = work;
    this.#trouble = trouble;
  }

  /** Answers once a round that began after this call has ended, however it ended. */
  run(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    if (this.#running) {
      this.#next ??= Promise.withResolvers<void>();
      return this.#next.promise;
    }
    this.#running = this.#work()
      .then(this.#trouble.went, this.#trouble.failed)
      .finally(() => {
        this.#running = undefined;
        const next = this.#next;
        this.#next = undefined;
        if (next) void this.run().then(next.resolve);
      });
    return this.#running;
  }

  /** Waits for the round that is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }
}
