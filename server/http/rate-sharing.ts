import { RecentMap } from '../lib/recent-map.ts';
import type { Limited, RateLimiter, RateLimits } from './rate-limit.ts';

/** The total requests of a caller to one server. */
export interface Total {
  readonly key: string;
  readonly used: number;
}

/** The totals that the servers on one database share. */
export interface SharedTotals {
  /** Replaces this server's totals of the same keys. */
  write(totals: readonly Total[]): Promise<void>;
  /** Returns what other servers wrote within this time, by the database's clock. */
  readOthers(withinMs: number): Promise<readonly (Total & { readonly node: string })[]>;
  /** Drops totals that are older. */
  prune(afterMs: number): Promise<void>;
}

/** Callers below this share of `perSecond` are not shared, so they cost nothing. */
const minShare = 1 / 10;

/**
 * Rows are dropped after this time. By then the server that counted has forgotten its total and starts at 0, while readers
 * remember it for longer. So no reader takes an old total for a new one.
 */
const keptMs = 60_000;
const countedMs = keptMs / 3;
const rememberedMs = keptMs * 2;

/** Requests that are older do not count: the bucket has been refilled since. */
const gapMs = 5_000;

/** Reads overlap, because a row becomes visible a little after its time. A row that is read twice counts once. */
const overlapMs = 5_000;

export interface RateSharingDeps {
  readonly limits: RateLimits;
  readonly totals: SharedTotals;
  readonly now: () => number;
}

/**
 * Gives a caller that uses several servers about the limit of one. Each server counts by itself, so no request waits.
 * `exchange` writes the totals of this server, and charges callers with their requests to others.
 */
export class RateSharing {
  readonly #deps: RateSharingDeps;
  readonly #limiters: readonly SharedLimiter[];
  /** The last total written, by key. */
  readonly #counted = new RecentMap<string, number>(countedMs);
  /** The last total read, by server and key. */
  readonly #remembered = new RecentMap<string, number>(rememberedMs);
  #exchangedAt: number;
  #readAt = Number.NEGATIVE_INFINITY;
  #prunedAt = Number.NEGATIVE_INFINITY;
  #othersAreActive = false;

  constructor(deps: RateSharingDeps) {
    this.#deps = deps;
    this.#limiters = [
      { limiter: deps.limits.callers, kind: 'token' },
      { limiter: deps.limits.owners, kind: 'owner' },
    ].filter((shared): shared is SharedLimiter => shared.limiter !== undefined);
    this.#exchangedAt = deps.now();
    for (const { limiter } of this.#limiters) limiter.takeUses();
  }

  /** Must be called every second. Uses the database only if there is something to share. */
  async exchange(): Promise<void> {
    const at = this.#deps.now();
    const own = this.#take(at);
    if (own.length === 0 && !this.#othersAreActive) return;
    await this.#write(own, at);
    await this.#read(at);
    if (at - this.#prunedAt < keptMs) return;
    this.#prunedAt = at;
    await this.#deps.totals.prune(keptMs);
  }

  /** Returns the totals to share. A total that cannot be written is not written later. */
  #take(at: number): Total[] {
    const uses = this.#limiters.flatMap((shared) => usesToShare(shared));
    const isLate = at - this.#exchangedAt > gapMs;
    this.#exchangedAt = at;
    if (isLate) return [];
    return uses.map(({ key, used }) => ({ key, used: (this.#counted.get(key, at) ?? 0) + used }));
  }

  async #write(totals: readonly Total[], at: number): Promise<void> {
    if (totals.length === 0) return;
    await this.#deps.totals.write(totals);
    for (const { key, used } of totals) this.#counted.set(key, used, at);
  }

  /** The first read, and the first after a gap, charges nothing: the totals may be of long ago. */
  async #read(at: number): Promise<void> {
    const isFirst = at - this.#readAt > gapMs;
    const others = await this.#deps.totals.readOthers(isFirst ? keptMs : gapMs + overlapMs);
    for (const { node, key, used } of others) {
      const name = `${node} ${key}`;
      const known = this.#remembered.get(name, at) ?? 0;
      if (!isFirst && used > known) this.#charge(key, used - known);
      this.#remembered.set(name, used, at);
    }
    this.#readAt = at;
    this.#othersAreActive = others.length > 0;
  }

  #charge(key: string, used: number): void {
    const [, kind = 'token', id] = /^(token|owner) (\d+)$/.exec(key) ?? [];
    const shared = this.#limiters.find((limiter) => limiter.kind === kind);
    shared?.limiter.charge(id === undefined ? key : Number(id), used);
  }
}

interface SharedLimiter {
  readonly limiter: RateLimiter;
  /** Names the ids of this limiter in the keys. */
  readonly kind: string;
}

/** Takes the uses of a limiter, and leaves out callers with few requests. */
function usesToShare({ limiter, kind }: SharedLimiter): Total[] {
  const minUsed = limiter.limit.perSecond * minShare;
  const keyOf = (caller: Limited) => (typeof caller === 'number' ? `${kind} ${caller}` : caller);
  return [...limiter.takeUses()]
    .filter(([, used]) => used >= minUsed)
    .map(([caller, used]) => ({ key: keyOf(caller), used }));
}
