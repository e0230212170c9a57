import type { SQL } from 'bun';

/** Something that was asked of the database, and when it was last heard of. */
export interface Asked {
  at: number;
}

/** How often the answers are minded. */
const lookMs = 1_000;

/** Given up connections have this many seconds to end what they are about. */
const graceSeconds = 1;

/**
 * The connections to a server, all of which are given up for new ones where one leads nowhere: where the server stays silent
 * for longer than it would itself let a statement run, or takes no writes because another is the primary now. Nothing else
 * would tell: such a connection stays open for as long as the operating system likes. Who waits for it gets an error,
 * and does not know what became of a commit that was under way.
 */
export class Connections {
  readonly #open: () => SQL;
  readonly #silentMs: number;
  readonly #monotonic: () => number;
  readonly #watch: ReturnType<typeof setInterval>;
  #sql: SQL;
  #openedAt = Number.NEGATIVE_INFINITY;
  #asked = new Set<Asked>();

  /** `monotonic`: milliseconds on a clock that nobody sets. */
  constructor(open: () => SQL, silentMs: number, monotonic = () => performance.now()) {
    this.#open = open;
    this.#silentMs = silentMs;
    this.#monotonic = monotonic;
    this.#sql = open();
    this.#watch = setInterval(() => this.#look(), lookMs).unref();
  }

  /** Asks for something; what takes several steps notes each of them. */
  async ask<T>(work: (sql: SQL, asked: Asked) => Promise<T>): Promise<T> {
    const sql = this.#sql;
    const asked = { at: this.#monotonic() };
    this.#asked.add(asked);
    try {
      return await work(sql, asked);
    } catch (error) {
      if (isReadOnly(error) && sql === this.#sql) this.#replace();
      throw error;
    } finally {
      this.#asked.delete(asked);
    }
  }

  #look(): void {
    const silentSince = this.#monotonic() - this.#silentMs;
    for (const { at } of this.#asked) {
      if (at > silentSince) continue;
      this.#replace();
      return;
    }
  }

  #replace(): void {
    // New ones may lead to the same server for a while: that is no reason to open them all the time.
    if (this.#monotonic() - this.#openedAt < lookMs) return;
    const old = this.#sql;
    this.#sql = this.#open();
    this.#openedAt = this.#monotonic();
    this.#asked = new Set();
    void old.close({ timeout: graceSeconds }).catch(() => {});
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    await this.#sql.close({ timeout: 5 });
  }
}

/** SQLSTATE of a write at a server that follows another: it was the primary, and is no longer. */
function isReadOnly(error: unknown): boolean {
  const { errno, cause } = (error ?? {}) as { errno?: unknown; cause?: { errno?: unknown } };
  return (cause?.errno ?? errno) === '25006';
}
