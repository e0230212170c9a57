import { RecentMap } from './recent-map.ts';

/** What a caller may still do, as the RateLimit headers tell it. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the whole burst is there again. */
  readonly resetSeconds: number;
  /** Seconds until the next request is allowed. */
  readonly retrySeconds: number;
}

export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** Whose requests are counted: an access token by its id, or an address. */
export type Counted = number | string;

interface Bucket {
  level: number;
  readonly at: number;
}

/** How far a caller may fall behind through what it did elsewhere: a small burst would be forgiven in each second anew. */
const debtSeconds = 4;

/** Parts of requests that come back in parts of seconds add up to a whole one, but for the last binary digits. */
const almostOne = 1 - 1e-9;

/**
 * A token bucket for each caller: `burst` requests at once, refilled at `perSecond`. A bucket that nobody has touched for
 * as long as it takes to fill up says no more than a new one, and is forgotten.
 */
export class RateLimiter {
  readonly limit: RateLimit;
  readonly #now: () => number;
  readonly #deepest: number;
  readonly #buckets: RecentMap<Counted, Bucket>;
  /** What callers used since it was last taken; undefined: nobody takes it. */
  #uses: Map<Counted, number> | undefined;

  constructor(limit: RateLimit, now: () => number) {
    this.limit = limit;
    this.#now = now;
    this.#deepest = -Math.max(limit.burst, limit.perSecond * debtSeconds);
    this.#buckets = new RecentMap(((limit.burst - this.#deepest) / limit.perSecond) * 1_000);
  }

  take(caller: Counted): Allowance {
    const allowance = this.#judge(caller, 1);
    if (this.#uses && allowance.allowed) this.#uses.set(caller, (this.#uses.get(caller) ?? 0) + 1);
    return allowance;
  }

  /** What `take` would answer, without counting anything. */
  look(caller: Counted): Allowance {
    return this.#judge(caller, 0);
  }

  /** Counts what a caller has used elsewhere. It may leave the caller in debt. */
  charge(caller: Counted, used: number): void {
    const bucket = this.#bucketOf(caller);
    bucket.level = Math.max(this.#deepest, bucket.level - used);
  }

  /** What each caller has used here since the last time. It is counted from the first time on. */
  takeUses(): ReadonlyMap<Counted, number> {
    const uses = this.#uses ?? new Map();
    this.#uses = new Map();
    return uses;
  }

  #judge(caller: Counted, cost: number): Allowance {
    const { perSecond, burst } = this.limit;
    const bucket = this.#bucketOf(caller);
    const allowed = bucket.level >= almostOne;
    if (allowed) bucket.level -= cost;
    return {
      allowed,
      limit: burst,
      remaining: Math.max(0, Math.floor(bucket.level)),
      resetSeconds: Math.ceil((burst - bucket.level) / perSecond),
      retrySeconds: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.level) / perSecond)),
    };
  }

  #bucketOf(caller: Counted): Bucket {
    const { perSecond, burst } = this.limit;
    const now = this.#now();
    const known = this.#buckets.get(caller, now);
    const refilled = known ? known.level + (Math.max(0, now - known.at) / 1_000) * perSecond : burst;
    const bucket = { level: Math.min(burst, refilled), at: now };
    this.#buckets.set(caller, bucket, now);
    return bucket;
  }
}
