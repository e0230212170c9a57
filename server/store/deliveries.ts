import type {
  ChatId,
  DeliveryId,
  DeliveryState,
  EventId,
  EventName,
  SkipReason,
  UserId,
  WebhookId,
} from '@parley/contract';
import type { Db, RowWork, Tx, Value } from './engine.ts';

export interface DeliveryRow {
  readonly delivery_id: DeliveryId;
  readonly webhook_id: WebhookId;
  readonly event_id: EventId;
  /** 0: none. */
  readonly replay_id: number;
  /** That of the event, as in the log. */
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
  readonly duration_ms: number | null;
}

const columns = `d.delivery_id, d.webhook_id, d.event_id, d.replay_id, d.chat_id, d.event, d.state, d.reason, d.attempts,
  d.refusals, d.next_at, d.last_at, d.last_status, d.last_error, d.duration_ms`;

const open = `d.state IN ('pending', 'retrying')`;
const unhappy = `d.state IN ('failed', 'skipped')`;

export interface NewDelivery {
  readonly webhook_id: number;
  readonly event_id: number;
  readonly replay_id: number;
  readonly chat_id: number;
  readonly event: string;
}

/** With the same values in these further columns of each. */
const insertion = (columns: string, values: string): RowWork => ({
  columns: { webhook_id: 'int', event_id: 'int', replay_id: 'int', chat_id: 'int', event: 'text' },
  statements: [
    (source) => `INSERT INTO deliveries (webhook_id, event_id, replay_id, chat_id, event, ${columns})
      SELECT g.webhook_id, g.event_id, g.replay_id, g.chat_id, g.event, ${values} FROM ${source} AS g WHERE true
      ON CONFLICT (webhook_id, event_id, replay_id) DO NOTHING RETURNING delivery_id, webhook_id, event_id, replay_id`,
  ],
});
const pending = insertion('state', `'pending'`);
const expired = insertion('state, reason, settled_at', `'skipped', 'expired', $1`);

const valuesOf = (rows: readonly NewDelivery[]): Value[][] =>
  rows.map((r) => [r.webhook_id, r.event_id, r.replay_id, r.chat_id, r.event]);

export interface Inserted {
  readonly delivery_id: DeliveryId;
  readonly webhook_id: number;
  readonly event_id: number;
  readonly replay_id: number;
}

/** Adds deliveries that are to be made. One that is there already is left as it is. */
export const insertPending = (tx: Tx, rows: readonly NewDelivery[]): Promise<Inserted[]> =>
  tx.each(pending, valuesOf(rows));

/** Adds deliveries that will not be made, because their events are about to be dropped. */
export const insertExpired = (tx: Tx, rows: readonly NewDelivery[], at: number): Promise<Inserted[]> =>
  tx.each(expired, valuesOf(rows), at);

/** Everything that a webhook is to deliver, in the order of its lanes. */
export function openDeliveries(db: Db, webhookId: number): Promise<DeliveryRow[]> {
  return db.all(
    `SELECT ${columns} FROM deliveries d WHERE d.webhook_id = $1 AND ${open} ORDER BY d.replay_id, d.event_id`,
    webhookId,
  );
}

export interface Result {
  readonly delivery_id: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly refusals: number;
  readonly next_at: number | null;
  readonly at: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number;
  readonly answer: string | null;
}

const recording: RowWork = {
  columns: {
    delivery_id: 'int',
    state: 'text',
    attempts: 'int',
    refusals: 'int',
    next_at: 'int',
    at: 'int',
    status: 'int',
    error: 'text',
    duration_ms: 'int',
    settled_at: 'int',
  },
  statements: [
    (
      source,
    ) => `UPDATE deliveries SET state = g.state, attempts = g.attempts, refusals = g.refusals, next_at = g.next_at,
        last_at = g.at, last_status = g.status, last_error = g.error, duration_ms = g.duration_ms, settled_at = g.settled_at
      FROM ${source} AS g
      WHERE deliveries.delivery_id = g.delivery_id AND deliveries.state IN ('pending', 'retrying')
      RETURNING deliveries.delivery_id`,
  ],
};

