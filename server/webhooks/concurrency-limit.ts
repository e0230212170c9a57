/** The share of one endpoint in the concurrent requests. */
export interface EndpointUsage {
  inFlight: number;
  /** How many requests it may have in flight: 1 after a failure or a slow response, then one more with each quick success. */
  allowance: number;
  /** Its last attempt failed or was slow, or it is known to be down. */
  isSuspect: boolean;
  /** The owner of the webhook. */
  readonly userId: number;
}

/** Concurrent requests to all endpoints. Bun itself queues the 257th, in an order that we could not choose. */
const maxInAll = 224;

/** Concurrent requests to one endpoint. */
const maxPerEndpoint = 64;

/**
 * Concurrent requests to all endpoints of a kind. A suspect endpoint may hang, and so may an untried one: neither must
 * block the other, nor the proven ones. An untried endpoint that turns out to be slow counts as suspect from then on.
 */
const maxOfKind = { suspect: maxInAll / 2, untried: maxInAll / 4, proven: maxInAll } as const;
const maxUnproven = (maxInAll * 3) / 4;

/** Concurrent requests to suspect and untried endpoints of one user, who may have registered thousands of them. */
const maxUnprovenPerUser = maxUnproven / 3;

/** A response that takes longer than this is slow. */
export const slowMs = 1_000;

export type Kind = keyof typeof maxOfKind;

const kindOf = ({ allowance, isSuspect }: EndpointUsage): Kind =>
  isSuspect ? 'suspect' : allowance > 1 ? 'proven' : 'untried';

/** Permission for one request. */
export interface Slot {
  kind: Kind;
  readonly usage: EndpointUsage;
}

/** Limits the requests in flight: in all, per kind of endpoint, per endpoint and per user. */
export class ConcurrencyLimit {
  readonly #used = { suspect: 0, untried: 0, proven: 0 };
  readonly #unprovenOfUser = new Map<number, number>();

  get inFlight(): number {
    return this.#used.suspect + this.#used.untried + this.#used.proven;
  }

  /** Returns a slot, or the limit that refuses it: the endpoint's own, or that of a kind. That of `proven` is the total. */
  take(usage: EndpointUsage): Slot | { refusal: 'own' | Kind } {
    if (usage.inFlight >= Math.min(usage.allowance, maxPerEndpoint)) return { refusal: 'own' };
    // An endpoint may hold at most as many slots as are still free, so some are always free.
    if (usage.inFlight >= maxInAll - this.inFlight) return { refusal: 'proven' };
    const kind = kindOf(usage);
    const { suspect, untried } = this.#used;
    if (this.#used[kind] >= maxOfKind[kind]) return { refusal: kind };
    if (kind !== 'proven') {
      const ofUser = this.#unprovenOfUser.get(usage.userId) ?? 0;
      if (suspect + untried >= maxUnproven || ofUser >= maxUnprovenPerUser) return { refusal: kind };
      this.#unprovenOfUser.set(usage.userId, ofUser + 1);
    }
    this.#used[kind]++;
    usage.inFlight++;
    return { kind, usage };
  }

  /** Counts the request of an untried endpoint as one of a suspect endpoint from now on. */
  markSlow(slot: Slot): void {
    if (slot.kind !== 'untried') return;
    this.#used.untried--;
    this.#used.suspect++;
    slot.kind = 'suspect';
  }

  release({ kind, usage }: Slot): void {
    this.#used[kind]--;
    usage.inFlight--;
    if (kind === 'proven') return;
    const left = (this.#unprovenOfUser.get(usage.userId) ?? 1) - 1;
    if (left > 0) this.#unprovenOfUser.set(usage.userId, left);
    else this.#unprovenOfUser.delete(usage.userId);
  }
}

/** Adjusts what an endpoint may use after an attempt. */
export function adjustAllowance(usage: EndpointUsage, isQuick: boolean): void {
  usage.allowance = isQuick ? Math.min(maxPerEndpoint, usage.allowance + 1) : 1;
  usage.isSuspect = !isQuick;
}
