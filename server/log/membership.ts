import type { ChatId, EventData, EventName, UserId } from '@parley/contract';
import type { Engine, LogEntry } from '../store/engine.ts';
import { membershipPeriods } from '../store/members.ts';
import { type MembershipPeriod, sees } from '../store/visibility.ts';
import type { EventLog } from './event-log.ts';

/** Events that are applied at a time. */
const maxEvents = 500;

/** Users whose periods one query loads. */
const maxLoaded = 500;

/** Ended periods that are kept before the first search for those that nobody needs. */
const minEnded = 1_000;

type Period = { -readonly [K in keyof MembershipPeriod]: MembershipPeriod[K] };

interface Change {
  readonly userId: UserId;
  readonly chatId: ChatId;
  readonly eventId: number;
  readonly isJoin: boolean;
}

interface TrackedUser {
  references: number;
  /** Chats with at least one period of this user. */
  chats: ChatId[];
  loading: Promise<void> | undefined;
  /** Changes that were applied while the user was loaded. */
  changes: Change[] | undefined;
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
  #ended: { userId: UserId; chatId: ChatId; period: Period }[] = [];
  #maxEnded = minEnded;
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

  /** Adds users, once for each call. Resolves once their periods are loaded; if it fails, none is added. */
  async track(userIds: readonly UserId[]): Promise<void> {
    if (this.#users.size === 0) this.#position = this.#log.tip;
    const added: [UserId, TrackedUser][] = [];
    for (const userId of userIds) {
      const user = this.#users.get(userId) ?? { references: 0, chats: [], loading: undefined, changes: [] };
      if (user.references++ > 0) continue;
      this.#users.set(userId, user);
      added.push([userId, user]);
    }
    for (let i = 0; i < added.length; i += maxLoaded) {
      const users = new Map(added.slice(i, i + maxLoaded));
      const loading = this.#load(users);
      for (const user of users.values()) user.loading = loading;
    }
    try {
      await Promise.all(new Set(userIds.map((userId) => this.#users.get(userId)?.loading)));
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
    while (this.#position < eventId && this.#users.size > 0) {
      const { events, last } = await this.#log.read(this.#position, maxEvents);
      for (const event of events) {
        // Another consumer may have applied it meanwhile.
        if (event.event_id <= this.#position) continue;
        this.#position = event.event_id;
        for (const change of changesOf(event)) this.#receive(change);
      }
      this.#position = Math.max(this.#position, last);
    }
  }

  /** Yields the values of those among tracked users who see an event of a chat. Costs what the smaller side costs. */
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

  async #load(users: ReadonlyMap<UserId, TrackedUser>): Promise<void> {
    const rows = await membershipPeriods(this.#engine, [...users.keys()], this.#floor());
    // A user may have been removed meanwhile.
    const isTracked = (userId: UserId) => this.#users.get(userId) === users.get(userId);
    for (const { user_id, chat_id, joined_event, left_event } of rows) {
      const user = users.get(user_id);
      if (user && isTracked(user_id)) this.#add(user, user_id, chat_id, { joined_event, left_event });
    }
    for (const [userId, user] of users) {
      const changes = user.changes ?? [];
      user.changes = undefined;
      user.loading = undefined;
      if (isTracked(userId)) for (const change of changes) this.#apply(user, change);
    }
  }

  #receive(change: Change): void {
    const user = this.#users.get(change.userId);
    if (user?.changes) user.changes.push(change);
    else if (user) this.#apply(user, change);
  }

  /** Changes nothing if the change was loaded already: the database may be ahead of the events applied. */
  #apply(user: TrackedUser, { userId, chatId, eventId, isJoin }: Change): void {
    const periods = this.#chats.get(chatId)?.get(userId) ?? [];
    if (isJoin) {
      const isKnown = periods.some(({ joined_event }) => joined_event === eventId);
      if (!isKnown) this.#add(user, userId, chatId, { joined_event: eventId, left_event: null });
      return;
    }
    const period = periods.find(({ joined_event, left_event }) => left_event === null && joined_event < eventId);
    if (!period) return;
    period.left_event = eventId;
    this.#noteEnded(userId, chatId, period);
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
    if (period.left_event !== null) this.#noteEnded(userId, chatId, period);
  }

  #remove(chatId: ChatId, userId: UserId): void {
    const members = this.#chats.get(chatId);
    members?.delete(userId);
    if (members?.size === 0) this.#chats.delete(chatId);
  }

  /** The event that no consumer asks about any more, nor about any before it. */
  #floor(): number {
    return Math.min(this.#position, ...this.#consumers.map((position) => position()));
  }

  #noteEnded(userId: UserId, chatId: ChatId, period: Period): void {
    this.#ended.push({ userId, chatId, period });
    if (this.#ended.length < this.#maxEnded) return;
    const floor = this.#floor();
    const isNeeded = ({ left_event }: Period) => left_event === null || left_event > floor;
    for (const { userId, chatId, period } of this.#ended) if (!isNeeded(period)) this.#drop(userId, chatId, period);
    this.#ended = this.#ended.filter(({ period }) => isNeeded(period));
    this.#maxEnded = Math.max(minEnded, 2 * this.#ended.length);
  }

  #drop(userId: UserId, chatId: ChatId, period: Period): void {
    const members = this.#chats.get(chatId);
    const left = members?.get(userId)?.filter((other) => other !== period);
    if (left?.length) members?.set(userId, left);
    else if (left) {
      this.#remove(chatId, userId);
      const user = this.#users.get(userId);
      if (user) user.chats = user.chats.filter((other) => other !== chatId);
    }
  }
}

function* changesOf({ event, event_id: eventId, chat_id: chatId, body }: LogEntry): Iterable<Change> {
  for (const userId of joining[event]?.(body) ?? []) yield { userId, chatId, eventId, isJoin: true };
  if (event === 'user_left') yield { userId: dataOf<'user_left'>(body).user_id, chatId, eventId, isJoin: false };
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
