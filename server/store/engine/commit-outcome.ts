import type { Engine, Tx } from './engine.ts';
import { value } from './query.ts';

/** It is unknown whether a transaction was committed. The message is for the operator. */
export class CommitUnknown extends Error {}

const timeoutMs = 5_000;
const pauseMs = 250;

/** Returns PostgreSQL's id of a transaction that has written something. */
export const transactionId = async (tx: Tx): Promise<string> =>
  (await value<string>(tx, 'SELECT CAST(pg_current_xact_id() AS text) AS id')) ?? '';

/**
 * Returns whether a transaction was committed although its COMMIT failed or got no response. Throws `CommitUnknown` if
 * PostgreSQL does not tell within 5 s.
 */
export async function wasCommitted(engine: Engine, id: string, cause: unknown): Promise<boolean> {
  for (const timeout = AbortSignal.timeout(timeoutMs); !timeout.aborted; await Bun.sleep(pauseMs)) {
    const sql = 'SELECT pg_xact_status(CAST($1 AS xid8)) AS status';
    const status = await value<string | null>(engine, sql, [id]).catch(() => undefined);
    if (status === 'committed' || status === 'aborted') return status === 'committed';
  }
  throw new CommitUnknown(
    'The connection to PostgreSQL was lost during the commit, so it is unknown whether the restore is complete. Run the same command again: it is refused if the restore is complete, and restores everything if not.',
    { cause },
  );
}
