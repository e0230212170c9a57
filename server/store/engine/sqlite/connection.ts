import { Database, type Statement } from 'bun:sqlite';
import type { BulkStatement, Value } from '../engine.ts';
import { sqliteDialect } from './dialect.ts';

/** How long a statement waits for a write of another process, such as the command line or a backup. */
const busyTimeoutMs = 5_000;

/** A `BulkStatement` as text, which can be sent to another thread. */
export interface BulkTexts {
  readonly columns: readonly string[];
  readonly statements: readonly string[];
}

/** Placeholder for the table expression of the rows. */
const rowsMark = '{rows}';

const textsOf = new Map<BulkStatement, BulkTexts>();

export function bulkTexts(work: BulkStatement): BulkTexts {
  let texts = textsOf.get(work);
  if (!texts) {
    const statements = work.statements.map((text) => text(rowsMark, sqliteDialect));
    texts = { columns: Object.keys(work.columns), statements };
    textsOf.set(work, texts);
  }
  return texts;
}

/** Rows in one statement. Any number of rows takes few statements, and each size is prepared once. */
const chunkSizes = [64, 32, 16, 8, 4, 2, 1] as const;

/** A bulk statement: the columns that it uses, and the prepared statement for each chunk size. */
interface Chunked {
  readonly used: readonly number[];
  readonly bySize: Map<number, Statement>;
}

/** A connection that caches every prepared statement. Their number is bounded by the SQL texts in our code. */
export class Connection {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  readonly #chunked = new Map<string, Chunked>();

  constructor(file: string, options: { readonly: boolean }) {
    this.#database = new Database(file, options.readonly ? { readonly: true } : { readwrite: true, create: true });
    this.#database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    this.#database.run('PRAGMA foreign_keys = ON');
    this.#database.run('PRAGMA cache_size = -16384');
    this.#database.run('PRAGMA temp_store = MEMORY');
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  all<R extends object>(sql: string, params: readonly Value[] = []): R[] {
    return this.#prepare(sql).all(...params) as R[];
  }

  get<R extends object>(sql: string, params: readonly Value[] = []): R | undefined {
    return (this.#prepare(sql).get(...params) as R | null) ?? undefined;
  }

  run(sql: string, params: readonly Value[] = []): number {
    return this.#prepare(sql).run(...params).changes;
  }

  /** Returns the rows of the last statement. */
  bulk<R extends object>(texts: BulkTexts, rows: readonly (readonly Value[])[], params: readonly Value[]): R[] {
    let results: R[] = [];
    for (const statement of texts.statements) {
      results = [];
      const chunked = this.#chunkedFor(statement, texts.columns);
      for (let done = 0; done < rows.length; ) {
        const size = chunkSizes.find((s) => s <= rows.length - done) ?? 1;
        const values = [...params];
        for (const end = done + size; done < end; done++) {
          for (const column of chunked.used) values.push(rows[done]?.[column] ?? null);
        }
        const prepared = this.#chunk(statement, chunked, texts.columns, size, params.length);
        for (const result of prepared.all(...values)) results.push(result as R);
      }
    }
    return results;
  }

  /** Binds only the columns that a statement uses: binding long texts costs as much as inserting them. */
  #chunkedFor(statement: string, columns: readonly string[]): Chunked {
    let chunked = this.#chunked.get(statement);
    if (!chunked) {
      const used = columns.flatMap((name, column) => (new RegExp(`\\b${name}\\b`).test(statement) ? [column] : []));
      chunked = { used, bySize: new Map() };
      this.#chunked.set(statement, chunked);
    }
    return chunked;
  }

  #chunk(statement: string, chunked: Chunked, columns: readonly string[], size: number, taken: number): Statement {
    let prepared = chunked.bySize.get(size);
    if (!prepared) {
      const names = chunked.used.map((column) => columns[column] ?? '');
      prepared = this.#prepare(statement.replace(rowsMark, () => valuesOf(names, size, taken)));
      chunked.bySize.set(size, prepared);
    }
    return prepared;
  }

  #prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#database.prepare(sql.replace(/\$(\d+)/g, '?$1'));
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  close(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#database.close();
  }
}

/** A table expression of `size` rows over the parameters after the first `taken`. */
function valuesOf(columns: readonly string[], size: number, taken: number): string {
  const row = (r: number) => `(${columns.map((_, c) => `$${taken + r * columns.length + c + 1}`).join(', ')})`;
  const names = columns.map((name, c) => `column${c + 1} AS ${name}`).join(', ');
  return `(SELECT ${names} FROM (VALUES ${Array.from({ length: size }, (_, r) => row(r)).join(', ')}))`;
}
