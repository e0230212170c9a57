import type { ChatId, ChatType, EventName, UserId } from '@parley/contract';
import { LRUCache } from 'lru-cache';
import type { MembershipIndex } from '../log/membership.ts';
import { findChatType } from '../store/chat/chats.ts';
import type { Db, LogEntry } from '../store/engine/engine.ts';
import { eventsOf, isAbout } from '../store/webhooks/webhook-events.ts';
import { activeWebhooks, readPosition, type WebhookRow } from '../store/webhooks/webhooks.ts';

/** The fields of a webhook that matching needs. */
type Subscription = Pick<WebhookRow, 'webhook_id' | 'chat_id' | 'service_wide' | 'include_direct' | 'since_event'>;

/** The subscriptions to one event name: those of a user by chat, and under null those to all of their chats. */
interface Subscriptions {
  readonly byUser: Map<UserId, Map<ChatId | null, Subscription[]>>;
  readonly serviceWide: Subscription[];
}

/**
 * Finds the webhooks that get an event. An event costs as much as the webhooks that subscribe to its name in its chat,
 * however many others there are.
 */
export class SubscriptionIndex {
  readonly #db: Db;
  readonly #membership: MembershipIndex;
  readonly #chatTypes = new LRUCache<ChatId, ChatType>({
    max: 10_000,
    fetchMethod: (chatId) => findChatType(this.#db, chatId),
  });
  #version = -1;
  #owners: ReadonlySet<UserId> = new Set();
  #byName = new Map<EventName, Subscriptions>();

  constructor(db: Db, membership: MembershipIndex) {
    this.#db = db;
    this.#membership = membership;
  }

  /** The version of the registered webhooks that the index holds. */
  get version(): number {
    return this.#version;
  }

  get isEmpty(): boolean {
    return this.#owners.size === 0;
  }

  /** Loads the active webhooks if they have changed. Returns whether they had. */
  async refresh(): Promise<boolean> {
    const { version } = await readPosition(this.#db);
    if (version === this.#version) return false;
    const rows = await activeWebhooks(this.#db);
    const owners = new Set(rows.map(({ user_id }) => user_id));
    await this.#membership.track([...owners.difference(this.#owners)]);
    this.#membership.untrack(this.#owners.difference(owners));
    this.#owners = owners;
    this.#byName = new Map();
    for (const row of rows) this.#add(row);
    this.#version = version;
    return true;
  }

  #add(row: WebhookRow): void {
    const { user_id, webhook_id, chat_id, service_wide, include_direct, since_event } = row;
    const subscription: Subscription = { webhook_id, chat_id, service_wide, include_direct, since_event };
    for (const name of eventsOf(row)) {
      const subscriptions: Subscriptions = this.#byName.get(name) ?? { byUser: new Map(), serviceWide: [] };
      this.#byName.set(name, subscriptions);
      const { byUser, serviceWide } = subscriptions;
      if (service_wide) serviceWide.push(subscription);
      const own = byUser.get(user_id) ?? new Map<ChatId | null, Subscription[]>();
      const there = own.get(chat_id) ?? [];
      there.push(subscription);
      own.set(chat_id, there);
      byUser.set(user_id, own);
    }
  }

  /**
   * Returns the ids of the webhooks that get an event, without a promise if none is for the whole service. The membership
   * index must have been advanced to the event.
   */
  match(event: LogEntry): number[] | Promise<number[]> {
    const subscriptions = this.#byName.get(event.event);
    if (!subscriptions) return [];
    const own = this.#ofMembers(event, subscriptions);
    if (event.chat_id < 0 || subscriptions.serviceWide.length === 0) return idsFor(event, own);
    return this.#ofService(event, subscriptions).then((others) => idsFor(event, [...own, ...others]));
  }

  #ofMembers({ event_id, chat_id }: LogEntry, { byUser }: Subscriptions): Subscription[] {
    if (chat_id < 0) return byUser.get(-chat_id as UserId)?.get(null) ?? [];
    const found: Subscription[] = [];
    for (const byChat of this.#membership.seenBy(event_id, chat_id, byUser)) {
      for (const subscriptions of [byChat.get(null), byChat.get(chat_id)])
        for (const one of subscriptions ?? []) if (!one.service_wide) found.push(one);
    }
    return found;
  }

  async #ofService({ chat_id }: LogEntry, { serviceWide }: Subscriptions): Promise<Subscription[]> {
    const isDirect = (await this.#chatTypes.fetch(chat_id)) === 'direct';
    const isHere = (one: Subscription) => one.chat_id === null || one.chat_id === chat_id;
    return serviceWide.filter((one) => isHere(one) && (one.include_direct || !isDirect));
  }
}

/** Returns the ids of the webhooks that are older than an event, and that it is not about. */
const idsFor = (event: LogEntry, subscriptions: readonly Subscription[]): number[] =>
  subscriptions
    .filter(({ since_event }) => since_event < event.event_id)
    .map(({ webhook_id }) => webhook_id)
    .filter((webhookId) => !isAbout(event, webhookId));
