import type { ChatId, EventName, UserId } from '@parley/contract';
import { findChatType } from '../store/chats.ts';
import type { Db } from '../store/engine.ts';
import { type EventHead, eventsNamed } from '../store/events.ts';
import { type Stay, sees } from '../store/visibility.ts';
import { eventsOf, isAbout } from '../store/webhook-events.ts';
import { activeWebhooks, readPosition, staysOfOwners, type WebhookRow } from '../store/webhooks.ts';

/** What deciding needs to know of a webhook. */
interface Subscription {
  readonly webhookId: number;
  readonly userId: UserId;
  readonly names: ReadonlySet<EventName>;
  readonly chatId: ChatId | null;
  readonly serviceWide: boolean;
  readonly includeDirect: boolean;
  readonly sinceEvent: number;
}

/** A webhook in a chat, for as long as it may see what happens there. */
interface Seat extends Stay {
  readonly subscription: Subscription;
}

const always = { joined_event: 0, left_event: null };

/** Whoever begins or ends a stay does so with one of these. */
const changesSeats: ReadonlySet<EventName> = new Set([
  'user_joined',
  'user_left',
  'group_created',
  'channel_created',
  'direct_created',
]);

/** Chats that are remembered. */
const mostChats = 10_000;

/**
 * Which webhooks are to be told of an event. What is known of a chat is kept by event name, so that an event costs what is
 * told of it and not how many webhooks there are. It stays true until the log itself tells of a change in the chat, or
 * until the registry's version changes; so events must be shown to it in the order of the log.
 */
export class Audience {
  readonly #db: Db;
  #version = -1;
  #byUser = new Map<UserId, Subscription[]>();
  #serviceWide: Subscription[] = [];
  readonly #chats = new Map<ChatId, Map<EventName, Seat[]>>();

  constructor(db: Db) {
    this.#db = db;
  }

  get version(): number {
    return this.#version;
  }

  /** Whether nobody is told of anything. */
  get isEmpty(): boolean {
    return this.#byUser.size === 0;
  }

  /** Forgets the chats: the log was read by somebody else in the meantime. */
  forgetChats(): void {
    this.#chats.clear();
  }

  /**
   * Brings the registry up to date, and answers whether it was not. To be called after the events were read: then whoever
   * came before them is in it.
   */
  async refresh(): Promise<boolean> {
    const { version } = await readPosition(this.#db);
    if (version === this.#version) return false;
    this.#byUser = new Map();
    this.#serviceWide = [];
    this.#chats.clear();
    for (const row of await activeWebhooks(this.#db)) this.#add(row);
    this.#version = version;
    return true;
  }

  #add(row: WebhookRow): void {
    const subscription: Subscription = {
      webhookId: row.webhook_id,
      userId: row.user_id,
      names: eventsOf(row),
      chatId: row.chat_id,
      serviceWide: row.service_wide === 1,
      includeDirect: row.include_direct === 1,
      sinceEvent: row.since_event,
    };
    const others = this.#byUser.get(row.user_id);
    if (others) others.push(subscription);
    else this.#byUser.set(row.user_id, [subscription]);
    if (subscription.serviceWide) this.#serviceWide.push(subscription);
  }

  /** The ids of the webhooks that are to be told. */
  async of(event: EventHead): Promise<number[]> {
    if (changesSeats.has(event.event)) this.#chats.delete(event.chat_id);
    const chat = this.#chats.get(event.chat_id) ?? (await this.#seat(event.chat_id));
    const seats = chat.get(event.event);
    if (!seats) return [];
    const told = seats
      .filter((seat) => sees(seat, event.event_id) && event.event_id > seat.subscription.sinceEvent)
      .map((seat) => seat.subscription.webhookId);
    if (event.event !== 'webhook_disabled') return told;
    const [row] = await eventsNamed(this.#db, [event.event_id]);
    return told.filter((webhookId) => row && !isAbout(row, webhookId));
  }

  async #seat(chatId: ChatId): Promise<Map<EventName, Seat[]>> {
    if (this.#chats.size >= mostChats) this.#chats.clear();
    const chat = new Map<EventName, Seat[]>();
    for (const seat of chatId < 0 ? this.#seatsOfOne(chatId) : await this.#seatsIn(chatId)) {
      for (const name of seat.subscription.names) {
        const seats = chat.get(name);
        if (seats) seats.push(seat);
        else chat.set(name, [seat]);
      }
    }
    this.#chats.set(chatId, chat);
    return chat;
  }

  /** What is for one user alone. */
  #seatsOfOne(place: number): Seat[] {
    const own = this.#byUser.get(-place as UserId) ?? [];
    return own.filter(({ chatId }) => chatId === null).map((subscription) => ({ subscription, ...always }));
  }

  async #seatsIn(chatId: ChatId): Promise<Seat[]> {
    const stays = await staysOfOwners(this.#db, chatId);
    const members = stays.flatMap((stay) =>
      (this.#byUser.get(stay.user_id) ?? [])
        .filter((subscription) => !subscription.serviceWide)
        .map((subscription) => ({ subscription, joined_event: stay.joined_event, left_event: stay.left_event })),
    );
    const type = this.#serviceWide.length > 0 ? await findChatType(this.#db, chatId) : undefined;
    const everywhere = this.#serviceWide
      .filter(({ includeDirect }) => includeDirect || type !== 'direct')
      .map((subscription) => ({ subscription, ...always }));
    return [...members, ...everywhere].filter(
      ({ subscription }) => subscription.chatId === null || subscription.chatId === chatId,
    );
  }
}
