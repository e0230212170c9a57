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

  constructor(db: IDBDatabase, name: string, owner: string, now: () => number) {
    this.#db = db;
    this.#name = name;
    this.#owner = owner;
    this.#now = now;
  }

  /** Takes or extends the lease. Returns the milliseconds until it may be free, or 0 if it is ours. */
  take(): Promise<number> {
    return transact(this.#db, ['leases'], 'readwrite', async (store) => {
      const now = this.#now();
      const row = await result<LeaseRow | undefined>(store('leases').get(this.#name));
      // A clock that was set back must not lock everybody out.
      const isHeld = row && row.owner !== this.#owner && row.until > now && row.until <= now + leaseMs;
      if (isHeld) return row.until - now;
      store('leases').put({ owner: this.#owner, until: now + leaseMs } satisfies LeaseRow, this.#name);
      return 0;
    });
  }

  /** Gives the lease up, if it is ours. */
  release(): Promise<void> {
    return transact(this.#db, ['leases'], 'readwrite', async (store) => {
      const row = await result<LeaseRow | undefined>(store('leases').get(this.#name));
      if (row?.owner === this.#owner) store('leases').delete(this.#name);
    });
  }
}