/** Of a first attempt that succeeded, as nearly all do, there is little to tell: it costs a third less than the above. */
const firstSuccess: RowWork = {
  columns: { delivery_id: 'int', at: 'int', status: 'int', duration_ms: 'int' },
  statements: [
    (source) => `UPDATE deliveries SET state = 'delivered', attempts = 1, next_at = NULL, last_at = g.at,
        last_status = g.status, duration_ms = g.duration_ms, settled_at = g.at
      FROM ${source} AS g
      WHERE deliveries.delivery_id = g.delivery_id AND deliveries.state IN ('pending', 'retrying')
      RETURNING deliveries.delivery_id`,
  ],
};

const attemptInsertion: RowWork = {
  columns: {
    delivery_id: 'int',
    number: 'int',
    at: 'int',
    status: 'int',
    error: 'text',
    duration_ms: 'int',
    answer: 'text',
  },
  statements: [
    (source) => `INSERT INTO attempts (delivery_id, number, at, status, error, duration_ms, answer)
      SELECT delivery_id, number, at, status, error, duration_ms, answer FROM ${source} AS g WHERE true
      ON CONFLICT (delivery_id, number) DO NOTHING`,
  ],
};

export const isSettled = (state: DeliveryState) => state === 'delivered' || state === 'failed' || state === 'skipped';

/**
 * Writes down what came of attempts, in their order, and answers the deliveries that were written to. What somebody has
 * settled in the meantime stays as it is.
 */
export async function recordResults(tx: Tx, results: readonly Result[]): Promise<ReadonlySet<number>> {
  const isFirst = (r: Result) => r.attempts === 1 && r.state === 'delivered';
  const [firsts, others] = [results.filter(isFirst), results.filter((r) => !isFirst(r))];
  const settled = await tx.each<{ delivery_id: number }>(
    firstSuccess,
    firsts.map((r) => [r.delivery_id, r.at, r.status, r.duration_ms]),
  );
  const last = new Map(others.map((r) => [r.delivery_id, r]));
  const changed = await tx.each<{ delivery_id: number }>(
    recording,
    [...last.values()].map((r) => [
      r.delivery_id,
      r.state,
      r.attempts,
      r.refusals,
      r.next_at,
      r.at,
      r.status,
      r.error,
      r.duration_ms,
      isSettled(r.state) ? r.at : null,
    ]),
  );
  await recordAttempts(tx, others);
  return new Set([...settled, ...changed].map((row) => row.delivery_id));
}

async function recordAttempts(tx: Tx, results: readonly Result[]): Promise<void> {
  if (results.length === 0) return;
  await tx.each(
    attemptInsertion,
    results.map((r) => [r.delivery_id, r.attempts, r.at, r.status, r.error, r.duration_ms, r.answer]),
  );
}

/** Writes down what came of sending a settled delivery once more. It never makes it worse than it was. */
export async function recordResend(tx: Tx, delivery: DeliveryRow, result: Result): Promise<void> {
  // The only attempt so far may be told by the delivery alone.
  if (delivery.attempts === 1 && delivery.last_at !== null && delivery.duration_ms !== null) {
    await recordAttempts(tx, [
      {
        ...result,
        attempts: 1,
        at: delivery.last_at,
        status: delivery.last_status,
        error: delivery.last_error,
        duration_ms: delivery.duration_ms,
        answer: null,
      },
    ]);
  }
  await recordAttempts(tx, [result]);
  await tx.run(
    `UPDATE deliveries SET attempts = $2, last_at = $3, last_status = $4, last_error = $5, duration_ms = $6,
       state = CASE WHEN $7 = 1 THEN 'delivered' ELSE state END, reason = CASE WHEN $7 = 1 THEN NULL ELSE reason END
     WHERE delivery_id = $1`,
    result.delivery_id,
    result.attempts,
    result.at,
    result.status,
    result.error,
    result.duration_ms,
    result.state === 'delivered' ? 1 : 0,
  );
}

