import { ParleyError, type UserId } from '@parley/contract';
import {
  type AppRow,
  updateApp as changeApp,
  deleteApp as dropApp,
  findOwnApp,
  insertApp,
  listApps,
  lockApp,
  replaceAppSecret,
} from '../store/access/apps.ts';
import { revokeGrants, usersOfApp } from '../store/access/grants.ts';
import { lockTokensOf } from '../store/access/tokens.ts';
import { endWithoutAccess } from '../store/webhooks/webhook-ends.ts';
import { hashToken, newSecret } from './access-token.ts';
import { type Actor, record } from './audit.ts';
import { insertBot } from './bots.ts';
import { checkRedirects } from './oauth/redirects.ts';
import type { AccessServices } from './services.ts';

/** Apps of one person at most. */
const mostApps = 100;

type Owner = Actor & { readonly userId: UserId };

export interface AppRequest {
  readonly name: string;
  readonly redirects: readonly string[];
  /** Whether it runs where it can keep a secret: on a server, not in a browser or on a person's machine. */
  readonly confidential: boolean;
}

/** A new app. Its secret, if it has one, can be read this once. */
export async function registerApp(
  services: AccessServices,
  owner: Owner,
  request: AppRequest,
): Promise<{ app: AppRow; clientSecret: string | undefined }> {
  const redirects = checkRedirects(request.redirects);
  const clientSecret = request.confidential ? newSecret('clientSecret', services.random) : undefined;
  const app = await services.engine.write(async (tx) => {
    const at = services.now();
    await tx.lockKeys([`apps of ${owner.userId}`]);
    if ((await listApps(tx, owner.userId)).length >= mostApps) {
      throw new ParleyError('conflict', `You have ${mostApps} apps. Delete one first.`);
    }
    const bot = request.confidential ? await insertBot(tx, owner.userId, request.name, at) : undefined;
    const made = await insertApp(tx, {
      client_id: newSecret('client', services.random).slice(0, 24),
      owner_id: owner.userId,
      name: request.name,
      redirects: JSON.stringify(redirects),
      secret_hash: clientSecret === undefined ? null : hashToken(clientSecret),
      bot_id: bot?.user_id ?? null,
      created_at: at,
    });
    await record(tx, at, owner, 'app_registered', { app_id: made.app_id, name: made.name, redirects });
    return made;
  });
  return { app, clientSecret };
}

export async function accessApp(services: AccessServices, owner: Owner, appId: number): Promise<AppRow> {
  const app = await findOwnApp(services.engine, owner.userId, appId);
  if (!app) throw noApp();
  return app;
}

export function updateApp(
  services: AccessServices,
  owner: Owner,
  appId: number,
  to: Pick<AppRequest, 'name' | 'redirects'>,
): Promise<void> {
  const redirects = checkRedirects(to.redirects);
  return services.engine.write(async (tx) => {
    const app = await findOwnApp(tx, owner.userId, appId);
    if (!app) throw noApp();
    await changeApp(tx, appId, { name: to.name, redirects });
    await record(tx, services.now(), owner, 'app_changed', { app_id: appId, name: to.name, redirects });
  });
}

/**
 * A new secret in place of the old one, which ends at once, with all that the app was given for it alone: what it does as its
 * bot. It can be read this once.
 */
export async function replaceSecret(services: AccessServices, owner: Owner, appId: number): Promise<string> {
  const secret = newSecret('clientSecret', services.random);
  const botId = await services.engine.write(async (tx) => {
    const at = services.now();
    await lockApp(tx, appId);
    const app = await findOwnApp(tx, owner.userId, appId);
    if (!app) throw noApp();
    if (app.secret_hash === null) throw new ParleyError('conflict', 'This app has no secret to replace.');
    await replaceAppSecret(tx, appId, hashToken(secret));
    await record(tx, at, owner, 'app_secret_replaced', { app_id: appId, name: app.name });
    if (app.bot_id === null) return undefined;
    await lockTokensOf(tx, app.bot_id);
    await revokeGrants(tx, { userId: app.bot_id, appId }, at);
    await endWithoutAccess(tx, at, app.bot_id);
    return app.bot_id;
  });
  if (botId !== undefined) await services.ended(botId);
  return secret;
}

/** Ends everything that anybody granted to the app. Its bot stays, with what it wrote. */
export async function deleteApp(services: AccessServices, owner: Owner, appId: number): Promise<void> {
  const users = await services.engine.write(async (tx) => {
    const at = services.now();
    const app = await findOwnApp(tx, owner.userId, appId);
    if (!app) throw noApp();
    await lockApp(tx, appId);
    await dropApp(tx, appId, at);
    const users = await usersOfApp(tx, appId);
    await lockTokensOf(tx, ...users);
    for (const userId of users) {
      await revokeGrants(tx, { userId, appId }, at);
      await endWithoutAccess(tx, at, userId);
    }
    await record(tx, at, owner, 'app_deleted', { app_id: appId, name: app.name });
    return users;
  });
  await services.ended(...users);
}

const noApp = () => new ParleyError('not_found', 'You have no such app.');
