import { leaseMs } from './drives.ts';
import type { Engine } from './engine.ts';

/** A process that drives webhooks, or could. */
export interface NodeRow {
  /** As it is named in its leases. */
  readonly owner: string;
  /** Webhooks that it drives. */
  readonly held: number;
}

/** What was not heard of for this long is forgotten. */
const forgetMs = 60_000;

/**
 * Says that a process is there, and answers who else is: whoever was heard of within the time of a lease. While nobody
 * drives anything, nothing is said, and nothing is written.
 */
export function announceNode(engine: Engine, owner: string): Promise<NodeRow[]> {
  return engine.writeRelaxed(async (tx) => {
    const { now } = tx.dialect;
    await tx.run(
      `INSERT INTO nodes (owner, seen_at)
       SELECT CAST($1 AS text), ${now} WHERE EXISTS (SELECT 1 FROM drives WHERE owner IS NOT NULL)
       ON CONFLICT (owner) DO UPDATE SET seen_at = excluded.seen_at`,
      owner,
    );
    await tx.run(`DELETE FROM nodes WHERE seen_at < (SELECT ${now}) - ${forgetMs}`);
    return tx.all<NodeRow>(
      `SELECT n.owner, (SELECT count(*) FROM drives d WHERE d.owner = n.owner) AS held
       FROM nodes n WHERE n.seen_at > (SELECT ${now}) - ${leaseMs} ORDER BY n.owner`,
    );
  });
}

/** Says that a process is about to end: it is to be given nothing more. */
export async function forgetNode(engine: Engine, owner: string): Promise<void> {
  await engine.writeRelaxed((tx) => tx.run('DELETE FROM nodes WHERE owner = $1', owner));
}
