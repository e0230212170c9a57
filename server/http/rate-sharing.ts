import type { Counted, RateLimiter } from './rate-limit.ts';
import { RecentMap } from './recent-map.ts';

/** How much a caller has used with one process, in total. */
export interface Total {
  readonly key: string;
  readonly used: number;
}

/** Where the processes that share a database tell each other what their callers use. */
export interface SharedTotals {
  /** Puts these in the place of what this process said of the same keys before. */
  write(totals: readonly Total[]): Promise<void>;
  /** What other processes have said within this time, by the clock of the database. */
  readOthers(withinMs: number): Promise<readonly (Total & { readonly node: string })[]>;
  /** Drops what nobody has said again for this long. */
  prune(afterMs: number): Promise<void>;
}

/** A caller is worth telling of from this part of what it may use in a second: those who use less cost nothing. */
const worthTelling = 1 / 10;

/**
 * What was said is dropped after this time. A total has been forgotten by then where it was counted, and begins at nothing;
 * those who read it remember it for longer. So nobody takes an old total for one that has just begun.
 */
const keptMs = 60_000;
const countedMs = keptMs / 3;
const rememberedMs = keptMs * 2;

/** What happened longer ago than this is over: a bucket has filled up since, as far as anybody here can tell. */
const gapMs = 5_000;

/** Looks overlap, since what is said at a time can be seen only a little later. What is read twice counts once. */
const overlapMs = 5_000;

export interface RateSharingParts {
  readonly limiter: RateLimiter;
  readonly totals: SharedTotals;
  readonly now: () => number;
}

/**
 * Lets a caller that spreads over several processes have about the limit of one. Each counts by itself, so that no request
 * waits for it; once in a while `exchange` tells the others what callers have used here, and charges them here with what they
 * have used there.
 */
export class RateSharing {
  readonly #parts: RateSharingParts;
  /** By key: what was said last. */
  readonly #counted = new RecentMap<string, number>(countedMs);
  /** By process and key: what was read last. */
  readonly #remembered = new RecentMap<string, number>(rememberedMs);
  #exchangedAt: number;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #prunedAt = Number.NEGATIVE_INFINITY;
  #othersAreActive = false;

  constructor(parts: RateSharingParts) {
    this.#parts = parts;
    this.#exchangedAt = parts.now();
    parts.limiter.takeUses();
  }

  /** To be called every second. Where nobody has anything to tell, it asks nothing of the database. */
  async exchange(): Promise<void> {
    const at = this.#parts.now();
    const own = this.#take(at);
    if (own.length === 0 && !this.#othersAreActive) return;
    await this.#tell(own, at);
    await this.#look(at);
    if (at - this.#prunedAt < keptMs) return;
    this.#prunedAt = at;
    await this.#parts.totals.prune(keptMs);
  }

  /** The totals that are worth telling of. What is taken and cannot be told is not told later, when it is over. */
  #take(at: number): Total[] {
    const uses = this.#parts.limiter.takeUses();
    const isOver = at - this.#exchangedAt > gapMs;
    this.#exchangedAt = at;
    if (isOver) return [];
    const least = this.#parts.limiter.limit.perSecond * worthTelling;
    return [...uses]
      .filter(([, used]) => used >= least)
      .map(([caller, used]) => ({ key: keyOf(caller), used: (this.#counted.get(keyOf(caller), at) ?? 0) + used }));
  }

  async #tell(totals: readonly Total[], at: number): Promise<void> {
    if (totals.length === 0) return;
    await this.#parts.totals.write(totals);
    for (const { key, used } of totals) this.#counted.set(key, used, at);
  }

  /** The first look, and the first after a gap, is to know the totals: nobody can tell how much of them is of late. */
  async #look(at: number): Promise<void> {
    const isFirst = at - this.#lookedAt > gapMs;
    const others = await this.#parts.totals.readOthers(isFirst ? keptMs : gapMs + overlapMs);
    for (const { node, key, used } of others) {
      const name = `${node} ${key}`;
      const known = this.#remembered.get(name, at) ?? 0;
      if (!isFirst && used > known) this.#parts.limiter.charge(callerOf(key), used - known);
      this.#remembered.set(name, used, at);
    }
    this.#lookedAt = at;
    this.#othersAreActive = others.length > 0;
  }
}

const keyOf = (caller: Counted): string => (typeof caller === 'number' ? `token ${caller}` : caller);

const callerOf = (key: string): Counted => (key.startsWith('token ') ? Number(key.slice('token '.length)) : key);
