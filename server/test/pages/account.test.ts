import { beforeAll, describe, expect, test } from 'bun:test';
import { pruneAccess } from '../../store/access/expired.ts';
import type { Fields } from '../support/browser-like.ts';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import {
  appRedirect,
  askForTokens,
  authorizeApp,
  newApp,
  newCode,
  refreshForm,
  type TestApp,
  withToken,
  works,
} from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import {
  address,
  believingProxies,
  countActs,
  expectGone,
  expectSound,
  lastAct,
  secretIn,
  signedIn,
  typedIn,
  Visitor,
} from '../support/visitor.ts';

/** Would be seen as more than words, were it not escaped. */
const markup = `<script>alert(1)</script><b a='"'>&amp;`;

const day = 86_400_000;

onAnyEngine('the pages of an account', (engine) => {
  const server = serverFor(engine, believingProxies);
  let ada: Client;
  let bob: Client;
  let visitor: Visitor;
  let other: Visitor;
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
    visitor = await signedIn(server(), ada);
    other = await signedIn(server(), bob);
  });

  const only = async <R extends object>(sql: string): Promise<R> => {
    const [row] = await server().engine.all<R>(sql);
    if (!row) throw new Error(`nothing: ${sql}`);
    return row;
  };
  const newestToken = () =>
    only<{ token_id: number; user_id: number; scopes: string; created_at: number; expires_at: number | null }>(
      `SELECT * FROM tokens WHERE kind = 'personal' ORDER BY token_id DESC`,
    );
  const newestApp = () =>
    only<{ app_id: number; client_id: string; name: string; redirects: string; bot_id: number | null }>(
      'SELECT * FROM apps ORDER BY app_id DESC',
    );
  const botNamed = (name: string) => only<{ user_id: number }>(`SELECT user_id FROM users WHERE name = '${name}'`);
  const done = (path: string, words: string) => ({ status: 303, location: `${path}?done=${words}` });

  describe('as a whole', () => {
    const pages = ['/access', '/apps', '/apps/new', '/bots', '/sessions'];
    const acts = [
      '/access',
      '/access/tokens/1/revoke',
      '/access/apps/1/revoke',
      '/apps/new',
      '/apps/1',
      '/apps/1/secret',
      '/apps/1/delete',
      '/bots',
      '/bots/1',
      '/bots/1/tokens/1/revoke',
      '/bots/1/disable',
      '/sessions/1/sign-out',
      '/sessions/sign-out-others',
    ];

    test('need a session, and redirect others to sign in and back', async () => {
      const stranger = new Visitor(server().url);
      for (const path of [...pages, '/apps/1', '/bots/1', '/access?done=token-revoked']) {
        const { status, location } = await stranger.get(path);
        expect({ status, location }).toEqual({ status: 303, location: `/sign-in?next=${encodeURIComponent(path)}` });
      }
      const before = await countActs(server());
      for (const path of acts) {
        const { status, location } = await stranger.post(path, { name: 'x' });
        expect({ path, status, location }).toEqual({ path, status: 303, location: '/sign-in?done=signed-out' });
      }
      expect(await countActs(server())).toBe(before);
    });

    test('reject forms from other sites', async () => {
      const before = await countActs(server());
      for (const path of acts)
        expect((await visitor.post(path, { name: 'x' }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
      expect(await countActs(server())).toBe(before);
    });

    test('are accessible, and never cached', async () => {
      for (const path of pages) {
        const page = await visitor.get(path);
        expect(page.status).toBe(200);
        expectSound(page);
        expect(page.headers.get('cache-control')).toBe('no-store');
        expect(page.html).toContain(`<a href="${path === '/apps/new' ? '/apps' : path}" aria-current="page">`);
      }
    });

    test('show only their own notices, and no text from the URL', async () => {
      expect((await visitor.get('/access?done=token-revoked')).main).toContain('The access token was revoked.');
      for (const done of ['constructor', '__proto__', markup, '']) {
        const { status, html } = await visitor.get(`/access?done=${encodeURIComponent(done)}`);
        expect(status).toBe(200);
        expect(html).not.toContain('role="status"');
        expect(html).not.toContain('alert(1)');
      }
    });

    test.each(['0', '-1', '1.5', '1e3', 'x', '00', '999999999', '9007199254740993', '%00', '1%2f2'])(
      'have nothing under the id %s',
      async (id) => {
        for (const path of [`/apps/${id}`, `/bots/${id}`]) expect((await visitor.get(path)).status).toBe(404);
        const forms = [
          `/access/tokens/${id}/revoke`,
          `/access/apps/${id}/revoke`,
          `/apps/${id}`,
          `/apps/${id}/secret`,
          `/apps/${id}/delete`,
          `/bots/${id}`,
          `/bots/${id}/tokens/1/revoke`,
          `/bots/${id}/disable`,
        ];
        for (const path of forms) {
          const { status } = await visitor.post(path, { name: 'x', scopes: 'files', redirects: appRedirect });
          expect({ path, status }).toEqual({ path, status: 404 });
        }
      },
    );
  });

  describe('a form whose response shows a secret', () => {
    /** Sends the form that a page shows, and then the same again, as a browser does that loads the answer anew. */
    async function expectOnce(page: string, action: string, fields: Fields, back: string): Promise<void> {
      const marked = { ...fields, once: typedIn((await visitor.get(page)).html, 'once') ?? '' };
      expect(marked.once).toMatch(/^[\w-]{43}$/);
      const secret = secretIn(await visitor.post(action, marked));
      const before = await countActs(server());
      const again = await visitor.post(action, marked);
      expect({ action, status: again.status }).toEqual({ action, status: 409 });
      expect(again.main).toContain('This form was sent already. Its result is shown only once.');
      expect(again.html).toContain(`<a href="${back}" class="button">Back to `);
      expect(again.html).not.toContain(secret);
      expectSound(again);
      expect(await countActs(server())).toBe(before);
      // Nor is it done twice where both come at once.
      const next = { ...fields, once: typedIn((await visitor.get(page)).html, 'once') ?? '' };
      const both = await Promise.all([visitor.post(action, next), visitor.post(action, next)]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    }

    test('makes one token', () =>
      expectOnce('/access', '/access', { name: 'one', scopes: 'files', expires: 'never' }, '/access'));

    test('registers one app, and replaces its secret once', async () => {
      await expectOnce('/apps/new', '/apps/new', { name: 'One', redirects: appRedirect, kind: 'server' }, '/apps');
      const path = `/apps/${(await newestApp()).app_id}`;
      await expectOnce(path, `${path}/secret`, {}, '/apps');
    });

    test('makes one token of a bot', async () => {
      await visitor.post('/bots', { name: 'one-token', display_name: '' });
      const path = `/bots/${(await botNamed('one-token')).user_id}`;
      await expectOnce(path, path, { name: 'one', scopes: 'files' }, '/bots');
    });

    test('can be sent again after an error', async () => {
      const once = typedIn((await visitor.get('/access')).html, 'once') ?? '';
      const form = { name: 'mended', scopes: 'files', expires: 'never', once };
      for (let i = 0; i < 2; i++) expect((await visitor.post('/access', { ...form, name: '' })).status).toBe(422);
      secretIn(await visitor.post('/access', form));
    });
  });

  describe('a user whose session ended meanwhile', () => {
    test('signs in, returns to the form, and reads that it was not sent', async () => {
      const stranger = new Visitor(server().url);
      const { url } = server();
      const from = (referer: string) =>
        stranger.post('/apps/1', {}, { 'sec-fetch-site': 'same-origin', referer }).then(({ location }) => location);
      const led = await from(`${url}/apps/1?done=app-changed&x=1`);
      expect(led).toBe(`/sign-in?next=${encodeURIComponent('/apps/1?x=1')}&done=signed-out`);
      const page = await stranger.get(led ?? '');
      expect(page.main).toContain('You were signed out, and the form was not sent. Sign in to continue.');
      expect(typedIn(page.html, 'next')).toBe('/apps/1?x=1');
      expectSound(page);
      expect((await stranger.get('/sign-in?next=/apps')).main).not.toContain('You were signed out');
      for (const referer of ['https://evil.example/apps/1', `${url}.evil.example/`, `${url}//evil.example/`, 'x', '']) {
        expect({ referer, led: await from(referer) }).toEqual({ referer, led: '/sign-in?done=signed-out' });
      }
    });
  });

  describe('names', () => {
    test('are isolated from the text around them, left to right or right to left', async () => {
      const name = 'שלום';
      const { cleo } = await users(server(), 'cleo');
      const reader = await signedIn(server(), cleo);
      const app = await newApp(server(), cleo, { name, confidential: true });
      await authorizeApp(server(), app, cleo);
      const bot = `/bots/${app.botId}`;
      secretIn(await reader.post('/access', { name, scopes: 'files', expires: 'never' }));
      for (const path of ['/access', '/apps', `/apps/${app.appId}`, '/bots', bot]) {
        const { html } = await reader.get(path);
        const body = html.slice(html.indexOf('<body'));
        const apart = body.split(`<bdi>${name}</bdi>`).length - 1;
        const typed = body.split(`value="${name}"`).length - 1;
        expect({ path, apart: apart > 0, all: body.split(name).length - 1 }).toEqual({
          path,
          apart: true,
          all: apart + typed,
        });
      }
      const { html } = await reader.get(`/apps/${app.appId}`);
      expect(html).toContain(`<title>\u2068${name}\u2069 · Parley</title>`);
      expect(html).toContain(`<h1><bdi>${name}</bdi></h1>`);
    });
  });

  describe('a personal access token', () => {
    const form: Fields = { name: 'nightly', scopes: ['chats:read', 'messages:read'], expires: 'never' };

    test('is shown once, with a command that tries it, and works', async () => {
      const page = await visitor.post('/access', form);
      expectSound(page);
      const token = secretIn(page);
      expect(token).toStartWith('pat_');
      expect(page.main).toContain(`curl -H 'Authorization: Bearer ${token}' '${server().url}/api/users.php?action=me'`);
      expect((await withToken(server(), token).ok('users.me', {})).user.user_id).toBe(ada.userId);
      expect(await withToken(server(), token).refused('messages.create_group', { name: 'x', participants: [] })).toBe(
        'insufficient_scope',
      );
      const { token_id, scopes, expires_at } = await newestToken();
      expect({ scopes, expires_at }).toEqual({ scopes: 'messages:read chats:read', expires_at: null });
      const details = { token_id, user_id: ada.userId, name: 'nightly', scopes: scopes.split(' ') };
      expect(await lastAct(server())).toEqual({ act: 'token_created', user_id: ada.userId, address, details });
      await expectGone(server(), token, visitor, '/access');
    });

    test('is listed with its scopes', async () => {
      await visitor.post('/access', { ...form, name: 'listed' });
      const { main } = await visitor.get('/access');
      expect(main).toMatch(
        / listed May read messages and see chats and users\. Created 20[-\d: ]+UTC Last used never Expires never/,
      );
    });

    test('of a person or a bot expires after 90 days unless another choice is made', async () => {
      await visitor.post('/bots', { name: 'ninety', display_name: '' });
      const { user_id } = await botNamed('ninety');
      for (const path of ['/access', `/bots/${user_id}`]) {
        expect(typedIn((await visitor.get(path)).html, 'expires')).toBe('90d');
        secretIn(await visitor.post(path, { name: 'by default', scopes: 'files' }));
        const byDefault = await newestToken();
        expect(byDefault.expires_at).toBe(byDefault.created_at + 90 * day);
        secretIn(await visitor.post(path, { name: 'chosen', scopes: 'files', expires: 'never' }));
        expect((await newestToken()).expires_at).toBeNull();
      }
    });

    test.each([
      ['30d', 30],
      ['90d', 90],
      ['365d', 365],
    ])('expires after %s where that is chosen', async (expires, days) => {
      expect((await visitor.post('/access', { ...form, expires })).status).toBe(200);
      const { created_at, expires_at } = await newestToken();
      expect(expires_at).toBe(created_at + days * day);
    });

    test.each<[string, Fields, string]>([
      ['without a name', { name: ' ' }, 'This must not be blank.'],
      ['with a name of 101 characters', { name: 'x'.repeat(101) }, 'This must be at most 100 characters.'],
      ['with a name of two lines', { name: 'a\nb' }, 'This must be a single line without control characters.'],
      ['without anything that it may do', { scopes: [] }, 'This needs at least one choice.'],
      ['with a scope that does not exist', { scopes: ['everything'] }, 'This needs at least one choice.'],
      ['with a lifetime that was not offered', { expires: '7d' }, 'This must be one of the choices.'],
      ['with a lifetime that every object has', { expires: 'constructor' }, 'This must be one of the choices.'],
    ])('is not made %s, and the form says why', async (_, wrong, fault) => {
      const before = await countActs(server());
      const page = await visitor.post('/access', { ...form, name: 'kept as typed', ...wrong });
      expect(page.status).toBe(422);
      expect(page.main).toContain(fault);
      expectSound(page);
      expect(await countActs(server())).toBe(before);
      if (wrong.name === undefined) expect(typedIn(page.html, 'name')).toBe('kept as typed');
      if (wrong.scopes === undefined) expect(page.html).toMatch(/value="chats:read" checked/);
      if (wrong.expires === undefined) expect(typedIn(page.html, 'expires')).toBe('never');
    });

    test('is rejected by the form if there are a hundred', async () => {
      const { cleo } = await users(server(), 'cleo');
      const reader = await signedIn(server(), cleo);
      for (let i = 1; i < 100; i++) await cleo.ok('tokens.create', { name: `${i}` });
      const page = await reader.post('/access', form);
      expect(page.status).toBe(409);
      expect(page.html).toContain('role="alert"');
      expect(page.main).toContain('You have 100 access tokens. Revoke one first.');
      expect(typedIn(page.html, 'name')).toBe('nightly');
      expectSound(page);
    });

    test('gets the scope admin only for an administrator', async () => {
      const root = await server().user('root', { admin: true });
      const administrator = await signedIn(server(), root);
      expect((await administrator.get('/access')).html).toContain('value="admin"');
      expect((await visitor.get('/access')).html).not.toContain('value="admin"');
      const before = await countActs(server());
      const refused = await visitor.post('/access', { ...form, scopes: ['admin'] });
      expect(refused.status).toBe(403);
      expect(refused.main).toContain('Missing: admin.');
      expect(await countActs(server())).toBe(before);
      const token = secretIn(await administrator.post('/access', { ...form, scopes: ['admin'] }));
      expect((await withToken(server(), token).call('users.create', { name: 'by-token' })).status).toBe(200);
    });

    test('ends at once when it is revoked', async () => {
      const token = secretIn(await visitor.post('/access', form));
      expect(await works(server(), token)).toBe(true);
      const { token_id } = await newestToken();
      expect(await visitor.post(`/access/tokens/${token_id}/revoke`)).toMatchObject(done('/access', 'token-revoked'));
      expect(await works(server(), token)).toBe(false);
      const details = { token_id, user_id: ada.userId, name: 'nightly' };
      expect(await lastAct(server())).toEqual({ act: 'token_revoked', user_id: ada.userId, address, details });
      const again = await visitor.post(`/access/tokens/${token_id}/revoke`);
      expect(again.status).toBe(404);
      expect(again.html).toContain('<a href="/access" class="button">Back to Access</a>');
    });

    test('of somebody else, or of a browser, cannot be revoked here', async () => {
      const token = secretIn(await visitor.post('/access', { ...form, name: 'of ada alone' }));
      const { token_id } = await newestToken();
      expect((await other.post(`/access/tokens/${token_id}/revoke`)).status).toBe(404);
      expect(await works(server(), token)).toBe(true);
      expect((await other.get('/access')).main).not.toContain('of ada alone');
      const session = await only<{ token_id: number }>(
        `SELECT token_id FROM tokens WHERE kind = 'session' AND user_id = ${ada.userId}`,
      );
      expect((await visitor.post(`/access/tokens/${session.token_id}/revoke`)).status).toBe(404);
      expect((await visitor.get('/access')).status).toBe(200);
    });

    test('has a name that is shown as text', async () => {
      const page = await visitor.post('/access', { ...form, name: markup });
      for (const { html, main } of [page, await visitor.get('/access')]) {
        expect(html).not.toContain('<script');
        expect(html).not.toContain('<b a');
        expect(main).toContain(markup);
      }
      expectSound(page);
    });
  });

  describe('an authorized app', () => {
    test('is listed with all its scopes', async () => {
      const { cleo } = await users(server(), 'cleo');
      const app = await newApp(server(), bob, { name: markup });
      await authorizeApp(server(), app, cleo, { scopes: ['messages:read'] });
      await authorizeApp(server(), app, cleo, { scopes: ['files', 'messages:read'] });
      const page = await (await signedIn(server(), cleo)).get('/access');
      expectSound(page);
      expect(page.html).not.toContain('<script');
      expect(page.main).toContain(
        `${markup} Read the messages and events of your chats Upload and download files Since 20`,
      );
      expect((await visitor.get('/access')).main).toContain('No app can act for you.');
    });

    test('loses all access when the user ends it, and other apps do not', async () => {
      const { cleo } = await users(server(), 'cleo');
      const reader = await signedIn(server(), cleo);
      const app = await newApp(server(), bob, { name: 'Ended' });
      const first = await authorizeApp(server(), app, cleo);
      const second = await authorizeApp(server(), app, cleo);
      const kept = await authorizeApp(server(), await newApp(server(), bob, { name: 'Kept' }), cleo);
      const bobs = await authorizeApp(server(), app, bob);
      expect(await works(server(), first.access)).toBe(true);

      expect(await reader.post(`/access/apps/${app.appId}/revoke`)).toMatchObject(done('/access', 'access-ended'));
      expect(await works(server(), first.access)).toBe(false);
      expect(await works(server(), second.access)).toBe(false);
      expect((await askForTokens(server(), app, refreshForm(second.refresh))).status).toBe(400);
      expect(await works(server(), kept.access)).toBe(true);
      expect(await works(server(), bobs.access)).toBe(true);
      const details = { app_id: app.appId, name: 'Ended' };
      expect(await lastAct(server())).toEqual({ act: 'access_revoked', user_id: cleo.userId, address, details });
      const { main } = await reader.get('/access');
      expect(main).not.toContain('Ended');
      expect(main).toContain('Kept');
      expect((await reader.post(`/access/apps/${app.appId}/revoke`)).status).toBe(404);
    });

    test('is still listed if only its refresh token is left', async () => {
      const { cleo } = await users(server(), 'cleo');
      const app = await newApp(server(), bob, { name: 'Resting' });
      const { refresh } = await authorizeApp(server(), app, cleo);
      await server().engine.write((tx) => pruneAccess(tx, Date.now() + 3 * day, 1_000));
      const reader = await signedIn(server(), cleo);
      expect((await reader.get('/access')).main).toContain('Resting');
      expect(await reader.post(`/access/apps/${app.appId}/revoke`)).toMatchObject(done('/access', 'access-ended'));
      expect((await askForTokens(server(), app, refreshForm(refresh))).status).toBe(400);
    });

    test('of another user cannot be revoked', async () => {
      const app = await newApp(server(), ada);
      const { access } = await authorizeApp(server(), app, bob);
      expect((await visitor.post(`/access/apps/${app.appId}/revoke`)).status).toBe(404);
      expect(await works(server(), access)).toBe(true);
    });
  });

  describe('an app', () => {
    const form: Fields = { name: 'Stand-up', redirects: appRedirect, kind: 'server' };

    const asTestApp = async (secret: string | undefined): Promise<TestApp> => {
      const { app_id, client_id, bot_id } = await newestApp();
      return { appId: app_id, clientId: client_id, secret, redirect: appRedirect, botId: bot_id, owner: ada };
    };
    const register = async (by = visitor): Promise<TestApp> => asTestApp(secretIn(await by.post('/apps/new', form)));
    const bySecret = (app: TestApp) => askForTokens(server(), app, { grant_type: 'client_credentials' });

    test('that can keep a secret is shown it once, and gets a bot', async () => {
      const page = await visitor.post('/apps/new', {
        ...form,
        redirects: `${appRedirect}\r\n\r\n  https://b.example/ \r\n`,
      });
      expectSound(page);
      const secret = secretIn(page);
      const { app_id, client_id, redirects, bot_id } = await newestApp();
      expect(JSON.parse(redirects)).toEqual([appRedirect, 'https://b.example/']);
      expect(page.main).toContain('the app acts as its bot stand-up-bot');
      expect(page.main).toContain(`Client ID ${client_id}`);
      const answer = await bySecret(await asTestApp(secret));
      const { user } = await withToken(server(), String(answer.body.access_token)).ok('users.me', {});
      expect(user).toMatchObject({ user_id: bot_id, kind: 'bot', owner_id: ada.userId, display_name: 'Stand-up' });
      await expectGone(server(), secret, visitor, '/apps', `/apps/${app_id}`, '/bots', `/bots/${bot_id}`);
    });

    test('that cannot keep a secret has none, and no bot', async () => {
      const answer = await visitor.post('/apps/new', { ...form, kind: 'open', redirects: 'http://127.0.0.1/callback' });
      const { app_id, client_id, bot_id } = await newestApp();
      expect(answer).toMatchObject(done(`/apps/${app_id}`, 'app-registered'));
      expect(bot_id).toBeNull();
      const page = await visitor.get(answer.location ?? '');
      expectSound(page);
      expect(page.main).toContain('The app is registered.');
      expect(page.main).toContain(`Client ID ${client_id}`);
      expect(page.main).not.toContain('Replace the secret');
      expect((await visitor.post(`/apps/${app_id}/secret`)).status).toBe(409);
      const details = { app_id, name: 'Stand-up', redirects: ['http://127.0.0.1/callback'] };
      expect(await lastAct(server())).toEqual({ act: 'app_registered', user_id: ada.userId, address, details });
    });

    test('shows the URLs to connect it', async () => {
      const { appId } = await register();
      const { main } = await visitor.get(`/apps/${appId}`);
      for (const path of [
        '/oauth/authorize',
        '/oauth/token',
        '/oauth/revoke',
        '/.well-known/oauth-authorization-server',
      ]) {
        expect(main).toContain(server().url + path);
      }
      expect((await visitor.get('/apps')).html).toContain(`<a href="/apps/${appId}"><bdi>Stand-up</bdi></a>`);
    });

    test.each<[string, Fields, string]>([
      ['without a name', { name: '' }, 'This must not be blank.'],
      ['without a choice where it runs', { kind: '' }, 'This needs a choice.'],
      ['with a choice that was not offered', { kind: 'toString' }, 'This needs a choice.'],
      ['without an address', { redirects: ' \n ' }, 'This must have at least one address.'],
      ['with an address that is none', { redirects: 'callback' }, '"callback" must be a URL such as'],
      ['with plain http', { redirects: 'http://app.example/' }, '"http://app.example/" must be https, or http to 127'],
      ['with a fragment', { redirects: `${appRedirect}#x` }, 'must not have a fragment.'],
      ['with a user in the address', { redirects: 'https://a@app.example/' }, 'must not name a user.'],
      ['with script for an address', { redirects: 'javascript:alert(1)' }, '"javascript:alert(1)" must be https'],
      ['with one bad address of two', { redirects: `${appRedirect}\nx` }, '"x" must be a URL'],
      ['with too many addresses', { redirects: `${appRedirect}\n`.repeat(21) }, 'This must have at most 20 addresses.'],
    ])('is not registered %s, and the form says why', async (_, wrong, fault) => {
      const before = await countActs(server());
      const page = await visitor.post('/apps/new', { ...form, ...wrong });
      expect(page.status).toBe(422);
      expect(page.main).toContain(fault);
      expectSound(page);
      expect(await countActs(server())).toBe(before);
      const typed = { ...form, ...wrong };
      for (const name of ['name', 'redirects'] as const)
        expect(typedIn(page.html, name)?.trim()).toBe(String(typed[name]).trim());
      if (wrong.kind === undefined) expect(typedIn(page.html, 'kind')).toBe('server');
    });

    test('can be changed', async () => {
      const { appId } = await register();
      const to = { name: 'Sit-down', redirects: 'https://c.example/\nhttps://d.example/' };
      expect(await visitor.post(`/apps/${appId}`, to)).toMatchObject(done(`/apps/${appId}`, 'app-changed'));
      const { html, main } = await visitor.get(`/apps/${appId}`);
      expect(main).toStartWith('Sit-down ');
      expect(typedIn(html, 'redirects')).toBe(to.redirects);
      const details = { app_id: appId, name: 'Sit-down', redirects: ['https://c.example/', 'https://d.example/'] };
      expect(await lastAct(server())).toEqual({ act: 'app_changed', user_id: ada.userId, address, details });
    });

    test('is not changed by an invalid form, which keeps its values', async () => {
      const { appId } = await register();
      const before = await countActs(server());
      for (const [wrong, fault] of [
        [{ name: ' ', redirects: appRedirect }, 'This must not be blank.'],
        [{ name: 'New', redirects: 'ftp://x.example/' }, '"ftp://x.example/" must be https'],
      ] as const) {
        const page = await visitor.post(`/apps/${appId}`, wrong);
        expect(page.status).toBe(422);
        expect(page.main).toContain(fault);
        expect(typedIn(page.html, 'redirects')).toBe(wrong.redirects);
        expectSound(page);
      }
      expect(await countActs(server())).toBe(before);
      expect((await visitor.get(`/apps/${appId}`)).main).toStartWith('Stand-up ');
    });

    test('gets a new secret, and the old one ends', async () => {
      const app = await register();
      const page = await visitor.post(`/apps/${app.appId}/secret`);
      const secret = secretIn(page);
      expectSound(page);
      expect(secret).not.toBe(app.secret);
      expect((await bySecret(app)).status).toBe(401);
      expect((await bySecret({ ...app, secret })).status).toBe(200);
      await expectGone(server(), secret, visitor, `/apps/${app.appId}`);
      expect(await visitor.get(`/apps/${app.appId}/secret`)).toMatchObject({
        status: 303,
        location: `/apps/${app.appId}`,
      });
    });

    test('has an audit entry for a new secret', async () => {
      const { appId } = await register();
      await visitor.post(`/apps/${appId}/secret`);
      const details = { app_id: appId, name: 'Stand-up' };
      expect(await lastAct(server())).toEqual({ act: 'app_secret_replaced', user_id: ada.userId, address, details });
    });

    test('that is deleted loses the access of all its users', async () => {
      const app = await register();
      const own = await authorizeApp(server(), app, ada);
      const bobs = await authorizeApp(server(), app, bob);
      const bots = String((await bySecret(app)).body.access_token);
      for (const token of [own.access, bobs.access, bots]) expect(await works(server(), token)).toBe(true);
      expect((await visitor.get(`/apps/${app.appId}`)).main).toContain('2 people have authorized it.');

      expect(await visitor.post(`/apps/${app.appId}/delete`)).toMatchObject(done('/apps', 'app-deleted'));
      for (const token of [own.access, bobs.access, bots]) expect(await works(server(), token)).toBe(false);
      expect((await askForTokens(server(), app, refreshForm(bobs.refresh))).status).toBe(401);
      expect((await bySecret(app)).status).toBe(401);
      expect((await visitor.get(`/apps/${app.appId}`)).status).toBe(404);
      expect((await visitor.get('/apps')).html).not.toContain(`/apps/${app.appId}"`);
      expect((await other.get('/access')).main).not.toContain('Stand-up');
      const details = { app_id: app.appId, name: 'Stand-up' };
      expect(await lastAct(server())).toEqual({ act: 'app_deleted', user_id: ada.userId, address, details });
      // The bot and its messages stay.
      expect((await visitor.get(`/bots/${app.botId}`)).status).toBe(200);
    });

    test('says whether anybody has authorized it', async () => {
      const app = await register();
      await bySecret(app);
      expect((await visitor.get(`/apps/${app.appId}`)).main).toContain('No one has authorized it.');
      await authorizeApp(server(), app, bob);
      expect((await visitor.get(`/apps/${app.appId}`)).main).toContain('1 person has authorized it.');
      // An unused code does not count, and neither does an expired grant.
      await newCode(server(), app, ada);
      await authorizeApp(server(), app, bob);
      expect((await visitor.get(`/apps/${app.appId}`)).main).toContain('1 person has authorized it.');
      await server().engine.write((tx) => tx.run('UPDATE grants SET expires_at = 1 WHERE app_id = $1', [app.appId]));
      expect((await visitor.get(`/apps/${app.appId}`)).main).toContain('No one has authorized it.');
    });

    test('of another user is not found', async () => {
      const app = await register();
      const before = await countActs(server());
      expect((await other.get(`/apps/${app.appId}`)).status).toBe(404);
      expect((await other.get('/apps')).main).not.toContain('Stand-up');
      for (const act of ['', '/secret', '/delete']) {
        expect((await other.post(`/apps/${app.appId}${act}`, form)).status).toBe(404);
      }
      expect(await countActs(server())).toBe(before);
      expect((await bySecret(app)).status).toBe(200);
    });

    test('has a name and URLs that are shown as text', async () => {
      const page = await visitor.post('/apps/new', { ...form, name: markup });
      const { app_id } = await newestApp();
      const wrong = await visitor.post('/apps/new', { ...form, name: markup, redirects: `</textarea>${markup}` });
      expect(wrong.status).toBe(422);
      for (const { html, main } of [page, wrong, await visitor.get('/apps'), await visitor.get(`/apps/${app_id}`)]) {
        expect(html).not.toContain('<script');
        expect(html).not.toContain('<b a');
        if (html !== wrong.html) expect(main).toContain(markup);
      }
      expect(typedIn(wrong.html, 'name')).toBe(markup);
      expect(typedIn(wrong.html, 'redirects')).toBe(`</textarea>${markup}`);
      expect(page.html).toContain('<title>\u2068&lt;script&gt;');
    });
  });

  describe('a bot', () => {
    let count = 0;
    const create = async (by = visitor): Promise<{ id: number; name: string; path: string }> => {
      const name = `helper${++count}`;
      await by.post('/bots', { name, display_name: 'The helper' });
      const { user_id } = await botNamed(name);
      return { id: user_id, name, path: `/bots/${user_id}` };
    };
    const form: Fields = { name: 'deploys', scopes: ['messages:write', 'chats:read'] };

    test('is created, and has a page', async () => {
      const answer = await visitor.post('/bots', { name: 'robot', display_name: '' });
      const { user_id } = await botNamed('robot');
      expect(answer).toMatchObject(done(`/bots/${user_id}`, 'bot-created'));
      const details = { bot_id: user_id, name: 'robot' };
      expect(await lastAct(server())).toEqual({ act: 'bot_created', user_id: ada.userId, address, details });
      const page = await visitor.get(answer.location ?? '');
      expectSound(page);
      expect(page.main).toContain('Display name robot');
      expect((await visitor.get('/bots')).html).toContain(`<a href="/bots/${user_id}"><bdi>robot</bdi></a>`);
    });

    test.each<[string, Fields, number, string]>([
      ['without a name', { name: '' }, 422, 'This must be 1 to 40 of'],
      ['with a name that has a space', { name: 'a b' }, 422, 'This must be 1 to 40 of'],
      ['with a display name of two lines', { display_name: 'a\nb' }, 422, 'This must be a single line'],
      ['with a name that is taken', { name: 'TAKEN' }, 409, 'This is taken: choose another.'],
    ])('is not created %s, and the form says why', async (_, wrong, status, fault) => {
      await visitor.post('/bots', { name: 'taken', display_name: '' });
      const before = await countActs(server());
      const typed = { name: 'fine', display_name: 'Kept', ...wrong };
      const page = await visitor.post('/bots', typed);
      expect(page.status).toBe(status);
      expect(page.main).toContain(fault);
      expect(typedIn(page.html, 'name')).toBe(typed.name);
      if (!('display_name' in wrong)) expect(typedIn(page.html, 'display_name')).toBe('Kept');
      expectSound(page);
      expect(await countActs(server())).toBe(before);
    });

    test('has tokens of its own, each shown once', async () => {
      const { id, path } = await create();
      const page = await visitor.post(path, form);
      expectSound(page);
      const token = secretIn(page);
      expect((await withToken(server(), token).ok('users.me', {})).user).toMatchObject({ user_id: id, kind: 'bot' });
      const { token_id, scopes } = await newestToken();
      expect(scopes).toBe('messages:write chats:read');
      const details = { token_id, user_id: id, name: 'deploys', scopes: scopes.split(' ') };
      expect(await lastAct(server())).toEqual({ act: 'token_created', user_id: ada.userId, address, details });
      expect((await visitor.get(path)).main).toContain('deploys May send and change messages and see chats and users.');
      await expectGone(server(), token, visitor, '/bots', path, '/access');

      const revoked = await visitor.post(`${path}/tokens/${token_id}/revoke`);
      expect(revoked).toMatchObject(done(path, 'token-revoked'));
      expect(await works(server(), token)).toBe(false);
      const ended = { token_id, user_id: id, name: 'deploys' };
      const after = { act: 'token_revoked', user_id: ada.userId, address, details: ended };
      expect(await lastAct(server())).toEqual(after);
      expect((await visitor.post(`${path}/tokens/${token_id}/revoke`)).status).toBe(404);
    });

    test.each<[string, Fields, number, string]>([
      ['without a name', { name: ' ' }, 422, 'This must not be blank.'],
      ['without anything that it may do', { scopes: [] }, 422, 'This needs at least one choice.'],
      ['that would administer', { scopes: ['admin', 'files'] }, 403, 'A bot is no administrator'],
    ])('gets no token %s', async (_, wrong, status, fault) => {
      const { path } = await create();
      const before = await countActs(server());
      const page = await visitor.post(path, { ...form, ...wrong });
      expect(page.status).toBe(status);
      expect(page.main).toContain(fault);
      if (wrong.name === undefined) expect(typedIn(page.html, 'name')).toBe('deploys');
      expectSound(page);
      expect(await countActs(server())).toBe(before);
    });

    test('that is disabled loses all access', async () => {
      const { id, name, path } = await create();
      const token = secretIn(await visitor.post(path, form));
      expect(await works(server(), token)).toBe(true);
      expect(await visitor.post(`${path}/disable`)).toMatchObject(done('/bots', 'bot-disabled'));
      expect(await works(server(), token)).toBe(false);
      expect((await visitor.get(path)).status).toBe(404);
      expect((await visitor.get('/bots')).main).not.toContain(name);
      const details = { user_id: id, name };
      expect(await lastAct(server())).toEqual({ act: 'user_disabled', user_id: ada.userId, address, details });
    });

    test('of an app is shown with it, and no longer works for it once disabled', async () => {
      const app = await newApp(server(), ada, { confidential: true, name: 'Butler' });
      const bot = `/bots/${app.botId}`;
      expect((await visitor.get('/bots')).main).toContain('Bot of the app Butler');
      expect((await visitor.get(bot)).html).toContain(`<a href="/apps/${app.appId}"><bdi>Butler</bdi></a>`);
      expect((await visitor.get(`/apps/${app.appId}`)).html).toContain(`<a href="${bot}"><bdi>butler-bot</bdi></a>`);
      await visitor.post(`${bot}/disable`);
      expect((await askForTokens(server(), app, { grant_type: 'client_credentials' })).status).toBe(400);
      const { main, html } = await visitor.get(`/apps/${app.appId}`);
      expect(main).toContain('butler-bot (disabled)');
      expect(html).not.toContain(`href="${bot}"`);
    });

    test('of another user is not found', async () => {
      const { name, path } = await create();
      const token = secretIn(await visitor.post(path, form));
      const { token_id } = await newestToken();
      const before = await countActs(server());
      expect((await other.get(path)).status).toBe(404);
      expect((await other.get('/bots')).main).not.toContain(name);
      for (const act of ['', `/tokens/${token_id}/revoke`, '/disable']) {
        expect((await other.post(path + act, form)).status).toBe(404);
      }
      // The URL of the user's own bot does not reach the token either.
      const own = await create(other);
      expect((await other.post(`${own.path}/tokens/${token_id}/revoke`)).status).toBe(404);
      expect(await countActs(server())).toBe(before + 1);
      expect(await works(server(), token)).toBe(true);
      // A person is nobody's bot.
      expect((await visitor.get(`/bots/${bob.userId}`)).status).toBe(404);
    });

    test('has names that are shown as text', async () => {
      await visitor.post('/bots', { name: 'marked', display_name: markup });
      const { user_id } = await botNamed('marked');
      const made = await visitor.post(`/bots/${user_id}`, { ...form, name: markup });
      for (const { html, main } of [made, await visitor.get('/bots'), await visitor.get(`/bots/${user_id}`)]) {
        expect(html).not.toContain('<script');
        expect(html).not.toContain('<b a');
        expect(main).toContain(markup);
      }
    });
  });
});
