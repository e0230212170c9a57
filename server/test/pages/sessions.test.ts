import { beforeEach, describe, expect, test } from 'bun:test';
import type { UserRow } from '../../store/access/users.ts';
import { BrowserLike, goodPassword, person } from '../support/browser-like.ts';
import { SessionClient } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { serverFor } from '../support/server.ts';
import { countActs, expectSound, lastAct } from '../support/visitor.ts';

const agents = {
  firefox: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0',
  safari:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
};

const hourMs = 3_600_000;

onAnyEngine('the sessions of a person', (engine) => {
  let time = Date.UTC(2026, 0, 1);
  const server = serverFor(engine, { PARLEY_SIGN_IN_LIMIT: 'off' }, { now: () => time });
  let ada: UserRow;
  let bob: UserRow;
  let desk: BrowserLike;
  let phone: BrowserLike;
  let stranger: BrowserLike;
  beforeEach(async () => {
    ada = await person(server());
    bob = await person(server());
    desk = await signedIn(ada, agents.firefox);
    time += hourMs;
    phone = await signedIn(ada, agents.safari);
    stranger = await signedIn(bob, agents.firefox);
    time += hourMs;
  });

  async function signedIn({ name }: UserRow, userAgent?: string): Promise<BrowserLike> {
    const browser = new BrowserLike(server().url, { ...(userAgent !== undefined && { 'user-agent': userAgent }) });
    expect((await browser.signIn(name, goodPassword)).status).toBe(303);
    return browser;
  }

  /** Returns the ids of the user's sessions, in the order in which they began. */
  const idsOf = async ({ user_id }: UserRow): Promise<number[]> =>
    (
      await server().engine.all<{ token_id: number }>(
        `SELECT token_id FROM tokens WHERE user_id = $1 AND kind = 'session' ORDER BY token_id`,
        [user_id],
      )
    ).map(({ token_id }) => token_id);
  const signOut = (browser: BrowserLike, id: number | undefined) => browser.post(`/sessions/${id}/sign-out`);
  const whoIn = (...browsers: BrowserLike[]) => Promise.all(browsers.map((browser) => browser.signedInAs()));
  const done = (words: string) => ({ status: 303, location: `/sessions?done=${words}` });

  test('are listed with the browser, the times, and a mark at this one', async () => {
    await phone.get('/password');
    const page = await phone.get('/sessions');
    expect(page.status).toBe(200);
    // It needs no script.
    expectSound(page);
    expect(page.main).toContain('Safari on iPhone This session');
    expect(page.main).not.toContain('Firefox on Windows This session');
    expect(page.main.indexOf('Safari on iPhone')).toBeLessThan(page.main.indexOf('Firefox on Windows'));
    const [began] = await server().engine.all<{ at: number }>(
      `SELECT min(created_at) AS at FROM tokens WHERE user_id = $1 AND kind = 'session'`,
      [ada.user_id],
    );
    expect(page.html).toContain(`<time datetime="${new Date(began?.at ?? 0).toISOString()}">`);
    expect(page.html).toContain('<a href="/sessions" aria-current="page">');
    expect((await phone.get('/settings')).html).toContain('<a href="/sessions">Sessions</a>');
    for (const id of await idsOf(bob)) expect(page.html).not.toContain(`/sessions/${id}/`);
    // Without a time zone in the profile, times are in UTC.
    expect(page.main).toMatch(/Signed in 2026-\d\d-\d\d \d\d:\d\d UTC/);
    await server().engine.write((tx) =>
      tx.run(`UPDATE users SET time_zone = 'Asia/Kolkata' WHERE user_id = $1`, [ada.user_id]),
    );
    const words = new Intl.DateTimeFormat('sv-SE', {
      dateStyle: 'short',
      timeStyle: 'short',
      timeZone: 'Asia/Kolkata',
    });
    expect((await phone.get('/sessions')).main).toContain(`Signed in ${words.format(began?.at)} GMT+5:30`);
  });

  test('that have ended or expired are not listed', async () => {
    await desk.post('/sign-out');
    expect((await phone.get('/sessions')).main).not.toContain('Firefox on Windows');
    time += 29 * 24 * hourMs;
    const late = await signedIn(ada);
    expect((await late.get('/sessions')).main).toContain('Safari on iPhone');
    time += 2 * 24 * hourMs;
    const { main } = await late.get('/sessions');
    expect(main).not.toContain('Safari on iPhone');
    expect(main).toContain('This session');
    expect(main).not.toContain('Sign out all other browsers');
  });

  test('have an unknown browser without a name that we know, and no markup from it', async () => {
    const odd = await signedIn(ada, `<script>alert(1)</script> ${'x'.repeat(2_000)}`);
    const { main, html } = await odd.get('/sessions');
    expect(main).toContain('Unknown browser This session');
    expect(html).not.toContain('alert(1)');
    const id = (await idsOf(ada)).at(-1);
    const [row] = await server().engine.all<{ user_agent: string }>(
      'SELECT user_agent FROM tokens WHERE token_id = $1',
      [id ?? 0],
    );
    expect(row?.user_agent.length).toBe(300);
  });

  test('keep the browser through a new password and through entering the password again', async () => {
    const password = 'another fine long password';
    await desk.post('/password', { current: goodPassword, password, again: password });
    expect((await desk.get('/sessions')).main).toContain('Firefox on Windows This session');
    await desk.post('/confirm-password', { password });
    expect((await desk.get('/sessions')).main).toContain('Firefox on Windows This session');
  });

  test('are signed out one by one, whatever the age of the password', async () => {
    time += 20 * 24 * hourMs;
    const [ofDesk] = await idsOf(ada);
    expect(await signOut(phone, ofDesk)).toMatchObject(done('session-ended'));
    expect(await whoIn(desk, phone, stranger)).toEqual([undefined, ada.name, bob.name]);
    const api = new SessionClient(server().url, desk.session ?? '', ada.user_id);
    expect(await api.refused('users.me', {})).toBe('unauthorized');
    expect(await lastAct(server())).toMatchObject({
      act: 'signed_out',
      user_id: ada.user_id,
      details: { browser: 'Firefox on Windows' },
    });
    expect((await phone.get('/sessions?done=session-ended')).main).toContain('That browser was signed out.');
    expect((await desk.get('/sign-in')).main).toContain('You were signed out in this browser. Sign in to continue.');
    // Again, as from a page that was loaded before.
    const before = await countActs(server());
    expect(await signOut(phone, ofDesk)).toMatchObject(done('session-ended'));
    expect(await countActs(server())).toBe(before);
  });

  test('are signed out all but this one', async () => {
    const tablet = await signedIn(ada);
    expect(await phone.post('/sessions/sign-out-others')).toMatchObject(done('other-sessions-ended'));
    expect(await whoIn(desk, phone, tablet, stranger)).toEqual([undefined, ada.name, undefined, bob.name]);
    expect(await lastAct(server())).toMatchObject({ act: 'signed_out', details: { other_sessions: 2 } });
    const before = await countActs(server());
    expect(await phone.post('/sessions/sign-out-others')).toMatchObject(done('other-sessions-ended'));
    expect(await countActs(server())).toBe(before);
    const token = await server().token(ada.name);
    await phone.post('/sessions/sign-out-others');
    const response = await fetch(`${server().url}/api/users.php?action=me`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(200);
  });

  test('include this one, which is signed out like with the button in the header', async () => {
    const [, own] = await idsOf(ada);
    expect(await signOut(phone, own)).toMatchObject({ status: 303, location: '/sign-in' });
    expect(phone.session).toBeUndefined();
    expect(await whoIn(desk, phone)).toEqual([ada.name, undefined]);
    expect(await lastAct(server())).toMatchObject({ act: 'signed_out', user_id: ada.user_id });
  });

  describe('of somebody else', () => {
    test('are not found, for an administrator neither, and stay', async () => {
      const root = await signedIn(await person(server(), { admin: true }));
      const ids = await idsOf(ada);
      const before = await countActs(server());
      for (const browser of [stranger, root]) {
        for (const id of ids) {
          const page = await signOut(browser, id);
          expect(page.status).toBe(404);
          expect(page.main).toContain('You have no such session.');
          expect(page.main).toContain('Back to Sessions');
        }
        await browser.post('/sessions/sign-out-others');
      }
      expect(await whoIn(desk, phone)).toEqual([ada.name, ada.name]);
      expect(await countActs(server())).toBe(before);
    });

    test('and access tokens, and what is no id, are not found', async () => {
      await server().token(ada.name);
      const [token] = await server().engine.all<{ token_id: number }>(
        `SELECT token_id FROM tokens WHERE user_id = $1 AND kind = 'personal'`,
        [ada.user_id],
      );
      for (const id of [token?.token_id, 0, -1, '1e3', 'x', '9007199254740993', 999_999_999]) {
        expect({ id, status: (await desk.post(`/sessions/${id}/sign-out`)).status }).toEqual({ id, status: 404 });
      }
    });
  });

  describe('at the same time', () => {
    test('many sign-outs of one session end it once', async () => {
      const [ofDesk] = await idsOf(ada);
      const before = await countActs(server());
      const pages = await Promise.all(Array.from({ length: 8 }, () => signOut(phone, ofDesk)));
      for (const page of pages) expect(page).toMatchObject(done('session-ended'));
      expect(await countActs(server())).toBe(before + 1);
      expect(await whoIn(desk, phone)).toEqual([undefined, ada.name]);
    });

    test('of two browsers that sign each other out, one stays', async () => {
      for (let i = 0; i < 5; i++) {
        const [a, b] = [await signedIn(ada), await signedIn(ada)];
        const [ofA, ofB] = (await idsOf(ada)).slice(-2);
        await Promise.all([signOut(a, ofB), signOut(b, ofA)]);
        expect((await whoIn(a, b)).filter((name) => name === ada.name)).toHaveLength(1);
      }
    });

    test('of many that sign out all others, one stays', async () => {
      const browsers = [desk, phone, ...(await Promise.all(Array.from({ length: 4 }, () => signedIn(ada))))];
      const pages = await Promise.all(browsers.map((browser) => browser.post('/sessions/sign-out-others')));
      expect((await whoIn(...browsers)).filter((name) => name === ada.name)).toHaveLength(1);
      expect(pages.filter(({ location }) => location === '/sessions?done=other-sessions-ended')).toHaveLength(1);
      for (const { status, location } of pages) {
        expect({ status, isOurs: /^\/(sessions|sign-in)\?/.test(location ?? '') }).toEqual({
          status: 303,
          isOurs: true,
        });
      }
      expect(await whoIn(stranger)).toEqual([bob.name]);
    });
  });
});
