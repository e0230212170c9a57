import type { Tx, Value } from './engine.ts';

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
