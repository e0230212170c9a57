import type { Tx } from '../store/engine/engine.ts';
import { skipBacklog } from '../store/webhooks/backlog-skips.ts';
import { backlogsBefore, moveBacklog } from '../store/webhooks/backlogs.ts';
import { expireOpen } from '../store/webhooks/deliveries.ts';
import { bumpRevision } from '../store/webhooks/endpoint-state.ts';
import { finishReplays, noteSettled } from '../store/webhooks/replays.ts';
import { countExpired, findWebhook, lockWebhooks } from '../store/webhooks/webhooks.ts';
import { countSettled } from './result-writer.ts';

/**
 * Skips the open deliveries of events up to this one, which are about to be dropped, and counts them on their webhooks.
 * Call it in the transaction that drops the events.
 */
export async function expireDeliveries(tx: Tx, upTo: number, at: number): Promise<void> {
  await lockWebhooks(tx);
  const expired = await expireOpen(tx, upTo, at);
  const replayed = expired.filter(({ replay_id }) => replay_id !== 0);
  await noteSettled(tx, countSettled(replayed.map(({ replay_id }) => ({ replayId: replay_id, state: 'skipped' }))));
  for (const [webhookId, rows] of Map.groupBy(expired, ({ webhook_id }) => webhook_id)) {
    await countExpired(tx, webhookId, rows.filter(({ replay_id }) => replay_id === 0).length);
    await finishReplays(tx, webhookId, at);
    await bumpRevision(tx, webhookId, 'recheck');
  }
  const how = { reason: 'expired' as const, at, max: Number.POSITIVE_INFINITY };
  for (const backlog of await backlogsBefore(tx, upTo)) {
    const webhook = await findWebhook(tx, backlog.webhook_id);
    if (webhook) await countExpired(tx, webhook.webhook_id, await skipBacklog(tx, webhook, backlog, upTo, how));
    await moveBacklog(tx, backlog, upTo);
  }
}
