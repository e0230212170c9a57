/** Thrown at once when too many callers wait already. */
export class SemaphoreFull extends Error {}

/** Runs at most `permits` pieces of work at the same time. Further callers wait in the order of their calls. */
export class Semaphore {
  readonly #maxWaiting: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(permits: number, maxWaiting = Number.POSITIVE_INFINITY) {
    this.#free = permits;
    this.#maxWaiting = maxWaiting;
  }

  /** Rejects with `SemaphoreFull` if no permit is free and `maxWaiting` callers wait for one. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else {
      if (this.#waiting.length >= this.#maxWaiting) throw new SemaphoreFull();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
