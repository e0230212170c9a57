import { ApiError, type Client, type Participant } from '@parley-chat/sdk';
import { Batch } from '../lib/batch.ts';
import { chatRecord, type Loads, listRecords } from './apply.ts';
import { type ChatRecord, type SentChat, userRecord } from './records.ts';
import type { Store } from './store.ts';
import { joinPage } from './threads.ts';

/** Events that arrive together cause one request. */
const gatherMs = 50;

const pageSize = 200;

/** Threads in a page of the user's own. */
const threadPageSize = 50;

/** In a larger chat, the others are not offered as completions. */
const maxParticipants = 2_000;

/** Loads chats, single messages and users into the store. Requests for the same thing are joined. */
export class Loader implements Loads {
  readonly #store: Store;
  readonly #client: Client;
  readonly #onError: (error: unknown) => void;
  readonly #chats: Batch<number>;
  readonly #messages: Batch<number>;
  readonly #users: Batch<number>;
  readonly #threads: Batch<'threads'>;
  #olderThreads: Promise<void> | undefined;
  /** Users that were asked for, also those that do not exist. */
  readonly #requested = new Set<number>();
  /** Chats that were put into the store since the list was last requested. */
  readonly #created = new Set<number>();

  constructor(store: Store, client: Client, onError: (error: unknown) => void) {
    this.#store = store;
    this.#client = client;
    this.#onError = onError;
    this.#chats = new Batch(gatherMs, (ids) => this.#each(ids, (id) => this.loadChat(id)));
    this.#messages = new Batch(gatherMs, (ids) => this.#each(ids, (id) => this.#loadMessage(id)));
    this.#users = new Batch(gatherMs, (ids) => this.#work(() => this.#loadUsers(ids)));
    this.#threads = new Batch(gatherMs, () => this.#work(() => this.loadThreads()));
    store.listen({ usersNeeded: (ids) => this.#needUsers(ids) });
  }

  chat(chatId: number): void {
    this.#chats.add(chatId);
  }

  message(_chatId: number, messageId: number): void {
    this.#messages.add(messageId);
  }

  /** Loads who of the people in direct chats is online. Later changes are in the stream. */
  async loadPresence(): Promise<void> {
    const peers = new Set([...this.#store.chats.value.values()].flatMap(({ peer }) => peer?.user_id ?? []));
    await this.#loadPresenceOf([...peers]);
  }

  async #loadPresenceOf(ids: readonly number[]): Promise<void> {
    for (let from = 0; from < ids.length; from += pageSize) {
      const { presence } = await this.#client.users.presence({ user_ids: ids.slice(from, from + pageSize) });
      this.#store.setPresence(presence);
    }
  }

  threads(): void {
    this.#threads.add('threads');
  }

  /** Loads the newest threads of the user. Those that were loaded before stay below them. */
  async loadThreads(): Promise<void> {
    const page = await this.#client.messages.threads({ limit: threadPageSize });
    this.#store.myThreads.value = joinPage(this.#store.myThreads.value, page);
  }

  /** Loads the threads below those that are known. Calls at the same time share one request. */
  loadOlderThreads(): Promise<void> {
    this.#olderThreads ??= this.#loadOlderThreads().finally(() => {
      this.#olderThreads = undefined;
    });
    return this.#olderThreads;
  }

  async #loadOlderThreads(): Promise<void> {
    const { threads, hasMore } = this.#store.myThreads.value ?? { threads: [], hasMore: false };
    const before_id = threads.at(-1)?.last_reply_id;
    if (!hasMore || before_id === undefined) return;
    const page = await this.#client.messages.threads({ limit: threadPageSize, before_id });
    this.#store.myThreads.value = joinPage(this.#store.myThreads.value, page, before_id);
  }

  /** Keeps only the newest threads. Events refresh no others. */
  dropOlderThreads(): void {
    const list = this.#store.myThreads.value;
    if (!list || list.threads.length <= threadPageSize) return;
    this.#store.myThreads.value = { threads: list.threads.slice(0, threadPageSize), hasMore: true };
  }

  /**
   * Loads the list: the chats, then those that are archived. Shows the first page as soon as it is there, if there is nothing
   * else to show. Chats that are not in it any more are removed. Returns the event after which to follow the log.
   */
  async loadChats(): Promise<number> {
    this.#created.clear();
    this.#needUsers([this.#store.me.user_id]);
    const { eventId, chats } = await this.#loadList({}, (first) => {
      if (this.#store.isReady.value) return;
      this.#store.putChats(listRecords(first));
      this.#store.isReady.value = true;
    });
    const archived = await this.#loadList({ archived: true });
    const records = [...listRecords(chats), ...listRecords(archived.chats)];
    // The user may have made a chat in the meantime.
    const created = [...this.#created].flatMap((id) => this.#store.chat(id) ?? []);
    this.#store.setChats([...created, ...records]);
    return eventId;
  }