/** A delivery of a webhook that belongs, or belonged, to one user and app. */
export function findDelivery(
  db: Db,
  owner: { userId: UserId; appId: number },
  deliveryId: DeliveryId,
): Promise<DeliveryRow | undefined> {
  return db.get(
    `SELECT ${columns} FROM deliveries d JOIN webhooks w ON w.webhook_id = d.webhook_id
     WHERE d.delivery_id = $1 AND w.user_id = $2 AND w.app_id = $3`,
    deliveryId,
    owner.userId,
    owner.appId,
  );
}

export interface AttemptRow {
  readonly number: number;
  readonly at: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number;
  readonly answer: string | null;
}

/** The first attempts at a delivery, so many. */
export function attemptsOf(db: Db, deliveryId: DeliveryId, count: number): Promise<AttemptRow[]> {
  return db.all(
    `SELECT number, at, status, error, duration_ms, answer FROM attempts
     WHERE delivery_id = $1 AND number <= $2 ORDER BY number`,
    deliveryId,
    count,
  );
}

export interface DeliveryQuery {
  readonly webhookId: WebhookId;
  readonly state?: DeliveryState | undefined;
  readonly event?: string | undefined;
  readonly chatId?: ChatId | undefined;
  readonly replayId?: number | undefined;
  /** Bounds on the event, both included. */
  readonly fromEvent: number;
  readonly toEvent: number;
  /** Goes on below this one. */
  readonly before: Pick<DeliveryRow, 'event_id' | 'replay_id'> | undefined;
  readonly limit: number;
}

/** Rows that one page looks at: a filter that hardly anything passes must not read a million of them. */
const looksAt = 5_000;

export interface DeliveryPage {
  readonly rows: readonly DeliveryRow[];
  /** Where to go on; nothing where there is no more. */
  readonly next: DeliveryId | undefined;
}

/** What has an index of its own, by state; the others are looked for among all. */
const indexed: Readonly<Partial<Record<DeliveryState, { where: string; eventId: string }>>> = {
  // The sum keeps the planner from walking through all deliveries in the order of their events.
  pending: { where: open, eventId: 'd.event_id + 0' },
  retrying: { where: open, eventId: 'd.event_id + 0' },
  failed: { where: unhappy, eventId: 'd.event_id' },
  skipped: { where: unhappy, eventId: 'd.event_id' },
};

