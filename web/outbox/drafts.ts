import { type Signal, signal } from '@preact/signals';
import { Batch } from '../lib/batch.ts';
import { result, transact } from '../store/database.ts';
import { type Conversation, type ConversationKey, conversationKey } from './conversation.ts';
import type { Journal } from './journal.ts';

const delayMs = 300;

/** A text that was begun. */
export interface Draft {
  /** Null for a thread whose draft is from before version 4 of the database. */
  readonly chat_id: number | null;
  readonly text: string;
}

export interface ChangedDraft {
  readonly key: ConversationKey;
  /** Undefined if it was sent or discarded. */
  readonly draft: Draft | undefined;
}

/** Texts that were begun, one for each conversation. They survive a reload. */
export class Drafts {
  readonly #drafts: Signal<ReadonlyMap<ConversationKey, Draft>> = signal(new Map());
  readonly #db: IDBDatabase;
  readonly #journal: Journal<ChangedDraft>;
  readonly #batch: Batch<ConversationKey>;
  #isStopped = false;

  constructor(db: IDBDatabase, journal: Journal<ChangedDraft>, onError: (error: unknown) => void) {
    this.#db = db;
    this.#journal = journal;
    this.#batch = new Batch(delayMs, (keys) => void this.#write(keys).catch(onError));
  }

  async load(): Promise<void> {
    const drafts = await transact(this.#db, ['drafts'], 'readonly', async (store) => {
      const [keys, values] = await Promise.all([
        result(store('drafts').getAllKeys()),
        result<Draft[]>(store('drafts').getAll()),
      ]);
      return new Map(values.map((draft, i) => [keys[i] as ConversationKey, draft]));
    });
    for (const { key, draft } of this.#journal.all()) {
      if (draft) drafts.set(key, draft);
      else drafts.delete(key);
      this.#batch.add(key);
    }
    this.#drafts.value = drafts;
    this.flush();
  }

  get(conversation: Conversation): string {
    return this.#drafts.value.get(conversationKey(conversation))?.text ?? '';
  }

  /** Returns the drafts of a chat and of its threads. */
  inChat(chatId: number): readonly (readonly [ConversationKey, Draft])[] {
    return [...this.#drafts.value].filter(([, { chat_id }]) => chat_id === chatId);
  }

  set(conversation: Conversation, text: string): void {
    this.#put(conversationKey(conversation), { chat_id: conversation.chatId, text });
  }

  discard(key: ConversationKey): void {
    this.#put(key, { chat_id: null, text: '' });
  }

  /** Stores nothing from now on: the session has ended. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Stores what is new at once. The page may be about to go. */
  flush(): void {
    this.#batch.flush();
  }

  #put(key: ConversationKey, draft: Draft): void {
    const drafts = new Map(this.#drafts.peek());
    if (draft.text === (drafts.get(key)?.text ?? '')) return;
    if (draft.text === '') drafts.delete(key);
    else drafts.set(key, draft);
    this.#drafts.value = drafts;
    this.#batch.add(key);
  }

  async #write(keys: readonly ConversationKey[]): Promise<void> {
    if (this.#isStopped) return;
    const draftOf = (key: ConversationKey) => this.#drafts.peek().get(key);
    const changed = keys.map((key) => ({ key, draft: draftOf(key) }));
    for (const one of changed) this.#journal.add(one);
    await transact(this.#db, ['drafts'], 'readwrite', (store) => {
      for (const key of keys) {
        // It may have changed since, if this runs again.
        const draft = draftOf(key);
        if (draft) store('drafts').put(draft, key);
        else store('drafts').delete(key);
      }
    });
    for (const one of changed) this.#journal.remove(one);
  }
}
