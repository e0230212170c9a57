import type {
  ChatId,
  DeliveryId,
  DeliveryState,
  EventId,
  EventName,
  FailureCause,
  SkipReason,
  UserId,
  WebhookId,
} from '@parley/contract';
import { largestId } from '../chat/in-chat.ts';
import { bulkStatement, type Db, type Tx, type Value } from '../engine/engine.ts';
import { changes, value } from '../engine/query.ts';

export interface DeliveryRow {
  readonly delivery_id: DeliveryId;
  readonly webhook_id: WebhookId;
  readonly event_id: EventId;
  /** 0 if no replay asked for it. */
  readonly replay_id: number;
  /** The chat of the event, as in the log. */
  readonly chat_id: ChatId;
  readonly event: EventName;
  readonly state: DeliveryState;
  readonly reason: SkipReason | null;
  readonly attempts: number;
  readonly refusals: number;
  readonly next_at: number | null;
  readonly last_at: number | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly last_cause: FailureCause | null;
  readonly duration_ms: number | null;
  /** The secret of its webhook that signed the last attempt. Null before the first one, and in old rows. */
  readonly secret_number: number | null;
}

export const columns = `d.delivery_id, d.webhook_id, d.event_id, d.replay_id, d.chat_id, d.event, d.state, d.reason, d.attempts,
  d.refusals, d.next_at, d.last_at, d.last_status, d.last_error, d.last_cause, d.duration_ms,
  d.secret_number`;

/** The columns that an endpoint queue needs. A thousand deliveries may be read at a time. */
export type OpenDelivery = Omit<
  DeliveryRow,
  'state' | 'reason' | 'last_status' | 'last_error' | 'last_cause' | 'duration_ms' | 'secret_number'
>;

export const openColumns =
  'd.delivery_id, d.webhook_id, d.event_id, d.replay_id, d.chat_id, d.event, d.attempts, d.refusals, d.next_at, d.last_at';

/** Deliveries that are not settled, and those that were given up. Each condition has an index of its own. */
export const open = `d.state IN ('pending', 'retrying')`;
export const givenUp = `d.state IN ('failed', 'skipped')`;
export type GivenUp = 'failed' | 'skipped';

export interface NewDelivery {
  readonly webhook_id: number;
  readonly event_id: number;
  readonly replay_id: number;
  readonly chat_id: number;
  readonly event: string;
}

/** An insert of deliveries with the same values in these further columns. */
const insertion = (columns: string, values: string) =>
  bulkStatement(
    { webhook_id: 'int', event_id: 'int', replay_id: 'int', chat_id: 'int', event: 'text' },
    (source) => `INSERT INTO deliveries (webhook_id, event_id, replay_id, chat_id, event, ${columns})
      SELECT g.webhook_id, g.event_id, g.replay_id, g.chat_id, g.event, ${values} FROM ${source} AS g WHERE true
      ON CONFLICT (webhook_id, event_id, replay_id) DO NOTHING
      RETURNING delivery_id, webhook_id, event_id, replay_id, chat_id, event`,
  );
const pending = insertion('state', `'pending'`);
const skipped = insertion('state, reason, settled_at', `'skipped', $1, $2`);

const valuesOf = (rows: readonly NewDelivery[]): Value[][] =>
  rows.map((r) => [r.webhook_id, r.event_id, r.replay_id, r.chat_id, r.event]);

export interface Inserted extends NewDelivery {
  readonly delivery_id: DeliveryId;
}

/** Adds pending deliveries, and returns them. A delivery that exists is left as it is and not returned. */
export const insertPending = (tx: Tx, rows: readonly NewDelivery[]): Promise<Inserted[]> =>
  tx.bulk(pending, valuesOf(rows));

/** Adds skipped deliveries, likewise. */
export const insertSkipped = (
  tx: Tx,
  rows: readonly NewDelivery[],
  reason: SkipReason,
  at: number,
): Promise<Inserted[]> => tx.bulk(skipped, valuesOf(rows), [reason, at]);

/** Returns the open deliveries of a webhook, in the order of its chat queues. */
export const openDeliveries = (db: Db, webhookId: number): Promise<OpenDelivery[]> =>
  db.all(
    `SELECT ${openColumns} FROM deliveries d WHERE d.webhook_id = $1 AND ${open} ORDER BY d.replay_id, d.event_id`,
    [webhookId],
  );

export const isSettled = (state: DeliveryState) => state === 'delivered' || state === 'failed' || state === 'skipped';

/** Returns a delivery of a webhook that belongs, or belonged, to one user and app. */
export function findDelivery(
  db: Db,
  owner: { userId: UserId; appId: number },
  deliveryId: DeliveryId,
): Promise<DeliveryRow | undefined> {
  return db.get(
    `SELECT ${columns} FROM deliveries d JOIN webhooks w ON w.webhook_id = d.webhook_id
     WHERE d.delivery_id = $1 AND w.user_id = $2 AND w.app_id = $3`,
    [deliveryId, owner.userId, owner.appId],
  );
}

/** Returns how long the newest successful delivery took, among the newest 64. */
export const lastDuration = (db: Db, webhookId: WebhookId): Promise<number | undefined> =>
  value<number>(
    db,
    `SELECT duration_ms FROM (
       SELECT d.state, d.duration_ms, d.event_id FROM deliveries d
       WHERE ${db.dialect.backwards(['d.webhook_id', 'd.event_id'], '$1', largestId)}
       ORDER BY d.webhook_id DESC, d.event_id DESC, d.replay_id DESC LIMIT 64
     ) AS newest WHERE state = 'delivered' ORDER BY event_id DESC LIMIT 1`,
    [webhookId],
  );

