import { describe, expect, test } from 'bun:test';
import { operator } from '../../auth/audit.ts';
import { createBot } from '../../auth/bots.ts';
import { createPasswordLink } from '../../auth/links.ts';
import { disableUser, setPassword } from '../../store/access/users.ts';
import { BrowserLike, goodPassword, newAddress, type Page, person } from '../support/browser-like.ts';
import { onAnyEngine } from '../support/engines.ts';
import { accessOf } from '../support/oauth.ts';
import { serverFor } from '../support/server.ts';
import { withoutOurScript } from '../support/visitor.ts';

/** Attempts at one account; from one address there are five times as many. */
const limit = 3;
const seconds = 60;

onAnyEngine('signing in', (engine) => {
  let now = Date.now();
  const server = serverFor(
    engine,
    { PARLEY_SIGN_IN_LIMIT: `${limit}/${seconds}`, TRUST_PROXY: '1' },
    { now: () => now },
  );
  /** A browser at an address that nobody has used. */
  const elsewhere = (address = newAddress()) => new BrowserLike(server().url, { 'x-forwarded-for': address });
  const statuses = (pages: readonly Page[]) => pages.map(({ status }) => status);

  test('works with the right name, in any case and with a space behind it, and the right password', async () => {
    const { name } = await person(server());
    const browser = elsewhere();
    expect(await browser.signedInAs()).toBeUndefined();
    const { status, location } = await browser.signIn(` ${name.toUpperCase()} `, goodPassword);
    expect({ status, location }).toEqual({ status: 303, location: '/' });
    expect(await browser.signedInAs()).toBe(name);
  });

  test('does not reveal whether a name exists: not in status, text or headers', async () => {
    const { name: known } = await person(server());
    const disabled = await person(server());
    await server().engine.write((tx) => disableUser(tx, disabled.user_id, Date.now()));
    const owner = await person(server());
    const bot = await createBot(
      accessOf(server()),
      { userId: owner.user_id, appId: 0, address: null },
      { name: `${owner.name}-bot`, displayName: 'A bot' },
    );
    // A bot never has a password. Even with one, nobody can sign in as it.
    await server().engine.write(async (tx) =>
      setPassword(tx, bot.user_id, await server().tools.passwords.hash(goodPassword)),
    );
    await server().user('only-tokens');

    const attempts: Record<string, readonly [string, string]> = {
      'wrong password': [known, 'not the password'],
      'unknown name': ['nobody-at-all', goodPassword],
      'no name at all': ['not a name', goodPassword],
      disabled: [disabled.name, 'not the password'],
      bot: [bot.name, goodPassword],
      'no password': ['only-tokens', goodPassword],
    };
    const seen = new Map<string, unknown>();
    for (const [what, [name, password]] of Object.entries(attempts)) {
      const browser = elsewhere();
      const { status, headers, html, words } = await browser.signIn(name, password);
      expect({ what, words }).toEqual({
        what,
        words: expect.stringContaining('The name or the password is wrong.'),
      });
      expect({ what, session: browser.session }).toEqual({ what, session: undefined });
      const told = [...headers].filter(([header]) => !['x-request-id', 'date', 'content-length'].includes(header));
      seen.set(what, { status, told, html: html.replaceAll(`value="${name}"`, 'value="NAME"') });
    }
    for (const [what, answer] of seen) expect({ what, answer }).toEqual({ what, answer: seen.get('wrong password') });
    expect(seen.get('wrong password')).toMatchObject({ status: 422 });
  });

  test('keeps the name after an error, and focuses the password', async () => {
    const { html } = await elsewhere().signIn('nobody"><script>alert(1)</script>', 'not the password');
    expect(html).toContain('value="nobody&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
    expect(withoutOurScript(html)).not.toContain('<script');
    expect(html).not.toContain('not the password');
    expect(html).toMatch(/<input id="password"[^>]*autofocus[^>]*aria-describedby="refusal"/);
  });

  test('is throttled per account, from any IP, whether the account exists or not', async () => {
    const { name } = await person(server());
    for (const tried of [name, 'no-such-name']) {
      for (let i = 0; i < limit; i++) expect((await elsewhere().signIn(tried, 'wrong wrong wrong')).status).toBe(422);
      const browser = elsewhere();
      const { status, headers, words, html } = await browser.signIn(tried, goodPassword, { next: '/apps' });
      expect({ tried, status }).toEqual({ tried, status: 429 });
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(seconds);
      expect(words).toContain('There were too many attempts. Try again in');
      expect(html).toContain(`value="${tried}"`);
      expect(html).toContain('name="next" value="/apps"');
      expect(browser.session).toBeUndefined();
    }
  });

  test('is possible again after Retry-After', async () => {
    const { name } = await person(server());
    for (let i = 0; i < limit; i++) await elsewhere().signIn(name, 'wrong wrong wrong');
    const refused = await elsewhere().signIn(name, goodPassword);
    expect(refused.status).toBe(429);
    now += Number(refused.headers.get('retry-after')) * 1_000;
    expect((await elsewhere().signIn(name, goodPassword)).status).toBe(303);
    // It went well, so all attempts are there again.
    for (let i = 0; i < limit; i++) expect((await elsewhere().signIn(name, 'wrong wrong wrong')).status).toBe(422);
  });

  test('counts concurrent attempts', async () => {
    const { name } = await person(server());
    const many = Array.from({ length: 12 }, () => elsewhere().signIn(name, 'wrong wrong wrong'));
    const answers = statuses(await Promise.all(many)).sort();
    expect(answers).toEqual([...Array(limit).fill(422), ...Array(12 - limit).fill(429)]);
  });

  test('is throttled per IP, whatever the names', async () => {
    const { name } = await person(server());
    const address = newAddress();
    for (let i = 0; i < limit * 5; i++) {
      expect((await elsewhere(address).signIn(`guess-${i}`, 'wrong wrong wrong')).status).toBe(422);
    }
    expect((await elsewhere(address).signIn(name, goodPassword)).status).toBe(429);
    expect((await elsewhere().signIn(name, goodPassword)).status).toBe(303);
    now += seconds * 1_000;
    expect((await elsewhere(address).signIn(name, goodPassword)).status).toBe(303);
  });

  test('counts an IPv6 /64 as one IP', async () => {
    for (let i = 0; i < limit * 5; i++) {
      await elsewhere(`2001:db8:0:1::${i + 1}`).signIn(`six-${i}`, 'wrong wrong wrong');
    }
    expect((await elsewhere('2001:db8:0:1:ffff::1').signIn('six', 'wrong wrong wrong')).status).toBe(429);
    expect((await elsewhere('2001:db8:0:2::1').signIn('six', 'wrong wrong wrong')).status).toBe(422);
  });

  test.each([
    { prefix: 56, share: 10, inside: '2001:db8:56:1ff::1', outside: '2001:db8:56:200::1' },
    { prefix: 48, share: 50, inside: '2001:db8:48:ffff::1', outside: '2001:db8:49::1' },
  ])('counts an IPv6 /$prefix too, with $share times the attempts', async ({ prefix, share, inside, outside }) => {
    const { name } = await person(server());
    // Each /64, and within the /48 each /56, stays below its own limit.
    const networkOf = (i: number) => (prefix === 56 ? 0x100 + (i % 8) : (i % 32) << 8);
    for (let i = 0; i < limit * share; i++) {
      const address = `2001:db8:${prefix}:${networkOf(i).toString(16)}::1`;
      expect((await elsewhere(address).signIn(`wide-${prefix}-${i}`, 'wrong wrong wrong')).status).toBe(422);
    }
    expect((await elsewhere(inside).signIn(name, goodPassword)).status).toBe(429);
    expect((await elsewhere(outside).signIn(name, goodPassword)).status).toBe(303);
    now += seconds * 1_000;
    expect((await elsewhere(inside).signIn(name, goodPassword)).status).toBe(303);
  });

  test('does not count successful sign-ins against an IP or its networks', async () => {
    const { name } = await person(server());
    for (const address of [newAddress(), '2001:db8:57::1']) {
      for (let i = 0; i < limit * 5 + 3; i++) {
        expect((await elsewhere(address).signIn(name, goodPassword)).status).toBe(303);
      }
    }
    const rows = await server().engine.all<{ key: string }>(
      "SELECT key FROM throttles WHERE key LIKE '%2001:db8:57:%' AND full_at > $1",
      [now],
    );
    expect(rows).toEqual([]);
  });

  test('stays possible for a known browser while others guess', async () => {
    const { name } = await person(server());
    const stranger = await person(server());
    const known = elsewhere();
    await known.signIn(name, goodPassword);
    await known.post('/sign-out');
    for (let i = 0; i <= limit; i++) await elsewhere().signIn(name, 'wrong wrong wrong');
    expect((await elsewhere().signIn(name, goodPassword)).status).toBe(429);
    expect((await known.signIn(name, goodPassword)).status).toBe(303);

    // The mark is for one account, and a made-up one is none.
    const other = elsewhere();
    await other.signIn(stranger.name, goodPassword);
    await other.post('/sign-out');
    expect((await other.signIn(name, goodPassword)).status).toBe(429);
    const forged = elsewhere();
    const [nonce = '', seal = ''] = known.cookies.get('parley_device')?.split('.') ?? [];
    forged.cookies.set('parley_device', `${nonce.split('').reverse().join('')}.${seal}`);
    expect((await forged.signIn(name, goodPassword)).status).toBe(429);
  });

  test('stays possible for a known browser while others in its network guess', async () => {
    const { name } = await person(server());
    const address = newAddress();
    const known = elsewhere(address);
    await known.signIn(name, goodPassword);
    await known.post('/sign-out');
    for (let i = 0; i < limit * 5; i++) await elsewhere(address).signIn(`neighbour-${i}`, 'wrong wrong wrong');
    expect((await elsewhere(address).signIn(name, goodPassword)).status).toBe(429);
    expect((await known.signIn(name, goodPassword)).status).toBe(303);
  });

  test.each(['reset', 'changed'] as const)('knows no other browser after the password was %s', async (how) => {
    const { name, user_id } = await person(server());
    const intruder = elsewhere();
    await intruder.signIn(name, goodPassword);
    const owner = elsewhere();
    const password = 'another fine long password';
    if (how === 'reset') {
      const { secret } = await createPasswordLink(
        accessOf(server(), () => now),
        operator,
        user_id,
      );
      await owner.post(`/password-link/${secret}`, { password, again: password });
    } else {
      await owner.signIn(name, goodPassword);
      await owner.post('/password', { current: goodPassword, password, again: password });
    }
    expect(await owner.signedInAs()).toBe(name);
    await owner.post('/sign-out');
    for (let i = 0; i < limit; i++) await elsewhere().signIn(name, 'wrong wrong wrong');
    expect((await intruder.signIn(name, 'wrong wrong wrong')).status).toBe(429);
    expect((await owner.signIn(name, password)).status).toBe(303);
  });

  test('gives a known browser a cookie that scripts and other sites cannot use', async () => {
    const { name } = await person(server());
    const { headers } = await elsewhere().signIn(name, goodPassword);
    const set = headers.getSetCookie().find((cookie) => cookie.startsWith('parley_device='));
    expect(set).toMatch(/; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax$/);
  });

  test('is throttled for a known browser too', async () => {
    const { name } = await person(server());
    const known = elsewhere();
    await known.signIn(name, goodPassword);
    for (let i = 0; i < limit; i++) expect((await known.signIn(name, 'wrong wrong wrong')).status).toBe(422);
    expect((await known.signIn(name, goodPassword)).status).toBe(429);
  });

  test('always begins a new session, and ends the one that the browser had', async () => {
    const mallory = await person(server());
    const victim = await person(server());
    const attacker = elsewhere();
    await attacker.signIn(mallory.name, goodPassword);
    const planted = attacker.session ?? '';
    const browser = elsewhere();
    browser.cookies.set('parley_session', planted);
    expect(await browser.signedInAs()).toBe(mallory.name);
    await browser.signIn(victim.name, goodPassword);
    expect(browser.session).not.toBe(planted);
    expect(await browser.signedInAs()).toBe(victim.name);
    // The attacker has neither the victim's session nor the planted one.
    expect(await attacker.signedInAs()).toBeUndefined();

    const made = elsewhere();
    made.cookies.set('parley_session', 'ses_chosen-by-somebody-else');
    await made.signIn(victim.name, goodPassword);
    expect(made.session).not.toBe('ses_chosen-by-somebody-else');
    const before = made.session;
    await made.signIn(victim.name, goodPassword);
    expect(made.session).not.toBe(before);
  });

  test('continues at the requested page', async () => {
    const { name } = await person(server());
    const browser = elsewhere();
    const asked = await browser.get('/password?a=1&b=2');
    expect({ status: asked.status, location: asked.location }).toEqual({
      status: 303,
      location: '/sign-in?next=%2Fpassword%3Fa%3D1%26b%3D2',
    });
    expect((await browser.get(asked.location ?? '')).html).toContain('name="next" value="/password?a=1&amp;b=2"');
    expect((await browser.signIn(name, goodPassword, { next: '/password?a=1&b=2' })).location).toBe(
      '/password?a=1&b=2',
    );
    const again = await browser.get('/sign-in?next=%2Fapps');
    expect({ status: again.status, location: again.location }).toEqual({ status: 303, location: '/apps' });
  });

  test('expires after thirty days', async () => {
    const { name } = await person(server());
    const browser = elsewhere();
    await browser.signIn(name, goodPassword);
    now += 29.9 * 24 * 3_600_000;
    expect(await browser.signedInAs()).toBe(name);
    now += 0.2 * 24 * 3_600_000;
    expect(await browser.signedInAs()).toBeUndefined();
  });

  test('ends with sign-out, also for a copied cookie', async () => {
    const { name } = await person(server());
    const browser = elsewhere();
    await browser.signIn(name, goodPassword);
    const copy = elsewhere();
    copy.cookies.set('parley_session', browser.session ?? '');
    expect(await copy.signedInAs()).toBe(name);
    const { status, location } = await browser.post('/sign-out');
    expect({ status, location, session: browser.session }).toEqual({
      status: 303,
      location: '/sign-in',
      session: undefined,
    });
    expect(await copy.signedInAs()).toBeUndefined();
  });

  test('ends at once when the user is disabled', async () => {
    const someone = await person(server());
    const root = await server().user(`root-${someone.name}`, { admin: true });
    const browser = elsewhere();
    await browser.signIn(someone.name, goodPassword);
    expect(await browser.signedInAs()).toBe(someone.name);
    await root.ok('users.disable', { user_id: someone.user_id });
    expect(await browser.signedInAs()).toBeUndefined();
  });

  test('does not accept an access token as a session', async () => {
    const someone = await server().user('token-holder');
    const browser = elsewhere();
    browser.cookies.set('parley_session', someone.token);
    expect(await browser.signedInAs()).toBeUndefined();
  });
});

describe('the page after sign-in or sign-out', () => {
  const server = serverFor('sqlite', { PARLEY_SIGN_IN_LIMIT: 'off', PARLEY_SIGN_UP: 'open' });

  const tricks = [
    'https://evil.example/',
    '//evil.example/',
    '///evil.example/',
    '/\\evil.example/',
    '\\\\evil.example/',
    '/\t/evil.example/',
    '/\n/evil.example/',
    '\t//evil.example/',
    ' //evil.example/',
    '/..//evil.example/',
    '/.//evil.example/',
    '/a/..//evil.example/',
    '/a/../\\evil.example/',
    'javascript:alert(1)',
    'evil.example',
    '/\r\nset-cookie: a=b',
    'http:evil.example',
    '@evil.example',
  ];

  /** A place of ours, however a browser reads what the server wrote. */
  const isOurs = (location: string | null) =>
    new URL(location ?? 'http://none.example', server().url).origin === new URL(server().url).origin;

  test('is always a page of ours', async () => {
    const { name } = await person(server());
    for (const next of tricks) {
      const browser = new BrowserLike(server().url);
      const after = await browser.signIn(name, goodPassword, { next });
      expect({ next, status: after.status, ours: isOurs(after.location) }).toEqual({ next, status: 303, ours: true });
      expect(after.headers.getSetCookie().some((cookie) => cookie.startsWith('a='))).toBe(false);
      for (const page of ['/sign-in', '/sign-up']) {
        const already = await browser.get(`${page}?next=${encodeURIComponent(next)}`);
        expect({ next, page, ours: isOurs(already.location) }).toEqual({ next, page, ours: true });
      }
      const { location } = await browser.post('/sign-out', { next });
      const kept = new URL(location ?? '', server().url).searchParams.get('next') ?? '/';
      expect({ next, ours: isOurs(location) && isOurs(kept) }).toEqual({ next, ours: true });
      const form = await browser.get(`/sign-in?next=${encodeURIComponent(next)}`);
      const [, hidden = ''] = /name="next" value="([^"]*)"/.exec(form.html) ?? [];
      expect({ next, ours: isOurs(hidden) }).toEqual({ next, ours: true });
    }
  });

  test('is the front page if the URL is of another site', async () => {
    const { name } = await person(server());
    for (const next of ['https://evil.example/apps', '//evil.example/apps', '/\\evil.example/apps', '/..//apps']) {
      const { location } = await new BrowserLike(server().url).signIn(name, goodPassword, { next });
      expect({ next, location }).toEqual({ next, location: '/' });
    }
  });

  test('is the requested page, with its query', async () => {
    const { name } = await person(server());
    for (const next of ['/apps', '/oauth/authorize?client_id=a%20b&scope=x+y', '/a%2F%2Fb', '/?x=//y']) {
      const { location } = await new BrowserLike(server().url).signIn(name, goodPassword, { next });
      expect(location).toBe(next);
    }
  });
});
