import type { EventRow } from '../../log/entry.ts';
import { Appending, type BulkStatement, type IdCount, type Tx, takenIds, type Value } from '../engine.ts';
import { bulkTexts, type Connection } from './connection.ts';
import { sqliteDialect } from './dialect.ts';

/** A transaction within the writer thread. Its promises are resolved already. */
export class LocalTransaction implements Tx {
  readonly dialect = sqliteDialect;
  readonly sharesStatements = false;
  readonly appending = new Appending();
  /** The error of a statement, which the procedure may not have waited for. */
  error: unknown;
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  all<R extends object>(sql: string, params: readonly Value[] = []): Promise<R[]> {
    return this.#execute(() => this.#connection.all(sql, params));
  }

  get<R extends object>(sql: string, params: readonly Value[] = []): Promise<R | undefined> {
    return this.#execute(() => this.#connection.get(sql, params));
  }

  run(sql: string, params: readonly Value[] = []): Promise<number> {
    return this.#execute(() => this.#connection.run(sql, params));
  }

  bulk<R extends object>(
    work: BulkStatement,
    rows: readonly (readonly Value[])[],
    params: readonly Value[] = [],
  ): Promise<R[]> {
    return this.#execute(() => this.#connection.bulk(bulkTexts(work), rows, params));
  }

  async #execute<T>(statement: () => T): Promise<T> {
    try {
      return statement();
    } catch (error) {
      this.error ??= error;
      throw error;
    }
  }

  async lockKeys(): Promise<void> {}
  async lockChat(): Promise<void> {}
  async tryLock(): Promise<boolean> {
    return true;
  }

  async takeIds(count: IdCount) {
    return takenIds(count, takeIds(this.#connection, count), this.appending);
  }

  appended(events: readonly EventRow[]): void {
    this.appending.add(events);
  }
}

/** Takes so many ids, and returns the last one of each counter. */
export function takeIds(connection: Connection, { messages, events }: IdCount): IdCount {
  const rows = connection.all<{ name: string; last_id: number }>(
    `UPDATE id_counters SET last_id = last_id + CASE name WHEN 'messages' THEN $1 ELSE $2 END
     WHERE name IN ('messages', 'events') RETURNING name, last_id`,
    [messages, events],
  );
  const last = (counter: string): number => {
    const row = rows.find(({ name }) => name === counter);
    if (!row) throw new Error(`id_counters has no row ${counter}`);
    return row.last_id;
  };
  return { messages: last('messages'), events: last('events') };
}
