import type { DeliveryState, ReplayId, ReplayStatus, WebhookId } from '@parley/contract';
import { bulkStatement, type Db, type Tx } from '../engine/engine.ts';
import { insertRow } from '../engine/query.ts';
import type { WebhookOwner } from './webhooks.ts';

export interface ReplayRow {
  readonly replay_id: ReplayId;
  readonly webhook_id: WebhookId;
  readonly status: ReplayStatus;
  /** A JSON array of states; null means all. */
  readonly only_states: string | null;
  readonly from_event: number;
  readonly to_event: number;
  readonly reached_event: number;
  readonly delivery_count: number;
  readonly delivered_count: number;
  readonly failed_count: number;
  readonly skipped_count: number;
  readonly created_at: number;
  readonly finished_at: number | null;
}

const columns = `replay_id, webhook_id, status, only_states, from_event, to_event, reached_event, delivery_count, delivered_count,
  failed_count, skipped_count, created_at, finished_at`;

export interface NewReplay {
  readonly webhookId: WebhookId;
  readonly only: readonly DeliveryState[] | null;
  readonly fromEvent: number;
  readonly toEvent: number;
  readonly at: number;
}

/** A replay of no events is done at once. */
export function insertReplay(tx: Tx, { webhookId, only, fromEvent, toEvent, at }: NewReplay): Promise<ReplayRow> {
  const isEmpty = fromEvent > toEvent;
  const replay = {
    webhook_id: webhookId,
    status: isEmpty ? 'done' : 'running',
    only_states: only && JSON.stringify(only),
    from_event: fromEvent,
    to_event: toEvent,
    reached_event: fromEvent - 1,
    created_at: at,
    finished_at: isEmpty ? at : null,
  };
  return insertRow(tx, 'replays', Object.keys(replay) as (keyof typeof replay)[], replay, columns);
}

export function listReplays(
  db: Db,
  webhookId: WebhookId,
  beforeId: number | undefined,
  limit: number,
): Promise<ReplayRow[]> {
  return db.all(
    `SELECT ${columns} FROM replays WHERE webhook_id = $1 AND replay_id < $2 ORDER BY replay_id DESC LIMIT $3`,
    [webhookId, beforeId ?? Number.MAX_SAFE_INTEGER, limit],
  );
}

export const runningReplays = (db: Db, webhookId: number): Promise<ReplayRow[]> =>
  db.all(`SELECT ${columns} FROM replays WHERE webhook_id = $1 AND status = 'running' ORDER BY replay_id`, [webhookId]);

/** Returns a replay of a webhook that belongs, or belonged, to one user and app. */
export const findReplay = (db: Db, owner: WebhookOwner, replayId: ReplayId): Promise<ReplayRow | undefined> =>
  db.get(
    `SELECT ${columns} FROM replays WHERE replay_id = $1
       AND webhook_id IN (SELECT w.webhook_id FROM webhooks w WHERE w.user_id = $2 AND w.app_id = $3)`,
    [replayId, owner.userId, owner.appId],
  );

export async function moveReplay(tx: Tx, replayId: ReplayId, reached: number, created: number): Promise<void> {
  await tx.run('UPDATE replays SET reached_event = $2, delivery_count = delivery_count + $3 WHERE replay_id = $1', [
    replayId,
    reached,
    created,
  ]);
}

export interface Settled {
  readonly replay_id: number;
  readonly delivered: number;
  readonly failed: number;
  readonly skipped: number;
}

const settling = bulkStatement(
  { replay_id: 'int', delivered: 'int', failed: 'int', skipped: 'int' },
  (
    source,
  ) => `UPDATE replays SET delivered_count = delivered_count + g.delivered, failed_count = failed_count + g.failed,
        skipped_count = skipped_count + g.skipped
      FROM ${source} AS g WHERE replays.replay_id = g.replay_id`,
);

/** Counts settled deliveries of replays. */
export async function noteSettled(tx: Tx, settled: readonly Settled[]): Promise<void> {
  await tx.bulk(
    settling,
    settled.map((s) => [s.replay_id, s.delivered, s.failed, s.skipped]),
  );
}

/** Finishes the replays of a webhook that have reached their last event with everything settled. */
export async function finishReplays(tx: Tx, webhookId: number, at: number): Promise<void> {
  await tx.run(
    `UPDATE replays SET status = 'done', finished_at = $2
     WHERE webhook_id = $1 AND status = 'running' AND reached_event >= to_event
       AND delivery_count <= delivered_count + failed_count + skipped_count`,
    [webhookId, at],
  );
}

/** Cancels a running replay whose open deliveries are skipped. */
export async function cancelReplay(tx: Tx, replayId: ReplayId, at: number): Promise<void> {
  await tx.run(
    `UPDATE replays SET status = 'cancelled', finished_at = $2,
       skipped_count = delivery_count - delivered_count - failed_count
     WHERE replay_id = $1 AND status = 'running'`,
    [replayId, at],
  );
}

/** Stops the replays of a webhook whose open deliveries are skipped. */
export async function stopReplays(tx: Tx, webhookId: number, at: number): Promise<void> {
  await tx.run(
    `UPDATE replays SET status = 'stopped', finished_at = $2, skipped_count = delivery_count - delivered_count - failed_count
     WHERE webhook_id = $1 AND status = 'running'`,
    [webhookId, at],
  );
}
