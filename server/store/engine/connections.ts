import type { SQL } from 'bun';

/** A call to the database that has not returned. */
export interface PendingCall {
  /** When the call, or the last statement of its transaction, was sent or returned. */
  lastActiveAt: number;
}

const checkIntervalMs = 1_000;

/** How long a replaced pool may finish its running statements. */
const closeTimeoutSeconds = 1;

/**
 * A connection pool that is replaced as a whole when its connections lead nowhere: the server stays silent for longer
 * than its own statement timeout, or refuses writes because another server is the primary now. Otherwise such connections
 * stay open until the operating system gives up. Pending calls fail, and the outcome of a pending commit is unknown.
 */
export class Connections {
  readonly #open: () => SQL;
  readonly #silenceMs: number;
  readonly #monotonic: () => number;
  readonly #timer: ReturnType<typeof setInterval>;
  #sql: SQL;
  #replacedAt = Number.NEGATIVE_INFINITY;
  #pending = new Set<PendingCall>();

  constructor(open: () => SQL, silenceMs: number, monotonic: () => number) {
    this.#open = open;
    this.#silenceMs = silenceMs;
    this.#monotonic = monotonic;
    this.#sql = open();
    this.#timer = setInterval(() => this.#check(), checkIntervalMs).unref();
  }

  /** Work of several statements sets `lastActiveAt` at each of them. */
  async use<T>(work: (sql: SQL, call: PendingCall) => Promise<T>): Promise<T> {
    const sql = this.#sql;
    const call = { lastActiveAt: this.#monotonic() };
    this.#pending.add(call);
    try {
      return await work(sql, call);
    } catch (error) {
      if (isReadOnly(error) && sql === this.#sql) this.#replace();
      throw error;
    } finally {
      this.#pending.delete(call);
    }
  }

  #check(): void {
    const silentSince = this.#monotonic() - this.#silenceMs;
    if (this.#pending.values().some(({ lastActiveAt }) => lastActiveAt <= silentSince)) this.#replace();
  }

  #replace(): void {
    // New connections may lead to the same server for a while. Do not replace them on every call.
    if (this.#monotonic() - this.#replacedAt < checkIntervalMs) return;
    const old = this.#sql;
    this.#sql = this.#open();
    this.#replacedAt = this.#monotonic();
    this.#pending = new Set();
    void old.close({ timeout: closeTimeoutSeconds }).catch(() => {});
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sql.close({ timeout: 5 });
  }
}

/** Returns true if a write was refused with the SQLSTATE of a server that is no longer the primary. */
function isReadOnly(error: unknown): boolean {
  const { errno, cause } = (error ?? {}) as { errno?: unknown; cause?: { errno?: unknown } };
  return (cause?.errno ?? errno) === '25006';
}
