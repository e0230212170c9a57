import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { UserId } from '@parley/contract';
import { createInvitation, createPasswordLink } from '../../auth/links.ts';
import { BrowserLike, goodPassword, type Page, person } from '../support/browser-like.ts';
import { freshEnvironment, onAnyEngine, onPostgres } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { Forwarder } from '../support/forwarder.ts';
import { accessOf } from '../support/oauth.ts';
import { serverFor, startServer, type TestServer } from '../support/server.ts';
import { expectSound, typedIn } from '../support/visitor.ts';
import { overSocket } from '../support/wire.ts';

/** Words that mean nothing to people who chat. */
const internalWords = /\b(database|SQL|token|exception|null|undefined|HTTP|status|handler|internal)\b/i;

/** Expects a sentence and a link to the next step, in plain words. */
function expectCalm(page: Page, status: number, sentence: string, step?: { href: string; label: string }): void {
  expect({ status: page.status, main: page.main }).toEqual({ status, main: expect.stringContaining(sentence) });
  if (step) expect(page.html).toContain(`<a href="${step.href}" class="button">${step.label}</a>`);
  else expect(page.html).toContain('<button type="submit">');
  expect(page.main).not.toMatch(internalWords);
  expectSound(page);
}

const signInStep = { href: '/sign-in', label: 'Sign in' };
const chatsStep = { href: '/', label: 'Go to your chats' };
const filled = (name: string) => ({ name, display_name: `The ${name}`, password: goodPassword, again: goodPassword });
let count = 0;
const newName = () => `failing${++count}`;

