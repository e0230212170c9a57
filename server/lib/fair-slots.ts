/**
 * Slots that owners share. An owner may hold at most as many as are still free: one owner gets half of them, and k busy
 * owners get 1/(k + 1) each. So some are always free for the next owner.
 */
export class FairSlots<Owner> {
  readonly #total: number;
  readonly #held = new Map<Owner, number>();
  #used = 0;

  constructor(total: number) {
    this.#total = total;
  }

  get used(): number {
    return this.#used;
  }

  get isFull(): boolean {
    return this.#used >= this.#total;
  }

  heldBy(owner: Owner): number {
    return this.#held.get(owner) ?? 0;
  }

  mayTake(owner: Owner): boolean {
    return this.heldBy(owner) < this.#total - this.#used;
  }

  /** Counts a slot. Pair it with `release`. */
  take(owner: Owner): void {
    this.#held.set(owner, this.heldBy(owner) + 1);
    this.#used++;
  }

  release(owner: Owner): void {
    const left = this.heldBy(owner) - 1;
    if (left > 0) this.#held.set(owner, left);
    else this.#held.delete(owner);
    this.#used--;
  }
}
