const prefix = 'parley-unsent ';

/**
 * Messages on their way into the outbox. A page that goes at once loses a transaction which waits for another one. This storage
 * is written before the call returns.
 */
export class Journal<T extends { readonly key: string }> {
  readonly #storage: Storage;
  readonly #session: string;

  /** Entries of other sessions are deleted. */
  constructor(storage: Storage, session: string) {
    this.#storage = storage;
    this.#session = session;
    for (const [name, entry] of this.#entries()) if (entry?.session !== session) storage.removeItem(name);
  }

  add(item: T): void {
    try {
      this.#storage.setItem(prefix + item.key, JSON.stringify({ session: this.#session, item }));
    } catch {
      // There is no room in it. The outbox itself tells if it has none either.
    }
  }

  remove({ key }: T): void {
    this.#storage.removeItem(prefix + key);
  }

  all(): T[] {
    return this.#entries().flatMap(([, entry]) => entry?.item ?? []);
  }

  clear(): void {
    for (const [name] of this.#entries()) this.#storage.removeItem(name);
  }

  #entries(): [string, Entry<T> | undefined][] {
    const names = Array.from({ length: this.#storage.length }, (_, i) => this.#storage.key(i) ?? '');
    return names
      .filter((name) => name.startsWith(prefix))
      .map((name) => [name, parse<Entry<T>>(this.#storage.getItem(name))]);
  }
}

interface Entry<T> {
  readonly session: string;
  readonly item: T;
}

function parse<T>(text: string | null): T | undefined {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
