import type { Engine, Tx } from './engine.ts';

/** It is unknown whether a transaction was committed. The message is for the operator. */
export class CommitUnknown extends Error {}

const timeoutMs = 5_000;
const pauseMs = 250;

/** Returns PostgreSQL's id of a transaction that has written something. */
export async function transactionId(tx: Tx): Promise<string> {
  const row = await tx.get<{ id: string }>('SELECT CAST(pg_current_xact_id() AS text) AS id');
  return row?.id ?? '';
}

/**
 * Returns whether a transaction was committed although its COMMIT failed or got no response. Throws `CommitUnknown` if
 * PostgreSQL does not tell within 5 s.
 */
export async function wasCommitted(engine: Engine, id: string, cause: unknown): Promise<boolean> {
  for (const timeout = AbortSignal.timeout(timeoutMs); !timeout.aborted; await Bun.sleep(pauseMs)) {
    const row = await engine
      .get<{ status: string | null }>('SELECT pg_xact_status(CAST($1 AS xid8)) AS status', [id])
      .catch(() => undefined);
    if (row?.status === 'committed' || row?.status === 'aborted') return row.status === 'committed';
  }
  throw new CommitUnknown(
    'The connection to PostgreSQL was lost during the commit, so it is unknown whether the restore is complete. Run the same command again: it is refused if the restore is complete, and restores everything if not.',
    { cause },
  );
}
