import type { WebhookId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';

/** The `chat_id` of a backlog of all chats that have none of their own. */
export const allChats = 0;

export interface BacklogRow {
  readonly webhook_id: WebhookId;
  readonly chat_id: number;
  /** Events up to this one have become deliveries. */
  readonly after_event: number;
}

export const backlogsOf = (db: Db, webhookId: number): Promise<BacklogRow[]> =>
  db.all('SELECT webhook_id, chat_id, after_event FROM backlogs WHERE webhook_id = $1', [webhookId]);

/** The backlogs of several webhooks. */
export const backlogsAmong = (db: Db, webhookIds: readonly number[]): Promise<BacklogRow[]> =>
  db.all(
    `SELECT b.webhook_id, b.chat_id, b.after_event FROM ${db.dialect.rows('$1', { webhook_id: 'int' }, 'asked')}
     JOIN backlogs b ON b.webhook_id = asked.webhook_id`,
    [JSON.stringify(webhookIds.map((webhook_id) => ({ webhook_id })))],
  );

/** Returns the backlogs that still need events before this one. */
export const backlogsBefore = (db: Db, eventId: number): Promise<BacklogRow[]> =>
  db.all('SELECT webhook_id, chat_id, after_event FROM backlogs WHERE after_event < $1', [eventId]);

/** Starts a backlog. One that exists already reaches further back and stays. */
export async function beginBacklog(tx: Tx, backlog: BacklogRow): Promise<void> {
  await tx.run(
    `INSERT INTO backlogs (webhook_id, chat_id, after_event) VALUES ($1, $2, $3)
     ON CONFLICT (webhook_id, chat_id) DO NOTHING`,
    [backlog.webhook_id, backlog.chat_id, backlog.after_event],
  );
}

export async function moveBacklog(tx: Tx, { webhook_id, chat_id }: BacklogRow, afterEvent: number): Promise<void> {
  await tx.run('UPDATE backlogs SET after_event = $3 WHERE webhook_id = $1 AND chat_id = $2', [
    webhook_id,
    chat_id,
    afterEvent,
  ]);
}

export async function endBacklog(tx: Tx, { webhook_id, chat_id }: BacklogRow): Promise<void> {
  await tx.run('DELETE FROM backlogs WHERE webhook_id = $1 AND chat_id = $2', [webhook_id, chat_id]);
}

export async function dropBacklogs(tx: Tx, webhookId: number): Promise<void> {
  await tx.run('DELETE FROM backlogs WHERE webhook_id = $1', [webhookId]);
}
