import { FairSlots } from './fair-slots.ts';
import { Semaphore, SemaphoreFull } from './semaphore.ts';

/**
 * Runs one piece of work at a time, and shares the turns between owners. The work of one owner waits for each other first:
 * only the oldest stands in the common line, so that others wait for one piece of work of each owner.
 */
export class FairTurns<Owner> {
  readonly #slots: FairSlots<Owner>;
  readonly #lines = new Map<Owner, Semaphore>();
  readonly #common = new Semaphore(1);

  /** At most `total` pieces of work run or wait. */
  constructor(total: number) {
    this.#slots = new FairSlots(total);
  }

  /** Rejects with `SemaphoreFull` if too much work waits, of this owner or of all. */
  async run<T>(owner: Owner, work: () => Promise<T>): Promise<T> {
    if (!this.#slots.mayTake(owner)) throw new SemaphoreFull();
    this.#slots.take(owner);
    const line = this.#lines.get(owner) ?? new Semaphore(1);
    this.#lines.set(owner, line);
    try {
      return await line.run(() => this.#common.run(work));
    } finally {
      this.#slots.release(owner);
      if (this.#slots.heldBy(owner) === 0) this.#lines.delete(owner);
    }
  }
}
