import type { SkipReason } from '@parley/contract';
import { type BacklogRow, backlogsOf } from './backlogs.ts';
import { insertSkipped } from './deliveries.ts';
import type { Tx } from './engine.ts';
import { backlogged } from './webhook-events.ts';
import type { WebhookRow } from './webhooks.ts';

/** Events of the log that are looked at together. */
const batch = 500;

/**
 * Writes down as skipped what the log holds for a webhook up to an event, so that it can be seen and replayed; no more than
 * `most` of it. Answers how many that were.
 */
export async function skipBacklog(
  tx: Tx,
  webhook: WebhookRow,
  backlog: BacklogRow,
  upTo: number,
  how: { reason: SkipReason; at: number; most: number },
): Promise<number> {
  const { webhook_id } = webhook;
  const backlogs = await backlogsOf(tx, webhook_id);
  let count = 0;
  for (let after_event = backlog.after_event; after_event < upTo && count < how.most; ) {
    const { events, reached } = await backlogged(tx, webhook, backlogs, { ...backlog, after_event }, upTo, batch);
    const rows = events.map((e) => ({
      webhook_id,
      event_id: e.event_id,
      replay_id: 0,
      chat_id: e.chat_id,
      event: e.event,
    }));
    count += (await insertSkipped(tx, rows, how.reason, how.at)).length;
    after_event = reached;
  }
  return count;
}
