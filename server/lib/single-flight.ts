/** Hears how each run ended. */
export interface Outcomes {
  succeeded(): void;
  failed(cause: unknown): void;
}

/** Runs the same work again and again, never twice at once. */
export class SingleFlight {
  readonly #work: () => Promise<void>;
  readonly #outcomes: Outcomes;
  #running: Promise<void> | undefined;
  #next: PromiseWithResolvers<void> | undefined;
  #isStopped = false;

  /** A failure is reported, and the next call runs the work again. */
  constructor(work: () => Promise<void>, outcomes: Outcomes) {
    this.#work = work;
    this.#outcomes = outcomes;
  }

  /** Resolves once a run that started after this call has ended. All calls during a run share the next one. */
  run(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    if (this.#running) {
      this.#next ??= Promise.withResolvers<void>();
      return this.#next.promise;
    }
    this.#running = this.#work()
      .then(
        () => this.#outcomes.succeeded(),
        (cause) => this.#outcomes.failed(cause),
      )
      .finally(() => {
        this.#running = undefined;
        const next = this.#next;
        this.#next = undefined;
        if (next) void this.run().then(next.resolve);
      });
    return this.#running;
  }

  /** Waits for the current run. Later calls run nothing. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }
}
