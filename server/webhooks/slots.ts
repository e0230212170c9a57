/** What one endpoint uses of the requests that may be under way at once. */
export interface Use {
  inFlight: number;
  /** How many it may have: one after a failure or a slow answer, then one more with each quick success. */
  allowance: number;
  /** Whether its last attempt failed or was slow, or it is known to be down. */
  readonly isDoubtful: boolean;
  /** Whom it belongs to. */
  readonly userId: number;
}

/** Requests under way at once. Bun itself holds back the 257th, and leaves nobody to say which. */
const mostInAll = 224;

/** For one endpoint. */
const mostForOne = 64;

/**
 * For all endpoints of a kind together. A doubtful one may hang, and so may one that was never tried; neither must hold up the
 * other, nor those that answer. What turns out to be slow while it is under way is counted as doubtful from then on.
 */
const mostOfKind = { doubtful: mostInAll / 2, untried: mostInAll / 4, proven: mostInAll } as const;
const mostUnproven = (mostInAll * 3) / 4;

/** Of these for one user, who may have registered thousands of them. */
const mostUnprovenOfOne = mostUnproven / 3;

/** An answer that takes longer than this is slow. */
export const slowMs = 1_000;

export type Kind = keyof typeof mostOfKind;

const kindOf = ({ allowance, isDoubtful }: Use): Kind =>
  isDoubtful ? 'doubtful' : allowance > 1 ? 'proven' : 'untried';

/** A request that may be under way. */
export interface Slot {
  kind: Kind;
  readonly userId: number;
}

/** Shares out the requests that may be under way. */
export class Slots {
  readonly #used = { doubtful: 0, untried: 0, proven: 0 };
  readonly #unprovenOf = new Map<number, number>();

  get used(): number {
    return this.#used.doubtful + this.#used.untried + this.#used.proven;
  }

  /** Takes one for an endpoint; or says whose limit is in the way: its own, that of its kind, or that of all (`proven`). */
  take(use: Use): Slot | { refusal: 'own' | Kind } {
    if (use.inFlight >= Math.min(use.allowance, mostForOne)) return { refusal: 'own' };
    // Nobody takes more than is left for others: so there is always something left.
    if (use.inFlight >= mostInAll - this.used) return { refusal: 'proven' };
    const kind = kindOf(use);
    const { doubtful, untried } = this.#used;
    if (this.#used[kind] >= mostOfKind[kind]) return { refusal: kind };
    if (kind !== 'proven') {
      const own = this.#unprovenOf.get(use.userId) ?? 0;
      if (doubtful + untried >= mostUnproven || own >= mostUnprovenOfOne) return { refusal: kind };
      this.#unprovenOf.set(use.userId, own + 1);
    }
    this.#used[kind]++;
    use.inFlight++;
    return { kind, userId: use.userId };
  }

  /** One that was never tried before takes its time. */
  markSlow(slot: Slot): void {
    if (slot.kind !== 'untried') return;
    this.#used.untried--;
    this.#used.doubtful++;
    slot.kind = 'doubtful';
  }

  giveBack(use: Use, slot: Slot): void {
    this.#used[slot.kind]--;
    use.inFlight--;
    if (slot.kind === 'proven') return;
    const left = (this.#unprovenOf.get(slot.userId) ?? 1) - 1;
    if (left > 0) this.#unprovenOf.set(slot.userId, left);
    else this.#unprovenOf.delete(slot.userId);
  }
}

/** Takes the outcome of an attempt into account. */
export function allowMore(use: { allowance: number; isDoubtful: boolean }, quick: boolean): void {
  use.allowance = quick ? Math.min(mostForOne, use.allowance + 1) : 1;
  use.isDoubtful = !quick;
}
