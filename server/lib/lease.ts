/**
 * A lease gives one process the use of a row for a limited time. It is two columns: `lease_expires_at`, by the database's
 * clock, is 0 once the lease is released, and `lease_number` rises whenever the lease changes hands. A process that writes
 * under a lease compares the number in the same statement, so a late write of an earlier holder changes nothing.
 * These are the parts of such statements; `now` is the database's clock in SQL.
 */
export const leaseSql = {
  isFree: (now: string): string => `lease_expires_at < ${now}`,
  nextNumber: 'lease_number = lease_number + 1',
  extend: (now: string, ms: number | string): string => `lease_expires_at = ${now} + ${ms}`,
  release: 'lease_expires_at = 0',
} as const;

/**
 * The time for which the holder may act, by its own monotonic clock. It is counted from before the request to the database,
 * so it ends before the lease expires there, even if the response was slow or the process was suspended.
 */
export class LeaseTerm {
  readonly #ms: number;
  readonly #monotonic: () => number;
  #endsAt = Number.NEGATIVE_INFINITY;

  constructor(ms: number, monotonic: () => number, requestedAt: number) {
    this.#ms = ms;
    this.#monotonic = monotonic;
    this.extend(requestedAt);
  }

  /** The lease was taken or renewed by a statement that was sent at `requestedAt`. Responses may come in any order. */
  extend(requestedAt: number): void {
    this.#endsAt = Math.max(this.#endsAt, requestedAt + this.#ms);
  }

  get remainingMs(): number {
    return Math.max(0, this.#endsAt - this.#monotonic());
  }

  get isOver(): boolean {
    return this.remainingMs === 0;
  }
}
