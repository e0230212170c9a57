import { expect, test } from 'bun:test';
import { createPasswordLink } from '../../auth/links.ts';
import type { UserRow } from '../../store/access/users.ts';
import { BrowserLike, goodPassword, person } from '../support/browser-like.ts';
import { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { accessOf, authorizationRequest, authorizeApp, newApp, newPkce } from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { hook } from '../support/stage.ts';
import { expectSound, inSession, secretIn } from '../support/visitor.ts';

onAnyEngine('power that outlives its credential', (engine) => {
  let time = Date.now();
  const now = () => time;
  const server = serverFor(engine, {}, { now });
  const minutes = (count: number) => count * 60_000;
  const administrator = () => person(server(), { admin: true });
  const clientOf = async ({ name, user_id }: UserRow) => new Client(server().url, await server().token(name), user_id);
  const whole = { ...hook, service_wide: true } as const;

  async function signedIn(user: UserRow): Promise<BrowserLike> {
    const browser = new BrowserLike(server().url);
    await browser.signIn(user.name, goodPassword);
    return browser;
  }

  test('is not made by an access token, and the error names the page', async () => {
    const root = await administrator();
    const client = await clientOf(root);
    const attempts = [
      [await client.call('users.create', { name: `lasting${root.user_id}`, is_admin: true }), '/admin/users/new'],
      [await client.call('tokens.create', { name: 'lasting', scopes: ['admin'] }), '/console/tokens'],
      [await client.call('webhooks.register', whole), '/console/webhooks'],
    ] as const;
    for (const [{ status, error }, page] of attempts) {
      expect({ page, status, code: error?.code }).toEqual({ page, status: 403, code: 'forbidden' });
      expect(error?.message).toEndWith(`Do it at ${page}.`);
    }
    expect((await client.ok('tokens.create', { name: 'by default' })).token.scopes).not.toContain('admin');
  });

  test('is made in a session for ten minutes after the password was entered', async () => {
    const root = await administrator();
    const browser = await inSession(server(), { userId: root.user_id }, time - minutes(9));
    const { user } = await browser.ok('users.create', { name: `second${root.user_id}`, is_admin: true });
    expect(user.is_admin).toBe(true);
    expect((await browser.ok('tokens.create', { name: 'powerful', scopes: ['admin'] })).token.scopes).toEqual([
      'admin',
    ]);
    const { webhook } = await browser.ok('webhooks.register', whole);
    time += minutes(2);
    const { webhook_id } = webhook;
    for (const code of [
      await browser.refused('users.create', { name: `third${root.user_id}`, is_admin: true }),
      await browser.refused('tokens.create', { name: 'late', scopes: ['admin'] }),
      await browser.refused('webhooks.register', whole),
      await browser.refused('webhooks.update', { webhook_id, url: 'http://127.0.0.1:9/elsewhere' }),
    ]) {
      expect(code).toBe('forbidden');
    }
    // A webhook that exists can be managed with a token.
    const client = await clientOf(root);
    await client.ok('webhooks.update', { webhook_id, status: 'paused' });
    await client.ok('webhooks.update', { webhook_id, status: 'active' });
    expect(await client.refused('webhooks.update', { webhook_id, url: 'http://127.0.0.1:9/x' })).toBe('forbidden');
  });

  test('is asked for the password on pages, which then continue', async () => {
    const [root, other] = [await administrator(), await administrator()];
    const { ada } = await users(server(), 'ada');
    const browser = await signedIn(root);
    const before = browser.session;
    time += minutes(11);
    const page = `/admin/users/${ada.userId}`;
    const again = `/confirm-password?next=${encodeURIComponent(page)}`;
    const referer = { 'sec-fetch-site': 'same-origin', referer: `${server().url}${page}` };
    const promote = () => browser.post(`${page}/administrator`, { administrator: 'yes' }, referer);
    expect(await promote()).toMatchObject({ status: 303, location: `${again}&done=not-sent` });
    for (const [path, fields] of [
      [`/admin/users/${other.user_id}/password-link`, {}],
      [`/admin/users/${root.user_id}/password-link`, {}],
      ['/admin/users/new', { name: 'lasting', is_admin: 'yes' }],
    ] as const) {
      const { status, location } = await browser.post(path, fields);
      expect({ path, status, location }).toEqual({ path, status: 303, location: '/confirm-password?done=not-sent' });
    }
    expect((await ada.ok('users.me', {})).user.is_admin).toBe(false);
    secretIn(await browser.post(`${page}/password-link`));

    const form = await browser.get(`${again}&done=not-sent`);
    expectSound(form);
    expect(form.words).toContain('The form was not sent.');
    const wrong = await browser.post('/confirm-password', { next: page, password: 'not the password' });
    expect(wrong.status).toBe(422);
    expect(await promote()).toMatchObject({ status: 303 });
    expect((await ada.ok('users.me', {})).user.is_admin).toBe(false);
    const right = await browser.post('/confirm-password', { next: page, password: goodPassword });
    expect(right).toMatchObject({ status: 303, location: page });
    expect(browser.session).not.toBe(before);
    expect((await browser.get(again)).location).toBe(page);
    await promote();
    expect((await ada.ok('users.me', {})).user.is_admin).toBe(true);
    const elsewhere = await browser.get('/confirm-password?next=https://evil.example/');
    expect(elsewhere.location).toBe('/');
  });

  test('is not given to an app in an old session', async () => {
    const { dev } = await users(server(), 'dev');
    const root = await administrator();
    const app = await newApp(server(), dev);
    const browser = await signedIn(root);
    const asking = (scope: string) => `/oauth/authorize?${authorizationRequest(app, newPkce(), { scope })}`;
    const path = asking('messages:read admin');
    expect((await browser.get(path)).status).toBe(200);
    time += minutes(11);
    expect((await browser.get(path)).location).toBe(`/confirm-password?next=${encodeURIComponent(path)}`);
    const allowed = await browser.post(path, { user: root.user_id, decision: 'allow' });
    expect(allowed.location).toBe('/confirm-password?done=not-sent');
    const denied = await browser.post(path, { user: root.user_id, decision: 'deny' });
    expect(denied.location).toContain('error=access_denied');
    expect((await browser.get(asking('messages:read'))).status).toBe(200);
  });

  test('ends with a password reset, and the page says so', async () => {
    const [user, root] = [await person(server()), await administrator()];
    const { dev } = await users(server(), 'dev');
    const client = await clientOf(user);
    const { access } = await authorizeApp(server(), await newApp(server(), dev), client, {
      scopes: ['messages:read'],
      now,
    });
    const asApp = new Client(server().url, access, user.user_id);
    const browser = await signedIn(user);
    await client.ok('webhooks.register', hook);
    await asApp.ok('users.me', {});

    const actor = { userId: root.user_id, appId: 0, address: null };
    const { secret } = await createPasswordLink(accessOf(server(), now), actor, user.user_id);
    const fresh = new BrowserLike(server().url);
    const path = `/password-link/${secret}`;
    expect((await fresh.get(path)).words).toContain('ends your access tokens and the access of all apps');
    const { location } = await fresh.post(path, { password: 'an even better one', again: 'an even better one' });
    expect((await fresh.get(location ?? '')).main).toContain('All other sessions, your access tokens');
    expect(await client.refused('users.me', {})).toBe('unauthorized');
    expect(await asApp.refused('users.me', {})).toBe('unauthorized');
    expect(await browser.signedInAs()).toBeUndefined();
    const { webhooks } = await (await clientOf(user)).ok('webhooks.list', {});
    expect(webhooks.map(({ status }) => status)).toEqual(['disabled']);
  });
});
