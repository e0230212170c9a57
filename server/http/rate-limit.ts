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
  at: number;
}

/** Buckets beyond this number are looked through for full ones, which say nothing that a new one would not. */
const sweepAt = 10_000;

/** A token bucket for each caller: `burst` requests at once, refilled at `perSecond`. */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #now: () => number;
  readonly #buckets = new Map<string | number, Bucket>();

  constructor(limit: RateLimit, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  take(caller: string | number): Allowance {
    const { perSecond, burst } = this.#limit;
    const now = this.#now();
    let bucket = this.#buckets.get(caller);
    if (bucket) {
      bucket.level = Math.min(burst, bucket.level + (Math.max(0, now - bucket.at) / 1_000) * perSecond);
      bucket.at = now;
    } else {
      if (this.#buckets.size >= sweepAt) this.#sweep(now);
      bucket = { level: burst, at: now };
      this.#buckets.set(caller, bucket);
    }
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

  #sweep(now: number): void {
    const fullAfter = (this.#limit.burst / this.#limit.perSecond) * 1_000;
    for (const [caller, bucket] of this.#buckets) if (now - bucket.at > fullAfter) this.#buckets.delete(caller);
  }
}
