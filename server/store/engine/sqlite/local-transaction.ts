import type { EventRow } from '../../log/entry.ts';
import { Appending, type BulkStatement, type IdCount, type Tx, takenIds, type Value } from '../engine.ts';
import { textsFor } from './connection.ts';
import { sqliteDialect } from './dialect.ts';
import type { Writer } from './writer.ts';

/** A transaction within the writer thread. Its promises are resolved already. */
export class LocalTransaction implements Tx {
  readonly dialect = sqliteDialect;
  readonly sharesStatements = false;
  readonly appending = new Appending();
  readonly #writer: Writer;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  async all<R extends object>(sql: string, ...params: Value[]): Promise<R[]> {
    return this.#writer.connection.all(sql, params);
  }

  async get<R extends object>(sql: string, ...params: Value[]): Promise<R | undefined> {
    return this.#writer.connection.get(sql, params);
  }

  async run(sql: string, ...params: Value[]): Promise<number> {
    return this.#writer.connection.run(sql, params);
  }

  async bulk<R extends object>(work: BulkStatement, rows: readonly (readonly Value[])[], ...params: Value[]) {
    return this.#writer.connection.bulk<R>(textsFor(work), rows, params);
  }

  async lockKeys(): Promise<void> {}
  async lockChat(): Promise<void> {}
  async tryLock(): Promise<boolean> {
    return true;
  }

  async takeIds(count: IdCount) {
    return takenIds(count, this.#writer.takeIds(count), this.appending);
  }

  appended(events: readonly EventRow[]): void {
    this.appending.add(events);
  }
}
