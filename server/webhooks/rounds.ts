/** Does the same work again and again, never twice at once: whoever asks meanwhile gets another round after it. */
export class Rounds {
  readonly #work: () => Promise<void>;
  readonly #failed: (cause: unknown) => void;
  #running: Promise<void> | undefined;
  #again = false;
  #stopped = false;

  constructor(work: () => Promise<void>, failed: (cause: unknown) => void) {
    this.#work = work;
    this.#failed = failed;
  }

  run(): void {
    this.#again = this.#running !== undefined;
    if (this.#stopped || this.#running) return;
    this.#running = this.#work()
      .catch(this.#failed)
      .finally(() => {
        this.#running = undefined;
        if (this.#again) this.run();
      });
  }

  /** Waits for the round that is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }
}
