import { type BulkStatement, bulkStatement, type Columns, type Queryable, type Value } from '../store/engine/engine.ts';

export interface Table {
  readonly name: string;
  /** A unique key with an index. Empty for a table of one row. */
  readonly key: readonly string[];
}

/** Aimed at, so that a few large rows take no more memory than many small ones. */
const pageCharacters = 2_000_000;
const [minRows, maxRows] = [1, 5_000];
/** Used before the size of rows is known. */
const initialRows = 20;

/**
 * Yields all rows in the order of their keys, in pages of JSON: an array of rows, which are arrays of values. One query
 * yields several pages if its rows are larger than those before.
 */
export async function* pagesOf(
  db: Queryable,
  { name, key }: Table,
  columns: readonly string[],
): AsyncGenerator<{ rows: number; json: string }> {
  const places = key.map((_, i) => `$${i + 2}`);
  const order = key.length > 0 ? `ORDER BY ${key.join(', ')}` : '';
  const next = (bound: string) => `SELECT ${columns.join(', ')} FROM ${name} ${bound} ${order} LIMIT $1`;
  const [first, later] = [next(''), next(`WHERE (${key.join(', ')}) > (${places.join(', ')})`)];
  let last: Value[] | undefined;
  for (let limit = initialRows; ; ) {
    const rows = await db.all<Record<string, Value>>(last ? later : first, [limit, ...(last ?? [])]);
    const end = rows.at(-1);
    if (!end) return;
    const texts = rows.map((row) => JSON.stringify(columns.map((column) => row[column])));
    yield* splitIntoPages(texts);
    if (rows.length < limit || key.length === 0) return;
    last = key.map((column) => end[column] ?? null);
    const characters = texts.reduce((sum, { length }) => sum + length, 0);
    limit = Math.floor(Math.min(maxRows, Math.max(minRows, (limit * pageCharacters) / characters)));
  }
}

/** A page ends with the row that reaches `pageCharacters`. */
function* splitIntoPages(texts: readonly string[]): Generator<{ rows: number; json: string }> {
  for (let first = 0, next = 0; first < texts.length; first = next) {
    for (let characters = 0; next < texts.length && characters < pageCharacters; next++) {
      characters += texts[next]?.length ?? 0;
    }
    yield { rows: next - first, json: `[${texts.slice(first, next).join(',')}]` };
  }
}

/** Inserts rows, their values in the order of the columns. Create it once for each table. */
export const insertionInto = (table: string, columns: Columns): BulkStatement => {
  const names = Object.keys(columns).join(', ');
  return bulkStatement(columns, (source) => `INSERT INTO ${table} (${names}) SELECT ${names} FROM ${source} AS r`);
};
