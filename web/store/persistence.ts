import { Batch } from '../lib/batch.ts';
import { result, type StoreName, transact, writtenStores } from './database.ts';
import type { ChatRecord, UserRecord } from './records.ts';
import type { Store } from './store.ts';
import type { Timeline } from './timeline.ts';

/** Changes are stored together. */
const delayMs = 200;

/** Only so many of the newest messages of a chat are stored. Opening the chat loads as many, so none of them stays outdated. */
const keptMessages = 50;

const recordStores = ['meta', 'chats', 'users', 'timelines'] as const satisfies readonly StoreName[];

/**
 * Stores the state in IndexedDB. The records and the cursor are written in one transaction, so the stored state is always one
 * that the stream can continue. Of several tabs, only the one that is furthest ahead writes.
 */
export class Persistence {
  readonly #db: IDBDatabase;
  readonly #store: Store;
  readonly #session: string;
  readonly #onError: (error: unknown) => void;
  readonly #batch: Batch<string>;
  #chats = new Set<number>();
  #users = new Set<number>();
  #timelines = new Set<number>();
  #cursor: number | undefined;

  constructor(db: IDBDatabase, store: Store, session: string, onError: (error: unknown) => void) {
    this.#db = db;
    this.#store = store;
    this.#session = session;
    this.#onError = onError;
    this.#batch = new Batch(delayMs, () => void this.#write().catch(this.#onError));
  }

  /** Fills the store with the stored state. Returns its cursor, or undefined if there is none of this session. */
  async load(): Promise<number | undefined> {
    const stored = await transact(this.#db, ['meta', 'chats', 'users'], 'readonly', async (store) => {
      const [session, cursor, chats, users] = await Promise.all([
        result<unknown>(store('meta').get('session')),
        result<unknown>(store('meta').get('cursor')),
        result<ChatRecord[]>(store('chats').getAll()),
        result<UserRecord[]>(store('users').getAll()),
      ]);
      return { session, cursor, chats, users };
    });
    if (stored.session !== this.#session) {
      await this.clear();
      return undefined;
    }
    if (typeof stored.cursor !== 'number') return undefined;
    this.#store.putUsers(stored.users);
    this.#store.setChats(stored.chats);
    this.#store.isReady.value = true;
    this.#forgetChanges();
    return stored.cursor;
  }

  /** Fills a timeline with the stored messages, if it is not loaded yet. */
  async loadTimeline(chatId: number): Promise<void> {
    if (this.#store.timeline(chatId).value) return;
    const stored = await transact(this.#db, ['timelines'], 'readonly', (store) =>
      result<Timeline | undefined>(store('timelines').get(chatId)),
    );
    if (!stored || this.#store.timeline(chatId).value) return;
    this.#store.setTimeline(chatId, stored);
    this.#timelines.delete(chatId);
  }

  /** Stores changes from now on. */
  start(): void {
    this.#store.listen({
      chatsChanged: (ids) => this.#add(this.#chats, ids),
      usersChanged: (ids) => this.#add(this.#users, ids),
      timelineChanged: (id) => this.#add(this.#timelines, [id]),
    });
  }

  /** The store has everything up to this cursor. */
  reached(cursor: number): void {
    if (cursor === this.#cursor) return;
    this.#cursor = cursor;
    this.#batch.add('cursor');
  }

  flush(): void {
    this.#batch.flush();
  }

  /** Deletes the stored state, and what people wrote if it belongs to an earlier session. */
  async clear(): Promise<void> {
    await transact(this.#db, [...recordStores, ...writtenStores], 'readwrite', async (store) => {
      const session = await result<unknown>(store('meta').get('session'));
      for (const name of recordStores) store(name).clear();
      if (session !== this.#session) for (const name of writtenStores) store(name).clear();
      store('meta').put(this.#session, 'session');
    });
  }

  #add(set: Set<number>, ids: readonly number[]): void {
    for (const id of ids) set.add(id);
    this.#batch.add('records');
  }

  #forgetChanges(): void {
    this.#chats = new Set();
    this.#users = new Set();
    this.#timelines = new Set();
  }

  async #write(): Promise<void> {
    const cursor = this.#cursor;
    if (cursor === undefined) return;
    const [chats, users, timelines] = [this.#chats, this.#users, this.#timelines];
    this.#forgetChanges();
    await transact(this.#db, recordStores, 'readwrite', async (store) => {
      const [session, stored] = await Promise.all([
        result<unknown>(store('meta').get('session')),
        result<number | undefined>(store('meta').get('cursor')),
      ]);
      if (session !== this.#session || (stored ?? 0) > cursor) return;
      store('meta').put(cursor, 'cursor');
      for (const id of chats) replace(store('chats'), id, this.#store.chat(id));
      for (const id of users) replace(store('users'), id, this.#store.users.value.get(id));
      for (const id of timelines) {
        const timeline = this.#store.peekTimeline(id);
        if (!this.#store.chat(id)) store('timelines').delete(id);
        else if (timeline && !timeline.hasNewer) store('timelines').put(newestPart(timeline), id);
      }
    });
  }
}

function replace(store: IDBObjectStore, id: number, record: object | undefined): void {
  if (record) store.put(record);
  else store.delete(id);
}

function newestPart({ messages, hasOlder }: Timeline): Timeline {
  return {
    messages: messages.slice(-keptMessages),
    hasOlder: hasOlder || messages.length > keptMessages,
    hasNewer: false,
  };
}
