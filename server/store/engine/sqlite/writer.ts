import type { IdCount, Value } from '../engine.ts';
import { type BulkTexts, Connection } from './connection.ts';

export type Call =
  | readonly ['begin', durable: boolean]
  | readonly ['commit' | 'rollback']
  | readonly ['all' | 'get' | 'run', sql: string, params: readonly Value[]]
  | readonly ['bulk', texts: BulkTexts, rows: readonly (readonly Value[])[], params: readonly Value[]]
  | readonly ['takeIds', count: IdCount];

/** The one connection that writes. SQLite's write lock replaces all locks of `Tx`. */
export class Writer {
  readonly #connection: Connection;
  #isDurable = true;

  constructor(file: string) {
    this.#connection = new Connection(file, { readonly: false });
    this.#connection.get('PRAGMA journal_mode = WAL');
    this.#connection.run('PRAGMA synchronous = FULL');
  }

  get connection(): Connection {
    return this.#connection;
  }

  execute(call: Call): unknown {
    switch (call[0]) {
      case 'begin':
        return this.#begin(call[1]);
      case 'commit':
        return this.#connection.run('COMMIT');
      case 'rollback':
        return this.#rollBack();
      case 'takeIds':
        return this.takeIds(call[1]);
      case 'bulk':
        return this.#connection.bulk(call[1], call[2], call[3]);
      default:
        return this.#connection[call[0]](call[1], call[2]);
    }
  }

  /** Returns the last ids taken. */
  takeIds({ messages, events }: IdCount): IdCount {
    return { messages: this.#advance('messages', messages), events: this.#advance('events', events) };
  }

  #rollBack(): void {
    if (this.#connection.inTransaction) this.#connection.run('ROLLBACK');
  }

  /** A relaxed commit becomes durable with the next full one, which syncs the whole log. */
  #begin(durable: boolean): void {
    if (durable !== this.#isDurable) this.#connection.run(`PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}`);
    this.#isDurable = durable;
    this.#connection.run('BEGIN IMMEDIATE');
  }

  /** Returns the last id taken. */
  #advance(name: string, count: number): number {
    if (count === 0) return 0;
    const row = this.#connection.get<{ last_id: number }>(
      'UPDATE id_counters SET last_id = last_id + $2 WHERE name = $1 RETURNING last_id',
      [name, count],
    );
    if (!row) throw new Error(`id_counters has no row ${name}`);
    return row.last_id;
  }

  close(): void {
    this.#connection.close();
  }
}
