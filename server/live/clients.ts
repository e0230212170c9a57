import type { Presence, TokenId, UserId } from '@parley/contract';
import { RecentMap } from '../lib/recent-map.ts';
import type { Streams } from './streams.ts';

/** The clients with streams at this process. Each token counts as one client. */
export class Clients {
  readonly #streams: Pick<Streams, 'streamsOf' | 'users'>;
  /** Clients with streams that said that their user is away. */
  readonly #away = new Map<UserId, Set<TokenId>>();
  /** When the last stream of a client ended that was away. It stays away through a short disconnect. */
  readonly #leftAway: RecentMap<TokenId, number>;
  readonly #graceMs: number;

  constructor(streams: Pick<Streams, 'streamsOf' | 'users'>, graceMs: number) {
    this.#streams = streams;
    this.#graceMs = graceMs;
    this.#leftAway = new RecentMap(graceMs);
  }

  /** A client without a stream here does not become away. */
  setAway(userId: UserId, tokenId: TokenId, isAway: boolean, now: number): void {
    if (!isAway) {
      this.#leftAway.set(tokenId, Number.NEGATIVE_INFINITY, now);
      this.#keep(userId, (away) => away.delete(tokenId));
    } else if (this.#tokensOf(userId).has(tokenId)) this.#keep(userId, (away) => away.add(tokenId));
  }

  /** Must be called when a stream of the user has opened or ended. */
  streamsChanged(userId: UserId, now: number): void {
    const open = this.#tokensOf(userId);
    const returns = (tokenId: TokenId) => {
      const leftAt = this.#leftAway.get(tokenId, now);
      return leftAt !== undefined && now < leftAt + this.#graceMs;
    };
    this.#keep(userId, (away) => {
      for (const tokenId of away) {
        if (!open.has(tokenId) && away.delete(tokenId)) this.#leftAway.set(tokenId, now, now);
      }
      for (const tokenId of open) if (returns(tokenId)) away.add(tokenId);
    });
  }

  #tokensOf(userId: UserId): Set<TokenId> {
    return new Set(this.#streams.streamsOf(userId).map(({ query }) => query.tokenId));
  }

  #keep(userId: UserId, change: (away: Set<TokenId>) => void): void {
    const away = this.#away.get(userId) ?? new Set();
    change(away);
    if (away.size > 0) this.#away.set(userId, away);
    else this.#away.delete(userId);
  }

  presenceOf(userId: UserId): Presence {
    const streams = this.#streams.streamsOf(userId);
    if (streams.length === 0) return 'offline';
    const away = this.#away.get(userId);
    return away && streams.every(({ query }) => away.has(query.tokenId)) ? 'away' : 'online';
  }

  *[Symbol.iterator](): Iterator<[UserId, Presence]> {
    for (const userId of this.#streams.users()) yield [userId, this.presenceOf(userId)];
  }
}
