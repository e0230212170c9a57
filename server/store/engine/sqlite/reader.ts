import { asUnavailable } from '../failure.ts';
import { Connection } from './connection.ts';

/** A process that has to wait for a core may take long for a turn. Others, such as the command line, write meanwhile. */
const maxAgeMs = 0.25;

/**
 * Reads outside of transactions. Reads in one turn of the event loop share a snapshot, because starting one costs as much
 * as a small read (6 of 11 µs), but only for a moment. A statement that is not run to its end would hold the snapshot forever. Of everything
 * tried, errors in the middle included, only Bun's EXPLAIN does that.
 */
export class Reader {
  readonly #connection: Connection;
  readonly #monotonic: () => number;
  #hasSnapshot = false;
  #startedAt = 0;

  constructor(file: string, monotonic: () => number) {
    this.#connection = new Connection(file, { readonly: true });
    this.#monotonic = monotonic;
  }

  async read<T>(work: (connection: Connection) => T): Promise<T> {
    try {
      this.#share();
      return work(this.#connection);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  #share(): void {
    const now = this.#monotonic();
    if (this.#hasSnapshot) {
      if (now - this.#startedAt < maxAgeMs) return;
      this.refresh();
    }
    if (!this.#connection.inTransaction) this.#connection.run('BEGIN');
    this.#hasSnapshot = true;
    this.#startedAt = now;
    setImmediate(() => this.refresh());
  }

  /** Ends the snapshot: later reads see everything committed by now. */
  refresh(): void {
    if (!this.#hasSnapshot) return;
    this.#hasSnapshot = false;
    try {
      // SQLite ends the transaction itself after a failed read.
      if (this.#connection.inTransaction) this.#connection.run('COMMIT');
    } catch {
      // A read loses nothing. The next one uses this snapshot and ends it.
    }
  }

  close(): void {
    this.refresh();
    this.#connection.close();
  }
}
