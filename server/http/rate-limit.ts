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

interface Bucket {
  level: number;
  readonly at: number;
}

/**
 * A token bucket for each caller: `burst` requests at once, refilled at `perSecond`. A bucket that nobody has touched for
 * as long as it takes to fill up says no more than a new one: those are dropped, a whole generation at a time.
 */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #now: () => number;
  readonly #generationMs: number;
  #buckets = new Map<string | number, Bucket>();
  #older = new Map<string | number, Bucket>();
  #nextGeneration = 0;

  constructor(limit: RateLimit, now: () => number) {
    this.#limit = limit;
    this.#now = now;
    this.#generationMs = (limit.burst / limit.perSecond) * 1_000;
  }

  take(caller: string | number): Allowance {
    const { perSecond, burst } = this.#limit;
    const bucket = this.#bucketOf(caller);
    const allowed = bucket.level >= 1;
    if (allowed) bucket.level -= 1;
    return {
      allowed,
      limit: burst,
      remaining: Math.floor(bucket.level),
      resetSeconds: Math.ceil((burst - bucket.level) / perSecond),
      retrySeconds: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.level) / perSecond)),
    };
  }

  #bucketOf(caller: string | number): Bucket {
    const { perSecond, burst } = this.#limit;
    const now = this.#now();
    if (now >= this.#nextGeneration) {
      this.#older = this.#buckets;
      this.#buckets = new Map();
      this.#nextGeneration = now + this.#generationMs;
    }
    const known = this.#buckets.get(caller) ?? this.#older.get(caller);
    const refilled = known ? known.level + (Math.max(0, now - known.at) / 1_000) * perSecond : burst;
    const bucket = { level: Math.min(burst, refilled), at: now };
    this.#buckets.set(caller, bucket);
    return bucket;
  }
}
