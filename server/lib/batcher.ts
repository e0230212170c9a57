export interface BatcherOptions {
  /** Items in one batch. */
  readonly maxItems: number;
  /** Batches that run at the same time. */
  readonly concurrentBatches: number;
  /** A batch that runs for longer no longer counts as running, so that others can start. */
  readonly slowMs?: number;
}

/** A further batch beside a running one is worth its cost from this size on. */
const minBesideRunning = 16;

/**
 * Runs calls that arrive together as one batch. Calls that arrive while a batch runs make up the next one. So no call
 * waits for a timer, and batches grow with the load.
 */
export class Batcher<Item, Outcome> {
  readonly #run: (batch: readonly Item[]) => Promise<readonly (Outcome | Error)[]>;
  readonly #options: BatcherOptions;
  #waiting: { item: Item; resolve: (outcome: Outcome) => void; reject: (error: unknown) => void }[] = [];
  #running = 0;
  #isScheduled = false;

  /** `run` returns an outcome for each item in the same order: an Error for an item that failed alone. */
  constructor(run: (batch: readonly Item[]) => Promise<readonly (Outcome | Error)[]>, options: BatcherOptions) {
    this.#run = run;
    this.#options = options;
  }

  submit(item: Item): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  /** Starts after the current turn of the event loop: requests that were read in one turn belong to one batch. */
  #schedule(): void {
    if (this.#isScheduled || this.#running >= this.#options.concurrentBatches) return;
    if (this.#waiting.length < (this.#running === 0 ? 1 : minBesideRunning)) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  #start(): void {
    this.#running++;
    const { slowMs } = this.#options;
    let counts = true;
    const release = () => {
      if (!counts) return;
      counts = false;
      this.#running--;
      this.#schedule();
    };
    const timer = slowMs === undefined ? undefined : setTimeout(release, slowMs);
    void this.#runOne().finally(() => {
      clearTimeout(timer);
      release();
    });
  }

  async #runOne(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#options.maxItems);
    try {
      const outcomes = await this.#run(batch.map(({ item }) => item));
      batch.forEach(({ resolve, reject }, i) => {
        const outcome = outcomes[i];
        if (outcome === undefined) reject(new Error('the batch gave no outcome for this item'));
        else if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
