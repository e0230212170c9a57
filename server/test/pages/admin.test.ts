import { beforeAll, describe, expect, test } from 'bun:test';
import type { Fields } from '../support/browser-like.ts';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { askForTokens, authorizeApp, newApp, refreshForm, works } from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import {
  address,
  believingProxies,
  countActs,
  expectGone,
  expectSound,
  inSession,
  lastAct,
  secretIn,
  signedIn,
  typedIn,
  Visitor,
} from '../support/visitor.ts';

/** Would be seen as more than words, were it not escaped. */
const markup = `<script>alert(1)</script><b a='"'>&amp;`;

const done = (path: string, words: string) => ({ status: 303, location: `${path}?done=${words}` });

onAnyEngine('the pages of administrators', (engine) => {
  const server = serverFor(engine, believingProxies);
  let root: Client;
  let visitor: Visitor;
  beforeAll(async () => {
    root = await server().user('root', { admin: true });
    visitor = await signedIn(server(), root);
  });

  const idOf = async (name: string): Promise<number> => {
    const row = await server().engine.get<{ user_id: number }>('SELECT user_id FROM users WHERE name = $1', [name]);
    if (!row) throw new Error(`there is no ${name}`);
    return row.user_id;
  };
  const pageOf = (user: Client): string => `/admin/users/${user.userId}`;

  describe('as a whole', () => {
    const pages = ['/admin/users', '/admin/users/new', '/admin/users/1'];
    const forms = [
      '/admin/users/new',
      '/admin/users/1/disable',
      '/admin/users/1/enable',
      '/admin/users/1/administrator',
      '/admin/users/1/password-link',
    ];

    test('need a session', async () => {
      const stranger = new Visitor(server().url);
      const before = await countActs(server());
      for (const path of [...pages, '/admin/users?query=a&after=3']) {
        const { status, location } = await stranger.get(path);
        expect({ status, location }).toEqual({ status: 303, location: `/sign-in?next=${encodeURIComponent(path)}` });
      }
      for (const path of forms) {
        expect(await stranger.post(path, { name: 'x' })).toMatchObject({
          status: 303,
          location: '/sign-in?done=signed-out',
        });
      }
      expect(await countActs(server())).toBe(before);
    });

    test('are only for administrators', async () => {
      const { ada } = await users(server(), 'ada');
      const other = await signedIn(server(), ada);
      const before = await countActs(server());
      for (const path of pages) {
        const page = await other.get(path);
        expect(page.status).toBe(403);
        expect(page.main).toContain('Only administrators');
        expectSound(page);
      }
      for (const path of forms) {
        expect({ path, status: (await other.post(path, { name: 'x' })).status }).toEqual({ path, status: 403 });
      }
      expect(await countActs(server())).toBe(before);
      expect((await other.get('/settings')).html).not.toContain('/admin/');
    });

    test('reject forms from other sites', async () => {
      const before = await countActs(server());
      for (const path of forms)
        expect((await visitor.post(path, { name: 'x' }, { 'sec-fetch-site': 'same-site' })).status).toBe(403);
      expect(await countActs(server())).toBe(before);
    });

    test('are accessible, and never cached', async () => {
      for (const path of pages) {
        const page = await visitor.get(path);
        expect(page.status).toBe(200);
        expectSound(page);
        expect(page.headers.get('cache-control')).toBe('no-store');
      }
    });

    test.each(['0', '-1', 'x', '1.5', '999999999', '9007199254740993', '%00'])(
      'have nothing under the id %s',
      async (id) => {
        expect((await visitor.get(`/admin/users/${id}`)).status).toBe(404);
        const acts = ['disable', 'enable', 'administrator', 'password-link'].map((act) => `/admin/users/${id}/${act}`);
        for (const path of acts) {
          const { status } = await visitor.post(path, { administrator: 'yes' });
          expect({ path, status }).toEqual({ path, status: 404 });
        }
      },
    );
  });

  describe('users', () => {
    test('are found by a part of the name or display name, also if disabled', async () => {
      const found = await server().user('zelda', { displayName: 'Zoë Needle' });
      await server().user('other-one');
      await root.ok('users.disable', { user_id: found.userId });
      for (const query of ['ZELD', 'needle', 'zoe', '  zelda  ']) {
        const { main, html } = await visitor.get(`/admin/users?query=${encodeURIComponent(query)}`);
        expect(main).toContain('zelda Zoë Needle Person No Disabled 20');
        expect(main).not.toContain('other-one');
        expect(typedIn(html, 'query')).toBe(query.trim());
      }
      for (const query of ['nobody at all', '%', '_', 'a\0b', markup]) {
        const page = await visitor.get(`/admin/users?query=${encodeURIComponent(query)}`);
        expect(page.status).toBe(200);
        expect(page.main).toContain('No user matches.');
        expect(page.html).not.toContain('<script');
      }
    });

    test('are listed fifty at a time', async () => {
      const names = Array.from({ length: 101 }, (_, i) => `many-${String(i).padStart(3, '0')}`);
      for (const name of names) await root.ok('users.create', { name });
      const seen: string[] = [];
      const sizes: number[] = [];
      for (let path: string | undefined = '/admin/users?query=many-'; path !== undefined; ) {
        const { html } = await visitor.get(path);
        const rows = [...html.matchAll(/<bdi>(many-\d+)<\/bdi><\/a>/g)].map(([, name]) => name ?? '');
        seen.push(...rows);
        sizes.push(rows.length);
        path = /<a href="([^"]*)">Next page</.exec(html)?.[1]?.replaceAll('&amp;', '&');
      }
      expect(seen).toEqual(names);
      expect(sizes).toEqual([50, 50, 1]);
      const last = await visitor.get(`/admin/users?query=many-&after=${await idOf('many-100')}`);
      expect(last.main).toContain('There are no more users. First page');
      expect((await visitor.get('/admin/users?after=x')).main).toContain(' root ');
    });

    test('have a page with their facts', async () => {
      const { ada } = await users(server(), 'ada');
      const app = await newApp(server(), ada, { confidential: true, name: 'Porter' });
      const person = await visitor.get(pageOf(ada));
      expect(person.main).toContain('Kind Person Bots porter-bot Administrator No Password None');
      const bot = await visitor.get(`/admin/users/${app.botId}`);
      expectSound(bot);
      expect(bot.main).toMatch(/Kind Bot Owner ada\d+ Created/);
      expect(bot.html).toContain(`<a href="${pageOf(ada)}">`);
      for (const not of ['Administrator', 'password link']) expect(bot.main).not.toContain(not);
      const { main } = await visitor.get('/admin/users?query=porter-bot');
      expect(main).toMatch(/porter-bot Porter Bot of ada\d+ No Active/);
    });

    test('have names that are shown as text', async () => {
      await visitor.post('/admin/users/new', { name: 'marked', display_name: markup });
      const page = await visitor.get(`/admin/users/${await idOf('marked')}`);
      for (const { html, main } of [page, await visitor.get('/admin/users?query=marked')]) {
        expect(html).not.toContain('<script');
        expect(html).not.toContain('<b a');
        expect(main).toContain(markup);
      }
    });
  });

  describe('a new user', () => {
    test('can be given a password, which is never shown', async () => {
      const password = 'correct horse battery';
      const fields = { name: 'grace', display_name: 'Grace', password, is_admin: 'yes' };
      const answer = await visitor.post('/admin/users/new', fields);
      const path = `/admin/users/${await idOf('grace')}`;
      expect(answer).toMatchObject(done(path, 'user-created'));
      const { main } = await visitor.get(answer.location ?? '');
      expect(main).toContain('The user is created.');
      expect(main).toContain('Display name Grace');
      expect(main).toContain('Administrator Yes Password Set');
      const details = { user_id: await idOf('grace'), name: 'grace', is_admin: true };
      expect(await lastAct(server())).toEqual({ act: 'user_created', user_id: root.userId, address, details });
      await expectGone(server(), password, visitor, path);
      const entered = await new Visitor(server().url).post('/sign-in', { name: 'grace', password });
      expect(entered.status).toBe(303);
    });

    test('can be given none, and a link instead', async () => {
      await visitor.post('/admin/users/new', { name: 'hedy', display_name: '', password: '' });
      const path = `/admin/users/${await idOf('hedy')}`;
      const { main } = await visitor.get(path);
      expect(main).toContain('Display name hedy');
      expect(main).toContain('Administrator No Password None. The user cannot sign in yet.');
      expect(main).toContain('Create a password link');
    });

    test.each<[string, Fields, number, string]>([
      ['without a name', { name: '' }, 422, 'This must be 1 to 40 of'],
      ['with a name that is none', { name: markup }, 422, 'This must be 1 to 40 of'],
      ['with a name that is taken', { name: 'ROOT' }, 409, 'This is taken: choose another.'],
      ['with a display name of two lines', { display_name: 'a\nb' }, 422, 'This must be a single line'],
      ['with a short password', { password: '123456789' }, 422, 'This must be at least 10 characters.'],
      ['with a common password', { password: 'password123' }, 422, 'This is one of the passwords that are tried first'],
    ])('is not created %s, and the form says why', async (_, wrong, status, fault) => {
      const before = await countActs(server());
      const typed = {
        name: 'fine',
        display_name: 'Kept',
        password: 'correct horse battery',
        is_admin: 'yes',
        ...wrong,
      };
      const page = await visitor.post('/admin/users/new', typed);
      expect(page.status).toBe(status);
      expect(page.main).toContain(fault);
      expect(typedIn(page.html, 'name')).toBe(typed.name);
      expect(typedIn(page.html, 'is_admin')).toBe('yes');
      expect(page.html).not.toContain('<script');
      expect(page.html).not.toContain('correct horse');
      expectSound(page);
      expect(await countActs(server())).toBe(before);
    });
  });

  describe('a link for a password', () => {
    test('is shown once, works, and replaces the previous one', async () => {
      const { ada } = await users(server(), 'ada');
      const links: string[] = [];
      for (let i = 0; i < 2; i++) {
        const page = await visitor.post(`${pageOf(ada)}/password-link`);
        expectSound(page);
        expect(page.main).toContain('It works once, within 24 hours.');
        links.push(secretIn(page));
        const details = { user_id: ada.userId };
        const entry = { act: 'password_link_created', user_id: root.userId, address, details };
        expect(await lastAct(server())).toEqual(entry);
      }
      const [first = '', second = ''] = links;
      expect(second).toStartWith(`${server().url}/password-link/`);
      const [before, now] = [first, second].map((link) => new URL(link).pathname);
      expect((await new Visitor(server().url).get(now ?? '')).status).toBe(200);
      expect((await new Visitor(server().url).get(before ?? '')).status).toBe(404);
      const secret = now?.split('/').at(-1) ?? '';
      await expectGone(server(), secret, visitor, pageOf(ada), '/admin/users');
      const again = await visitor.get(`${pageOf(ada)}/password-link`);
      expect(again).toMatchObject({ status: 303, location: pageOf(ada) });
    });

    test('is only for active people', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const { botId } = await newApp(server(), ada, { confidential: true });
      await root.ok('users.disable', { user_id: bob.userId });
      const before = await countActs(server());
      expect((await visitor.post(`/admin/users/${botId}/password-link`)).status).toBe(404);
      expect((await visitor.post(`${pageOf(bob)}/password-link`)).status).toBe(404);
      expect((await visitor.get(pageOf(bob))).main).not.toContain('password link');
      expect(await countActs(server())).toBe(before);
    });
  });

  describe('disabling a user', () => {
    test('ends sessions, tokens, bots and app authorizations', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const owner = await signedIn(server(), ada);
      const app = await newApp(server(), ada, { confidential: true, name: 'Doomed' });
      const asBot = () => askForTokens(server(), app, { grant_type: 'client_credentials' });
      const browser = await inSession(server(), ada);
      const { user_id: ownBot } = (await browser.ok('bots.create', { name: `bot-of-${ada.userId}` })).bot;
      const made = await browser.ok('bots.create_token', { user_id: ownBot, name: 'x', scopes: ['chats:read'] });
      const botToken = made.access_token;
      const granted = await authorizeApp(server(), await newApp(server(), bob), ada);
      const bobs = await authorizeApp(server(), app, bob);
      const appToken = String((await asBot()).body.access_token);
      const tokens = [ada.token, botToken, granted.access, appToken];
      for (const token of tokens) expect(await works(server(), token)).toBe(true);
      const before = await countActs(server());

      expect((await visitor.get(pageOf(ada))).main).toContain(`So do these bots: doomed-bot, bot-of-${ada.userId}.`);
      expect(await visitor.post(`${pageOf(ada)}/disable`)).toMatchObject(done(pageOf(ada), 'user-disabled'));
      expect(await owner.get('/sessions')).toMatchObject({ status: 303, location: '/sign-in?next=%2Fsessions' });
      for (const token of tokens) expect(await works(server(), token)).toBe(false);
      expect((await asBot()).status).toBe(401);
      expect((await askForTokens(server(), app, refreshForm(bobs.refresh))).status).toBe(401);

      const told = await server().engine.all<{ act: string; user_id: number; address: string; details: string }>(
        'SELECT act, user_id, address, details FROM audit ORDER BY audit_id',
      );
      const names = told.slice(before).map(({ act, user_id, address: from, details }) => {
        expect({ act, user_id, from }).toEqual({ act: 'user_disabled', user_id: root.userId, from: address });
        return JSON.parse(details).name;
      });
      expect(names).toEqual([expect.stringMatching(/^ada/), 'doomed-bot', `bot-of-${ada.userId}`]);
      expect((await visitor.get(pageOf(ada))).main).toContain('Enable the user');
    });

    test('is undone by enabling, which restores no access', async () => {
      const { ada } = await users(server(), 'ada');
      const owner = await signedIn(server(), ada);
      const { botId } = await newApp(server(), ada, { confidential: true });
      await visitor.post(`${pageOf(ada)}/disable`);
      const bot = `/admin/users/${botId}`;
      expect((await visitor.get(bot)).main).toContain('Enable the owner first.');
      expect((await visitor.post(`${bot}/enable`)).status).toBe(409);

      expect(await visitor.post(`${pageOf(ada)}/enable`)).toMatchObject(done(pageOf(ada), 'user-enabled'));
      const { act, user_id, address: from } = await lastAct(server());
      expect({ act, user_id, from }).toEqual({ act: 'user_enabled', user_id: root.userId, from: address });
      expect(await works(server(), ada.token)).toBe(false);
      expect((await owner.get('/sessions')).status).toBe(303);
      expect((await (await signedIn(server(), ada)).get('/sessions')).status).toBe(200);
      expect((await visitor.get(bot)).main).toContain('Enable the user');
      expect(await visitor.post(`${bot}/enable`)).toMatchObject(done(bot, 'user-enabled'));
    });

    test('is impossible for the own account', async () => {
      const page = await visitor.get(pageOf(root));
      expect(page.html).not.toContain(`${pageOf(root)}/disable`);
      expect(page.main).toContain('This is your own account.');
      const before = await countActs(server());
      const refused = await visitor.post(`${pageOf(root)}/disable`);
      expect(refused.status).toBe(409);
      expect(refused.main).toContain('You cannot disable your own account. Another administrator can.');
      expect((await visitor.get('/admin/users')).status).toBe(200);
      expect(await countActs(server())).toBe(before);
    });
  });

  describe('administrators', () => {
    test('promote and demote other users', async () => {
      const { ada } = await users(server(), 'ada');
      const other = await signedIn(server(), ada);
      expect((await other.get('/admin/users')).status).toBe(403);
      const path = `${pageOf(ada)}/administrator`;
      for (const [administrator, notice, status] of [
        ['yes', 'administrator-made', 200],
        ['no', 'administrator-unmade', 403],
      ] as const) {
        expect(await visitor.post(path, { administrator })).toMatchObject(done(pageOf(ada), notice));
        const details = { user_id: ada.userId, is_admin: administrator === 'yes' };
        const entry = { act: 'administrator_changed', user_id: root.userId, address, details };
        expect(await lastAct(server())).toEqual(entry);
        expect((await other.get('/admin/users')).status).toBe(status);
        const { main } = await visitor.get(pageOf(ada));
        expect(main).toContain(status === 200 ? 'Administrator Yes' : 'Administrator No');
        expect(main).toContain(status === 200 ? 'Remove as administrator' : 'Make an administrator');
      }
    });

    test('cannot promote bots', async () => {
      const { ada } = await users(server(), 'ada');
      const { botId } = await newApp(server(), ada, { confidential: true });
      const refused = await visitor.post(`/admin/users/${botId}/administrator`, { administrator: 'yes' });
      expect(refused.status).toBe(409);
      expect(refused.main).toContain('A bot cannot be an administrator.');
    });
  });

  test('a password link is created once per form', async () => {
    const { ada } = await users(server(), 'ada');
    const action = `${pageOf(ada)}/password-link`;
    const once = typedIn((await visitor.get(pageOf(ada))).html, 'once') ?? '';
    expect(once).toMatch(/^[\w-]{43}$/);
    secretIn(await visitor.post(action, { once }));
    const before = await countActs(server());
    const again = await visitor.post(action, { once });
    expectSound(again);
    expect(again.status).toBe(409);
    expect(again.main).toContain('This form was sent already. Its result is shown only once.');
    expect(again.html).toContain('<a href="/admin/users" class="button">Back to ');
    expect(await countActs(server())).toBe(before);
  });

  test('redirect to the console where it has replaced them', async () => {
    for (const [path, location] of [
      ['/admin/audit?user=ada&act=bot_created', '/console/audit?user=ada&act=bot_created'],
      ['/admin', '/console/overview'],
      ['/admin/use', '/console/storage'],
      ['/admin/invitations', '/console/people'],
      ['/admin/webhooks', '/console/webhooks'],
      ['/admin/webhooks/new', '/console/webhooks'],
      ['/access', '/console/tokens'],
      ['/bots', '/console/bots'],
      ['/bots/7', '/console/bots/7'],
      ['/apps', '/console/apps'],
      ['/apps/new', '/console/apps'],
      ['/apps/7', '/console/apps/7'],
      ['/apps/%2F%2Fevil.example', '/console/apps/%2F%2Fevil.example'],
    ] as const) {
      expect({ path, ...(await visitor.get(path)) }).toMatchObject({ path, status: 303, location });
    }
  });
});

