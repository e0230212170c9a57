import { FairSlots } from '../lib/fair-slots.ts';
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
 * Limits the requests in flight: per endpoint, and in each kind of endpoint and in all by owner. A suspect endpoint may
 * hang, and so may an untried one: neither must block the other, nor the proven ones.
 */
export class ConcurrencyLimit {
  readonly #hosts: HostLimit;
  readonly #slots: Readonly<Record<Kind, FairSlots<number>>>;

  /** `maxRequests` is the number of outgoing requests that Bun runs at once. It queues others, in its own order. */
  constructor(maxRequests: number, hosts: HostLimit) {
    this.#hosts = hosts;
    const max = Math.floor(maxRequests * deliveryShare);
    this.#slots = {
      suspect: new FairSlots<number>(Math.floor(max / 2)),
      untried: new FairSlots<number>(Math.floor(max / 4)),
      // All requests count here.
      proven: new FairSlots<number>(max),
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
    if (!this.#slots.proven.mayTake(ownerId)) return { refusal: 'proven' };
    if (!this.#slots[kind].mayTake(ownerId)) return { refusal: kind };
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
