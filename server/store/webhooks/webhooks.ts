import type { ChatId, DisabledReason, TokenId, UserId, WebhookId, WebhookStatus } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { deleteSome, number, rowReader } from '../engine/query.ts';

export interface WebhookRow {
  readonly webhook_id: WebhookId;
  readonly user_id: UserId;
  readonly app_id: number;
  readonly url: string;
  /** A JSON array of names. */
  readonly events: string;
  readonly chat_id: ChatId | null;
  readonly service_wide: boolean;
  readonly include_direct: boolean;
  readonly status: WebhookStatus;
  readonly disabled_reason: DisabledReason | null;
  /** Encrypted, like the previous one. */
  readonly secret: string;
  readonly previous_secret: string | null;
  readonly previous_until: number | null;
  /** How many secrets it has had. */
  readonly secret_number: number;
  /** Until when deliveries with the previous secret also had a signature with the one before it. */
  readonly earlier_until: number | null;
  readonly since_event: number;
  readonly expired_count: number;
  readonly created_at: number;
}

const columns = `webhook_id, user_id, app_id, url, events, chat_id, service_wide, include_direct, status, disabled_reason, secret,
  previous_secret, previous_until, secret_number, earlier_until, since_event, expired_count, created_at`;
const webhooks = rowReader<WebhookRow>('service_wide', 'include_direct');
const owned = rowReader<Pick<WebhookRow, 'service_wide'>>('service_wide');

/** A webhook belongs to one user and app. */
export interface WebhookOwner {
  readonly userId: UserId;
  readonly appId: number;
}

export const findWebhook = (db: Db, webhookId: WebhookId): Promise<WebhookRow | undefined> =>
  webhooks.get(db, `SELECT ${columns} FROM webhooks w WHERE w.webhook_id = $1 AND w.deleted_at IS NULL`, [webhookId]);

/** Returns a webhook of this owner, even if it is deleted. */
export function findOwned(
  db: Db,
  owner: WebhookOwner,
  webhookId: WebhookId,
): Promise<Pick<WebhookRow, 'service_wide'> | undefined> {
  return owned.get(db, 'SELECT service_wide FROM webhooks WHERE webhook_id = $1 AND user_id = $2 AND app_id = $3', [
    webhookId,
    owner.userId,
    owner.appId,
  ]);
}

export const listWebhooks = (db: Db, owner: WebhookOwner, afterId: number, limit: number): Promise<WebhookRow[]> =>
  webhooks.all(
    db,
    `SELECT ${columns} FROM webhooks w
     WHERE w.user_id = $1 AND w.app_id = $2 AND w.webhook_id > $3 AND w.deleted_at IS NULL
     ORDER BY w.webhook_id LIMIT $4`,
    [owner.userId, owner.appId, afterId, limit],
  );

/** Counts the webhooks of a person and of their bots. */
export const countWebhooks = (db: Db, ownerId: UserId): Promise<number> =>
  number(
    db,
    `SELECT count(*) AS webhooks FROM webhooks w JOIN users u ON u.user_id = w.user_id
     WHERE (u.user_id = $1 OR u.owner_id = $1) AND w.deleted_at IS NULL`,
    [ownerId],
  );

/** Returns every webhook that receives new events. */
export const activeWebhooks = (db: Db): Promise<WebhookRow[]> =>
  webhooks.all(db, `SELECT ${columns} FROM webhooks w WHERE w.status = 'active' AND w.deleted_at IS NULL`);

/**
 * Takes the lock that the dispatcher and every change of a webhook hold. It comes after all other keys.
 */
export const lockWebhooks = (tx: Tx): Promise<void> => tx.lockKeys(['webhooks']);

/** Call it under `lockWebhooks` with every change of a subscription. */
export async function noteRegistryChange(tx: Tx): Promise<void> {
  await tx.run('UPDATE webhook_registry SET version = version + 1');
}

export interface Position {
  /** Events up to this one are dispatched. */
  readonly dispatched: number;
  readonly version: number;
}

export async function readPosition(db: Db): Promise<Position> {
  const row = await db.get<Position>(
    'SELECT (SELECT event_id FROM cursors WHERE name = $1) AS dispatched, version FROM webhook_registry',
    ['webhooks'],
  );
  if (!row) throw new Error('webhook_registry has no row');
  return row;
}

export interface NewWebhook extends WebhookOwner {
  readonly tokenId: TokenId;
  readonly url: string;
  readonly events: readonly string[];
  readonly chatId: ChatId | null;
  readonly serviceWide: boolean;
  readonly includeDirect: boolean;
  readonly secret: string;
  readonly sinceEvent: number;
  readonly at: number;
}

/** The caller holds `lockWebhooks`. */
export async function insertWebhook(tx: Tx, webhook: NewWebhook): Promise<WebhookRow> {
  const row = await webhooks.get(
    tx,
    `INSERT INTO webhooks (user_id, app_id, token_id, url, events, chat_id, service_wide, include_direct, status, secret,
                           since_event, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'active', $9, $10, $11) RETURNING ${columns}`,
    [
      webhook.userId,
      webhook.appId,
      webhook.tokenId,
      webhook.url,
      JSON.stringify(webhook.events),
      webhook.chatId,
      webhook.serviceWide ? 1 : 0,
      webhook.includeDirect ? 1 : 0,
      webhook.secret,
      webhook.sinceEvent,
      webhook.at,
    ],
  );
  if (!row) throw new Error('the new webhook was not returned');
  await tx.run('INSERT INTO endpoint_state (webhook_id) VALUES ($1)', [row.webhook_id]);
  await noteRegistryChange(tx);
  return row;
}

