import type { Db, Engine } from './engine.ts';

/** How much a caller has used with one process, in total, as far as that process remembers. */
export interface RateUse {
  readonly key: string;
  readonly used: number;
}

export interface OthersRateUse extends RateUse {
  readonly node: string;
}

/** Puts these in the place of what the process said of the same keys before. */
export async function writeRateUses(engine: Engine, node: string, uses: readonly RateUse[]): Promise<void> {
  await engine.writeSoon((tx) =>
    tx.run(
      `INSERT INTO rate_uses (node, key, used, at)
       SELECT CAST($1 AS text), u.key, u.used, ${tx.dialect.now}
       FROM ${tx.dialect.rows('$2', { key: 'text', used: 'int' }, 'u')} WHERE u.used > 0
       ON CONFLICT (node, key) DO UPDATE SET used = excluded.used, at = excluded.at`,
      node,
      JSON.stringify(uses),
    ),
  );
}

/** What other processes have written within this time. */
export function readOthersRateUses(db: Db, node: string, withinMs: number): Promise<OthersRateUse[]> {
  // The clock is asked once, in a SELECT of its own: an index is of no use for what may differ from row to row.
  return db.all(
    `SELECT node, key, used FROM rate_uses WHERE at > (SELECT ${db.dialect.now}) - $1 AND node <> $2`,
    withinMs,
    node,
  );
}

/** Drops what nobody has written again for this long. */
export async function pruneRateUses(db: Db, afterMs: number): Promise<void> {
  await db.run(`DELETE FROM rate_uses WHERE at <= (SELECT ${db.dialect.now}) - $1`, afterMs);
}
