import { scopeNames, type UserId } from '@parley/contract';
import { formatScopes, hashToken, newSecret } from '../../auth/access-token.ts';
import { createBot, createBotToken } from '../../auth/bots.ts';
import type { AccessServices } from '../../auth/services.ts';
import { openSession } from '../../auth/sessions.ts';
import { cookieNames } from '../../http/cookies.ts';
import { insertGrant } from '../../store/access/grants.ts';
import { insertToken } from '../../store/access/tokens.ts';
import { Client } from './client.ts';
import { accessOf, registerApp } from './oauth.ts';
import type { TestServer } from './server.ts';

/** Callers with their own tokens. */
export const roles = ['stranger', 'member', 'bot', 'admin', 'owner', 'root'] as const;
export type Role = (typeof roles)[number];

/** An administrator, with every kind of credential. */
interface Powers {
  readonly powerful: Client;
  /** An app with all scopes. */
  readonly app: Client;
  /** A revoked token. */
  readonly revoked: Client;
  /** The session of a browser. */
  readonly cookie: string;
}

type Person = Role | 'founder' | 'other' | 'outsider' | 'disabled';

/** One caller of every kind. */
export type Cast = Readonly<Record<Person, Client>> & Powers;

export async function invite(server: TestServer): Promise<Cast> {
  const services = accessOf(server);
  const member = await server.user('member');
  return {
    ...(await powers(server, services)),
    member,
    bot: await botOf(server, member),
    stranger: await server.user('stranger'),
    admin: await server.user('admin'),
    owner: await server.user('owner'),
    root: await server.user('root', { admin: true }),
    founder: await server.user('founder'),
    other: await server.user('other'),
    outsider: await server.user('outsider'),
    disabled: await server.user('disabled', { admin: true }),
  };
}

const actor = ({ userId }: Client) => ({ userId: userId as UserId, appId: 0, address: null });

/** Creates a bot with all scopes that it may have. */
export async function botOf(server: TestServer, owner: Client, name = 'robot'): Promise<Client> {
  const services = accessOf(server);
  const bot = await createBot(services, actor(owner), { name, displayName: 'Robot' });
  const scopes = scopeNames.filter((scope) => scope !== 'admin');
  const { accessToken } = await createBotToken(services, actor(owner), bot.user_id, { name: 'its own', scopes });
  return new Client(server.url, accessToken, bot.user_id);
}

async function powers(server: TestServer, services: AccessServices): Promise<Powers> {
  const powerful = await server.user('powerful', { admin: true });
  return {
    powerful,
    app: await appOf(server, services, powerful),
    revoked: await revokedTokenOf(powerful),
    cookie: await cookieOf(services, powerful),
  };
}

async function appOf(server: TestServer, services: AccessServices, user: Client): Promise<Client> {
  const request = { name: 'App', redirects: ['https://app.example/callback'], confidential: false };
  const { app } = await registerApp(services, actor(user), request);
  const secret = newSecret('oauth', services.random);
  await services.engine.write(async (tx) => {
    const at = services.now();
    const access = {
      user_id: user.userId as UserId,
      app_id: app.app_id,
      scopes: formatScopes(scopeNames),
      created_at: at,
      expires_at: at + 3_600_000,
    };
    const { grant_id } = await insertGrant(tx, access);
    const hash = hashToken(secret);
    await insertToken(tx, { ...access, kind: 'oauth', parent_id: null, grant_id, name: 'App', hash });
  });
  return new Client(server.url, secret, user.userId);
}

/** The token was used, so the server had cached it. */
async function revokedTokenOf(user: Client): Promise<Client> {
  const spare = await user.ok('tokens.create', { name: 'spare' });
  const revoked = new Client(user.url, spare.access_token, user.userId);
  await revoked.ok('users.me', {});
  await user.ok('tokens.revoke', { token_id: spare.token.token_id });
  return revoked;
}

async function cookieOf(services: AccessServices, { userId }: Client): Promise<string> {
  const { secret } = await services.engine.write((tx) => openSession(tx, services, userId as UserId, services.now()));
  return `${cookieNames(false).session}=${secret}`;
}
