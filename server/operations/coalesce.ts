/**
 * Lets calls that arrive together be carried out together. A batch is on its way at any time, or none; what arrives
 * meanwhile makes up the next one. So nothing ever waits for a timer, and batches grow by themselves as load does.
 */
export class Coalescer<Item, Outcome> {
  readonly #run: (batch: readonly Item[]) => Promise<readonly (Outcome | Error)[]>;
  readonly #largest: number;
  #waiting: { item: Item; resolve: (outcome: Outcome) => void; reject: (error: unknown) => void }[] = [];
  #running = false;

  /** `run` answers an outcome for each item, in the same order: an Error for one that failed alone. */
  constructor(run: (batch: readonly Item[]) => Promise<readonly (Outcome | Error)[]>, largest: number) {
    this.#run = run;
    this.#largest = largest;
  }

  submit(item: Item): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#running) return;
      this.#running = true;
      // After the current turn of the event loop: the requests that were read in it belong to this batch.
      setImmediate(() => void this.#drain());
    });
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#largest);
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
    this.#running = false;
  }
}