/** Returns the oldest event of the open deliveries of a webhook. */
export async function oldestOpen(db: Db, webhookId: WebhookId): Promise<number | undefined> {
  const row = await db.get<{ event_id: number | null }>(
    `SELECT min(d.event_id) AS event_id FROM deliveries d WHERE d.webhook_id = $1 AND d.replay_id = 0 AND ${open}`,
    [webhookId],
  );
  return row?.event_id ?? undefined;
}

/** Skips an open delivery. Returns false if it was settled. */
export const skipDelivery = (tx: Tx, deliveryId: DeliveryId, reason: SkipReason, at: number): Promise<boolean> =>
  changes(
    tx,
    `UPDATE deliveries SET state = 'skipped', reason = $2, next_at = NULL, settled_at = $3
     WHERE delivery_id = $1 AND state IN ('pending', 'retrying')`,
    [deliveryId, reason, at],
  );

/** Skips every open delivery of a webhook. */
export async function skipAll(tx: Tx, webhookId: number, reason: SkipReason, at: number): Promise<void> {
  await tx.run(
    `UPDATE deliveries SET state = 'skipped', reason = $2, next_at = NULL, settled_at = $3
     WHERE webhook_id = $1 AND state IN ('pending', 'retrying')`,
    [webhookId, reason, at],
  );
}

/** Skips every open delivery of a replay. */
export async function skipReplay(
  tx: Tx,
  { webhook_id, replay_id }: { webhook_id: number; replay_id: number },
  reason: SkipReason,
  at: number,
): Promise<void> {
  await tx.run(
    `UPDATE deliveries SET state = 'skipped', reason = $3, next_at = NULL, settled_at = $4
     WHERE webhook_id = $1 AND replay_id = $2 AND state IN ('pending', 'retrying')`,
    [webhook_id, replay_id, reason, at],
  );
}

/** Makes an open delivery due now. */
export async function makeDeliveryDue(tx: Tx, deliveryId: DeliveryId): Promise<void> {
  await tx.run(`UPDATE deliveries SET next_at = NULL WHERE delivery_id = $1 AND state IN ('pending', 'retrying')`, [
    deliveryId,
  ]);
}

/** Makes every open delivery of a webhook due now. */
export async function makeAllDue(tx: Tx, webhookId: number): Promise<void> {
  await tx.run(
    `UPDATE deliveries SET next_at = NULL
     WHERE webhook_id = $1 AND state IN ('pending', 'retrying') AND next_at IS NOT NULL`,
    [webhookId],
  );
}

/** Returns events whose deliveries failed or were skipped and that are still in the log, for a replay limited to them. */
export function undeliveredEvents(
  db: Db,
  webhookId: WebhookId,
  q: { states: readonly GivenUp[]; after: number; upTo: number; limit: number },
): Promise<Omit<NewDelivery, 'replay_id'>[]> {
  // One by one: the index has the order of events only within a state.
  const ofState = (state: GivenUp) =>
    `SELECT * FROM (
       SELECT d.webhook_id, d.event_id, d.chat_id, d.event
       FROM deliveries d ${db.dialect.indexedBy('deliveries_given_up')} JOIN events e ON e.event_id = d.event_id
       WHERE d.webhook_id = $1 AND d.state = '${state}' AND ${givenUp} AND d.event_id > $2 AND d.event_id <= $3
         AND d.replay_id = 0
       ORDER BY d.event_id LIMIT $4
     ) AS ${state}`;
  return db.all(`${[...new Set(q.states)].map(ofState).join(' UNION ALL ')} ORDER BY event_id LIMIT $4`, [
    webhookId,
    q.after,
    q.upTo,
    q.limit,
  ]);
}

/** Skips the open deliveries of events up to one that is about to be dropped, and returns them. */
export const expireOpen = (tx: Tx, upTo: number, at: number): Promise<{ webhook_id: number; replay_id: number }[]> =>
  tx.all(
    `UPDATE deliveries SET state = 'skipped', reason = 'expired', next_at = NULL, settled_at = $2
     WHERE delivery_id IN (
       SELECT d.delivery_id FROM webhooks w
       JOIN deliveries d ON d.webhook_id = w.webhook_id AND ${open} AND d.event_id <= $1 WHERE w.deleted_at IS NULL
     ) RETURNING webhook_id, replay_id`,
    [upTo, at],
  );

/** Deletes up to `count` of the oldest deliveries that were settled before a time. Returns how many. */
export async function pruneDeliveries(tx: Tx, before: number, count: number): Promise<number> {
  const old = await tx.all<{ delivery_id: number }>(
    'SELECT delivery_id FROM deliveries WHERE settled_at < $1 ORDER BY settled_at LIMIT $2',
    [before, count],
  );
  if (old.length === 0) return 0;
  const given = tx.dialect.rows('$1', { delivery_id: 'int' }, 'old');
  for (const table of ['attempts', 'deliveries']) {
    await tx.run(`DELETE FROM ${table} WHERE delivery_id IN (SELECT delivery_id FROM ${given})`, [JSON.stringify(old)]);
  }
  return old.length;
}
