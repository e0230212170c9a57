import { backlogsBefore, backlogsOf, moveBacklog } from '../store/backlogs.ts';
import { expireOpen, insertExpired } from '../store/deliveries.ts';
import { noteRevision } from '../store/drives.ts';
import type { Tx } from '../store/engine.ts';
import { finishReplays, noteSettled } from '../store/replays.ts';
import { backlogged } from '../store/webhook-events.ts';
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

/** Events of the log that are looked at together. */
const batch = 500;

async function expireBacklog(
  tx: Tx,
  backlog: Awaited<ReturnType<typeof backlogsBefore>>[number],
  upTo: number,
  at: number,
): Promise<void> {
  const webhook = await findWebhook(tx, backlog.webhook_id);
  if (webhook) {
    const backlogs = await backlogsOf(tx, webhook.webhook_id);
    const own = backlogs.find((b) => b.chat_id === backlog.chat_id) ?? backlog;
    const { webhook_id } = webhook;
    for (let after_event = own.after_event; after_event < upTo; ) {
      const { events, reached } = await backlogged(tx, webhook, backlogs, { ...own, after_event }, upTo, batch);
      const rows = events.map((e) => ({
        webhook_id,
        event_id: e.event_id,
        replay_id: 0,
        chat_id: e.chat_id,
        event: e.event,
      }));
      const inserted = await insertExpired(tx, rows, at);
      await countExpired(tx, webhook_id, inserted.length);
      after_event = reached;
    }
  }
  await moveBacklog(tx, backlog, upTo);
}
