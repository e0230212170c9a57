/** What one endpoint uses of the requests that may be under way at once. */
export interface Use {
  inFlight: number;
  /** How many it may have: one after a failure or a slow answer, then one more with each quick success. */
  allowance: number;
}

/** Requests under way at once. Bun itself holds back the 257th, and leaves nobody to say which. */
const mostInAll = 224;

/** For one endpoint. */
const mostForOne = 64;

/** For all endpoints together that have not just answered quickly: they may hang, and hanging must not hold up others. */
const mostForDoubtful = mostInAll / 2;

/** An answer that takes longer than this counts as slow. */
export const slowMs = 1_000;

/** Whose limit is in the way: the endpoint's own, that of all doubtful ones, or that of all. */
export type Refusal = 'own' | 'doubtful' | 'all';

/** Shares out the requests that may be under way. */
export class Slots {
  #used = 0;
  #doubtful = 0;

  /** Takes one for an endpoint, or says whose limit is in the way. */
  take(use: Use): Refusal | undefined {
    if (use.inFlight >= Math.min(use.allowance, mostForOne)) return 'own';
    // Nobody takes more than is left for others: so there is always something left.
    if (use.inFlight >= mostInAll - this.#used) return 'all';
    if (isDoubtful(use)) {
      if (this.#doubtful >= mostForDoubtful) return 'doubtful';
      this.#doubtful++;
    }
    this.#used++;
    use.inFlight++;
    return undefined;
  }

  /** Gives one back, as it was taken: an endpoint has one request at most while it is doubtful. */
  giveBack(use: Use, wasDoubtful: boolean): void {
    this.#used--;
    use.inFlight--;
    if (wasDoubtful) this.#doubtful--;
  }

  get used(): number {
    return this.#used;
  }
}

export const isDoubtful = ({ allowance }: Use): boolean => allowance <= 1;

export function allow(use: Use, quick: boolean): void {
  use.allowance = quick ? Math.min(mostForOne, use.allowance + 1) : 1;
}
