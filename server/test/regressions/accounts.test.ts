import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { replaceSecret } from '../../auth/apps.ts';
import { createBot, createBotToken, revokeBotToken } from '../../auth/bots.ts';
import { checkLink, createInvitation, createPasswordLink } from '../../auth/links.ts';
import { Passwords } from '../../auth/passwords.ts';
import { BrowserLike, goodPassword, person } from '../support/browser-like.ts';
import { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { accessOf, authorizeApp, newApp } from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { inSession, signedIn } from '../support/visitor.ts';

const actor = (client: Client) => ({ userId: client.userId as never, appId: 0, address: '127.0.0.1' });

test('a name that nobody has takes as long to check as any: its stand-in costs what a password costs', async () => {
  const costOf = (hash: string) => hash.split('$').slice(0, 4);
  const compared: string[] = [];
  const passwords = new Passwords(
    { memoryKib: 64, passes: 3 },
    {
      hash: (password, cost) => Bun.password.hash(password, cost),
      verify: (password, hash) => {
        compared.push(hash);
        return Bun.password.verify(password, hash);
      },
    },
  );
  const real = await passwords.hash('what a password costs');
  expect(await passwords.matches('what a password costs', real, 'ada')).toBe(true);
  expect(await passwords.matches('what a password costs', null, 'ada')).toBe(false);
  expect(compared.map(costOf)).toEqual([costOf(real), costOf(real)]);
  expect(costOf(real)).toEqual(['', 'argon2id', 'v=19', 'm=64,t=3,p=1']);
});

onAnyEngine('accounts', (engine) => {
  let now = Date.now();
  const server = serverFor(engine, {}, { now: () => now });
  const hook = { url: 'http://127.0.0.1:9/hook', events: ['*'], secret: 'a secret of ours' };

  const withSecret = async (clientId: string, secret: string) => {
    const response = await fetch(`${server().url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, client_secret: secret }),
    });
    return (await response.json()) as { access_token?: string; error?: string };
  };

  test('a secret that is replaced takes along what it gave: tokens of the bot, and their webhooks', async () => {
    const { owner } = await users(server(), 'owner');
    const app = await newApp(server(), owner, { confidential: true });
    const { access_token = '' } = await withSecret(app.clientId, app.secret ?? '');
    const bot = new Client(server().url, access_token, app.botId ?? 0);
    await bot.ok('webhooks.register', hook);
    const secret = await replaceSecret(accessOf(server()), actor(owner), app.appId);
    // The server notices changes by others within two seconds.
    now += 2_000;
    expect(await bot.refused('users.me', {})).toBe('unauthorized');
    expect((await withSecret(app.clientId, app.secret ?? '')).error).toBe('invalid_client');
    const { access_token: next = '' } = await withSecret(app.clientId, secret);
    const { webhooks } = await new Client(server().url, next, 0).ok('webhooks.list', {});
    expect(webhooks.map(({ status, disabled_reason }) => [status, disabled_reason])).toEqual([
      ['disabled', 'access_revoked'],
    ]);
  });

  test('a token of a bot that its owner revokes takes its webhooks along', async () => {
    const { keeper: owner } = await users(server(), 'keeper');
    const services = accessOf(server());
    const { user_id } = await createBot(services, actor(owner), {
      name: `porter-${owner.userId}`,
      displayName: 'Porter',
    });
    const make = (name: string) =>
      createBotToken(services, actor(owner), user_id, { name, scopes: ['webhooks', 'messages:read'] });
    const [first, second] = [await make('first'), await make('second')];
    await new Client(server().url, first.accessToken, user_id).ok('webhooks.register', hook);
    await revokeBotToken(services, actor(owner), user_id, first.token.token_id);
    const { webhooks } = await new Client(server().url, second.accessToken, user_id).ok('webhooks.list', {});
    expect(webhooks.map(({ status }) => status)).toEqual(['disabled']);
  });

  test('names cannot change the direction of the text around them', async () => {
    const { ada } = await users(server(), 'ada');
    for (const turn of ['\u202a', '\u202e', '\u2066', '\u2069']) {
      expect(await ada.refused('tokens.create', { name: `x${turn}` })).toBe('validation_failed');
      expect(await ada.refused('messages.create_group', { name: `${turn}x`, participants: [] })).toBe(
        'validation_failed',
      );
    }
    await ada.ok('tokens.create', { name: 'שלום مرحبا 👩‍👩‍👧' });
  });

  test('who is disabled leaves a line for each chat that passed on', async () => {
    const { owner, heir } = await users(server(), 'owner', 'heir');
    const root = await server().user(`root-${owner.userId}`, { admin: true });
    const { group } = await owner.ok('messages.create_group', { name: 'Ours', participants: [heir.userId] });
    await root.ok('users.disable', { user_id: owner.userId });
    const lines = await server().engine.all<{ details: string }>(
      `SELECT details FROM audit WHERE act = 'role_changed' AND user_id = $1`,
      [root.userId],
    );
    expect(lines.map(({ details }) => JSON.parse(details))).toEqual([
      expect.objectContaining({ chat_id: group.chat_id, user_id: heir.userId, role: 'owner' }),
    ]);
  });

  test('signing out is written down', async () => {
    const { name, user_id } = await person(server());
    const browser = new BrowserLike(server().url);
    await browser.signIn(name, goodPassword);
    await browser.post('/sign-out');
    const acts = await server().engine.all<{ act: string }>(
      'SELECT act FROM audit WHERE user_id = $1 ORDER BY audit_id',
      [user_id],
    );
    expect(acts.map(({ act }) => act)).toEqual(['signed_in', 'signed_out']);
  });

  test('a token that was sent and is not valid is called that, and a missing one is not', async () => {
    const challenge = async (headers: Record<string, string>) =>
      (await fetch(`${server().url}/api/users.php?action=me`, { headers })).headers.get('www-authenticate');
    expect(await challenge({})).toBe('Bearer realm="parley"');
    expect(await challenge({ authorization: 'Bearer pat_unknown' })).toBe(
      'Bearer realm="parley", error="invalid_token"',
    );
  });

  const statusOf = async (owner: Client) =>
    (await owner.ok('webhooks.list', {})).webhooks.map(({ status, disabled_reason }) => [status, disabled_reason]);
  const ended = [['disabled', 'access_revoked'] as ('disabled' | 'access_revoked')[]];

  test('who is no longer an administrator is told no more of the whole service, and has no more links', async () => {
    const { id } = await users(server(), 'id');
    const root = await server().user(`root-of-${id.userId}`, { admin: true });
    const mallory = await server().user(`mallory-${id.userId}`, { admin: true });
    const whole = { ...hook, service_wide: true, include_direct: true };
    await (await inSession(server(), mallory)).ok('webhooks.register', whole);
    const services = accessOf(server());
    const invitation = await createInvitation(services, 'invitation', actor(mallory), '');
    const link = await createPasswordLink(services, actor(mallory), (await person(server())).user_id);
    const page = await signedIn(server(), root);
    await page.post(`/admin/users/${mallory.userId}/administrator`, { administrator: 'no' });
    const { webhooks } = await mallory.ok('webhooks.list', {});
    expect(webhooks.map(({ status }) => status)).toEqual(['disabled']);
    expect(await checkLink(services, 'invitation', invitation.secret)).toBeUndefined();
    expect(await checkLink(services, 'password', link.secret)).toBeUndefined();
  });

  test('an app whose owner is disabled is told no more of what others allowed it', async () => {
    const { eve, victim } = await users(server(), 'eve', 'victim');
    const root = await server().user(`root-over-${eve.userId}`, { admin: true });
    const app = await newApp(server(), eve);
    const { access } = await authorizeApp(server(), app, victim, { scopes: ['messages:read', 'webhooks'] });
    const asApp = new Client(server().url, access, victim.userId);
    await asApp.ok('webhooks.register', hook);
    await root.ok('users.disable', { user_id: eve.userId });
    expect(await statusOf(asApp)).toEqual(ended);
  });

  test('a call that began before its access ended, and takes its time, is refused', async () => {
    const { id } = await users(server(), 'id');
    const root = await server().user(`root-for-${id.userId}`, { admin: true });
    const mallory = await server().user(`slow-${id.userId}`, { admin: true });
    const body = JSON.stringify({ name: `backdoor-${id.userId}`, is_admin: true, password: goodPassword });
    const json = ['Content-Type: application/json', `Authorization: Bearer ${mallory.token}`];
    const held = await hold(server().url, '/api/users.php?action=create', json, body);
    await root.ok('users.disable', { user_id: mallory.userId });
    expect(await held.finish()).toStartWith('HTTP/1.1 401 ');
  });

  test('a form that was begun by an administrator who no longer is one is refused', async () => {
    const { id } = await users(server(), 'id');
    const root = await server().user(`root-and-${id.userId}`, { admin: true });
    const mallory = await server().user(`once-${id.userId}`, { admin: true });
    const { cookies } = await signedIn(server(), mallory);
    const form = [
      'Content-Type: application/x-www-form-urlencoded',
      'Sec-Fetch-Site: same-origin',
      `Cookie: parley_session=${cookies.get('parley_session')}`,
    ];
    const path = (who: Client) => `/admin/users/${who.userId}/administrator`;
    const held = await hold(server().url, path(mallory), form, 'administrator=yes');
    const page = await signedIn(server(), root);
    await page.post(path(mallory), { administrator: 'no' });
    expect(await held.finish()).toStartWith('HTTP/1.1 403 ');
    expect((await mallory.ok('users.me', {})).user.is_admin).toBe(false);
  });

  test('an app cannot make an administrator, whatever it was allowed', async () => {
    const { dev } = await users(server(), 'dev');
    const root = await server().user(`root-by-${dev.userId}`, { admin: true });
    const app = await newApp(server(), dev);
    const { access } = await authorizeApp(server(), app, root, { scopes: ['admin'] });
    const asApp = new Client(server().url, access, root.userId);
    expect(await asApp.refused('users.create', { name: `lasting-${dev.userId}`, is_admin: true })).toBe('forbidden');
    await asApp.ok('users.create', { name: `plain-${dev.userId}` });
  });

  test('what was registered in a session ends when the password is changed', async () => {
    const { name, user_id } = await person(server());
    const owner = new Client(server().url, await server().token(name), user_id);
    const browser = new BrowserLike(server().url);
    await browser.signIn(name, goodPassword);
    const registered = await fetch(`${server().url}/api/webhooks.php?action=register`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'sec-fetch-site': 'same-origin',
        cookie: `parley_session=${browser.session}`,
      },
      body: JSON.stringify(hook),
    });
    expect(registered.status).toBe(200);
    expect(await statusOf(owner)).toEqual([['active', null]]);
    now += 1_000;
    const next = 'another fine long password';
    await browser.post('/password', { current: goodPassword, password: next, again: next });
    expect(await statusOf(owner)).toEqual(ended);
  });
});

onAnyEngine('a flood of attempts to sign in', (engine) => {
  const server = serverFor(engine, { PARLEY_SIGN_IN_LIMIT: '2/60' });

  test('leaves a bounded number of lines, whatever names it makes up', async () => {
    for (let i = 0; i < 40; i++) {
      expect((await new BrowserLike(server().url).signIn(`made-up-${i}`, goodPassword)).status).not.toBe(303);
    }
    const lines = await server().engine.all(`SELECT 1 AS one FROM audit WHERE act = 'sign_in_throttled'`);
    expect(lines).toHaveLength(1);
  });
});

/** Sends a call but for its last byte, and waits until the server has the rest. */
async function hold(url: string, path: string, headers: readonly string[], body: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let answer = '';
  socket.on('data', (part) => {
    answer += part;
  });
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    ...headers,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`);
  // The server takes what comes in its order: it is busy with this call once it answers a later one.
  await fetch(`${url}/readyz`);
  return {
    finish: async () => {
      socket.write(body.slice(-1));
      await eventually('the answer is there', async () => answer.includes('\r\n\r\n') || undefined);
      socket.destroy();
      return answer;
    },
  };
}
