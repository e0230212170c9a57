import type { Db, Value } from './engine.ts';

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
