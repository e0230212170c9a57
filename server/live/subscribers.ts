import type { ChatId, UserId } from '@parley/contract';
import type { MembershipIndex } from '../log/membership.ts';
import type { Stream } from './stream.ts';

/** A user with streams. */
interface Subscriber {
  streams: readonly Stream[];
  /** Open streams, and those about to open. */
  count: number;
}

interface SubscribersDeps {
  readonly membership: MembershipIndex;
  /** Called before a user is added: starts to follow the log. */
  readonly start: () => Promise<void>;
  /** Called when the last user is gone. */
  readonly empty: () => void;
}

/** The users with streams. */
export class Subscribers {
  readonly #deps: SubscribersDeps;
  readonly #users = new Map<UserId, Subscriber>();
  #count = 0;

  constructor(deps: SubscribersDeps) {
    this.#deps = deps;
  }

  /** Streams of all users, open or about to open. */
  get count(): number {
    return this.#count;
  }

  users(): Iterable<UserId> {
    return this.#users.keys();
  }

  streamsOf(userId: UserId): readonly Stream[] {
    return this.#users.get(userId)?.streams ?? [];
  }

  /** Counts a stream that is about to open. Resolves once the user's chats are known. Pair it with `release`, unless it fails. */
  async reserve(userId: UserId): Promise<void> {
    const user = this.#users.get(userId) ?? { streams: [], count: 0 };
    this.#users.set(userId, user);
    user.count++;
    this.#count++;
    try {
      await this.#deps.start();
      await this.#deps.membership.track([userId]);
    } catch (error) {
      this.#forget(userId);
      throw error;
    }
  }

  release(userId: UserId): void {
    this.#deps.membership.untrack([userId]);
    this.#forget(userId);
  }

  add(stream: Stream): void {
    const user = this.#users.get(stream.query.userId);
    if (user) user.streams = [...user.streams, stream];
  }

  remove(stream: Stream): void {
    const user = this.#users.get(stream.query.userId);
    if (user) user.streams = user.streams.filter((other) => other !== stream);
  }

  /** Yields the streams of everyone who sees an event of a chat. A negative chat id means one user. */
  *streamsFor(eventId: number, chatId: ChatId): Iterable<Stream> {
    if (chatId < 0) yield* this.streamsOf(-chatId as UserId);
    else for (const { streams } of this.#deps.membership.seenBy(eventId, chatId, this.#users)) yield* streams;
  }

  #forget(userId: UserId): void {
    const user = this.#users.get(userId);
    if (user && --user.count === 0) this.#users.delete(userId);
    if (--this.#count === 0) this.#deps.empty();
  }
}
