import type { Columns } from './catalog.ts';
import type { RowWork, Tx, Value } from './engine.ts';
import type { Reading } from './snapshot.ts';

/** Whole tables, out of one database and into another. */

export interface Table {
  readonly name: string;
  /** What tells its rows apart, in the order of an index; none where it has a single row. */
  readonly key: readonly string[];
}

/** What a page should come to, so that a few large rows take no more memory than many small ones. */
const pageCharacters = 2_000_000;
const [fewestRows, mostRows] = [1, 5_000];
/** Before it is known how large they are. */
const rowsAtFirst = 20;

export async function countRows(db: Reading, table: string): Promise<number> {
  const [row] = await db.all<{ total: number }>(`SELECT count(*) AS total FROM ${table}`);
  return row?.total ?? 0;
}

/**
 * All rows by the order of their keys, a page at a time, each as JSON: an array of rows, which are arrays of values. What was read at
 * once is more than one page where the rows have become larger on a sudden.
 */
export async function* pagesOf(
  db: Reading,
  { name, key }: Table,
  columns: readonly string[],
): AsyncGenerator<{ rows: number; json: string }> {
  const places = key.map((_, i) => `$${i + 2}`);
  const order = key.length > 0 ? `ORDER BY ${key.join(', ')}` : '';
  const next = (bound: string) => `SELECT ${columns.join(', ')} FROM ${name} ${bound} ${order} LIMIT $1`;
  const [first, later] = [next(''), next(`WHERE (${key.join(', ')}) > (${places.join(', ')})`)];
  let last: Value[] | undefined;
  for (let limit = rowsAtFirst; ; ) {
    const rows = await db.all<Record<string, Value>>(last ? later : first, limit, ...(last ?? []));
    const end = rows.at(-1);
    if (!end) return;
    const texts = rows.map((row) => JSON.stringify(columns.map((column) => row[column])));
    yield* cutIntoPages(texts);
    if (rows.length < limit || key.length === 0) return;
    last = key.map((column) => end[column] ?? null);
    const characters = texts.reduce((sum, { length }) => sum + length, 0);
    limit = Math.floor(Math.min(mostRows, Math.max(fewestRows, (limit * pageCharacters) / characters)));
  }
}

/** Ends a page with the row that fills it. */
function* cutIntoPages(texts: readonly string[]): Generator<{ rows: number; json: string }> {
  for (let first = 0, next = 0; first < texts.length; first = next) {
    for (let characters = 0; next < texts.length && characters < pageCharacters; next++) {
      characters += texts[next]?.length ?? 0;
    }
    yield { rows: next - first, json: `[${texts.slice(first, next).join(',')}]` };
  }
}

/** Puts rows into a table, their values in the order of the columns. To be made once for each table. */
export const insertionInto = (table: string, columns: Columns): RowWork => {
  const names = Object.keys(columns).join(', ');
  return { columns, statements: [(source) => `INSERT INTO ${table} (${names}) SELECT ${names} FROM ${source} AS r`] };
};

export async function emptyTable(tx: Tx, table: string): Promise<void> {
  await tx.run(`DELETE FROM ${table}`);
}
