import { asUnavailable } from '../failure.ts';
import { Connection } from './connection.ts';

/**
 * Reads outside of transactions. Reads in one turn of the event loop share a snapshot, because starting one costs as much
 * as a small read (6 of 11 µs). A statement that is not run to its end would hold the snapshot forever. Of everything
 * tried, errors in the middle included, only Bun's EXPLAIN does that.
 */
export class Reader {
  readonly #connection: Connection;
  #hasSnapshot = false;

  constructor(file: string) {
    this.#connection = new Connection(file, { readonly: true });
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
    if (this.#hasSnapshot) return;
    if (!this.#connection.inTransaction) this.#connection.run('BEGIN');
    this.#hasSnapshot = true;
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
