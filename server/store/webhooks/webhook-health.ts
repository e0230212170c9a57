import { maxHealthCount, type WebhookId } from '@parley/contract';
import type { Db } from '../engine/engine.ts';
import { logTip } from '../log/events.ts';
import { backlogsOf } from './backlogs.ts';
import { columns, type DeliveryRow, givenUp, open } from './deliveries.ts';
import { backlogEvents } from './webhook-events.ts';
import type { WebhookRow } from './webhooks.ts';

/** What a webhook delivered lately, and what waits. Every statement here reads a bounded number of rows of an index. */
export interface DeliveryCounts {
  readonly recent_count: number;
  readonly delivered_count: number;
  readonly failed_count: number;
  readonly retrying_count: number;
  readonly backlog_count: number;
  /** The first attempt at a delivery that is retrying. */
  readonly retrying_since: number | null;
  readonly last_failure: DeliveryRow | undefined;
}

/** Returns the counts of a webhook. Those of recent deliveries are of events from `fromEvent` on. */
export async function readDeliveryCounts(db: Db, webhook: WebhookRow, fromEvent: number): Promise<DeliveryCounts> {
  const { webhook_id } = webhook;
  const [recent, { open_count, retrying_count, retrying_since }, last_failure] = await Promise.all([
    recentDeliveries(db, webhook_id, fromEvent),
    openCounts(db, webhook_id),
    lastFailure(db, webhook_id),
  ]);
  const backlog_count = open_count + (await countBacklog(db, webhook, maxHealthCount - open_count));
  return { ...recent, retrying_count, retrying_since, backlog_count, last_failure };
}

type Recent = Pick<DeliveryCounts, 'recent_count' | 'delivered_count' | 'failed_count'>;

async function recentDeliveries(db: Db, webhookId: WebhookId, fromEvent: number): Promise<Recent> {
  const row = await db.get<Recent>(
    `SELECT count(*) AS recent_count, count(CASE WHEN state = 'delivered' THEN 1 END) AS delivered_count,
       count(CASE WHEN state = 'failed' THEN 1 END) AS failed_count
     FROM (
       SELECT d.state, d.event_id FROM deliveries d ${db.dialect.indexedBy('deliveries_by_event')}
       WHERE ${db.dialect.isOne('d.webhook_id', '$1')}
       ORDER BY d.webhook_id DESC, d.event_id DESC, d.replay_id DESC LIMIT ${maxHealthCount}
     ) AS newest WHERE event_id >= $2`,
    [webhookId, fromEvent],
  );
  return row ?? { recent_count: 0, delivered_count: 0, failed_count: 0 };
}

async function openCounts(db: Db, webhookId: WebhookId) {
  const row = await db.get<{ open_count: number; retrying_count: number; retrying_since: number | null }>(
    `SELECT count(CASE WHEN o.replay_id = 0 THEN 1 END) AS open_count,
       count(CASE WHEN o.state = 'retrying' THEN 1 END) AS retrying_count, min(a.at) AS retrying_since
     FROM (
       SELECT d.delivery_id, d.replay_id, d.state FROM deliveries d ${db.dialect.indexedBy('deliveries_open')}
       WHERE d.webhook_id = $1 AND ${open}
       ORDER BY d.webhook_id, d.replay_id, d.event_id LIMIT ${maxHealthCount}
     ) AS o
     LEFT JOIN attempts a ON a.delivery_id = o.delivery_id AND a.number = 1 AND o.state = 'retrying'`,
    [webhookId],
  );
  return row ?? { open_count: 0, retrying_count: 0, retrying_since: null };
}

/** Returns the delivery that failed last and is retried, or otherwise the newest one that was given up after attempts. */
async function lastFailure(db: Db, webhookId: WebhookId): Promise<DeliveryRow | undefined> {
  // The sum keeps the planner from reading the retries of all webhooks in the order of their last attempts.
  const retrying = await db.get<DeliveryRow>(
    `SELECT ${columns} FROM deliveries d ${db.dialect.indexedBy('deliveries_open')}
     WHERE d.webhook_id = $1 AND ${open} AND d.state = 'retrying'
     ORDER BY d.last_at + 0 DESC LIMIT 1`,
    [webhookId],
  );
  if (retrying) return retrying;
  return db.get(
    `SELECT ${columns} FROM deliveries d ${db.dialect.indexedBy('deliveries_given_up')}
     WHERE d.webhook_id = $1 AND d.state = 'failed' AND ${givenUp}
     ORDER BY d.event_id DESC, d.replay_id DESC LIMIT 1`,
    [webhookId],
  );
}

/** Events of a page of a backlog, and the pages that are read of one. */
const pageSize = 256;
const maxPages = 4;

/** Counts the events that are still in the log and not among the deliveries yet, up to `max`. */
async function countBacklog(db: Db, webhook: WebhookRow, max: number): Promise<number> {
  const backlogs = await backlogsOf(db, webhook.webhook_id);
  const tip = await logTip(db);
  let count = 0;
  for (const backlog of backlogs) {
    let after_event = backlog.after_event;
    for (let page = 0; page < maxPages && after_event < tip && count < max; page++) {
      const { events, reached } = await backlogEvents(
        db,
        webhook,
        backlogs,
        { ...backlog, after_event },
        tip,
        pageSize,
      );
      count += events.length;
      after_event = reached;
    }
  }
  return Math.min(count, Math.max(0, max));
}
