import { ParleyError, type UserId } from '@parley/contract';
import {
  type AppRow,
  deleteApp as deleteAppRow,
  findOwnApp,
  insertApp,
  listApps,
  lockApp,
  replaceAppSecret,
  updateApp as updateAppRow,
} from '../store/access/apps.ts';
import { revokeGrants, usersOfApp } from '../store/access/grants.ts';
import { lockTokensOf } from '../store/access/tokens.ts';
import type { Db, Tx } from '../store/engine/engine.ts';
import { endWithoutAccess } from '../store/webhooks/webhook-ends.ts';
import { hashToken, newSecret } from './access-token.ts';
import { type Actor, record, type UserActor } from './audit.ts';
import { insertBot } from './bots.ts';
import { checkRedirects } from './oauth/redirects.ts';
import type { AccessServices } from './services.ts';

/** The number of apps of one person. */
const maxApps = 100;

export interface AppRequest {
  readonly name: string;
  readonly redirects: readonly string[];
  /** True if it can keep a secret: it runs on a server, not in a browser or on a person's device. */
  readonly confidential: boolean;
  /** True if it is registered with an access token. It gets no bot, as which it could act after the token has ended. */
  readonly byToken?: boolean;
}

export interface NewApp {
  readonly app: AppRow;
  /** The secret of a confidential app, which is not stored. */
  readonly clientSecret: string | undefined;
}

/** Adds an app. Throws `validation_failed` or `conflict`. */
export async function addApp(
  tx: Tx,
  services: AccessServices,
  owner: UserActor,
  { name, confidential, byToken = false, ...request }: AppRequest,
): Promise<NewApp> {
  const redirects = checkRedirects(request.redirects);
  const clientSecret = confidential ? newSecret('clientSecret', services.random) : undefined;
  const at = services.now();
  await tx.lockKeys([`apps of ${owner.userId}`]);
  if ((await listApps(tx, owner.userId)).length >= maxApps) {
    throw new ParleyError('conflict', `You have ${maxApps} apps. Delete one first.`);
  }
  const bot = confidential && !byToken ? await insertBot(tx, services, owner.userId, name, at) : undefined;
  const app = await insertApp(tx, {
    client_id: newSecret('client', services.random).slice(0, 24),
    owner_id: owner.userId,
    name,
    redirects: JSON.stringify(redirects),
    secret_hash: clientSecret === undefined ? null : hashToken(clientSecret),
    bot_id: bot?.user_id ?? null,
    created_at: at,
    by_token: byToken,
  });
  await record(tx, at, owner, 'app_registered', { app_id: app.app_id, name, redirects });
  return { app, clientSecret };
}

export const accessApp = ({ engine }: AccessServices, owner: UserActor, appId: number): Promise<AppRow> =>
  requireApp(engine, owner, appId);

async function requireApp(db: Db, owner: UserActor, appId: number): Promise<AppRow> {
  const app = await findOwnApp(db, owner.userId, appId);
  if (!app) throw new ParleyError('not_found', 'You have no such app.');
  return app;
}

/** Changes an app. Its owner confirms with that an app that was registered with an access token. */
export function updateApp(
  services: AccessServices,
  owner: UserActor,
  appId: number,
  to: Pick<AppRequest, 'name' | 'redirects'>,
): Promise<void> {
  const redirects = checkRedirects(to.redirects);
  return services.engine.write(async (tx) => {
    await requireApp(tx, owner, appId);
    await updateAppRow(tx, appId, { name: to.name, redirects });
    await record(tx, services.now(), owner, 'app_changed', { app_id: appId, name: to.name, redirects });
  });
}

/** Returns a new secret. The old one ends at once, and with it the access of the app as its bot. */
export async function replaceSecret(services: AccessServices, owner: UserActor, appId: number): Promise<string> {
  const secret = newSecret('clientSecret', services.random);
  const users = await services.engine.write(async (tx) => {
    const at = services.now();
    await lockApp(tx, appId);
    const { name, secret_hash, bot_id } = await requireApp(tx, owner, appId);
    if (secret_hash === null) throw new ParleyError('conflict', 'This app has no secret to replace.');
    await replaceAppSecret(tx, appId, hashToken(secret));
    await record(tx, at, owner, 'app_secret_replaced', { app_id: appId, name });
    return endAccess(tx, appId, bot_id === null ? [] : [bot_id], at);
  });
  if (users.length > 0) await services.ended(...users);
  return secret;
}

/** Deletes an app and ends everything that users granted to it. Its bot stays, with what it wrote. */
export async function deleteApp(services: AccessServices, owner: UserActor, appId: number): Promise<void> {
  const users = await services.engine.write(async (tx) => {
    const at = services.now();
    return endApp(tx, owner, await requireApp(tx, owner, appId), at);
  });
  await services.ended(...users);
}

/**
 * Deletes the apps of a user that were registered with an access token and not confirmed since. The caller holds
 * `lockTokensOf` the user, so that none is added meanwhile. Returns the users who had authorized one.
 */
export async function deleteAppsByToken(tx: Tx, actor: Actor, ownerId: UserId, at: number): Promise<readonly UserId[]> {
  const users: UserId[] = [];
  for (const app of await listApps(tx, ownerId)) {
    if (app.by_token) users.push(...(await endApp(tx, actor, app, at)));
  }
  return users;
}

async function endApp(tx: Tx, actor: Actor, { app_id, name }: AppRow, at: number): Promise<readonly UserId[]> {
  await lockApp(tx, app_id);
  await deleteAppRow(tx, app_id, at);
  await record(tx, at, actor, 'app_deleted', { app_id, name });
  return endAccess(tx, app_id, await usersOfApp(tx, app_id), at);
}

/** Ends what these users granted to the app. Returns the users. */
async function endAccess(tx: Tx, appId: number, users: readonly UserId[], at: number): Promise<readonly UserId[]> {
  await lockTokensOf(tx, ...users);
  for (const userId of users) {
    await revokeGrants(tx, { userId, appId }, at);
    await endWithoutAccess(tx, at, userId);
  }
  return users;
}
