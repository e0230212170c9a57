import { RecentMap } from '../lib/recent-map.ts';

/** The state of a limit, as in the RateLimit headers. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the whole burst is available again. */
  readonly resetSeconds: number;
  /** Seconds until the next request is allowed. */
  readonly retrySeconds: number;
}

export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** A token or an owner by its id, or a client by its IP. */
export type Limited = number | string;

/** The limits of a server. One that is undefined is off. */
export interface RateLimits {
  /** Limits each token, and each IP without one. */
  readonly callers: RateLimiter | undefined;
  /** Limits each person, with all their tokens, bots and apps. */
  readonly owners: RateLimiter | undefined;
}

/** Returns the allowance that refuses the request, or leaves fewer requests. */
export function tighter(a: Allowance | undefined, b: Allowance | undefined): Allowance | undefined {
  if (!a || !b) return a ?? b;
  if (a.allowed !== b.allowed) return a.allowed ? b : a;
  return b.remaining < a.remaining ? b : a;
}

interface Bucket {
  level: number;
  readonly at: number;
}

/**
 * The largest debt, from requests to other servers and from expensive ones. Without debt a small burst would be free again
 * every second.
 */
const debtSeconds = 4;

/** Fractions that add up to one request, except for rounding. */
const almostOne = 1 - 1e-9;

/**
 * A token bucket for each caller, with `burst` requests, refilled at `perSecond`. A bucket is dropped after the time that it
 * takes to fill up.
 */
export class RateLimiter {
  readonly limit: RateLimit;
  readonly #now: () => number;
  readonly #minLevel: number;
  readonly #buckets: RecentMap<Limited, Bucket>;
  /** Requests per caller since the last `takeUses`. Undefined until the first call. */
  #uses: Map<Limited, number> | undefined;

  constructor(limit: RateLimit, now: () => number) {
    this.limit = limit;
    this.#now = now;
    this.#minLevel = -Math.max(limit.burst, limit.perSecond * debtSeconds);
    this.#buckets = new RecentMap(((limit.burst - this.#minLevel) / limit.perSecond) * 1_000);
  }

  /** Counts a request, or one that costs as much as `cost` of them. It needs room for one; the level may become negative. */
  take(caller: Limited, cost = 1): Allowance {
    const allowance = this.#judge(caller, cost);
    if (this.#uses && allowance.allowed) this.#uses.set(caller, (this.#uses.get(caller) ?? 0) + cost);
    return allowance;
  }

  /** Returns the state without counting a request. */
  peek(caller: Limited): Allowance {
    return this.#judge(caller, 0);
  }

  /** Counts requests to other servers. The level may become negative. */
  charge(caller: Limited, used: number): void {
    const bucket = this.#bucketOf(caller);
    bucket.level = Math.max(this.#minLevel, bucket.level - used);
  }

  /** Returns the requests per caller since the last call. The first call starts the count. */
  takeUses(): ReadonlyMap<Limited, number> {
    const uses = this.#uses ?? new Map();
    this.#uses = new Map();
    return uses;
  }

  #judge(caller: Limited, cost: number): Allowance {
    const { perSecond, burst } = this.limit;
    const bucket = this.#bucketOf(caller);
    const allowed = bucket.level >= almostOne;
    if (allowed) bucket.level = Math.max(this.#minLevel, bucket.level - cost);
    return {
      allowed,
      limit: burst,
      remaining: Math.max(0, Math.floor(bucket.level)),
      resetSeconds: Math.ceil((burst - bucket.level) / perSecond),
      retrySeconds: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.level) / perSecond)),
    };
  }

  #bucketOf(caller: Limited): Bucket {
    const { perSecond, burst } = this.limit;
    const now = this.#now();
    const known = this.#buckets.get(caller, now);
    const refilled = known ? known.level + (Math.max(0, now - known.at) / 1_000) * perSecond : burst;
    const bucket = { level: Math.min(burst, refilled), at: now };
    this.#buckets.set(caller, bucket, now);
    return bucket;
  }
}
