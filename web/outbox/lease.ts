import { result, transact } from '../store/database.ts';

interface LeaseRow {
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** How long a tab that is gone or frozen keeps the others waiting. */
export const leaseMs = 8_000;

/** A lock that one tab holds at a time. Browsers offer Web Locks only over https, so it is a row with an expiry. */
export class Lease {
  readonly #db: IDBDatabase;
  readonly #name: string;
  readonly #owner: string;
  readonly #now: () => number;
  /** When it ends, if it is ours. */
  #until = 0;
  #holder: string | undefined;

  constructor(db: IDBDatabase, name: string, owner: string, now: () => number) {
    this.#db = db;
    this.#name = name;
    this.#owner = owner;
    this.#now = now;
  }

  /** The other owner that the last attempt to take it found. */
  get holder(): string | undefined {
    return this.#holder;
  }

  /**
   * Takes or extends the lease. Returns the milliseconds until it may be free, or 0 if it is ours. The lease of an owner that is
   * `gone` is free.
   */
  take(gone?: string): Promise<number> {
    return transact(this.#db, ['leases'], 'readwrite', async (store) => {
      const now = this.#now();
      const row = await result<LeaseRow | undefined>(store('leases').get(this.#name));
      // A clock that was set back must not lock everybody out.
      const isValid = row && row.until > now && row.until <= now + leaseMs;
      if (isValid && row.owner !== this.#owner && row.owner !== gone) {
        this.#holder = row.owner;
        this.#until = 0;
        return row.until - now;
      }
      this.#until = now + leaseMs;
      store('leases').put({ owner: this.#owner, until: this.#until } satisfies LeaseRow, this.#name);
      return 0;
    });
  }

  /** Gives the lease up, if it is ours. It reads nothing first, because the page may be about to go. */
  async release(): Promise<void> {
    const isOurs = this.#until > this.#now();
    this.#until = 0;
    if (isOurs) await transact(this.#db, ['leases'], 'readwrite', (store) => void store('leases').delete(this.#name));
  }
}
