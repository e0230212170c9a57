import type { DeliveryId, DeliveryState } from '@parley/contract';
import type { AttemptMade } from '../../domain/attempt.ts';
import { bulkStatement, type Db, type Tx } from '../engine/engine.ts';
import { type DeliveryRow, isSettled } from './deliveries.ts';

/** The results of attempts. */

export interface Result extends Omit<AttemptMade, 'delivered'> {
  readonly delivery_id: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly refusals: number;
  readonly next_at: number | null;
  readonly at: number;
  /** The secret of the webhook that signed the attempt. */
  readonly secret_number: number;
}

/**
 * Not written like the condition of the index of open deliveries: PostgreSQL would scan that whole index, of all
 * webhooks, to find rows whose ids it is given.
 */
const isOpen = `deliveries.state NOT IN ('delivered', 'failed', 'skipped')`;

const recording = bulkStatement(
  {
    delivery_id: 'int',
    state: 'text',
    attempts: 'int',
    refusals: 'int',
    next_at: 'int',
    at: 'int',
    status: 'int',
    error: 'text',
    cause: 'text',
    duration_ms: 'int',
    secret_number: 'int',
    settled_at: 'int',
  },
  (source) => `UPDATE deliveries SET state = g.state, attempts = g.attempts, refusals = g.refusals, next_at = g.next_at,
        last_at = g.at, last_status = g.status, last_error = g.error, last_cause = g.cause, duration_ms = g.duration_ms,
        secret_number = g.secret_number, settled_at = g.settled_at
      FROM ${source} AS g
      WHERE deliveries.delivery_id = g.delivery_id AND ${isOpen}
      RETURNING deliveries.delivery_id`,
);

/** For first attempts that succeed, as nearly all do. It costs a third less than the statement above. */
const firstSuccess = bulkStatement(
  { delivery_id: 'int', at: 'int', status: 'int', duration_ms: 'int', secret_number: 'int' },
  (source) => `UPDATE deliveries SET state = 'delivered', attempts = 1, next_at = NULL, last_at = g.at,
        last_status = g.status, duration_ms = g.duration_ms, secret_number = g.secret_number, settled_at = g.at
      FROM ${source} AS g
      WHERE deliveries.delivery_id = g.delivery_id AND ${isOpen}
      RETURNING deliveries.delivery_id`,
);

const attemptInsertion = bulkStatement(
  {
    delivery_id: 'int',
    number: 'int',
    at: 'int',
    status: 'int',
    error: 'text',
    cause: 'text',
    duration_ms: 'int',
    answer: 'text',
  },
  (source) => `INSERT INTO attempts (delivery_id, number, at, status, error, cause, duration_ms, answer)
      SELECT delivery_id, number, at, status, error, cause, duration_ms, answer FROM ${source} AS g WHERE true
      ON CONFLICT (delivery_id, number) DO NOTHING`,
);

/** Writes results in their order. Returns the deliveries that were updated; one that was settled meanwhile is not. */
export async function recordResults(tx: Tx, results: readonly Result[]): Promise<ReadonlySet<number>> {
  const isFirst = (r: Result) => r.attempts === 1 && r.state === 'delivered';
  const [firsts, others] = [results.filter(isFirst), results.filter((r) => !isFirst(r))];
  const settled = await tx.bulk<{ delivery_id: number }>(
    firstSuccess,
    firsts.map((r) => [r.delivery_id, r.at, r.status, r.duration_ms, r.secret_number]),
  );
  const last = new Map(others.map((r) => [r.delivery_id, r]));
  const changed = await tx.bulk<{ delivery_id: number }>(
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
      r.cause,
      r.duration_ms,
      r.secret_number,
      isSettled(r.state) ? r.at : null,
    ]),
  );
  await recordAttempts(tx, others);
  return new Set([...settled, ...changed].map((row) => row.delivery_id));
}

async function recordAttempts(tx: Tx, results: readonly Result[]): Promise<void> {
  if (results.length === 0) return;
  await tx.bulk(
    attemptInsertion,
    results.map((r) => [r.delivery_id, r.attempts, r.at, r.status, r.error, r.cause, r.duration_ms, r.answer]),
  );
}

/** Writes the result of sending a settled delivery once more. A failure leaves its state as it was. */
export async function recordResend(tx: Tx, delivery: DeliveryRow, result: Result): Promise<void> {
  // The first attempt may be recorded in the delivery alone.
  if (delivery.attempts === 1 && delivery.last_at !== null && delivery.duration_ms !== null) {
    await recordAttempts(tx, [
      {
        ...result,
        attempts: 1,
        at: delivery.last_at,
        status: delivery.last_status,
        error: delivery.last_error,
        cause: delivery.last_cause,
        duration_ms: delivery.duration_ms,
        answer: null,
      },
    ]);
  }
  await recordAttempts(tx, [result]);
  await tx.run(
    `UPDATE deliveries SET attempts = $2, last_at = $3, last_status = $4, last_error = $5, last_cause = $6, duration_ms = $7,
       secret_number = $8, state = CASE WHEN $9 = 1 THEN 'delivered' ELSE state END,
       reason = CASE WHEN $9 = 1 THEN NULL ELSE reason END
     WHERE delivery_id = $1`,
    [
      result.delivery_id,
      result.attempts,
      result.at,
      result.status,
      result.error,
      result.cause,
      result.duration_ms,
      result.secret_number,
      result.state === 'delivered' ? 1 : 0,
    ],
  );
}

export type AttemptRow = Omit<AttemptMade, 'delivered'> & { readonly number: number; readonly at: number };

/** Returns the first `count` attempts at a delivery. */
export const attemptsOf = (db: Db, deliveryId: DeliveryId, count: number): Promise<AttemptRow[]> =>
  db.all(
    `SELECT number, at, status, error, cause, duration_ms, answer FROM attempts
     WHERE delivery_id = $1 AND number <= $2 ORDER BY number`,
    [deliveryId, count],
  );
