import type { UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { insertRow, rowReader } from '../engine/query.ts';

export interface AppRow {
  readonly app_id: number;
  readonly client_id: string;
  /** Null for Parley's own app. */
  readonly owner_id: UserId | null;
  readonly name: string;
  /** A JSON array of URLs. */
  readonly redirects: string;
  /** Null for a public client. */
  readonly secret_hash: string | null;
  readonly bot_id: UserId | null;
  readonly created_at: number;
  /** True if it was registered with an access token, and its owner has not confirmed it in a browser. */
  readonly by_token: boolean;
}

const newColumns = [
  'client_id',
  'owner_id',
  'name',
  'redirects',
  'secret_hash',
  'bot_id',
  'created_at',
  'by_token',
] as const;
const names = ['app_id', ...newColumns];
const columns = names.map((name) => `a.${name}`).join(', ');
const apps = rowReader<AppRow>('by_token');

/** Locks deleting the app and issuing grants to it, so that no grant outlives the app. */
export const lockApp = (tx: Tx, appId: number): Promise<void> => tx.lockKeys([`app ${appId}`]);

/** Finds an app that is not deleted and whose owner is not disabled. */
export const findAppByClientId = (db: Db, clientId: string): Promise<AppRow | undefined> =>
  apps.get(
    db,
    `SELECT ${columns} FROM apps a LEFT JOIN users u ON u.user_id = a.owner_id
     WHERE a.client_id = $1 AND a.deleted_at IS NULL AND u.disabled_at IS NULL`,
    [clientId],
  );

export const findOwnApp = (db: Db, ownerId: UserId, appId: number): Promise<AppRow | undefined> =>
  apps.get(db, `SELECT ${columns} FROM apps a WHERE a.owner_id = $1 AND a.app_id = $2 AND a.deleted_at IS NULL`, [
    ownerId,
    appId,
  ]);

/** Returns true for an app that is part of Parley, such as the command line. */
export const isBuiltIn = async (db: Db, appId: number): Promise<boolean> =>
  (await db.get('SELECT 1 AS found FROM apps WHERE app_id = $1 AND owner_id IS NULL', [appId])) !== undefined;

export const listApps = (db: Db, ownerId: UserId): Promise<AppRow[]> =>
  apps.all(db, `SELECT ${columns} FROM apps a WHERE a.owner_id = $1 AND a.deleted_at IS NULL ORDER BY a.app_id`, [
    ownerId,
  ]);

/** Returns names by app id, those of deleted apps too. */
export async function namesOfApps(db: Db, appIds: Iterable<number>): Promise<ReadonlyMap<number, string>> {
  const rows = await db.all<Pick<AppRow, 'app_id' | 'name'>>(
    `SELECT a.app_id, a.name FROM ${db.dialect.rows('$1', { app_id: 'int' }, 'asked')}
     JOIN apps a ON a.app_id = asked.app_id`,
    [JSON.stringify([...new Set(appIds)].map((app_id) => ({ app_id })))],
  );
  return new Map(rows.map(({ app_id, name }) => [app_id, name]));
}

export const insertApp = async (tx: Tx, app: Omit<AppRow, 'app_id'>): Promise<AppRow> =>
  apps.read(await insertRow(tx, 'apps', newColumns, { ...app, by_token: app.by_token ? 1 : 0 }, names.join(', ')));

/** Changes an app in the name of its owner, who confirms it with that. */
export async function updateApp(
  tx: Tx,
  appId: number,
  to: { name: string; redirects: readonly string[] },
): Promise<void> {
  await tx.run('UPDATE apps SET name = $2, redirects = $3, by_token = 0 WHERE app_id = $1', [
    appId,
    to.name,
    JSON.stringify(to.redirects),
  ]);
}

export async function replaceAppSecret(tx: Tx, appId: number, secretHash: string): Promise<void> {
  await tx.run('UPDATE apps SET secret_hash = $2 WHERE app_id = $1', [appId, secretHash]);
}

export async function deleteApp(tx: Tx, appId: number, at: number): Promise<void> {
  await tx.run('UPDATE apps SET deleted_at = $2 WHERE app_id = $1 AND deleted_at IS NULL', [appId, at]);
}
