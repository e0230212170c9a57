import { type Signal, signal } from '@preact/signals';
import { Batch } from '../lib/batch.ts';
import { result, transact } from '../store/database.ts';

const delayMs = 300;

/** Texts that were begun, one for each chat. They survive a reload. */
export class Drafts {
  readonly texts: Signal<ReadonlyMap<number, string>> = signal(new Map());
  readonly #db: IDBDatabase;
  readonly #batch: Batch<number>;

  constructor(db: IDBDatabase, onError: (error: unknown) => void) {
    this.#db = db;
    this.#batch = new Batch(delayMs, (ids) => void this.#write(ids).catch(onError));
  }

  async load(): Promise<void> {
    this.texts.value = await transact(this.#db, ['drafts'], 'readonly', async (store) => {
      const drafts = store('drafts');
      const [ids, texts] = await Promise.all([result(drafts.getAllKeys()), result<string[]>(drafts.getAll())]);
      return new Map(ids.map((id, i) => [Number(id), texts[i] ?? '']));
    });
  }

  get(chatId: number): string {
    return this.texts.value.get(chatId) ?? '';
  }

  set(chatId: number, text: string): void {
    if (text === this.texts.peek().get(chatId)) return;
    const texts = new Map(this.texts.peek());
    if (text === '') texts.delete(chatId);
    else texts.set(chatId, text);
    this.texts.value = texts;
    this.#batch.add(chatId);
  }

  async #write(ids: readonly number[]): Promise<void> {
    await transact(this.#db, ['drafts'], 'readwrite', (store) => {
      for (const id of ids) {
        const text = this.texts.peek().get(id);
        if (text === undefined) store('drafts').delete(id);
        else store('drafts').put(text, id);
      }
    });
  }
}
