import type { UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { changes, insertRow, number, values } from '../engine/query.ts';

/** One authorization of an app by a user. */
export interface GrantRow {
  readonly grant_id: number;
  readonly user_id: UserId;
  readonly app_id: number;
  readonly scopes: string;
  readonly created_at: number;
  /** Null if it never expires. */
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}

const newColumns = ['user_id', 'app_id', 'scopes', 'created_at', 'expires_at'] as const;
const names = ['grant_id', ...newColumns, 'revoked_at'];
const columns = names.map((name) => `g.${name}`).join(', ');

export const insertGrant = (tx: Tx, grant: Omit<GrantRow, 'grant_id' | 'revoked_at'>): Promise<GrantRow> =>
  insertRow(tx, 'grants', newColumns, grant, names.join(', '));

export const findGrant = (db: Db, grantId: number): Promise<GrantRow | undefined> =>
  db.get(`SELECT ${columns} FROM grants g WHERE g.grant_id = $1`, [grantId]);

/** Finds the grant of an app's bot to its app. It never expires. */
export const findStandingGrant = (db: Db, userId: UserId, appId: number): Promise<GrantRow | undefined> =>
  db.get(
    `SELECT ${columns} FROM grants g
     WHERE g.user_id = $1 AND g.app_id = $2 AND g.expires_at IS NULL AND g.revoked_at IS NULL`,
    [userId, appId],
  );

/** Returns false if the grant has ended meanwhile. */
export const extendGrant = (tx: Tx, grantId: number, now: number, until: number): Promise<boolean> =>
  changes(tx, 'UPDATE grants SET expires_at = $3 WHERE grant_id = $1 AND revoked_at IS NULL AND expires_at > $2', [
    grantId,
    now,
    until,
  ]);

/** Revokes grants and all their tokens. The caller holds `lockTokensOf` the user and ends the webhooks. */
export async function revokeGrants(
  tx: Tx,
  which: { grantId: number } | { userId: UserId; appId: number },
  at: number,
): Promise<number> {
  const [column, ...values] =
    'grantId' in which
      ? (['grant_id = $2', which.grantId] as const)
      : (['user_id = $2 AND app_id = $3', which.userId, which.appId] as const);
  const live = `SELECT grant_id FROM grants WHERE ${column}`;
  await tx.run(`UPDATE tokens SET revoked_at = $1 WHERE revoked_at IS NULL AND grant_id IN (${live})`, [at, ...values]);
  return tx.run(`UPDATE grants SET revoked_at = $1 WHERE revoked_at IS NULL AND ${column}`, [at, ...values]);
}

/** Returns all users with a grant to the app that is not revoked. */
export const usersOfApp = (db: Db, appId: number): Promise<UserId[]> =>
  values<UserId>(db, 'SELECT DISTINCT user_id FROM grants WHERE app_id = $1 AND revoked_at IS NULL ORDER BY user_id', [
    appId,
  ]);

/** An app that a user has authorized, over all their grants to it. */
export interface AuthorizedApp {
  readonly app_id: number;
  readonly client_id: string;
  readonly name: string;
  /** The scopes of each grant, separated by spaces. */
  readonly scopes: readonly string[];
  readonly since: number;
  readonly last_used_at: number | null;
}

/** The grant is valid at $2, and its code was exchanged for tokens. */
const inUse = `g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > $2)
  AND (EXISTS (SELECT 1 FROM tokens t WHERE t.grant_id = g.grant_id)
    OR EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.grant_id = g.grant_id))`;

/** Returns whether a user has authorized an app, and the app has used that. */
export const hasGrant = async (db: Db, userId: UserId, appId: number, now: number): Promise<boolean> =>
  (await db.get(`SELECT 1 AS found FROM grants g WHERE g.user_id = $1 AND g.app_id = $3 AND ${inUse}`, [
    userId,
    now,
    appId,
  ])) !== undefined;

/** Counts the people that an app can act for, without its own bot. */
export function countPeopleOf(
  db: Db,
  { app_id, bot_id }: { readonly app_id: number; readonly bot_id: UserId | null },
  now: number,
): Promise<number> {
  return number(
    db,
    `SELECT count(DISTINCT g.user_id) AS people FROM grants g WHERE g.app_id = $1 AND ${inUse} AND g.user_id <> $3`,
    [app_id, now, bot_id ?? 0],
  );
}

/** Leaves out apps whose code was not exchanged yet. */
export async function listAuthorizedApps(db: Db, userId: UserId, now: number): Promise<AuthorizedApp[]> {
  const rows = await db.all<GrantRow & Pick<AuthorizedApp, 'client_id' | 'name' | 'last_used_at'>>(
    `SELECT ${columns}, g.last_used_at, a.client_id, a.name
     FROM grants g JOIN apps a ON a.app_id = g.app_id
     WHERE g.user_id = $1 AND ${inUse}
     ORDER BY a.name, g.grant_id`,
    [userId, now],
  );
  const apps = new Map<number, AuthorizedApp>();
  for (const { app_id, client_id, name, scopes, created_at, last_used_at } of rows) {
    const known = apps.get(app_id);
    apps.set(app_id, {
      app_id,
      client_id,
      name,
      scopes: [...(known?.scopes ?? []), scopes],
      since: Math.min(known?.since ?? created_at, created_at),
      last_used_at: Math.max(known?.last_used_at ?? 0, last_used_at ?? 0) || null,
    });
  }
  return [...apps.values()];
}