onAnyEngine('a person', (engine) => {
  const server = serverFor(engine, { PARLEY_SIGN_IN_LIMIT: '3/60', TRUST_PROXY: '1' });
  const somebody = () => new BrowserLike(server().url, { 'x-forwarded-for': `198.51.100.${++count}` });
  const actorOf = async () => ({
    userId: (await person(server(), { admin: true })).user_id,
    appId: 0,
    address: null,
  });
  async function signedIn() {
    const user = await person(server());
    const browser = somebody();
    await browser.signIn(user.name, goodPassword);
    return { user, browser };
  }
  const disable = async (user_id: UserId) => {
    const root = await server().user(newName(), { admin: true });
    await root.ok('users.disable', { user_id });
  };
  const disabled = 'Your account is disabled, so you cannot sign in. Ask an administrator to enable it again.';

  test('whose account was disabled reads so, in an open session and at sign-in with the right password', async () => {
    const { user, browser } = await signedIn();
    await disable(user.user_id);
    for (const path of ['/', '/sessions']) {
      const { status, location } = await browser.get(path);
      expect(status).toBe(303);
      expectCalm(await browser.get(location ?? ''), 200, disabled);
    }
    const sent = await browser.post('/sessions/sign-out-others');
    const page = await browser.get(sent.location ?? '');
    expectCalm(page, 200, disabled);
    expect(page.main).not.toContain('Sign in to continue');

    expectCalm(await somebody().signIn(user.name, goodPassword), 403, disabled);
    const wrong = await somebody().signIn(user.name, 'not the password');
    expectCalm(wrong, 422, 'The name or the password is wrong.');
    expect(wrong.main).not.toContain('disabled');
  });

  test('whose account was enabled again signs in', async () => {
    const { user, browser } = await signedIn();
    await disable(user.user_id);
    const root = somebody();
    const { name } = await person(server(), { admin: true });
    await root.signIn(name, goodPassword);
    await root.post(`/admin/users/${user.user_id}/enable`);
    expect((await browser.get('/sign-in')).main).toContain('You were signed out in this browser. Sign in to continue.');
    expect((await browser.signIn(user.name, goodPassword)).status).toBe(303);
    expect(await browser.signedInAs()).toBe(user.name);
  });

  test('with a made-up or foreign session reads nothing about it', async () => {
    const browser = somebody();
    for (const session of ['ses_made_up', await server().token((await person(server())).name)]) {
      browser.cookies.set('parley_session', session);
      const { main } = await browser.get('/sign-in');
      expect(main).not.toContain('disabled');
      expect(main).not.toContain('You were signed out');
    }
  });

  test('with a link that is old or used reads whom to ask, and goes on from there', async () => {
    const services = accessOf(server());
    const { secret } = await createInvitation(services, 'invitation', await actorOf(), '');
    const invitation = `/invitation/${secret}`;
    const first = somebody();
    expect((await first.post(invitation, filled(newName()))).status).toBe(303);
    const used = 'It has been used or withdrawn, or has expired. Ask the person who sent it for another.';
    expectCalm(await somebody().get(invitation), 404, used, signInStep);
    expectCalm(await first.get(invitation), 404, used, chatsStep);
    const twice = await somebody().post(invitation, filled(newName()));
    expectCalm(twice, 404, 'If you pressed the button twice, it worked the first time.', signInStep);

    const { user } = await signedIn();
    const links = [];
    for (let i = 0; i < 2; i++) links.push(await createPasswordLink(services, await actorOf(), user.user_id));
    const [replaced] = links;
    expectCalm(
      await somebody().get(`/password-link/${replaced?.secret}`),
      404,
      'It was used, has expired, or was replaced by a newer one. Ask an administrator for another.',
      signInStep,
    );
    const setup = await somebody().get('/setup/old');
    expect({ status: setup.status, main: setup.main }).toEqual({
      status: 404,
      main: expect.stringContaining('It has been used or has expired, or Parley has an administrator already.'),
    });
    expect(setup.html).toContain('<a href="/sign-in" class="button">Sign in</a>');
  });

  test('who tried too often reads how long to wait, and keeps the name', async () => {
    const { name } = await person(server());
    for (let i = 0; i < 3; i++) await somebody().signIn(name, 'not the password');
    const page = await somebody().signIn(name, goodPassword);
    expectCalm(page, 429, 'There were too many attempts. Try again in ');
    expect(typedIn(page.html, 'name')).toBe(name);
  });

  test('at a page that does not exist goes to the chats, or signs in', async () => {
    const { browser } = await signedIn();
    const sentence = 'There is no page at this URL. The link may be old or incomplete.';
    expectCalm(await browser.get('/nothing'), 404, sentence, chatsStep);
    expectCalm(await somebody().get('/nothing'), 404, sentence, signInStep);
    expectCalm(await browser.get('/admin/users'), 403, 'Only administrators can see this page.', chatsStep);
    const missing = await browser.post('/sessions/999999/sign-out');
    expectCalm(missing, 404, '', { href: '/sessions', label: 'Back to Sessions' });
  });

  test('who sends a form too late reads what became of it', async () => {
    const { user, browser } = await signedIn();
    const elsewhere = somebody();
    await elsewhere.signIn(user.name, goodPassword);
    await elsewhere.post('/sessions/sign-out-others');
    const late = await browser.post('/password', { current: goodPassword, password: 'x', again: 'x' });
    const page = await browser.get(late.location ?? '');
    expectCalm(page, 200, 'You were signed out, and the form was not sent. Sign in to continue.');
  });
});

