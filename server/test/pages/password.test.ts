import { expect, test } from 'bun:test';
import { createPasswordLink } from '../../auth/links.ts';
import { disableUser } from '../../store/access/users.ts';
import { BrowserLike, goodPassword, person } from '../support/browser-like.ts';
import { onAnyEngine } from '../support/engines.ts';
import { accessOf } from '../support/oauth.ts';
import { serverFor } from '../support/server.ts';

const better = 'an even better one';
const changing = (current: string, next: string, again = next) => ({ current, password: next, again });

onAnyEngine('changing a password', (engine) => {
  let time = Date.now();
  const now = () => time;
  const server = serverFor(engine, { PARLEY_SIGN_IN_LIMIT: '5/60' }, { now });
  const somebody = () => new BrowserLike(server().url);
  async function signedIn() {
    const user = await person(server());
    const browser = somebody();
    await browser.signIn(user.name, goodPassword);
    return { user, browser };
  }

  test('signs every other browser out, and stays signed in here with a new session', async () => {
    const { user, browser } = await signedIn();
    const other = somebody();
    await other.signIn(user.name, goodPassword);
    const thief = somebody();
    thief.cookies.set('parley_session', browser.session ?? '');
    const token = await server().token(user.name);

    const { status, words } = await browser.post('/password', changing(goodPassword, better));
    expect(status).toBe(200);
    expect(words).toContain('Every other browser was signed out.');
    expect(await browser.signedInAs()).toBe(user.name);
    expect(await other.signedInAs()).toBeUndefined();
    expect(await thief.signedInAs()).toBeUndefined();
    const response = await fetch(`${server().url}/api/users.php?action=me`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(200);
    expect((await somebody().signIn(user.name, goodPassword)).status).toBe(422);
    expect((await somebody().signIn(user.name, better)).status).toBe(303);
  });

  test('needs the current password, and never shows a password', async () => {
    const { user, browser } = await signedIn();
    const { status, words, html } = await browser.post('/password', changing('not my password', better));
    expect(status).toBe(422);
    expect(words).toContain('This is not your password.');
    expect(html).not.toContain('not my password');
    expect(html).not.toContain(better);
    expect((await browser.post('/password', changing('', better))).words).toContain('This is required.');
    expect((await browser.post('/password', changing(goodPassword, 'short'))).words).toContain(
      'at least 10 characters',
    );
    const differing = await browser.post('/password', changing(goodPassword, better, `${better}?`));
    expect(differing.words).toContain('This is not the same password.');
    // Both fields are empty again, so the first of them gets the focus.
    expect(differing.html.match(/<input id="(\w+)"[^>]* autofocus/)?.[1]).toBe('password');
    expect((await somebody().signIn(user.name, goodPassword)).status).toBe(303);
  });

  test('is throttled, so that someone at an unlocked browser cannot guess for long', async () => {
    const { user, browser } = await signedIn();
    for (let i = 0; i < 5; i++) {
      expect((await browser.post('/password', changing('not my password', better))).status).toBe(422);
    }
    const { status, headers } = await browser.post('/password', changing(goodPassword, better));
    expect(status).toBe(429);
    time += Number(headers.get('retry-after')) * 1_000;
    expect((await browser.post('/password', changing(goodPassword, better))).status).toBe(200);
    expect(await browser.signedInAs()).toBe(user.name);
  });

  test('succeeds for one of two concurrent changes', async () => {
    const { user, browser } = await signedIn();
    const other = somebody();
    await other.signIn(user.name, goodPassword);
    const mine = 'one of the two passwords';
    const theirs = 'the other of the two passwords';
    const answers = await Promise.all([
      browser.post('/password', changing(goodPassword, mine)),
      other.post('/password', changing(goodPassword, theirs)),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const [kept, lost] = answers[0]?.status === 200 ? [mine, theirs] : [theirs, mine];
    expect((await somebody().signIn(user.name, kept)).status).toBe(303);
    expect((await somebody().signIn(user.name, lost)).status).toBe(422);
  });

  test('needs a session', async () => {
    const { location } = await somebody().get('/password');
    expect(location).toBe('/sign-in?next=%2Fpassword');
    const { status, location: posted } = await somebody().post('/password', changing(goodPassword, better));
    expect({ status, posted }).toEqual({ status: 303, posted: '/sign-in?done=signed-out' });
  });

  async function linkFor(userId: Awaited<ReturnType<typeof person>>['user_id']) {
    const root = await person(server(), { admin: true });
    const actor = { userId: root.user_id, appId: 0, address: null };
    return `/password-link/${(await createPasswordLink(accessOf(server(), now), actor, userId)).secret}`;
  }

  test('works once with a link of an administrator, and signs every browser out', async () => {
    const { user, browser } = await signedIn();
    const path = await linkFor(user.user_id);
    const fresh = somebody();
    expect((await fresh.get(path)).words).toContain(`For the account ${user.name} .`);
    expect((await fresh.post(path, { password: 'short', again: 'short' })).status).toBe(422);
    const { status, location } = await fresh.post(path, { password: better, again: better });
    expect({ status, location }).toEqual({ status: 303, location: '/settings?done=password-reset' });
    expect(await fresh.signedInAs()).toBe(user.name);
    expect(await browser.signedInAs()).toBeUndefined();
    expect((await somebody().signIn(user.name, better)).status).toBe(303);
    const late = await somebody().post(path, { password: 'yet another one', again: 'yet another one' });
    expect(late.status).toBe(404);
    expect(late.words).toContain('Ask an administrator for another');
    expect(late.words).toContain('If you pressed the button twice, it worked the first time. Sign in.');
    expect(late.html).toContain('<a href="/sign-in" class="button">Sign in</a>');
    expect((await somebody().get(path)).words).not.toContain('it worked');
  });

  test('works for one of many concurrent uses of a link', async () => {
    const user = await person(server());
    const path = await linkFor(user.user_id);
    const tries = ['first of them', 'second of them', 'third of them'].map((password) =>
      somebody().post(path, { password, again: password }),
    );
    expect((await Promise.all(tries)).map(({ status }) => status).sort()).toEqual([303, 404, 404]);
  });

  test('fails with a link that has expired, was replaced, or is for a disabled user', async () => {
    const user = await person(server());
    const earlier = await linkFor(user.user_id);
    const path = await linkFor(user.user_id);
    expect((await somebody().get(earlier)).status).toBe(404);
    expect((await somebody().get(path)).status).toBe(200);
    time += 25 * 3_600_000;
    expect((await somebody().get(path)).status).toBe(404);
    expect((await somebody().post(path, { password: better, again: better })).status).toBe(404);
    const ended = await linkFor(user.user_id);
    await server().engine.write((tx) => disableUser(tx, user.user_id, now()));
    expect((await somebody().get(ended)).status).toBe(404);
    expect((await somebody().post(ended, { password: better, again: better })).status).toBe(404);
  });

  test('ends the password links of the user', async () => {
    const { user, browser } = await signedIn();
    const path = await linkFor(user.user_id);
    expect((await browser.post('/password', changing(goodPassword, better))).status).toBe(200);
    expect((await somebody().get(path)).status).toBe(404);
  });
});
