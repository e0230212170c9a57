import type { ChatId, EventData, EventName, UserId } from '@parley/contract';
import { Batcher } from '../lib/batcher.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { membershipPeriods } from '../store/chat/members.ts';
import { type MembershipPeriod, sees } from '../store/chat/visibility.ts';
import type { Engine, LogEntry } from '../store/engine/engine.ts';
import type { EventLog } from './event-log.ts';

/** Events that are applied at a time. */
const maxEvents = 500;

/** After so many leaves, the periods that no consumer needs any more are dropped. */
const maxLeaves = 10_000;

/** The dependencies of a consumer of the log that matches events with users. */
export interface LogDeps {
  readonly engine: Engine;
  readonly eventLog: EventLog;
  readonly membership: MembershipIndex;
}

type Period = { -readonly [K in keyof MembershipPeriod]: MembershipPeriod[K] };

interface TrackedUser {
  references: number;
  isLoaded: boolean;
  /** Chats with at least one period of this user. */
  chats: ChatId[];
}

/**
 * Which users are, or were, in which chats, for the users who have streams or webhooks. Their periods are loaded once;
 * from then on the events of the log keep them right, so an event costs no query. Because periods are ranges of event
 * ids, consumers at different positions of the log get the right result from the same index.
 *
 * A channel is never loaded as a whole: with 100,000 members that would take 100 ms for a single listener.
 */
