import { beforeAll, expect, test } from 'bun:test';
import { createPasswordLink } from '../../auth/links.ts';
import { listAudit } from '../../store/access/audit.ts';
import { goodPassword, person } from '../support/browser-like.ts';
import { Client } from '../support/client.ts';
import { onBothEngines } from '../support/engines.ts';
import {
  accessOf,
  appRedirect,
  authorizationRequest,
  authorizeApp,
  newApp,
  newPkce,
  postForm,
  type TestApp,
  works,
} from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { inSession, signedIn } from '../support/visitor.ts';
import { complaint, expectRefusal } from '../support/wire.ts';

const app = { name: 'Planner', redirects: [appRedirect] };

onBothEngines('an OAuth app of the API', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
  });

  const credentials = (client_id: string, client_secret: string) =>
    postForm(`${server().url}/oauth/token`, { grant_type: 'client_credentials', client_id, client_secret });

  test('is registered, listed and deleted by its owner alone', async () => {
    const { app: registered, client_secret } = await ada.ok('apps.register', app);
    expect(registered).toEqual({
      app_id: registered.app_id,
      by_token: true,
      client_id: expect.stringMatching(/^app_[\w-]{20}$/),
      name: 'Planner',
      redirects: [appRedirect],
      confidential: false,
      bot_id: null,
      created_at: expect.any(String),
    });
    expect(client_secret).toBeNull();
    expect((await ada.ok('apps.list', {})).apps).toContainEqual(registered);
    const { app_id } = registered;
    expect((await bob.ok('apps.list', {})).apps).toEqual([]);
    expect(await bob.refused('apps.delete', { app_id })).toBe('not_found');
    expect(await ada.ok('apps.delete', { app_id })).toMatchObject({ app_id });
    expect((await ada.ok('apps.list', {})).apps).not.toContainEqual(registered);
    expect(await ada.refused('apps.delete', { app_id })).toBe('not_found');
  });

  test('gets what a user grants to it, and loses it when it is deleted', async () => {
    const { app: registered, client_secret } = await ada.ok('apps.register', { ...app, confidential: true });
    const { app_id, client_id } = registered;
    const shown = { appId: app_id, clientId: client_id, secret: client_secret ?? '', redirect: appRedirect };
    const granted = await authorizeApp(server(), { ...shown, botId: null, owner: ada }, bob);
    expect(await works(server(), granted.access)).toBe(true);
    await ada.ok('apps.delete', { app_id });
    expect(await works(server(), granted.access)).toBe(false);
  });

  test('shows its secret once, and has no bot that would outlive the token', async () => {
    const { app: registered, client_secret } = await ada.ok('apps.register', { ...app, confidential: true });
    expect(client_secret).toMatch(/^acs_[\w-]{43}$/);
    expect(registered).toMatchObject({ confidential: true, bot_id: null });
    expect(JSON.stringify(await ada.ok('apps.list', {}))).not.toContain(client_secret ?? '?');
    const refused = await credentials(registered.client_id, client_secret ?? '');
    expect([refused.status, refused.body.error]).toEqual([400, 'unauthorized_client']);
  });

  test('has a bot if a page registers it in a browser', async () => {
    const browser = await inSession(server(), ada);
    const { app: registered, client_secret } = await browser.ok('apps.register', { ...app, confidential: true });
    expect(registered.bot_id).toBeNumber();
    expect((await credentials(registered.client_id, client_secret ?? '')).status).toBe(200);
    await ada.ok('apps.delete', { app_id: registered.app_id });
  });

  const consentOf = async (client_id: string, user: Client) => {
    const shown = { ...(await newApp(server(), user)), clientId: client_id, redirect: appRedirect };
    return (await (await signedIn(server(), user)).get(`/oauth/authorize?${authorizationRequest(shown, newPkce())}`))
      .words;
  };

  test('is one that no one has reviewed, also to its owner, until the owner saves it in a browser', async () => {
    const { app: registered } = await ada.ok('apps.register', app);
    const { app_id, client_id } = registered;
    const words = await consentOf(client_id, ada);
    expect(words).toContain(
      ' has registered this app. No one has reviewed it. It was registered with an access token.',
    );
    expect(words).toContain('If that was not you, deny it, and delete it under Apps.');
    expect(words).not.toContain('You have registered this app.');
    const others = await consentOf(client_id, bob);
    expect(others).toContain('No one has reviewed it. It was registered with an access token.');
    expect(others).not.toContain('If that was not you');

    const browser = await inSession(server(), ada);
    expect((await browser.ok('apps.get', { app_id })).app.by_token).toBe(true);
    await browser.ok('apps.update', { app_id, name: app.name, redirects: [appRedirect] });
    expect((await browser.ok('apps.get', { app_id })).app.by_token).toBe(false);
    const confirmed = await consentOf(client_id, ada);
    expect(confirmed).toContain('You have registered this app.');
    expect(confirmed).not.toContain('access token');
    expect(await consentOf(client_id, bob)).toContain('No one has reviewed it.');
  });

  test('is the own one of its owner if a page registers it in a browser', async () => {
    const { app: registered } = await (await inSession(server(), bob)).ok('apps.register', app);
    const words = await consentOf(registered.client_id, bob);
    expect(words).toContain('You have registered this app.');
    expect(words).not.toContain('access token');
  });

  test('is neither registered nor deleted by another app, but by the command line', async () => {
    const { app: registered } = await ada.ok('apps.register', app);
    const { app_id } = registered;
    const asApp = async (shown: TestApp) => {
      const { access } = await authorizeApp(server(), shown, ada, { scopes: ['apps'] });
      return new Client(server().url, access, ada.userId);
    };
    const other = await newApp(server(), bob);
    const stranger = await asApp(other);
    expect(await stranger.refused('apps.register', app)).toBe('forbidden');
    expect(await stranger.refused('apps.delete', { app_id })).toBe('forbidden');
    const cli = await asApp({ ...other, clientId: 'parley-cli' });
    expect(await cli.ok('apps.delete', { app_id })).toMatchObject({ app_id });
    const { app: second } = await cli.ok('apps.register', app);
    expect(await consentOf(second.client_id, ada)).toContain('It was registered with an access token.');
  });

  test('ends with a password reset unless its owner has confirmed it, and stays when the password is changed', async () => {
    const user = await person(server());
    const owner = new Client(server().url, await server().token(user.name), user.user_id);
    const [kept, lost] = [await owner.ok('apps.register', app), await owner.ok('apps.register', app)];
    const browser = await signedIn(server(), owner);
    const { app_id } = kept.app;
    await (await inSession(server(), owner)).ok('apps.update', { app_id, name: app.name, redirects: [appRedirect] });
    const clientOf = ({ app: { app_id, client_id } }: typeof lost) => ({
      ...{ appId: app_id, clientId: client_id, secret: undefined, redirect: appRedirect, botId: null, owner },
    });
    const { access } = await authorizeApp(server(), clientOf(lost), bob);
    const { access: keptAccess } = await authorizeApp(server(), clientOf(kept), bob);

    const passwords = { current: goodPassword, password: 'an even better one', again: 'an even better one' };
    expect((await browser.post('/password', passwords)).status).toBe(200);
    expect((await owner.ok('apps.list', {})).apps).toHaveLength(2);
    expect(await works(server(), access)).toBe(true);

    const admin = await person(server(), { admin: true });
    const actor = { userId: admin.user_id, appId: 0, address: null };
    const { secret } = await createPasswordLink(accessOf(server()), actor, user.user_id);
    const { status } = await browser.post(`/password-link/${secret}`, passwords);
    expect(status).toBe(303);
    const { apps } = await (await inSession(server(), owner)).ok('apps.list', {});
    expect(apps.map(({ app_id }) => app_id)).toEqual([kept.app.app_id]);
    expect([await works(server(), access), await works(server(), keptAccess)]).toEqual([false, true]);
    const deleted = (await listAudit(server().engine, {}, 1_000)).filter(({ act }) => act === 'app_deleted');
    expect(deleted.map(({ user_id }) => user_id)).toContain(user.user_id);
  });

  const bad: [string, object, field: string][] = [
    ['no name', { name: '' }, 'name'],
    ['a name with invisible characters', { name: 'Plan\u200bner' }, 'name'],
    ['no redirect URL', { redirects: [] }, 'redirects'],
    ['plain http to elsewhere', { redirects: ['http://app.example/callback'] }, 'redirects'],
    ['a fragment', { redirects: [`${appRedirect}#x`] }, 'redirects'],
    ['too many redirect URLs', { redirects: Array.from({ length: 21 }, (_, i) => `${appRedirect}${i}`) }, 'redirects'],
    ['another type', { confidential: 'maybe' }, 'confidential'],
  ];
  test.each(bad)('is refused with %s', async (_, input, field) => {
    const answer = await bob.call('apps.register', { ...app, ...input } as never);
    expect(complaint(expectRefusal(answer, 'validation_failed'), field)).toBeDefined();
  });

  test('counts towards the limit of its owner, also if many are registered at once', async () => {
    const { eve } = await users(server(), 'eve');
    const answers = await Promise.all(Array.from({ length: 105 }, () => eve.call('apps.register', app)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
    expect(await eve.refused('apps.register', app)).toBe('conflict');
  });

  test('is recorded in the audit log', async () => {
    const { dan } = await users(server(), 'dan');
    const { app: registered } = await dan.ok('apps.register', app);
    await dan.ok('apps.delete', { app_id: registered.app_id });
    const acts = (await listAudit(server().engine, {}, 1_000)).filter(
      ({ user_id }) => (user_id as number) === dan.userId,
    );
    expect(acts.map(({ act }) => act)).toEqual(expect.arrayContaining(['app_registered', 'app_deleted']));
  });
});
