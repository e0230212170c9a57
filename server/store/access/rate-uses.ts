import type { Db, Engine } from '../engine/engine.ts';

/** The total that a caller has used at one process, as far as the process remembers. */
export interface RateUse {
  readonly key: string;
  readonly used: number;
}

export interface OthersRateUse extends RateUse {
  readonly node: string;
}

/** Replaces what the process wrote for the same keys before. */
export async function writeRateUses(engine: Engine, node: string, uses: readonly RateUse[]): Promise<void> {
  await engine.writeRelaxed((tx) =>
    tx.run(
      `INSERT INTO rate_uses (node, key, used, at)
       SELECT CAST($1 AS text), u.key, u.used, ${tx.dialect.now}
       FROM ${tx.dialect.rows('$2', { key: 'text', used: 'int' }, 'u')} WHERE u.used > 0
       ON CONFLICT (node, key) DO UPDATE SET used = excluded.used, at = excluded.at`,
      [node, JSON.stringify(uses)],
    ),
  );
}

/** Returns what other processes have written within this time. */
export function readOthersRateUses(db: Db, node: string, withinMs: number): Promise<OthersRateUse[]> {
  // A SELECT evaluates the clock once. Otherwise it may differ for each row, and no index can be used.
  return db.all(`SELECT node, key, used FROM rate_uses WHERE at > (SELECT ${db.dialect.now}) - $1 AND node <> $2`, [
    withinMs,
    node,
  ]);
}

/** Deletes rows that were not written for this long. */
export async function pruneRateUses(db: Db, afterMs: number): Promise<void> {
  await db.run(`DELETE FROM rate_uses WHERE at <= (SELECT ${db.dialect.now}) - $1`, [afterMs]);
}
