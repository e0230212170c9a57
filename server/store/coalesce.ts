export interface CoalescerOptions {
  /** Items in one batch at most. */
  readonly largest: number;
  /** Batches on their way at once. */
  readonly parallel: number;
  /** A batch that is on its way for longer no longer stands in the way of others. */
  readonly patienceMs?: number;
}

/** A further batch beside one that is on its way is worth its cost from this size on. */
const worthwhile = 16;

/**
 * Lets calls that arrive together be carried out together. What arrives while batches are on their way makes up the next
 * one. So nothing ever waits for a timer, and batches grow by themselves as load does.
 */
export class Coalescer<Item, Outcome> {
  readonly #run: (batch: readonly Item[]) => Promise<readonly (Outcome | Error)[]>;
  readonly #options: CoalescerOptions;
  #waiting: { item: Item; resolve: (outcome: Outcome) => void; reject: (error: unknown) => void }[] = [];
  #running = 0;
  #scheduled = false;

  /** `run` answers an outcome for each item, in the same order: an Error for one that failed alone. */
  constructor(run: (batch: readonly Item[]) => Promise<readonly (Outcome | Error)[]>, options: CoalescerOptions) {
    this.#run = run;
    this.#options = options;
  }

  submit(item: Item): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  /** After the current turn of the event loop: the requests that were read in it belong to the same batch. */
  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#options.parallel) return;
    if (this.#waiting.length < (this.#running === 0 ? 1 : worthwhile)) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#start();
    });
  }

  /** The next one follows when this one is back, or has been away for too long. */
  #start(): void {
    this.#running++;
    const { patienceMs } = this.#options;
    let isWaitedFor = true;
    const goOn = () => {
      if (!isWaitedFor) return;
      isWaitedFor = false;
      this.#running--;
      this.#schedule();
    };
    const timer = patienceMs === undefined ? undefined : setTimeout(goOn, patienceMs);
    void this.#runOne().finally(() => {
      clearTimeout(timer);
      goOn();
    });
  }

  async #runOne(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#options.largest);
    try {
      const outcomes = await this.#run(batch.map((b) => b.item));
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
