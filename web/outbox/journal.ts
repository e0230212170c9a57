/**
 * The messages and drafts that IndexedDB does not have yet. A page that goes at once may lose a transaction, also one that was
 * committed. This storage is written before the call returns.
 */
export class Journal<T extends { readonly key: string }> {
  readonly #storage: Storage;
  readonly #prefix: string;

  /** Entries of other sessions are deleted. */
  constructor(storage: Storage, kind: 'unsent' | 'draft', session: string) {
    this.#storage = storage;
    this.#prefix = `parley-${kind} `;
    const others = this.#names();
    this.#prefix += `${session} `;
    for (const name of others) if (!name.startsWith(this.#prefix)) storage.removeItem(name);
  }

  add(item: T): void {
    try {
      this.#storage.setItem(this.#prefix + item.key, JSON.stringify(item));
    } catch {
      // There is no room in it. The database tells if it has none either.
    }
  }

  /** Removes it, unless it has changed since. */
  remove(item: T): void {
    const name = this.#prefix + item.key;
    if (this.#storage.getItem(name) === JSON.stringify(item)) this.#storage.removeItem(name);
  }

  all(): T[] {
    return this.#names().flatMap((name) => {
      try {
        return JSON.parse(this.#storage.getItem(name) ?? '');
      } catch {
        // Another tab has removed it, or the browser has damaged it.
        return [];
      }
    });
  }

  #names(): string[] {
    const names = Array.from({ length: this.#storage.length }, (_, i) => this.#storage.key(i) ?? '');
    return names.filter((name) => name.startsWith(this.#prefix));
  }
}
