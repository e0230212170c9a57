import { skipBacklog } from '../store/backlog-skips.ts';
import { type BacklogRow, backlogsBefore, moveBacklog } from '../store/backlogs.ts';
import { expireOpen } from '../store/deliveries.ts';
import { noteRevision } from '../store/drives.ts';
import type { Tx } from '../store/engine.ts';
import { finishReplays, noteSettled } from '../store/replays.ts';
import { countExpired, findWebhook, lockWebhooks } from '../store/webhooks.ts';
import { countSettled } from './recorder.ts';

/**
 * Settles what will never be delivered because its events, up to this one, are about to be dropped: it is skipped, and
 * counted on its webhook. To be called in the transaction that drops them.
 */
export async function expireDeliveries(tx: Tx, upTo: number, at: number): Promise<void> {
  await lockWebhooks(tx);
  const expired = await expireOpen(tx, upTo, at);
  const replayed = expired.filter(({ replay_id }) => replay_id !== 0);
  await noteSettled(tx, countSettled(replayed.map(({ replay_id }) => ({ replayId: replay_id, state: 'skipped' }))));
  for (const [webhookId, rows] of Map.groupBy(expired, ({ webhook_id }) => webhook_id)) {
    await countExpired(tx, webhookId, rows.filter(({ replay_id }) => replay_id === 0).length);
    await finishReplays(tx, webhookId, at);
    await noteRevision(tx, webhookId, 'looked at again');
  }
  for (const backlog of await backlogsBefore(tx, upTo)) await expireBacklog(tx, backlog, upTo, at);
}

async function expireBacklog(tx: Tx, backlog: BacklogRow, upTo: number, at: number): Promise<void> {
  const webhook = await findWebhook(tx, backlog.webhook_id);
  if (webhook) {
    const how = { reason: 'expired' as const, at, most: Number.POSITIVE_INFINITY };
    await countExpired(tx, webhook.webhook_id, await skipBacklog(tx, webhook, backlog, upTo, how));
  }
  await moveBacklog(tx, backlog, upTo);
}
