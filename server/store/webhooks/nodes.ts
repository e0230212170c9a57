import type { Engine } from '../engine/engine.ts';
import { leaseMs } from './endpoint-state.ts';

/** A process that can deliver to webhooks. */
export interface NodeRow {
  /** Its name in leases. */
  readonly owner: string;
  /** How many leases it holds. */
  readonly held: number;
}

/** Rows of processes that were not seen for this long are deleted. */
const deleteAfterMs = 60_000;

/**
 * Records that a process is alive, and returns all that are: those seen within the time of a lease. While no lease is
 * held, nothing is written.
 */
export const announceNode = (engine: Engine, owner: string): Promise<NodeRow[]> =>
  engine.writeRelaxed(async (tx) => {
    const { now } = tx.dialect;
    await tx.run(
      `INSERT INTO nodes (owner, seen_at)
       SELECT CAST($1 AS text), ${now} WHERE EXISTS (SELECT 1 FROM endpoint_state WHERE owner IS NOT NULL)
       ON CONFLICT (owner) DO UPDATE SET seen_at = excluded.seen_at`,
      [owner],
    );
    await tx.run(`DELETE FROM nodes WHERE seen_at < (SELECT ${now}) - ${deleteAfterMs}`);
    return tx.all<NodeRow>(
      `SELECT n.owner, (SELECT count(*) FROM endpoint_state d WHERE d.owner = n.owner) AS held
       FROM nodes n WHERE n.seen_at > (SELECT ${now}) - ${leaseMs} ORDER BY n.owner`,
    );
  });

/** Removes a process that is about to end, so that no lease is transferred to it. */
export async function removeNode(engine: Engine, owner: string): Promise<void> {
  await engine.writeRelaxed((tx) => tx.run('DELETE FROM nodes WHERE owner = $1', [owner]));
}
