import type { Value } from '../engine.ts';
import { asUnavailable } from '../failure.ts';
import { Connection } from './connection.ts';

/**
 * Reads outside of transactions. Those of one turn of the event loop share a snapshot: starting one costs as much as a
 * small read does (6 of 11 µs), and a turn is too short for anyone to tell. A statement that is not run to its end would
 * hold the snapshot for ever; of all that was tried (errors in the midst among it) only Bun's EXPLAIN does that.
 */
export class Reader {
  readonly #connection: Connection;
  #open = false;

  constructor(file: string) {
    this.#connection = new Connection(file, { readonly: true });
  }

  async all<R extends object>(sql: string, params: readonly Value[]): Promise<R[]> {
    try {
      this.#share();
      return this.#connection.all(sql, params);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  async get<R extends object>(sql: string, params: readonly Value[]): Promise<R | undefined> {
    try {
      this.#share();
      return this.#connection.get(sql, params);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  #share(): void {
    if (this.#open) return;
    if (!this.#connection.inTransaction) this.#connection.run('BEGIN');
    this.#open = true;
    setImmediate(() => this.refresh());
  }

  /** From here on reads see what has been committed by now. */
  refresh(): void {
    if (!this.#open) return;
    this.#open = false;
    try {
      // Where it could not read, SQLite has ended the transaction by itself.
      if (this.#connection.inTransaction) this.#connection.run('COMMIT');
    } catch {
      // Nothing was written, so nothing is lost: the next read goes on with this snapshot, and ends it.
    }
  }

  close(): void {
    this.refresh();
    this.#connection.close();
  }
}
