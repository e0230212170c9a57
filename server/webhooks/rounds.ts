/** Does the same work again and again, never twice at once: whoever asks meanwhile gets another round after it. */
export class Rounds {
  readonly #work: () => Promise<void>;
  readonly #failed: (cause: unknown) => void;
  #running: Promise<void> | undefined;
  #next: PromiseWithResolvers<void> | undefined;
  #stopped = false;

  constructor(work: () => Promise<void>, failed: (cause: unknown) => void) {
    this.#work = work;
    this.#failed = failed;
  }

  /** Answers once a round that began after this call has ended, however it ended. */
  run(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    if (this.#running) {
      this.#next ??= Promise.withResolvers<void>();
      return this.#next.promise;
    }
    this.#running = this.#work()
      .catch(this.#failed)
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
