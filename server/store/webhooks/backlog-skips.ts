import type { SkipReason } from '@parley/contract';
import type { Tx } from '../engine/engine.ts';
import { type BacklogRow, backlogsOf } from './backlogs.ts';
import { insertSkipped } from './deliveries.ts';
import { backlogEvents } from './webhook-events.ts';
import type { WebhookRow } from './webhooks.ts';

/** Events that are read at a time. */
const batch = 500;

/**
 * Records the events of a backlog up to one as skipped, so that they can be seen and replayed; about `max` of them.
 * Returns how many it recorded.
 */
export async function skipBacklog(
  tx: Tx,
  webhook: WebhookRow,
  backlog: BacklogRow,
  upTo: number,
  how: { reason: SkipReason; at: number; max: number },
): Promise<number> {
  const { webhook_id } = webhook;
  const backlogs = await backlogsOf(tx, webhook_id);
  let count = 0;
  for (let after_event = backlog.after_event; after_event < upTo && count < how.max; ) {
    const { events, reached } = await backlogEvents(tx, webhook, backlogs, { ...backlog, after_event }, upTo, batch);
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