/** Deliveries of a webhook, those of the newest events first. */
export async function listDeliveries(db: Db, q: DeliveryQuery): Promise<DeliveryPage> {
  const { where, eventId } = (q.state && indexed[q.state]) ?? { where: 'true', eventId: 'd.event_id' };
  const looked = `FROM deliveries d
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
    `SELECT ${columns} FROM (SELECT d.* ${looked} LIMIT ${looksAt}) AS d
     WHERE (CAST($6 AS text) IS NULL OR d.event = $6) AND (CAST($7 AS bigint) IS NULL OR d.chat_id = $7)
       AND (CAST($8 AS bigint) IS NULL OR d.replay_id = $8) AND (CAST($9 AS text) IS NULL OR d.state = $9)
     ORDER BY d.event_id DESC, d.replay_id DESC LIMIT $10`,
    ...bounds,
    q.event ?? null,
    q.chatId ?? null,
    q.replayId ?? null,
    q.state ?? null,
    q.limit + 1,
  );
  if (rows.length > q.limit) return { rows: rows.slice(0, q.limit), next: rows[q.limit - 1]?.delivery_id };
  const last = await db.get<{ delivery_id: DeliveryId }>(
    `SELECT d.delivery_id ${looked} LIMIT 1 OFFSET ${looksAt - 1}`,
    ...bounds,
  );
  return { rows, next: last?.delivery_id };
}

/** The oldest event that a webhook is still to deliver. */
export async function oldestOpen(db: Db, webhookId: WebhookId): Promise<number | undefined> {
  const row = await db.get<{ event_id: number | null }>(
    `SELECT min(d.event_id) AS event_id FROM deliveries d WHERE d.webhook_id = $1 AND d.replay_id = 0 AND ${open}`,
    webhookId,
  );
  return row?.event_id ?? undefined;
}

/** Gives up a delivery that is not settled; answers whether it was not. */
export async function skipDelivery(tx: Tx, deliveryId: DeliveryId, reason: SkipReason, at: number): Promise<boolean> {
  const skipped = await tx.run(
    `UPDATE deliveries SET state = 'skipped', reason = $2, next_at = NULL, settled_at = $3
     WHERE delivery_id = $1 AND state IN ('pending', 'retrying')`,
    deliveryId,
    reason,
    at,
  );
  return skipped > 0;
}

/** Gives up everything that a webhook has not delivered. */
export async function skipAll(tx: Tx, webhookId: number, reason: SkipReason, at: number): Promise<void> {
  await tx.run(
    `UPDATE deliveries SET state = 'skipped', reason = $2, next_at = NULL, settled_at = $3
     WHERE webhook_id = $1 AND state IN ('pending', 'retrying')`,
    webhookId,
    reason,
    at,
  );
}

/** Has a delivery that is not settled tried without waiting. */
export async function hurryDelivery(tx: Tx, deliveryId: DeliveryId): Promise<void> {
  await tx.run(
    `UPDATE deliveries SET next_at = NULL WHERE delivery_id = $1 AND state IN ('pending', 'retrying')`,
    deliveryId,
  );
}

/** Has everything that a webhook has not delivered tried without waiting. */
export async function hurryAll(tx: Tx, webhookId: number): Promise<void> {
  await tx.run(
    `UPDATE deliveries SET next_at = NULL
     WHERE webhook_id = $1 AND state IN ('pending', 'retrying') AND next_at IS NOT NULL`,
    webhookId,
  );
}

/** Events that failed or were skipped, and are still kept: what a replay limited to them sends. */
export function unhappyEvents(
  db: Db,
  webhookId: WebhookId,
  q: { states: readonly DeliveryState[]; after: number; upTo: number; limit: number },
): Promise<Omit<NewDelivery, 'replay_id'>[]> {
  return db.all(
    `SELECT DISTINCT d.webhook_id, d.event_id, d.chat_id, d.event FROM deliveries d JOIN events e ON e.event_id = d.event_id
     WHERE d.webhook_id = $1 AND ${unhappy} AND d.event_id > $2 AND d.event_id <= $3
       AND d.state IN (SELECT state FROM ${db.dialect.rows('$4', { state: 'text' }, 'asked')}) AND d.replay_id = 0
     ORDER BY d.event_id LIMIT $5`,
    webhookId,
    q.after,
    q.upTo,
    JSON.stringify(q.states.map((state) => ({ state }))),
    q.limit,
  );
}

/** Gives up what was not delivered of events up to one that is about to be dropped; answers how many for which webhook. */
export async function expireOpen(
  tx: Tx,
  upTo: number,
  at: number,
): Promise<{ webhook_id: number; replay_id: number }[]> {
  return tx.all(
    `UPDATE deliveries SET state = 'skipped', reason = 'expired', next_at = NULL, settled_at = $2
     WHERE delivery_id IN (
       SELECT d.delivery_id FROM webhooks w
       JOIN deliveries d ON d.webhook_id = w.webhook_id AND ${open} AND d.event_id <= $1 WHERE w.deleted_at IS NULL
     ) RETURNING webhook_id, replay_id`,
    upTo,
    at,
  );
}

/** Drops up to `count` of the oldest deliveries that were settled before a time; answers how many. */
export async function pruneDeliveries(tx: Tx, before: number, count: number): Promise<number> {
  const old = await tx.all<{ delivery_id: number }>(
    'SELECT delivery_id FROM deliveries WHERE settled_at < $1 ORDER BY settled_at LIMIT $2',
    before,
    count,
  );
  if (old.length === 0) return 0;
  const given = tx.dialect.rows('$1', { delivery_id: 'int' }, 'old');
  for (const table of ['attempts', 'deliveries']) {
    await tx.run(`DELETE FROM ${table} WHERE delivery_id IN (SELECT delivery_id FROM ${given})`, JSON.stringify(old));
  }
  return old.length;
}
