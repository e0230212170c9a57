import type { Tx } from './engine.ts';

/**
 * Makes deliveries due now whose last attempt lies in the future, and ends holds beyond `maxHoldUntil`: the clock was
 * set back since they were written. Returns the number of webhooks affected.
 */
export async function endWaitsAfterClockSetBack(tx: Tx, now: number, maxHoldUntil: number): Promise<number> {
  const early = `SELECT r.webhook_id FROM deliveries r WHERE r.state = 'retrying' AND r.last_at > $1`;
  const webhooks = await tx.run(
    `UPDATE endpoint_state
     SET hold_until = NULL, due_at = CASE WHEN due_at IS NULL THEN NULL ELSE 0 END, revision = revision + 1
     WHERE webhook_id IN (SELECT d.webhook_id FROM endpoint_state d WHERE d.hold_until > $2 OR d.webhook_id IN (${early})
                          ORDER BY d.webhook_id ${tx.dialect.lockRows})`,
    [now, maxHoldUntil],
  );
  if (webhooks > 0) {
    await tx.run(`UPDATE deliveries SET next_at = NULL WHERE state = 'retrying' AND last_at > $1`, [now]);
  }
  return webhooks;
}
