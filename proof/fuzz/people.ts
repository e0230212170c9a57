import { scopeNames, type UserId } from '@parley/contract';
import { createBot, createBotToken } from '../../server/auth/bots.ts';
import { openSession } from '../../server/auth/sessions.ts';
import { processRuntime } from '../../server/compose.ts';
import { cookieNames } from '../../server/http/cookies.ts';
import { Client, SessionClient } from '../../server/test/support/client.ts';
import { accessOf, authorizeApp, newApp } from '../../server/test/support/oauth.ts';
import type { TestServer } from '../../server/test/support/server.ts';

/** All callers, by their role in the group, or by their credentials. */
export const callers = [
  ...(['owner', 'admin', 'member', 'stranger', 'root', 'bot'] as const),
  ...(['app', 'narrow', 'browser', 'revoked', 'made up', 'nobody'] as const),
] as const;
export type Caller = (typeof callers)[number];

export type People = Awaited<ReturnType<typeof makePeople>>;

let generations = 0;

/** Makes new users with unused names. `developed` is an app that `member` owns and has authorized; `session` and `browser` are of `root`. */
export async function makePeople(server: TestServer) {
  const generation = ++generations;
  const user = (name: string, admin = false) => server.user(`${name}${generation}`, { admin });
  const owner = await user('owner');
  const admin = await user('admin');
  const member = await user('member');
  const stranger = await user('stranger');
  const root = await user('root', true);
  const bot = await botOf(server, member, generation);
  const developed = await newApp(server, member, { confidential: true });
  const { access } = await authorizeApp(server, developed, member, { scopes: ['messages:read', 'chats:read'] });
  const session = await sessionOf(server, root);
  /** The headers that authenticate each caller. */
  const credentials: Readonly<Record<Caller, Readonly<Record<string, string>>>> = {
    ...{ owner: bearer(owner.token), admin: bearer(admin.token), member: bearer(member.token) },
    ...{ stranger: bearer(stranger.token), root: bearer(root.token), bot: bearer(bot.token), app: bearer(access) },
    narrow: bearer(await server.token(`owner${generation}`, ['messages:read'])),
    browser: { cookie: `${cookieNames(false).session}=${session}`, 'sec-fetch-site': 'same-origin' },
    revoked: bearer(await revokedTokenOf(owner)),
    'made up': bearer(`pat_${'A'.repeat(43)}`),
    nobody: {},
  };
  const browser = new SessionClient(server.url, session, root.userId);
  return { owner, admin, member, stranger, root, bot, developed, session, browser, credentials };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function botOf(server: TestServer, { userId }: Client, generation: number): Promise<Client> {
  const actor = { userId: userId as UserId, appId: 0, address: null };
  const { user_id } = await createBot(accessOf(server), actor, { name: `bot${generation}`, displayName: 'Bot' });
  const scopes = scopeNames.filter((scope) => scope !== 'admin');
  const { accessToken } = await createBotToken(accessOf(server), actor, user_id, { name: 'its own', scopes });
  return new Client(server.url, accessToken, user_id);
}

async function sessionOf(server: TestServer, { userId }: Client): Promise<string> {
  const session = await server.engine.write((tx) => openSession(tx, processRuntime, userId as UserId, Date.now()));
  return session.secret;
}

async function revokedTokenOf(user: Client): Promise<string> {
  const { token, access_token } = await user.ok('tokens.create', { name: 'spare' });
  await user.ok('tokens.revoke', { token_id: token.token_id });
  return access_token;
}