/** Binds a webhook to the access of a token: the one that last set its URL or made it active. */
export async function adoptWebhook(tx: Tx, webhookId: WebhookId, tokenId: TokenId): Promise<void> {
  await tx.run('UPDATE webhooks SET token_id = $2 WHERE webhook_id = $1', [webhookId, tokenId]);
}

export async function updateWebhook(
  tx: Tx,
  webhookId: WebhookId,
  to: { url: string; events: readonly string[]; status: WebhookStatus; reason: DisabledReason | null },
): Promise<void> {
  await tx.run('UPDATE webhooks SET url = $2, events = $3, status = $4, disabled_reason = $5 WHERE webhook_id = $1', [
    webhookId,
    to.url,
    JSON.stringify(to.events),
    to.status,
    to.reason,
  ]);
  await noteRegistryChange(tx);
}

/** Restricts a webhook to events after this one. */
export async function restartAfter(tx: Tx, webhookId: WebhookId, sinceEvent: number): Promise<void> {
  await tx.run('UPDATE webhooks SET since_event = $2 WHERE webhook_id = $1', [webhookId, sinceEvent]);
}

export async function rotateSecret(tx: Tx, webhookId: WebhookId, secret: string, until: number): Promise<void> {
  await tx.run(
    `UPDATE webhooks SET earlier_until = previous_until, previous_secret = secret, previous_until = $3, secret = $2,
       secret_number = secret_number + 1 WHERE webhook_id = $1`,
    [webhookId, secret, until],
  );
}

export async function deleteWebhook(tx: Tx, webhookId: WebhookId, at: number): Promise<void> {
  // The secrets are no longer needed.
  await tx.run(`UPDATE webhooks SET deleted_at = $2, secret = '', previous_secret = NULL WHERE webhook_id = $1`, [
    webhookId,
    at,
  ]);
  await noteRegistryChange(tx);
}

export type AccessEnd = 'access_revoked' | 'user_disabled';

/**
 * SQL: a webhook's access has ended, where `t` is its token and `g` that token's grant, `u` its user and `o` the owner
 * of its app. A webhook made with a personal token ends with the token. One made by an app ends with the grant, however
 * short its access tokens live, and with the app's owner. A service-wide one needs an administrator.
 */
const accessGone = `(
  u.disabled_at IS NOT NULL
  OR o.disabled_at IS NOT NULL
  OR w.service_wide = 1 AND u.is_admin = 0
  OR t.kind = 'personal' AND (t.revoked_at IS NOT NULL OR t.expires_at <= $1)
  OR t.kind = 'oauth' AND (g.revoked_at IS NOT NULL OR g.expires_at <= $1)
)`;

/**
 * Returns the webhooks whose access has ended. With `isPasswordChanged` these include all that were made in a session of the
 * user, because it may not have been the user. Sessions that follow the change do not exist yet.
 */
export function withoutAccess(
  db: Db,
  now: number,
  userId: UserId | undefined,
  isPasswordChanged: boolean,
): Promise<{ webhook_id: WebhookId; reason: AccessEnd }[]> {
  const gone = isPasswordChanged ? `(${accessGone} OR t.kind = 'session')` : accessGone;
  return db.all(
    `SELECT w.webhook_id, CASE WHEN u.disabled_at IS NULL THEN 'access_revoked' ELSE 'user_disabled' END AS reason
     FROM webhooks w JOIN users u ON u.user_id = w.user_id
     JOIN tokens t ON t.token_id = w.token_id LEFT JOIN grants g ON g.grant_id = t.grant_id
     LEFT JOIN apps a ON a.app_id = w.app_id LEFT JOIN users o ON o.user_id = a.owner_id
     WHERE w.deleted_at IS NULL AND (w.status <> 'disabled' OR w.disabled_reason IN ('gone', 'unreachable'))
       AND ${gone} AND ${userId === undefined ? 'CAST($2 AS bigint) IS NULL' : 'w.user_id = $2'}`,
    [now, userId ?? null],
  );
}

/** The access that a webhook delivers with. */
export interface WebhookAccess {
  /** When it expires; null if it does not, or at a time that moves on. */
  readonly expires_at: number | null;
  /** The person behind the webhook: the owner of a bot, and otherwise the user. */
  readonly owner_id: UserId;
  /** The URL that has responded with a 2xx. */
  readonly confirmed_url: string | null;
}

export const findAccess = (db: Db, webhookId: WebhookId): Promise<WebhookAccess | undefined> =>
  db.get(
    `SELECT CASE t.kind WHEN 'personal' THEN t.expires_at END AS expires_at, COALESCE(u.owner_id, u.user_id) AS owner_id,
       e.confirmed_url
     FROM webhooks w JOIN tokens t ON t.token_id = w.token_id JOIN users u ON u.user_id = w.user_id
     JOIN endpoint_state e ON e.webhook_id = w.webhook_id WHERE w.webhook_id = $1`,
    [webhookId],
  );

/** Deletes up to `count` webhooks that were removed before a time, and as many replays that finished before it. */
export async function pruneWebhooks(tx: Tx, before: number, count: number): Promise<number> {
  const deleted = 'SELECT webhook_id FROM webhooks WHERE deleted_at < $1 ORDER BY deleted_at LIMIT $2';
  await tx.run(`DELETE FROM endpoint_state WHERE webhook_id IN (${deleted})`, [before, count]);
  const webhooks = await tx.run(`DELETE FROM webhooks WHERE webhook_id IN (${deleted})`, [before, count]);
  const finished = 'finished_at < $1 ORDER BY finished_at LIMIT $2';
  return webhooks + (await deleteSome(tx, ['replays', 'replay_id'], finished, [before, count]));
}

export async function countExpired(tx: Tx, webhookId: number, count: number): Promise<void> {
  await tx.run('UPDATE webhooks SET expired_count = expired_count + $2 WHERE webhook_id = $1', [webhookId, count]);
}
