import { Database, type Statement } from 'bun:sqlite';
import type { Db, Dialect, Value } from './engine.ts';
import { asUnavailable } from './failure.ts';

/** Something that queries run on: a transaction or a snapshot. */
export interface Queryable extends Pick<Db, 'all'> {
  readonly dialect: Pick<Dialect, 'name'>;
}

/** A snapshot of a SQLite database on a connection of its own. The write-ahead log grows until the snapshot is closed. */
export class SqliteSnapshot implements Queryable {
  readonly dialect = { name: 'sqlite' } as const;
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(file: string) {
    this.#database = new Database(file, { readonly: true });
    this.#database.run('PRAGMA busy_timeout = 5000');
    this.#database.run('BEGIN');
    // The first read fixes the snapshot.
    this.#database.query('SELECT 1 FROM sqlite_schema').get();
  }

  async all<R extends object>(sql: string, params: readonly Value[] = []): Promise<R[]> {
    try {
      const statement = this.#statements.get(sql) ?? this.#database.prepare(sql.replace(/\$(\d+)/g, '?$1'));
      this.#statements.set(sql, statement);
      return statement.all(...params) as R[];
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  close(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#database.close();
  }
}