onAnyEngine('the last administrator', (engine) => {
  const server = serverFor(engine, believingProxies);

  test('can neither step down nor be disabled until there is another', async () => {
    const root = await server().user('root', { admin: true });
    const ada = await server().user('ada');
    const visitor = await signedIn(server(), root);
    const self = `/admin/users/${root.userId}`;
    const stepDown = () => visitor.post(`${self}/administrator`, { administrator: 'no' });
    const before = await countActs(server());
    const refused = await stepDown();
    expect(refused.status).toBe(409);
    expect(refused.main).toContain('The last administrator cannot step down.');
    expect((await visitor.post(`${self}/disable`)).status).toBe(409);
    expect(await countActs(server())).toBe(before);
    const page = await visitor.get(self);
    expect(page.main).toContain('Administrator Yes');
    expect(page.main).toContain('This is the only administrator.');
    expect(page.html).not.toContain(`${self}/administrator`);

    await visitor.post(`/admin/users/${ada.userId}/administrator`, { administrator: 'yes' });
    expect((await visitor.get(self)).html).toContain(`${self}/administrator`);
    const second = await signedIn(server(), ada);
    expect(await stepDown()).toMatchObject(done('/settings', 'stepped-down'));
    expect((await visitor.get('/settings?done=stepped-down')).main).toContain('You are no longer an administrator.');
    expect((await visitor.get('/admin/users')).status).toBe(403);
    expect((await second.get('/admin/users')).status).toBe(200);
    expect(await second.post(`${self}/disable`)).toMatchObject(done(self, 'user-disabled'));
  });
});
