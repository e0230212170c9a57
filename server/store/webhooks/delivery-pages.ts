import type { ChatId, DeliveryId, DeliveryState, WebhookId } from '@parley/contract';
import type { Db } from '../engine/engine.ts';
import { columns, type DeliveryRow, givenUp, open } from './deliveries.ts';

export interface DeliveryQuery {
  readonly webhookId: WebhookId;
  readonly state?: DeliveryState | undefined;
  readonly event?: string | undefined;
  readonly chatId?: ChatId | undefined;
  readonly replayId?: number | undefined;
  /** Bounds on the event, both included. */
  readonly fromEvent: number;
  readonly toEvent: number;
  /** The page continues below this delivery. */
  readonly before: Pick<DeliveryRow, 'event_id' | 'replay_id'> | undefined;
  readonly limit: number;
}

/** Rows that one page scans at most: a filter that matches almost nothing must not read a million of them. */
const maxScanned = 5_000;

export interface DeliveryPage {
  readonly rows: readonly DeliveryRow[];
  /** The cursor of the next page; undefined if there is none. */
  readonly next: DeliveryId | undefined;
}

/** The states that have an index of their own. */
const indexed: Readonly<Partial<Record<DeliveryState, { where: string; eventId: string }>>> = {
  // The sum keeps the planner from walking through all deliveries in the order of their events.
  pending: { where: open, eventId: 'd.event_id + 0' },
  retrying: { where: open, eventId: 'd.event_id + 0' },
  failed: { where: givenUp, eventId: 'd.event_id' },
  skipped: { where: givenUp, eventId: 'd.event_id' },
};

/** Returns a page of the deliveries of a webhook, newest events first. */
export async function listDeliveries(db: Db, q: DeliveryQuery): Promise<DeliveryPage> {
  const { where, eventId } = (q.state && indexed[q.state]) ?? { where: 'true', eventId: 'd.event_id' };
  const scanned = `FROM deliveries d
    WHERE d.webhook_id = $1 AND ${eventId} >= $2 AND ${eventId} <= $3
      AND (${eventId} < $4 OR (${eventId} = $4 AND d.replay_id < $5)) AND ${where}
    ORDER BY ${eventId} DESC, d.replay_id DESC`;
  const bounds = [
    q.webhookId,
    q.fromEvent,
    q.toEvent,
    q.before?.event_id ?? Number.MAX_SAFE_INTEGER,
    q.before?.replay_id ?? 0,
  ];
  const rows = await db.all<DeliveryRow>(
    `SELECT ${columns} FROM (SELECT d.* ${scanned} LIMIT ${maxScanned}) AS d
     WHERE (CAST($6 AS text) IS NULL OR d.event = $6) AND (CAST($7 AS bigint) IS NULL OR d.chat_id = $7)
       AND (CAST($8 AS bigint) IS NULL OR d.replay_id = $8) AND (CAST($9 AS text) IS NULL OR d.state = $9)
     ORDER BY d.event_id DESC, d.replay_id DESC LIMIT $10`,
    [...bounds, q.event ?? null, q.chatId ?? null, q.replayId ?? null, q.state ?? null, q.limit + 1],
  );
  if (rows.length > q.limit) return { rows: rows.slice(0, q.limit), next: rows[q.limit - 1]?.delivery_id };
  const last = await db.get<{ delivery_id: DeliveryId }>(
    `SELECT d.delivery_id ${scanned} LIMIT 1 OFFSET ${maxScanned - 1}`,
    bounds,
  );
  return { rows, next: last?.delivery_id };
}
