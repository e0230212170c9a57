import { ApiError, type Client } from '@parley-chat/sdk';
import { Batch } from '../lib/batch.ts';
import { chatRecord, type Loads } from './apply.ts';
import type { ChatRecord, UserRecord } from './records.ts';
import type { Store } from './store.ts';

/** Events that arrive together cause one request. */
const gatherMs = 50;

const pageSize = 200;

/** Loads chats, single messages and users into the store. Requests for the same thing are joined. */
export class Loader implements Loads {
  readonly #store: Store;
  readonly #client: Client;
  readonly #onError: (error: unknown) => void;
  readonly #chats: Batch<number>;
  readonly #messages: Batch<number>;
  readonly #users: Batch<number>;
  /** Users that were asked for, also those that do not exist. */
  readonly #requested = new Set<number>();

  constructor(store: Store, client: Client, onError: (error: unknown) => void) {
    this.#store = store;
    this.#client = client;
    this.#onError = onError;
    this.#chats = new Batch(gatherMs, (ids) => this.#each(ids, (id) => this.loadChat(id)));
    this.#messages = new Batch(gatherMs, (ids) => this.#each(ids, (id) => this.#loadMessage(id)));
    this.#users = new Batch(gatherMs, (ids) => this.#each(ids, (id) => this.#loadUser(id)));
    store.listen({ usersNeeded: (ids) => this.#needUsers(ids) });
  }

  chat(chatId: number): void {
    this.#chats.add(chatId);
  }

  message(_chatId: number, messageId: number): void {
    this.#messages.add(messageId);
  }

  /** Loads the list. Chats that are not in it any more are removed. */
  async loadChats(): Promise<void> {
    const records: ChatRecord[] = [];
    for await (const chat of this.#client.chats.list.all({ limit: pageSize })) {
      records.push(chatRecord(chat, this.#store.chat(chat.chat_id), 0));
    }
    this.#store.setChats(records);
    for (const chat of records) this.#needPeer(chat);
  }

  /** Loads one chat. Removes it if the user is not in it. */
  async loadChat(chatId: number): Promise<ChatRecord | undefined> {
    try {
      const { chat } = await this.#client.chats.get({ chat_id: chatId });
      if (chat.role === null) {
        this.#store.removeChat(chatId);
        return undefined;
      }
      return this.putChat(chat);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
      this.#store.removeChat(chatId);
      return undefined;
    }
  }

  /** Puts a chat that the server has just sent into the store. A new one comes first in the list. */
  putChat(sent: Omit<ChatRecord, 'activity'>): ChatRecord {
    const newest = this.#store.byActivity.value.reduce((most, { activity }) => Math.max(most, activity), 0);
    const chat = chatRecord(sent, this.#store.chat(sent.chat_id), newest);
    this.#store.putChats([chat]);
    this.#needPeer(chat);
    return chat;
  }

  /** Loads all participants of a chat, which also tells their names. */
  async participants(chatId: number) {
    const { participants } = await this.#client.chats.participants({ chat_id: chatId, limit: pageSize });
    this.#store.putUsers(participants.filter(({ user_id }) => !this.#store.users.value.has(user_id)).map(userOf));
    return participants;
  }

  #needPeer({ chat_id, type, peer }: ChatRecord): void {
    if (type !== 'direct' || peer) return;
    this.#work(async () => {
      const participants = await this.participants(chat_id);
      const other = participants.find(({ user_id }) => user_id !== this.#store.me.user_id) ?? participants[0];
      if (other) this.#store.changeChat(chat_id, () => ({ peer: other }));
    });
  }

  #needUsers(ids: readonly number[]): void {
    for (const id of ids) {
      if (this.#requested.has(id)) continue;
      this.#requested.add(id);
      this.#users.add(id);
    }
  }

  async #loadUser(userId: number): Promise<void> {
    try {
      const { user } = await this.#client.users.get({ user_id: userId });
      if (user) this.#store.putUsers([user]);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'not_found')) {
        this.#requested.delete(userId);
        throw error;
      }
    }
  }

  async #loadMessage(messageId: number): Promise<void> {
    try {
      const { message } = await this.#client.messages.get({ message_id: messageId });
      this.#store.putMessage(message);
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

const userOf = ({ user_id, name, display_name }: Omit<UserRecord, 'kind'>): UserRecord => ({
  user_id,
  name,
  display_name,
  kind: 'person',
});