  /** Loads all pages of one moment. Events after it are in the log. */
  async #loadList(input: { readonly archived?: true }, onFirst?: (chats: readonly SentChat[]) => void) {
    const chats: SentChat[] = [];
    let page = await this.#client.chats.list({ order: 'activity', limit: pageSize, ...input });
    const eventId = page.event_id;
    for (;;) {
      chats.push(...page.chats);
      if (chats.length === page.chats.length) onFirst?.(chats);
      if (typeof page.next !== 'string') return { eventId, chats };
      page = await this.#client.chats.list({ order: 'activity', limit: pageSize, after: page.next, ...input });
    }
  }

  /** Loads one chat. Removes it if the user is not in it. */
  async loadChat(chatId: number): Promise<ChatRecord | undefined> {
    try {
      await this.#store.load(
        () => this.#client.chats.get({ chat_id: chatId }),
        ({ chat }) => {
          if (chat.role === null) this.#store.removeChat(chatId);
          else this.putChat(chat);
        },
      );
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
      this.#store.removeChat(chatId);
    }
    return this.#store.chat(chatId);
  }

  /** Puts a chat that the server has just sent into the store. A new one comes first in the list. */
  putChat(sent: SentChat): ChatRecord {
    const newest = this.#store.byActivity.value.reduce((most, { activity }) => Math.max(most, activity), 0);
    const chat = chatRecord(sent, this.#store.chat(sent.chat_id), newest);
    this.#created.add(chat.chat_id);
    this.#store.putChats([chat]);
    const peer = chat.peer?.user_id;
    if (peer !== undefined && !this.#store.presence.value.has(peer)) this.#work(() => this.#loadPresenceOf([peer]));
    return chat;
  }

  /** Loads the participants of a chat, up to a limit. */
  async participants(chatId: number): Promise<Participant[]> {
    const people: Participant[] = [];
    for await (const person of this.#client.chats.participants.all({ chat_id: chatId, limit: pageSize })) {
      people.push(person);
      if (people.length === maxParticipants) break;
    }
    return people;
  }

  /** Loads the participants of a chat into the store. */
  async loadParticipants(chatId: number): Promise<void> {
    this.#store.putParticipants(chatId, await this.participants(chatId));
  }

  /** Loads what an administrator has done so far. What is done is not asked for again. */
  async loadSetup(): Promise<void> {
    const known = this.#store.setup.value;
    const [isInvited, isConnected] = await Promise.all([
      known?.isInvited || this.#hasInvited(),
      known?.isConnected || this.#client.webhooks.list({ limit: 1 }).then(({ webhooks }) => webhooks.length > 0),
    ]);
    this.#store.setup.value = { isInvited, isConnected };
  }

  async #hasInvited(): Promise<boolean> {
    const { users } = await this.#client.users.search({ limit: 2 });
    return users.length > 1 || (await this.#client.invitations.list({})).invitations.length > 0;
  }

  /** Loads all known users again, when they are next needed. */
  forgetUsers(): void {
    this.#requested.clear();
    this.#store.forgetUsers();
  }

  #needUsers(ids: readonly number[]): void {
    for (const id of ids) {
      if (this.#requested.has(id)) continue;
      this.#requested.add(id);
      this.#users.add(id);
    }
  }

  async #loadUsers(ids: readonly number[]): Promise<void> {
    for (let from = 0; from < ids.length; from += pageSize) {
      const user_ids = ids.slice(from, from + pageSize);
      try {
        const { users = [] } = await this.#client.users.get({ user_ids });
        this.#store.putUsers(users.map(userRecord));
      } catch (error) {
        for (const id of user_ids) this.#requested.delete(id);
        throw error;
      }
    }
  }

  async #loadMessage(messageId: number): Promise<void> {
    try {
      await this.#store.load(
        () => this.#client.messages.get({ message_id: messageId }),
        ({ message }) => this.#store.putMessage(message),
      );
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
    }
  }

  #each(ids: readonly number[], load: (id: number) => Promise<unknown>): void {
    for (const id of ids) this.#work(() => load(id));
  }

  #work(load: () => Promise<unknown>): void {
    load().catch(this.#onError);
  }
}
