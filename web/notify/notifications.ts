import { effect, type Signal, signal } from '@preact/signals';
import { Batch } from '../lib/batch.ts';
import type { Session } from '../session.ts';
import type { ChatRecord, MessageRecord } from '../store/records.ts';
import { hasWorkers } from '../worker/forget.ts';
import { claimNotice } from './claim.ts';
import { Device } from './device.ts';
import { type MessageNotice, showNotice, targetOf } from './notice.ts';
import { followQuietHours } from './quiet-hours.ts';
import { notifies, type QuietHours } from './rules.ts';
import { ring } from './sound.ts';
import { subscribe, unsubscribe } from './subscription.ts';
import { isWatched, tellWatched } from './watch.ts';

/** Messages that arrive together make one notification for each chat. */
const gatherMs = 150;

/** Characters of the text. The server sends as many. */
const maxText = 500;

/** Whether this browser is reached while the client is closed. */
export type PushState = 'off' | 'starting' | 'on' | 'unavailable';

/** Returns whether the browser can show notifications at all. Over plain HTTP none can. */
export const canNotify = (): boolean => hasWorkers() && 'Notification' in globalThis && 'PushManager' in globalThis;

/** Notifications of this browser: those that a tab shows, and the subscription for the time when none is open. */
export class Notifications {
  readonly device: Device;
  readonly permission: Signal<NotificationPermission> = signal(Notification.permission);
  readonly push: Signal<PushState> = signal('off');
  readonly #session: Session;
  readonly #registration: Promise<ServiceWorkerRegistration>;
  #quietHours: QuietHours | null = null;
  /** Resolves once the quiet hours are loaded for the first time. */
  readonly #quietHoursLoaded = Promise.withResolvers<void>();
  /** The newest message that notifies, by chat. */
  readonly #arrived = new Map<number, MessageRecord>();
  readonly #show: Batch<number>;
  readonly #close: Batch<'read'>;

  constructor(session: Session, registration: Promise<ServiceWorkerRegistration>) {
    this.#session = session;
    this.#registration = registration;
    this.device = new Device(session.store.me.user_id);
    this.#show = new Batch(gatherMs, (chatIds) => this.#work(() => this.#showAll(chatIds)));
    this.#close = new Batch(gatherMs, () => this.#work(() => this.#closeRead()));
    tellWatched(session.store.isVisible);
    followQuietHours(session.store.me.user_id, (hours) => {
      this.#quietHours = hours;
    });
    session.store.listen({
      messageArrived: (message) => this.#add(message),
      chatsChanged: () => this.#close.add('read'),
    });
    effect(() => {
      if (session.store.connection.value === 'live') this.#work(() => this.#connected());
    });
  }

  /** Asks the user for the permission of the browser, and subscribes. To be called from a click. */
  async turnOn(): Promise<void> {
    this.permission.value = await Notification.requestPermission();
    if (this.permission.value !== 'granted') return;
    this.device.set({ isOn: true });
    await this.#subscribe();
  }

  async turnOff(): Promise<void> {
    this.device.set({ isOn: false });
    await unsubscribe(this.#session.client, await this.#registration);
    this.push.value = 'off';
  }

  async setWithText(withText: boolean): Promise<void> {
    this.device.set({ withText });
    await this.#subscribe();
  }

  /** Returns the endpoint of this browser's subscription. */
  async endpoint(): Promise<string | undefined> {
    return (await (await this.#registration).pushManager.getSubscription())?.endpoint;
  }

  get #isOn(): boolean {
    return this.device.choice.peek().isOn && Notification.permission === 'granted';
  }

  async #connected(): Promise<void> {
    this.#close.add('read');
    this.#quietHours = (await this.#session.client.users.quietHours({})).quiet_hours;
    this.#quietHoursLoaded.resolve();
    // A subscription ends with the session that it belongs to, and another tab may have begun a new session.
    if (this.#isOn) await this.#subscribe();
  }

  async #subscribe(): Promise<void> {
    this.push.value = 'starting';
    try {
      await subscribe(this.#session.client, await this.#registration, this.device.choice.peek().withText);
      this.push.value = 'on';
    } catch (error) {
      this.push.value = 'unavailable';
      // Some browsers have no push service. Tabs that are open notify all the same.
      if (!(error instanceof DOMException)) throw error;
    }
  }

  #add(message: MessageRecord): void {
    const { store } = this.#session;
    if (!this.#isOn || store.isVisible.peek() || message.user_id === store.me.user_id) return;
    const chat = store.chat(message.chat_id);
    // A chat that is new to the user is loaded first.
    if (chat && !this.#notifies(chat, message)) return;
    this.#arrived.set(message.chat_id, message);
    this.#show.add(message.chat_id);
  }

  #notifies(chat: ChatRecord, message: MessageRecord): boolean {
    const isMention = this.#session.store.isMentioned(message);
    return chat.unread_count > 0 && notifies(chat, isMention, this.#quietHours, Date.now());
  }

  async #showAll(chatIds: readonly number[]): Promise<void> {
    for (const chatId of chatIds) {
      const message = this.#arrived.get(chatId);
      this.#arrived.delete(chatId);
      if (message) await this.#showOne(message);
    }
  }

  async #showOne(message: MessageRecord): Promise<void> {
    const { store, loader, db } = this.#session;
    const { chat_id } = message;
    const chat = store.chat(chat_id) ?? (await loader.loadChat(chat_id));
    await this.#quietHoursLoaded.promise;
    if (!chat || !this.#notifies(chat, message) || (await isWatched())) return;
    const notice = await this.#noticeOf(chat, message);
    const claim = await claimNotice(db, message, Date.now());
    if (claim === 'no') return;
    // The sound is ours, so that it can be switched off.
    await showNotice(await this.#registration, notice, { silent: true });
    if (claim === 'ring' && this.device.choice.peek().hasSound) await ring();
  }

  async #noticeOf(chat: ChatRecord, message: MessageRecord): Promise<MessageNotice> {
    const { store, client } = this.#session;
    const { user_id, content, file, chat_id, message_id, created_at } = message;
    const author = store.user(user_id) ?? (await client.users.get({ user_id })).user;
    return {
      kind: 'message',
      chat_id,
      ...(chat.type !== 'direct' && chat.name !== null && { chat_name: chat.name }),
      message_id,
      author_name: author?.display_name ?? '',
      ...(this.device.choice.peek().withText && { text: content.slice(0, maxText), file_name: file?.name }),
      is_mention: store.isMentioned(message),
      sent_at: created_at,
    };
  }

  /** Closes the notifications of chats that were read, here or on another device. */
  async #closeRead(): Promise<void> {
    const { store } = this.#session;
    // Until then a new chat may be missing here.
    if (store.connection.peek() !== 'live') return;
    for (const notification of await (await this.#registration).getNotifications()) {
      const target = targetOf(notification);
      if (target && (store.chat(target.chat_id)?.unread_count ?? 0) === 0) notification.close();
    }
  }

  #work(run: () => Promise<void>): void {
    run().catch(this.#session.report);
  }
}

/** The notifications of this tab, once they have started. */
export const notifications: Signal<Notifications | undefined> = signal(undefined);
