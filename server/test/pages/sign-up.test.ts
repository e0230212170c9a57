import { describe, expect, test } from 'bun:test';
import { userName } from '@parley/contract';
import { createInvitation, withdrawInvitation } from '../../auth/links.ts';
import { namePattern } from '../../pages/account-fields.tsx';
import { findUserByName } from '../../store/access/users.ts';
import { BrowserLike, goodPassword, newAddress, person } from '../support/browser-like.ts';
import { onAnyEngine } from '../support/engines.ts';
import { accessOf } from '../support/oauth.ts';
import { serverFor, type TestServer } from '../support/server.ts';

let made = 0;
const newName = () => `newcomer${++made}`;
const filled = (name: string) => ({ name, password: goodPassword, again: goodPassword });

async function invite(server: TestServer, now = Date.now) {
  const root = await person(server, { admin: true });
  const services = accessOf(server, now);
  const actor = { userId: root.user_id, appId: 0, address: null };
  const { link, secret } = await createInvitation(services, 'invitation', actor, 'for a friend');
  return {
    path: `/invitation/${secret}`,
    withdraw: () => withdrawInvitation(services, actor, link.link_id),
  };
}

onAnyEngine('signing up where it is open', (engine) => {
  let now = Date.now();
  const server = serverFor(
    engine,
    { PARLEY_SIGN_UP: 'open', PARLEY_SIGN_IN_LIMIT: '1/60', TRUST_PROXY: '1' },
    { now: () => now },
  );
  const elsewhere = (address = newAddress()) => new BrowserLike(server().url, { 'x-forwarded-for': address });

  test('creates an account without rights, and signs it in', async () => {
    const browser = elsewhere();
    const name = newName();
    expect((await browser.get('/sign-in')).html).toContain('href="/sign-up"');
    expect((await browser.get('/sign-up')).status).toBe(200);
    const { status, location } = await browser.post('/sign-up', { ...filled(name), is_admin: '1' });
    expect({ status, location }).toEqual({ status: 303, location: '/' });
    expect(await browser.signedInAs()).toBe(name);
    expect(await findUserByName(server().engine, name)).toMatchObject({ is_admin: false, display_name: name });
    expect((await browser.get('/admin/users')).status).toBe(403);
    expect((await elsewhere().signIn(name, goodPassword)).status).toBe(303);
  });

  test('continues at the requested page', async () => {
    const browser = elsewhere();
    const form = await browser.get('/sign-in?next=%2Fapps');
    expect(form.html).toContain('href="/sign-up?next=%2Fapps"');
    expect((await browser.get('/sign-up?next=%2Fapps')).html).toContain('name="next" value="/apps"');
    expect((await browser.post('/sign-up', { ...filled(newName()), next: '/apps' })).location).toBe('/apps');
    const tricked = await elsewhere().post('/sign-up', { ...filled(newName()), next: '//evil.example' });
    expect(tricked.location).toBe('/');
  });

  test('refuses a display name that looks like that of an administrator', async () => {
    await server().user('chief', { admin: true, displayName: 'Margaret Hamilton' });
    const name = newName();
    const refused = await elsewhere().post('/sign-up', { ...filled(name), display_name: 'Mаrgaret  HamiIton' });
    expect({ status: refused.status, words: refused.words }).toEqual({
      status: 422,
      words: expect.stringContaining('looks like the name of an administrator'),
    });
    expect(await findUserByName(server().engine, name)).toBeUndefined();
    expect((await elsewhere().post('/sign-up', { ...filled(name), display_name: 'Margaret' })).status).toBe(303);
  });

  test('gives a name to one of many concurrent requests', async () => {
    const name = newName();
    const wanted = ['', '', '', ''].map(() => elsewhere().post('/sign-up', filled(name)));
    const answers = await Promise.all(wanted);
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 422, 422, 422]);
    const refused = answers.find(({ status }) => status === 422);
    expect(refused?.words).toContain('This is taken: choose another.');
    expect(refused?.html).toContain(`value="${name}"`);
  });

  test('is throttled per IP, because hashing is expensive', async () => {
    const address = newAddress();
    // Five times what one account has at signing in, and whether it comes to an account or not.
    const taken = newName();
    const answers = [];
    for (const name of [taken, taken, newName(), newName(), newName()]) {
      answers.push((await elsewhere(address).post('/sign-up', filled(name))).status);
    }
    expect(answers).toEqual([303, 422, 303, 303, 303]);
    const late = newName();
    const { status, headers, words, html } = await elsewhere(address).post('/sign-up', filled(late));
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(words).toContain('Try again in');
    expect(html).toContain(`value="${late}"`);
    expect((await elsewhere().post('/sign-up', filled(late))).status).toBe(303);
    now += Number(headers.get('retry-after')) * 1_000;
    expect((await elsewhere(address).post('/sign-up', filled(newName()))).status).toBe(303);
  });

  test('ends the earlier session of the browser', async () => {
    const browser = elsewhere();
    await browser.post('/sign-up', filled(newName()));
    const before = new BrowserLike(server().url);
    before.cookies.set('parley_session', browser.session ?? '');
    const next = newName();
    await browser.post('/sign-up', filled(next));
    expect(await browser.signedInAs()).toBe(next);
    expect(await before.signedInAs()).toBeUndefined();
  });
});

