import type { SubscriptionId, TokenId, UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { deleteSome, exists, number, rowReader } from '../engine/query.ts';

export interface SubscriptionRow {
  readonly subscription_id: SubscriptionId;
  readonly endpoint: string;
  readonly with_text: boolean;
  readonly created_at: number;
  /** Of the session that has subscribed. */
  readonly user_agent: string | null;
}

const columns = `subscription_id, endpoint, with_text, created_at,
  (SELECT t.user_agent FROM tokens t WHERE t.token_id = push_subscriptions.token_id) AS user_agent`;
const subscriptions = rowReader<SubscriptionRow>('with_text');

/** The owner of a subscription: a user, or an app that acts for one. */
export interface Subscriber {
  readonly userId: UserId;
  /** 0 if no app is involved. */
  readonly appId: number;
}

export interface NewSubscription extends Subscriber {
  readonly tokenId: TokenId;
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
  readonly withText: boolean;
}

/**
 * Inserts a subscription, or replaces the one with the same endpoint, whoever had it: a browser has one, and belongs to who
 * signed in last.
 */
export async function replaceSubscription(tx: Tx, s: NewSubscription, at: number): Promise<SubscriptionRow> {
  await tx.run('DELETE FROM push_subscriptions WHERE endpoint = $1 AND (user_id <> $2 OR app_id <> $3)', [
    s.endpoint,
    s.userId,
    s.appId,
  ]);
  const row = await subscriptions.get(
    tx,
    `INSERT INTO push_subscriptions (user_id, app_id, token_id, endpoint, host, p256dh, auth, with_text, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT (endpoint) DO UPDATE SET
       token_id = excluded.token_id, p256dh = excluded.p256dh, auth = excluded.auth, with_text = excluded.with_text
     RETURNING ${columns}`,
    [s.userId, s.appId, s.tokenId, s.endpoint, new URL(s.endpoint).host, s.p256dh, s.auth, s.withText ? 1 : 0, at],
  );
  if (!row) throw new Error('INSERT INTO push_subscriptions returned no row');
  return row;
}

export const listSubscriptions = (db: Db, { userId, appId }: Subscriber): Promise<SubscriptionRow[]> =>
  subscriptions.all(
    db,
    `SELECT ${columns} FROM push_subscriptions WHERE user_id = $1 AND app_id = $2 ORDER BY subscription_id`,
    [userId, appId],
  );

/** Counts the subscriptions of a user, of all apps, with other endpoints. */
export const countOthers = (db: Db, userId: UserId, endpoint: string): Promise<number> =>
  number(db, 'SELECT count(*) AS count FROM push_subscriptions WHERE user_id = $1 AND endpoint <> $2', [
    userId,
    endpoint,
  ]);

/** Returns the deleted subscription, or undefined if the subscriber has no such. */
export const deleteSubscription = (
  tx: Tx,
  { userId, appId }: Subscriber,
  subscriptionId: SubscriptionId,
): Promise<SubscriptionRow | undefined> =>
  subscriptions.get(
    tx,
    `DELETE FROM push_subscriptions WHERE subscription_id = $1 AND user_id = $2 AND app_id = $3 RETURNING ${columns}`,
    [subscriptionId, userId, appId],
  );

export const hasSubscriptions = (db: Db): Promise<boolean> =>
  exists(db, 'SELECT 1 AS one FROM push_subscriptions LIMIT 1');

/**
 * The access of the subscription `s` has not ended at `now`: it lasts as long as its session or token, and that of an app as
 * long as the grant, however short its tokens live. The tables are those of `accessTables`.
 */
export const hasAccess = (now: string): string => `u.disabled_at IS NULL AND o.disabled_at IS NULL AND CASE t.kind
  WHEN 'oauth' THEN g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > ${now})
  ELSE t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > ${now}) END`;

export const accessTables = `JOIN users u ON u.user_id = s.user_id JOIN tokens t ON t.token_id = s.token_id
  LEFT JOIN grants g ON g.grant_id = t.grant_id
  LEFT JOIN apps a ON a.app_id = s.app_id AND s.app_id > 0 LEFT JOIN users o ON o.user_id = a.owner_id`;

/** Deletes up to `count` subscriptions, of one user or of all, whose access has ended. Returns how many. */
export const deleteEnded = (db: Pick<Db, 'run'>, now: number, count: number, userId?: UserId): Promise<number> =>
  deleteSome(
    db,
    ['push_subscriptions', 'subscription_id'],
    `x.subscription_id IN (
       SELECT s.subscription_id FROM push_subscriptions s ${accessTables}
       WHERE NOT (${hasAccess('$1')}) AND ${userId === undefined ? 'CAST($3 AS bigint) IS NULL' : 's.user_id = $3'}
     ) LIMIT $2`,
    [now, count, userId ?? null],
  );
