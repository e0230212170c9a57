import type { Engine, Tx } from './engine.ts';

/** Nobody knows whether what was asked for has been done; its message is a plain line for the operator. */
export class CommitUnknown extends Error {}

/** How long a PostgreSQL that has gone away in the midst of a commit is asked what became of it, and how often. */
const patienceMs = 5_000;
const pauseMs = 250;

/** What PostgreSQL knows a transaction by, from when that has written something. */
export async function transactionId(tx: Tx): Promise<string> {
  const row = await tx.get<{ id: string }>('SELECT CAST(pg_current_xact_id() AS text) AS id');
  return row?.id ?? '';
}

/** Whether a transaction whose commit failed, or was never answered, has been committed nevertheless. */
export async function wasCommitted(engine: Engine, id: string, cause: unknown): Promise<boolean> {
  for (const until = performance.now() + patienceMs; performance.now() < until; await Bun.sleep(pauseMs)) {
    const row = await engine
      .get<{ status: string | null }>('SELECT pg_xact_status(CAST($1 AS xid8)) AS status', id)
      .catch(() => undefined);
    if (row?.status === 'committed' || row?.status === 'aborted') return row.status === 'committed';
  }
  throw new CommitUnknown(
    'PostgreSQL went away while it was to keep everything for good, and nobody knows whether it has. Run the same command again: it is refused if it has, and restores everything if it has not.',
    { cause },
  );
}