onAnyEngine('an invitation', (engine) => {
  let time = Date.now();
  const now = () => time;
  const server = serverFor(engine, { PARLEY_SIGN_IN_LIMIT: 'off' }, { now });
  const somebody = () => new BrowserLike(server().url);

  test('creates one account', async () => {
    const { path } = await invite(server(), now);
    const browser = somebody();
    expect((await browser.get(path)).words).toContain('Choose a name and a password');
    const name = newName();
    expect((await browser.post(path, filled(name))).status).toBe(303);
    expect(await browser.signedInAs()).toBe(name);
    const late = somebody();
    expect((await late.get(path)).status).toBe(404);
    const refused = await late.post(path, filled(newName()));
    expect(refused.status).toBe(404);
    expect(refused.words).toContain('Ask the person who sent it for another');
    expect(late.session).toBeUndefined();
  });

  test('creates one account under concurrent use', async () => {
    const { path } = await invite(server(), now);
    const answers = await Promise.all(['', '', '', ''].map(() => somebody().post(path, filled(newName()))));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 404, 404, 404]);
    // A browser that sends the form twice shows the second answer alone.
    const late = answers.find(({ status }) => status === 404);
    expect(late?.words).toContain('If you pressed the button twice, it worked the first time. Sign in.');
    expect(late?.html).toContain('<a href="/sign-in" class="button">Sign in</a>');
    expect((await somebody().get(path)).words).not.toContain('it worked');
  });

  test('stays valid after an invalid form or a taken name', async () => {
    const { path } = await invite(server(), now);
    const { name } = await person(server());
    expect((await somebody().post(path, { ...filled('no good') })).status).toBe(422);
    expect((await somebody().post(path, filled(name))).status).toBe(422);
    expect((await somebody().post(path, filled(newName()))).status).toBe(303);
  });

  test('ends when it is withdrawn, and expires after a week', async () => {
    const withdrawn = await invite(server(), now);
    await withdrawn.withdraw();
    expect((await somebody().get(withdrawn.path)).status).toBe(404);
    expect((await somebody().post(withdrawn.path, filled(newName()))).status).toBe(404);
    const { path } = await invite(server(), now);
    time += 7 * 24 * 3_600_000 - 60_000;
    expect((await somebody().get(path)).status).toBe(200);
    time += 120_000;
    expect((await somebody().get(path)).status).toBe(404);
    expect((await somebody().post(path, filled(newName()))).status).toBe(404);
  });

  test('is required: the open form is closed', async () => {
    const name = newName();
    const { status, words } = await somebody().post('/sign-up', filled(name));
    expect(status).toBe(403);
    expect(words).toContain('You need an invitation');
    expect((await somebody().get('/sign-up')).words).toContain('You need an invitation');
    expect((await somebody().get('/sign-in')).html).not.toContain('/sign-up');
    expect(await findUserByName(server().engine, name)).toBeUndefined();
  });

  test('must be a real invitation, and not a link of another kind', async () => {
    expect((await somebody().post('/invitation/made-up', filled(newName()))).status).toBe(404);
    const { path } = await invite(server(), now);
    const secret = path.split('/').at(-1) ?? '';
    expect((await somebody().get(`/password-link/${secret}`)).status).toBe(404);
    expect((await somebody().get(`/setup/${secret}`)).status).toBe(404);
    expect((await somebody().get(path)).status).toBe(200);
  });
});

describe('with closed sign-up', () => {
  const server = serverFor('sqlite', { PARLEY_SIGN_UP: 'closed' });

  test('neither the form nor an invitation creates an account', async () => {
    const { path } = await invite(server());
    const browser = new BrowserLike(server().url);
    for (const form of ['/sign-up', path]) {
      const name = newName();
      expect((await browser.get(form)).status).toBe(403);
      const { status, words } = await browser.post(form, filled(name));
      expect(status).toBe(403);
      expect(words).toContain('Ask one to create yours');
      expect(await findUserByName(server().engine, name)).toBeUndefined();
    }
    expect((await browser.get('/sign-in')).words).not.toContain('No account yet?');
  });
});

test('browsers accept the same names as the server', () => {
  // As browsers compile it: anchored, with the flag v.
  const inBrowser = new RegExp(`^(?:${namePattern})$`, 'v');
  const names = ['a', 'ada', 'Ada.Lovelace', 'a_b-c', 'x'.repeat(40), '7'];
  const others = ['', ' ', '.a', 'a.', 'a-', 'Ada Lovelace', 'ädä', 'a@b', 'x'.repeat(41), 'a\u00a0b'];
  for (const name of [...names, ...others]) {
    const isName = userName.safeParse(name).success;
    expect({ name, isName, inBrowser: inBrowser.test(name) }).toEqual({
      name,
      isName: names.includes(name),
      inBrowser: isName,
    });
  }
  expect(inBrowser.test(' ada ')).toBe(true);
});