describe('a full disk', () => {
  const mebi = 1024 ** 2;
  let free = 10_000 * mebi;
  let server: TestServer;
  const low = async (wanted: '0' | '1') =>
    eventually(`the disk is ${wanted === '1' ? 'low' : 'not low'}`, async () =>
      (await (await fetch(`${server.url}/metrics`)).text()).includes(`\nparley_disk_low ${wanted}\n`)
        ? true
        : undefined,
    );
  beforeAll(async () => {
    server = await startServer(await freshEnvironment('sqlite'), {
      measureSpace: async () => ({ free, total: 100_000 * mebi }),
    });
  });
  afterAll(() => server.stop());

  test('keeps what was typed, says what to do, and keeps an invitation valid', async () => {
    const root = await person(server, { admin: true });
    const actor = { userId: root.user_id, appId: 0, address: null };
    const { secret } = await createInvitation(accessOf(server), 'invitation', actor, '');
    const owner = new BrowserLike(server.url);
    await owner.signIn(root.name, goodPassword);
    free = 100 * mebi;
    await low('1');

    const name = newName();
    const guest = new BrowserLike(server.url);
    const page = await guest.post(`/invitation/${secret}`, filled(name));
    expectCalm(
      page,
      503,
      'The server has no room for new accounts right now. Your invitation stays valid. Tell an administrator, and try again later.',
    );
    expect([typedIn(page.html, 'name'), typedIn(page.html, 'display_name')]).toEqual([name, `The ${name}`]);
    const user = await owner.post('/admin/users/new', { name: 'robot', display_name: 'My robot' });
    expect({ status: user.status, main: user.main }).toEqual({
      status: 503,
      main: expect.stringContaining('The disk of the server is almost full, so nothing can be added.'),
    });
    expect(typedIn(user.html, 'display_name')).toBe('My robot');

    free = 10_000 * mebi;
    await low('0');
    expect((await guest.post(`/invitation/${secret}`, filled(name))).status).toBe(303);
  });
});

describe('a server in trouble', () => {
  const server = serverFor(
    'sqlite',
    { PARLEY_RATE_LIMIT: '1/5', TRUST_PROXY: '1' },
    { now: () => Date.UTC(2026, 0, 1) },
  );

  test('offers to try again', async () => {
    const flood = new BrowserLike(server().url, { 'x-forwarded-for': '198.51.100.1' });
    let page = await flood.get('/sign-in?next=/apps');
    for (let i = 0; i < 8; i++) page = await flood.get('/sign-in?next=/apps');
    const sentence = 'Too many requests came from your browser or your network. Try again in 1 second.';
    expectCalm(page, 429, sentence, { href: '/sign-in?next=/apps', label: 'Try again' });
    const request = 'GET //evil.example/ HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nConnection: close\r\n';
    const raw = await overSocket(server().url, [`${request}X-Forwarded-For: 198.51.100.1\r\n\r\n`]);
    expect(raw).toContain(sentence);
    expect(raw).toContain('<a href="/" class="button">Try again</a>');
    const referer = `${server().url}/sign-up?next=/apps`;
    const sent = await flood.post('/sign-up', {}, { 'sec-fetch-site': 'same-origin', referer });
    expectCalm(sent, 429, sentence, { href: '/sign-up?next=%2Fapps', label: 'Back to the form' });

    const broken = new BrowserLike(server().url, { 'x-forwarded-for': '198.51.100.2' });
    await server().engine.write((tx) => tx.run('DROP TABLE links'));
    expectCalm(await broken.get('/invitation/x'), 500, 'This is our fault, not yours. Try again in a moment.', {
      href: '/invitation/x',
      label: 'Try again',
    });
  });
});

onPostgres('a server whose database is away', () => {
  test('asks people to try again, without words from inside, and keeps what was typed', async () => {
    const env = await freshEnvironment('postgres');
    const database = new URL(env.DATABASE_URL ?? '');
    const forwarder = await Forwarder.before(Number(database.port));
    database.host = `127.0.0.1:${forwarder.port}`;
    const server = await startServer({ ...env, DATABASE_URL: database.href });
    const { name } = await person(server);
    forwarder.stop();
    const browser = new BrowserLike(server.url);
    const sentence = 'The server is busy or restarting. Try again in a moment.';
    const invitation = await browser.get('/invitation/x');
    expectCalm(invitation, 503, sentence, { href: '/invitation/x', label: 'Try again' });
    const page = await browser.signIn(name, goodPassword);
    expectCalm(page, 503, sentence);
    expect(typedIn(page.html, 'name')).toBe(name);
    await server.stop();
  });
});
