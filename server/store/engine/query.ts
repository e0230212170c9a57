import type { Db, Tx, Value } from './engine.ts';

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

/** Inserts these columns of a row, and returns the columns `returning` of the new one. */
export async function insertRow<R extends object, Row extends { readonly [C in keyof Row]: Value } = never>(
  tx: Tx,
  table: string,
  columns: readonly (keyof Row & string)[],
  row: Row,
  returning: string = columns.join(', '),
): Promise<R> {
  const inserted = await tx.get<R>(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((_, i) => `$${i + 1}`).join(', ')})
     RETURNING ${returning}`,
    [...columns.map((column) => row[column])],
  );
  if (!inserted) throw new Error(`INSERT INTO ${table} returned no row`);
  return inserted;
}

type Flags<R> = { [C in keyof R]: R[C] extends boolean ? C : never }[keyof R];

/** Queries that return rows of type `R`. The columns `flags` hold 0 and 1 in the database and become booleans here. */
export function rowReader<R extends object>(...flags: Flags<R>[]) {
  /** Changes the row in place. */
  const read = (row: object): R => {
    const values = row as Record<Flags<R>, unknown>;
    for (const flag of flags) values[flag] = values[flag] === 1;
    return row as R;
  };
  return {
    read,
    all: async (db: Db, sql: string, params?: readonly Value[]): Promise<R[]> => (await db.all(sql, params)).map(read),
    get: async (db: Db, sql: string, params?: readonly Value[]): Promise<R | undefined> => {
      const row = await db.get(sql, params);
      return row && read(row);
    },
  };
}

/**
 * Deletes the rows of a table that the condition selects among its rows `x`, by their key. Returns how many. The condition
 * ends in a LIMIT, which DELETE has not.
 */
export const deleteSome = (
  db: Pick<Db, 'run'>,
  [table, key]: readonly [table: string, key: string],
  condition: string,
  params: readonly Value[],
): Promise<number> =>
  db.run(`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} x WHERE ${condition})`, params);