export class MembershipIndex {
  readonly #engine: Engine;
  readonly #log: EventLog;
  readonly #users = new Map<UserId, TrackedUser>();
  readonly #chats = new Map<ChatId, Map<UserId, Period[]>>();
  readonly #consumers: (() => number)[] = [];
  /** Users who are added together are loaded together. */
  readonly #loads = new Batcher<UserId, true>((userIds) => this.#turn.run(() => this.#load(userIds)), {
    maxItems: 500,
    concurrentBatches: 1,
  });
  /** Users are loaded between events, so no event is lost on them. */
  readonly #turn = new Semaphore(1);
  #leaves = 0;
  /** Every event up to here is applied. */
  #position = 0;

  constructor(engine: Engine, log: EventLog) {
    this.#engine = engine;
    this.#log = log;
  }

  /** Registers the position of a consumer: it never asks about events before that again. */
  addConsumer(position: () => number): void {
    this.#consumers.push(position);
  }

  /** Counts one reference per user, which `untrack` releases. Resolves once the periods are loaded; if it fails, none counts. */
  async track(userIds: readonly UserId[]): Promise<void> {
    if (this.#users.size === 0) this.#position = this.#log.tip;
    const loads = userIds.map((userId) => {
      const user = this.#users.get(userId) ?? { references: 0, isLoaded: false, chats: [] };
      user.references++;
      this.#users.set(userId, user);
      return user.isLoaded || this.#loads.submit(userId);
    });
    try {
      await Promise.all(loads);
    } catch (error) {
      this.untrack(userIds);
      throw error;
    }
  }

  untrack(userIds: Iterable<UserId>): void {
    for (const userId of userIds) {
      const user = this.#users.get(userId);
      if (!user || --user.references > 0) continue;
      this.#users.delete(userId);
      for (const chatId of user.chats) this.#remove(chatId, userId);
    }
  }

  /** Applies the log up to an event. */
  async advanceTo(eventId: number): Promise<void> {
    if (this.#position >= eventId || this.#users.size === 0) return;
    await this.#turn.run(async () => {
      while (this.#position < eventId) {
        const { events, last } = await this.#log.read(this.#position, maxEvents);
        for (const event of events) this.#apply(event);
        this.#position = Math.max(this.#position, last);
      }
    });
  }

  /**
   * Yields the value of each given user who sees the event. Every one must be tracked. Iterates over the smaller of `users`
   * and the tracked members of the chat.
   */
  *seenBy<T>(eventId: number, chatId: ChatId, users: ReadonlyMap<UserId, T>): Iterable<T> {
    const members = this.#chats.get(chatId);
    if (!members) return;
    const isMember = (periods: readonly Period[] | undefined) => periods?.some((period) => sees(period, eventId));
    if (users.size < members.size) {
      for (const [userId, value] of users) if (isMember(members.get(userId))) yield value;
      return;
    }
    for (const [userId, periods] of members) {
      const value = users.get(userId);
      if (value !== undefined && isMember(periods)) yield value;
    }
  }

  async #load(userIds: readonly UserId[]): Promise<true[]> {
    const users = new Map(userIds.map((userId) => [userId, this.#users.get(userId)]));
    for (const [userId, user] of users) if (!user || user.isLoaded) users.delete(userId);
    const rows = await membershipPeriods(this.#engine, [...users.keys()], this.#floor());
    for (const { user_id, chat_id, joined_event, left_event } of rows) {
      const user = users.get(user_id);
      // The user may have been removed meanwhile.
      if (user && this.#users.get(user_id) === user) this.#add(user, user_id, chat_id, { joined_event, left_event });
    }
    for (const user of users.values()) if (user) user.isLoaded = true;
    return userIds.map(() => true);
  }

  /**
   * A change that was loaded already changes nothing: the database may be ahead of the events applied. The body of a message
   * is not read, because it would be rendered for that.
   */
  #apply(entry: LogEntry): void {
    const { event, event_id, chat_id } = entry;
    for (const userId of joining[event]?.(entry.body) ?? []) {
      const user = this.#users.get(userId);
      const isKnown = this.#periods(chat_id, userId).some(({ joined_event }) => joined_event === event_id);
      if (user?.isLoaded && !isKnown) this.#add(user, userId, chat_id, { joined_event: event_id, left_event: null });
    }
    if (event !== 'user_left') return;
    const { user_id } = dataOf<'user_left'>(entry.body);
    for (const period of this.#periods(chat_id, user_id)) {
      if (period.left_event === null && period.joined_event < event_id) period.left_event = event_id;
    }
    if (++this.#leaves % maxLeaves === 0) this.#dropEnded();
  }

  #periods(chatId: ChatId, userId: UserId): readonly Period[] {
    return this.#chats.get(chatId)?.get(userId) ?? [];
  }

  #add(user: TrackedUser, userId: UserId, chatId: ChatId, period: Period): void {
    const members = this.#chats.get(chatId) ?? new Map<UserId, Period[]>();
    this.#chats.set(chatId, members);
    const periods = members.get(userId);
    if (periods) periods.push(period);
    else {
      members.set(userId, [period]);
      user.chats.push(chatId);
    }
  }

  #remove(chatId: ChatId, userId: UserId): void {
    const members = this.#chats.get(chatId);
    members?.delete(userId);
    if (members?.size === 0) this.#chats.delete(chatId);
  }

  /** No consumer asks about this event or an earlier one again. */
  #floor(): number {
    return Math.min(this.#position, ...this.#consumers.map((position) => position()));
  }

  #dropEnded(): void {
    const floor = this.#floor();
    for (const user of this.#users.values()) user.chats = [];
    for (const [chatId, members] of this.#chats) {
      for (const [userId, periods] of members) {
        const needed = periods.filter(({ left_event }) => left_event === null || left_event > floor);
        if (needed.length === 0) this.#remove(chatId, userId);
        else {
          members.set(userId, needed);
          this.#users.get(userId)?.chats.push(chatId);
        }
      }
    }
  }
}

const dataOf = <E extends EventName>(body: string) => (JSON.parse(body) as { data: EventData<E> }).data;

const founders = (body: string): ReadonlySet<UserId> => {
  const { user_id, participants } = dataOf<'group_created' | 'direct_created'>(body);
  return new Set([user_id, ...participants]);
};

/** The users who join a chat with an event. */
const joining: { readonly [E in EventName]?: (body: string) => Iterable<UserId> } = {
  user_joined: (body) => [dataOf<'user_joined'>(body).user_id],
  group_created: founders,
  channel_created: founders,
  direct_created: founders,
};
