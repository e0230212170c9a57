import type { Db } from '../../store/engine/engine.ts';

/** Returns how many statements in this PostgreSQL database wait for a lock. */
export async function lockWaits(db: Db): Promise<number> {
  const row = await db.get<{ n: number }>(
    `SELECT count(*) AS n FROM pg_locks
     WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return row?.n ?? 0;
}
