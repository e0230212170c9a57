import type { HostLimit } from './host-limit.ts';

/** The share of one endpoint in the concurrent requests. */
export interface EndpointUsage {
  inFlight: number;
  /** How many requests it may have in flight: 1 after a failure or a slow response, then one more with each quick success. */
  allowance: number;
  /** Its last attempt failed or was slow, or it is known to be down. */
  isSuspect: boolean;
  /** The person behind the webhook. */
  readonly ownerId: number;
  /** The key of its host while it has not responded with a 2xx. Until then it gets one request at a time. */
  unconfirmedHost: string | undefined;
}

/** Concurrent requests to one endpoint. */
const maxPerEndpoint = 64;

/** The part of Bun's outgoing requests that deliveries use. The rest is for test deliveries and for files in S3. */
const deliveryShare = 7 / 8;

/** A response that takes longer than this is slow. */
export const slowMs = 1_000;

export type Kind = 'suspect' | 'untried' | 'proven';

const kindOf = ({ allowance, isSuspect }: EndpointUsage): Kind =>
  isSuspect ? 'suspect' : allowance > 1 ? 'proven' : 'untried';

/** Permission for one request. */
export interface Slot {
  readonly kind: Kind;
  readonly usage: EndpointUsage;
  readonly host: string | undefined;
}

/** `waitMs` is infinite if another request to the host has to end first. */
export type Refusal = { readonly refusal: 'own' | Kind } | { readonly refusal: 'host'; readonly waitMs: number };

/**
 * A number of slots that owners share. An owner may hold at most as many as are still free: one owner gets half of them,
 * and k busy owners get 1/(k + 1) each. So some are always free for the next owner.
 */
class SharedSlots {
  readonly #max: number;
  readonly #ofOwner = new Map<number, number>();
  #used = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get used(): number {
    return this.#used;
  }

  isOpenTo(ownerId: number): boolean {
    return (this.#ofOwner.get(ownerId) ?? 0) < this.#max - this.#used;
  }

  take(ownerId: number): void {
    this.#used++;
    this.#ofOwner.set(ownerId, (this.#ofOwner.get(ownerId) ?? 0) + 1);
  }

  release(ownerId: number): void {
    this.#used--;
    const left = (this.#ofOwner.get(ownerId) ?? 1) - 1;
    if (left > 0) this.#ofOwner.set(ownerId, left);
    else this.#ofOwner.delete(ownerId);
  }
}

/**
 * Limits the requests in flight: per endpoint, and in each kind of endpoint and in all by owner. A suspect endpoint may
 * hang, and so may an untried one: neither must block the other, nor the proven ones.
 */
export class ConcurrencyLimit {
  readonly #hosts: HostLimit;
  readonly #slots: Readonly<Record<Kind, SharedSlots>>;

  /** `maxRequests` is the number of outgoing requests that Bun runs at once. It queues others, in its own order. */
  constructor(maxRequests: number, hosts: HostLimit) {
    this.#hosts = hosts;
    const max = Math.floor(maxRequests * deliveryShare);
    this.#slots = {
      suspect: new SharedSlots(Math.floor(max / 2)),
      untried: new SharedSlots(Math.floor(max / 4)),
      // All requests count here.
      proven: new SharedSlots(max),
    };
  }

  get inFlight(): number {
    return this.#slots.proven.used;
  }

  /**
   * Returns a slot, or the limit that refuses it: the endpoint's own, that of its host, or that of a kind. That of `proven`
   * is the total.
   */
  take(usage: EndpointUsage): Slot | Refusal {
    const { ownerId, unconfirmedHost: host } = usage;
    const max = host === undefined ? Math.min(usage.allowance, maxPerEndpoint) : 1;
    if (usage.inFlight >= max) return { refusal: 'own' };
    const waitMs = host === undefined ? 0 : this.#hosts.waitMs(host);
    if (waitMs > 0) return { refusal: 'host', waitMs };
    const kind = kindOf(usage);
    if (!this.#slots.proven.isOpenTo(ownerId)) return { refusal: 'proven' };
    if (!this.#slots[kind].isOpenTo(ownerId)) return { refusal: kind };
    this.#slots.proven.take(ownerId);
    if (kind !== 'proven') this.#slots[kind].take(ownerId);
    if (host !== undefined) this.#hosts.take(host);
    usage.inFlight++;
    return { kind, usage, host };
  }

  release({ kind, usage, host }: Slot): void {
    usage.inFlight--;
    if (host !== undefined) this.#hosts.release(host);
    this.#slots.proven.release(usage.ownerId);
    if (kind !== 'proven') this.#slots[kind].release(usage.ownerId);
  }
}

/** Adjusts what an endpoint may use after an attempt. */
export function adjustAllowance(usage: EndpointUsage, isQuick: boolean): void {
  usage.allowance = isQuick ? Math.min(maxPerEndpoint, usage.allowance + 1) : 1;
  usage.isSuspect = !isQuick;
}
