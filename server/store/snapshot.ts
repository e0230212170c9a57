import { Database, type Statement } from 'bun:sqlite';
import type { Db, Dialect, Value } from './engine.ts';
import { asUnavailable } from './failure.ts';

/** What is asked of the database as a whole: a transaction, or a look at one moment. */
export interface Reading extends Pick<Db, 'all'> {
  readonly dialect: Pick<Dialect, 'name'>;
}

/**
 * A SQLite database as it is at one moment, on a connection of its own. Its server writes on meanwhile; what it writes stays in the
 * write-ahead log until this is closed.
 */
export class SqliteSnapshot implements Reading {
  readonly dialect = { name: 'sqlite' } as const;
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(file: string) {
    this.#database = new Database(file, { readonly: true });
    this.#database.run('PRAGMA busy_timeout = 5000');
    this.#database.run('BEGIN');
    // The moment is that of the first look.
    this.#database.query('SELECT 1 FROM sqlite_schema').get();
  }

  async all<R extends object>(sql: string, ...params: Value[]): Promise<R[]> {
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
