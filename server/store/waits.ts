import type { Tx } from './engine.ts';

/**
 * Ends the waits of webhooks that were last tried at a time that is yet to come, or that are held for longer than anybody is: the
 * clock was set back since. Answers how many webhooks that were.
 */
export async function forgetWaits(tx: Tx, now: number, longestHold: number): Promise<number> {
  const early = `SELECT r.webhook_id FROM deliveries r WHERE r.state = 'retrying' AND r.last_at > $1`;
  const webhooks = await tx.run(
    `UPDATE drives SET hold_until = NULL, due_at = CASE WHEN due_at IS NULL THEN NULL ELSE 0 END, revision = revision + 1
     WHERE webhook_id IN (SELECT d.webhook_id FROM drives d WHERE d.hold_until > $2 OR d.webhook_id IN (${early})
                          ORDER BY d.webhook_id ${tx.dialect.lockRows})`,
    now,
    longestHold,
  );
  if (webhooks > 0) {
    await tx.run(`UPDATE deliveries SET next_at = NULL WHERE state = 'retrying' AND last_at > $1`, now);
  }
  return webhooks;
}
