import { Database, type Statement } from 'bun:sqlite';
import type { EventId, MessageId } from '@parley/contract';
import {
  Appending,
  type Committed,
  type Db,
  type Dialect,
  type Engine,
  idsUpTo,
  type LogEntry,
  type RowWork,
  type Tx,
  type Value,
} from './engine.ts';
import { asUnavailable } from './failure.ts';

export const sqliteDialect: Dialect = {
  name: 'sqlite',
  now: `CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
  lastEventId: `(SELECT last_id FROM id_counters WHERE name = 'events')`,
  lockRows: '',
  inChat: (e, chat, after, upTo) => `${e}.chat_id = ${chat} AND ${e}.event_id > ${after} AND ${e}.event_id <= ${upTo}`,
  rows: (param, columns, alias) => {
    const list = Object.keys(columns).map((c) => `json_extract(value, '$.${c}') AS ${c}`);
    return `(SELECT ${list.join(', ')} FROM json_each(${param})) AS ${alias}`;
  },
  firstIdsPerRow: (outer, inner, limit, alias) =>
    `${outer} JOIN (SELECT event_id AS id FROM events) AS ${alias} ON ${alias}.id IN (${inner} LIMIT ${limit})`,
};

/** Rows that `each` hands over at once. Every size is a statement of its own, so there are few. */
const chunkSizes = [64, 16, 4, 1] as const;

/** A table expression over parameters: `size` rows of these columns, after the first `taken` parameters. */
function valuesOf(columns: readonly string[], size: number, taken: number): string {
  const row = (r: number) => `(${columns.map((_, c) => `$${taken + r * columns.length + c + 1}`).join(', ')})`;
  const names = columns.map((name, c) => `column${c + 1} AS ${name}`).join(', ');
  return `(SELECT ${names} FROM (VALUES ${Array.from({ length: size }, (_, r) => row(r)).join(', ')}))`;
}

/** How long a statement waits for another process (the command line, a backup) to finish its own write. */
const busyTimeoutMs = 5_000;

/** Opens one connection and keeps every statement that it ever prepared: their number is that of our SQL texts. */
class Connection implements Db {
  readonly dialect = sqliteDialect;
  readonly database: Database;
  readonly #statements = new Map<string, Statement>();
  readonly #chunks = new Map<(source: string) => string, Map<number, Statement>>();

  constructor(file: string, options: { readonly: boolean }) {
    this.database = new Database(file, options.readonly ? { readonly: true } : { readwrite: true, create: true });
    this.database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    this.database.run('PRAGMA foreign_keys = ON');
    this.database.run('PRAGMA cache_size = -16384');
    this.database.run('PRAGMA temp_store = MEMORY');
  }

  prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.database.prepare(sql.replace(/\$(\d+)/g, '?$1'));
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  async all<R extends object>(sql: string, ...params: Value[]): Promise<R[]> {
    try {
      return this.prepare(sql).all(...params) as R[];
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  async get<R extends object>(sql: string, ...params: Value[]): Promise<R | undefined> {
    try {
      return (this.prepare(sql).get(...params) as R | null) ?? undefined;
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  async run(sql: string, ...params: Value[]): Promise<number> {
    try {
      return this.prepare(sql).run(...params).changes;
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  async each<R extends object>(work: RowWork, rows: readonly (readonly Value[])[], ...params: Value[]): Promise<R[]> {
    let results: R[] = [];
    try {
      for (const statement of work.statements) {
        results = [];
        for (let done = 0; done < rows.length; ) {
          const size = chunkSizes.find((s) => s <= rows.length - done) ?? 1;
          const values = [...params];
          for (const end = done + size; done < end; done++) for (const value of rows[done] ?? []) values.push(value);
          const prepared = this.#chunk(statement, work.columns, size, params.length);
          for (const result of prepared.all(...values)) results.push(result as R);
        }
      }
    } catch (error) {
      throw asUnavailable(error);
    }
    return results;
  }

  /** By the statement itself: building its text anew would take longer than running it. */
  #chunk(sql: (source: string) => string, columns: RowWork['columns'], size: number, taken: number): Statement {
    let sizes = this.#chunks.get(sql);
    if (!sizes) {
      sizes = new Map();
      this.#chunks.set(sql, sizes);
    }
    let prepared = sizes.get(size);
    if (!prepared) {
      prepared = this.prepare(sql(valuesOf(Object.keys(columns), size, taken)));
      sizes.set(size, prepared);
    }
    return prepared;
  }

  close(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.database.close();
  }
}

/** The one writer: SQLite's own write lock stands in for every lock of the port. */
class Writer extends Connection implements Tx {
  /** Of the transaction that is under way. */
  appending = new Appending();

  appended(events: readonly LogEntry[]): void {
    this.appending.add(events);
  }

  async lockKeys(): Promise<void> {}
  async lockChat(): Promise<void> {}
  async tryLock(): Promise<boolean> {
    return true;
  }

  async takeIds(count: { messages: number; events: number }) {
    const messages = (await this.#advance('messages', count.messages)) as MessageId[];
    const events = (await this.#advance('events', count.events)) as EventId[];
    this.appending.took(events);
    return { messages, events };
  }

  async #advance(name: string, count: number): Promise<number[]> {
    if (count === 0) return [];
    const row = await this.get<{ last_id: number }>(
      'UPDATE id_counters SET last_id = last_id + $2 WHERE name = $1 RETURNING last_id',
      name,
      count,
    );
    if (!row) throw new Error(`id_counters has no row ${name}`);
    return idsUpTo(row.last_id, count);
  }
}

/**
 * Reads outside of transactions. Those of one turn of the event loop share a snapshot: starting one costs as much as a
 * small read does (6 of 11 µs), and a turn is too short for anyone to tell. A statement that is not run to its end would
 * hold the snapshot for ever; of all that was tried (errors in the midst among it) only Bun's EXPLAIN does that.
 */
class Reader extends Connection {
  #open = false;

  share(): this {
    if (this.#open) return this;
    try {
      this.prepare('BEGIN').run();
    } catch (error) {
      throw asUnavailable(error);
    }
    this.#open = true;
    setImmediate(() => this.refresh());
    return this;
  }

  /** From here on reads see what has been committed by now. */
  refresh(): void {
    if (!this.#open) return;
    this.#open = false;
    this.prepare('COMMIT').run();
  }
}

class SqliteEngine implements Engine {
  readonly writers = 1;
  readonly dialect = sqliteDialect;
  readonly #writer: Writer;
  readonly #reader: Reader;
  committed: (stretch: Committed) => void = () => {};
  locked: (waitedMs: number, heldMs: number) => void = () => {};
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    this.#writer = new Writer(file, { readonly: false });
    this.#writer.database.run('PRAGMA journal_mode = WAL');
    this.#writer.database.run('PRAGMA synchronous = FULL');
    this.#reader = new Reader(file, { readonly: true });
  }

  all<R extends object>(sql: string, ...params: Value[]): Promise<R[]> {
    return this.#reader.share().all(sql, ...params);
  }

  get<R extends object>(sql: string, ...params: Value[]): Promise<R | undefined> {
    return this.#reader.share().get(sql, ...params);
  }

  run(sql: string, ...params: Value[]): Promise<number> {
    return this.write((tx) => tx.run(sql, ...params));
  }

  each<R extends object>(work: RowWork, rows: readonly (readonly Value[])[], ...params: Value[]): Promise<R[]> {
    return this.write((tx) => tx.each<R>(work, rows, ...params));
  }

  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#inTurn((askedAt) => this.#transaction(work, askedAt));
  }

  /** The next full commit syncs the log, and with it what was written here. */
  writeSoon<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#inTurn(async (askedAt) => {
      await this.#writer.run('PRAGMA synchronous = NORMAL');
      try {
        return await this.#transaction(work, askedAt);
      } finally {
        await this.#writer.run('PRAGMA synchronous = FULL');
      }
    });
  }

  #inTurn<T>(work: (askedAt: number) => Promise<T>): Promise<T> {
    const askedAt = performance.now();
    const result = this.#lastWrite.then(() => work(askedAt));
    this.#lastWrite = result.catch(() => {});
    return result;
  }

  /** The lock of the one writer stands in for the event lock. */
  async #transaction<T>(work: (tx: Tx) => Promise<T>, askedAt: number): Promise<T> {
    await this.#writer.run('BEGIN IMMEDIATE');
    const lockedAt = performance.now();
    const appending = new Appending();
    this.#writer.appending = appending;
    try {
      const result = await work(this.#writer);
      // A reader that still looks at what was before keeps the log from being used again, which then grows without end.
      this.#reader.refresh();
      await this.#writer.run('COMMIT');
      this.#reader.refresh();
      if (appending.stretch) this.committed(appending.stretch);
      return result;
    } catch (error) {
      if (this.#writer.database.inTransaction) await this.#writer.run('ROLLBACK');
      throw error;
    } finally {
      if (appending.stretch) this.locked(lockedAt - askedAt, performance.now() - lockedAt);
    }
  }

  async close(): Promise<void> {
    await this.#lastWrite;
    this.#reader.refresh();
    this.#reader.close();
    this.#writer.close();
  }
}

export function openSqlite(file: string): Engine {
  return new SqliteEngine(file);
}
