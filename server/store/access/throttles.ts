import type { Tx } from '../engine/engine.ts';
import { deleteSome } from '../engine/query.ts';

/** Allows `burst` attempts in a row, then one every `everyMs`. */
export interface Throttle {
  readonly burst: number;
  readonly everyMs: number;
}

/**
 * Counts one attempt and returns 0 if it is allowed, or else how many milliseconds to wait. One statement does it, so it
 * is exact over all processes. `full_at` is when all attempts are available again; without a row they are now.
 */
export async function takeAttempt(tx: Tx, key: string, { burst, everyMs }: Throttle, now: number): Promise<number> {
  const allowed = await tx.run(
    `INSERT INTO throttles AS t (key, full_at) VALUES ($1, CAST($2 AS bigint) + CAST($3 AS bigint)) ON CONFLICT (key) DO UPDATE
     SET full_at = CASE WHEN t.full_at > $2 THEN t.full_at ELSE $2 END + $3
     WHERE t.full_at <= CAST($2 AS bigint) + CAST($4 AS bigint)`,
    [key, now, everyMs, (burst - 1) * everyMs],
  );
  if (allowed === 1) return 0;
  const row = await tx.get<{ full_at: number }>('SELECT full_at FROM throttles WHERE key = $1', [key]);
  return Math.max(1, (row?.full_at ?? now) - (burst - 1) * everyMs - now);
}

/** Gives one attempt back. */
export async function returnAttempt(tx: Tx, key: string, { everyMs }: Throttle): Promise<void> {
  await tx.run('UPDATE throttles SET full_at = full_at - $2 WHERE key = $1', [key, everyMs]);
}

/** Gives all attempts back. */
export async function clearThrottle(tx: Tx, key: string): Promise<void> {
  await tx.run('DELETE FROM throttles WHERE key = $1', [key]);
}

export const pruneThrottles = (tx: Tx, now: number, count: number): Promise<number> =>
  deleteSome(tx, ['throttles', 'key'], 'full_at <= $1 ORDER BY full_at LIMIT $2', [now, count]);
