import type { Db, Value } from './engine.ts';

type Source = Pick<Db, 'all'>;

/** Returns the column that a statement selects, one value for each row. */
export async function values<T extends Value>(db: Source, sql: string, params?: readonly Value[]): Promise<T[]> {
  const rows = await db.all<Record<string, T>>(sql, params);
  return rows.flatMap((row) => Object.values(row));
}

/** Returns the column of the only row, or undefined if there is none. */
export async function value<T extends Value>(
  db: Source,
  sql: string,
  params?: readonly Value[],
): Promise<T | undefined> {
  return (await values<T>(db, sql, params))[0];
}

/** Returns the number that a statement selects, or 0 if there is none. */
export const number = async (db: Source, sql: string, params?: readonly Value[]): Promise<number> =>
  (await value<number | null>(db, sql, params)) ?? 0;

/** Returns whether a statement finds a row. */
export const exists = async (db: Source, sql: string, params?: readonly Value[]): Promise<boolean> =>
  (await db.all(sql, params)).length > 0;

/** Returns whether a statement changed a row. */
export const changes = async (db: Pick<Db, 'run'>, sql: string, params?: readonly Value[]): Promise<boolean> =>
  (await db.run(sql, params)) > 0;

/** Deletes up to `limit` rows of a table whose `key` the condition selects. Returns how many. */
export const deleteSome = (
  tx: Pick<Db, 'run'>,
  table: string,
  key: string,
  condition: string,
  params: readonly Value[],
): Promise<number> =>
  tx.run(`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} x WHERE ${condition})`, params);
