import type { Presence, TokenId, UserId } from '@parley/contract';
import type { Streams } from './streams.ts';

/** The clients with streams at this process. Each token counts as one client. */
export class Clients {
  readonly #streams: Pick<Streams, 'streamsOf' | 'users'>;
  /** Clients that said that their user is away. They stay so through a short disconnect. */
  readonly #away = new Map<UserId, Set<TokenId>>();

  constructor(streams: Pick<Streams, 'streamsOf' | 'users'>) {
    this.#streams = streams;
  }

  /** A client without a stream here changes nothing. */
  setAway(userId: UserId, tokenId: TokenId, isAway: boolean): void {
    const away = this.#away.get(userId) ?? new Set();
    const hasStream = this.#streams.streamsOf(userId).some(({ query }) => query.tokenId === tokenId);
    if (!isAway) away.delete(tokenId);
    else if (hasStream) this.#away.set(userId, away.add(tokenId));
  }

  /** Forgets who is away, if the user has no streams. */
  forget(userId: UserId): void {
    if (this.#streams.streamsOf(userId).length === 0) this.#away.delete(userId);
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
