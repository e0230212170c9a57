import { beforeAll, describe, expect, test } from 'bun:test';
import { Passwords } from '../../auth/passwords.ts';
import { signIn } from '../../auth/sign-in.ts';
import { buildPages } from '../../pages/index.ts';
import type { SiteDeps } from '../../pages/site.ts';
import { BrowserLike, fromOurPage, goodPassword, type Page, person } from '../support/browser-like.ts';
import { freshEnvironment } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { accessOf } from '../support/oauth.ts';
import { serverFor, startServer } from '../support/server.ts';
import { hasOurScript, withoutOurScript } from '../support/visitor.ts';
import { overSocket } from '../support/wire.ts';

/** Every address that there is, of one method, with something in the place of what varies. */
function paths(method: 'GET' | 'POST'): string[] {
  // The pages are only listed, so they need no dependencies.
  const { routes } = buildPages({} as SiteDeps);
  const found = routes.filter((route) => route.method === method).map(({ path }) => path.replace(/:\w+/g, '999999'));
  return [...new Set(found)];
}

const policyOf = ({ headers }: Page) =>
  new Map(
    (headers.get('content-security-policy') ?? '').split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ');
      return [name, sources.join(' ')];
    }),
  );

function expectProtection(what: string, page: Page): void {
  const policy = policyOf(page);
  expect({
    what,
    policy: ['default-src', 'style-src', 'connect-src', 'frame-ancestors', 'base-uri'].map((name) => policy.get(name)),
    script: policy.get('script-src'),
    frame: page.headers.get('x-frame-options'),
    sniff: page.headers.get('x-content-type-options'),
    referrer: page.headers.get('referrer-policy'),
  }).toEqual({
    what,
    policy: ["'none'", "'self'", "'self'", "'none'", "'none'"],
    script: hasOurScript(page) ? "'self'" : undefined,
    frame: 'DENY',
    sniff: 'nosniff',
    referrer: 'same-origin',
  });
  expect({ what, form: policy.get('form-action') }).toEqual({ what, form: expect.stringMatching(/^'self'/) });
  if (!what.includes('/assets/')) {
    expect({ what, kept: page.headers.get('cache-control') }).toEqual({ what, kept: 'no-store' });
  }
}

describe('pages', () => {
  const server = serverFor('sqlite', { PARLEY_SIGN_UP: 'open', PARLEY_SIGN_IN_LIMIT: 'off' });
  const administrator = () => new BrowserLike(server().url);
  let root: string;
  beforeAll(async () => {
    root = (await person(server(), { name: 'root', admin: true })).name;
  });

  test('forbid frames, scripts and caching, errors included', async () => {
    const signedOut = new BrowserLike(server().url);
    const browser = administrator();
    await browser.signIn(root, goodPassword);
    expect(paths('GET').length).toBeGreaterThan(10);
    for (const path of [...paths('GET'), '/nothing/at/all', '/%ff', '/setup/%00']) {
      for (const who of [signedOut, browser]) {
        const page = await who.get(path);
        expectProtection(`${path} ${page.status}`, page);
        expect({ path, script: /<script|\son\w+=|style=/i.test(withoutOurScript(page.html)) }).toEqual({
          path,
          script: false,
        });
        if (page.html.includes('<html')) {
          expect({ path, headings: page.html.match(/<h1/g)?.length }).toEqual({ path, headings: 1 });
          expect({ path, main: page.html.match(/<main/g)?.length }).toEqual({ path, main: 1 });
        }
      }
    }
    expectProtection('foreign form', await browser.post('/sign-in', {}, {}));
    expectProtection('wrong password', await browser.signIn(root, 'wrong wrong wrong'));
    expectProtection('large form', await browser.post('/sign-in', { name: 'x'.repeat(70_000) }));
  });

  test('all reject forms from other sites, and forms without an origin', async () => {
    const browser = administrator();
    await browser.signIn(root, goodPassword);
    const cookies = new Map(browser.cookies);
    const own = server().url;
    const foreign: Record<string, Record<string, string>> = {
      'nothing said': {},
      'another origin': { origin: 'https://evil.example' },
      'no origin': { origin: 'null' },
      'one that begins like ours': { origin: `${own}.evil.example` },
      'the same host, another port': { origin: own.replace(/:\d+$/, ':1') },
      'cross-site': { 'sec-fetch-site': 'cross-site' },
      'cross-site, and a made-up origin': { 'sec-fetch-site': 'cross-site', origin: own },
      'same-site': { 'sec-fetch-site': 'same-site', origin: own },
      none: { 'sec-fetch-site': 'none' },
      'only a referrer': { referer: `${own}/sign-in` },
    };
    const routes = paths('POST');
    expect(routes).toEqual(expect.arrayContaining(['/sign-in', '/sign-out', '/password', '/oauth/authorize']));
    for (const path of routes) {
      for (const [what, headers] of Object.entries(foreign)) {
        const { status, words } = await browser.post(path, { name: 'mallory', decision: 'allow' }, headers);
        const told = words.includes('This form came from another site');
        expect({ path, what, status, told }).toEqual({ path, what, status: 403, told: true });
      }
      // And with the same fields it is the header alone that makes the difference.
      if (path !== '/sign-out') {
        const { words } = await browser.post(path, {}, fromOurPage);
        expect({ path, told: words.includes('was not sent from a page of ours') }).toEqual({ path, told: false });
      }
    }
    expect(browser.cookies).toEqual(cookies);
    expect(await browser.signedInAs()).toBe(root);
  });

  test('accept forms from browsers that send only Origin', async () => {
    const browser = administrator();
    const { status } = await browser.post('/sign-in', { name: root, password: goodPassword }, { origin: server().url });
    expect(status).toBe(303);
  });

  test('reject forms that are too large, not UTF-8, or not forms', async () => {
    const browser = new BrowserLike(server().url);
    const form = 'application/x-www-form-urlencoded';
    const large = await browser.post('/sign-in', { name: root, password: 'x'.repeat(70_000) });
    expect(large.status).toBe(413);
    expect(large.words).toContain('at most 65536 bytes');
    expect(large.html).not.toContain('xxx');
    const fields = new URLSearchParams({ name: root, password: goodPassword }).toString();
    const cases: [string, BodyInit, string, number][] = [
      ['bytes', Buffer.concat([Buffer.from(`${fields}&x=`), Buffer.from([0xff, 0xfe])]), form, 400],
      ['escapes', `${fields}&x=%ff%fe`, form, 400],
      ['half an escape', `${fields}&x=%e2%82`, form, 400],
      ['JSON', JSON.stringify({ name: root, password: goodPassword }), 'application/json', 415],
      ['text', fields, 'text/plain', 415],
      ['nested JSON', `${'['.repeat(30_000)}${']'.repeat(30_000)}`, 'application/json', 422],
      ['broken multipart', 'nonsense', 'multipart/form-data; boundary=x', 400],
    ];
    for (const [what, body, type, expected] of cases) {
      const { status, html } = await browser.postRaw('/sign-in', body, { 'content-type': type });
      expect({ what, status, page: html.includes('<h1>') }).toEqual({ what, status: expected, page: true });
    }
    expect(browser.session).toBeUndefined();
    const beside = async (count: number) => {
      const unknown = Array.from({ length: count }, (_, i) => `f${i}=1`).join('&');
      return (await browser.postRaw('/sign-in', `${unknown}&${fields}`, { 'content-type': form })).status;
    };
    expect([await beside(5_000), await beside(150)]).toEqual([422, 303]);
  });

  test('close a connection with an unread form', async () => {
    const head = (path: string, headers: string) =>
      `POST ${path} HTTP/1.1\r\nHost: ${new URL(server().url).host}\r\n${headers}\r\n`;
    const form = 'Content-Type: application/x-www-form-urlencoded\r\n';
    const ours = 'Sec-Fetch-Site: same-origin\r\n';
    const cases: [string, string, string][] = [
      ['foreign', head('/sign-in', `${form}Content-Length: 60000\r\n`), 'HTTP/1.1 403'],
      ['too large', head('/sign-in', `${form}${ours}Content-Length: 90000\r\n`), 'HTTP/1.1 413'],
    ];
    for (const [what, sent, status] of cases) {
      // Only a server that ends the connection lets this come to an end.
      const answer = await overSocket(server().url, [sent]);
      expect({ what, status: answer.slice(0, 12) }).toEqual({ what, status });
    }
  });

  test('reject a NUL in a name', async () => {
    const browser = new BrowserLike(server().url);
    expect((await browser.signIn('root\0', goodPassword)).status).toBe(422);
    const { status, words } = await browser.post('/sign-up', {
      name: 'nul',
      display_name: 'a\0b',
      password: goodPassword,
      again: goodPassword,
    });
    expect(status).toBe(422);
    expect(words).toContain('This must not contain U+0000.');
  });

  test('show input as text everywhere', async () => {
    const markup = '<img src=x onerror=alert(1)>"\'&amp;</title>';
    const browser = new BrowserLike(server().url);
    const typed = { name: `${markup}"`, display_name: markup, password: 'x', again: 'x' };
    const refused = await browser.post('/sign-up', typed);
    expect(refused.html).not.toContain('<img src=x');
    expect(refused.html).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;amp;&lt;/title&gt;');
    const good = { name: 'marked', display_name: markup, password: goodPassword, again: goodPassword };
    expect((await browser.post('/sign-up', good)).status).toBe(303);
    const client = await browser.get('/');
    expect(client.html).not.toContain('<img src=x');
    const home = await browser.get('/settings');
    expect(home.html).not.toContain('<img src=x');
    expect(home.words).toContain(`Hello, ${markup}`);
    const lost = await browser.get('/%3Cscript%3Ealert(1)%3C/script%3E?x=<script>alert(1)</script>');
    expect(lost.html).not.toContain('<script');
    const next = await new BrowserLike(server().url).get('/sign-in?next=/%22%3E%3Cscript%3Ealert(1)%3C/script%3E');
    expect(withoutOurScript(next.html)).not.toContain('<script');
  });

  test('respond to programs at unknown paths with JSON', async () => {
    const response = await fetch(`${server().url}/nothing`, { headers: { accept: 'application/json' } });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'not_found' } });
  });

  test('over plain http set no secure cookie, and no HSTS', async () => {
    const page = await new BrowserLike(server().url).signIn(root, goodPassword);
    const cookies = page.headers.getSetCookie();
    expect(cookies.map((cookie) => cookie.split('=', 1)[0])).toEqual(['parley_session', 'parley_device']);
    for (const cookie of cookies) expect(cookie).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);
    expect(page.headers.get('strict-transport-security')).toBeNull();
  });
});

describe('pages behind https', () => {
  const server = serverFor('sqlite', { PUBLIC_URL: 'https://chat.example.com', PARLEY_SIGN_IN_LIMIT: 'off' });
  beforeAll(async () => {
    await person(server(), { name: 'root', admin: true });
  });
  const cookieName = '__Host-parley_session';

  test('keep the session in a cookie that only this host sets and reads, over https, out of reach of scripts', async () => {
    const browser = new BrowserLike(server().url);
    const page = await browser.signIn('root', goodPassword);
    const cookies = page.headers.getSetCookie();
    expect(cookies.map((cookie) => cookie.split('=', 1)[0])).toEqual([cookieName, '__Host-parley_device']);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/);
      expect(cookie).not.toMatch(/domain/i);
    }
    expect(await browser.signedInAs()).toBe('root');
    // Plain http, or another host of the domain, could have set this cookie, so it is ignored.
    const plain = new BrowserLike(server().url);
    plain.cookies.set('parley_session', browser.cookies.get(cookieName) ?? '');
    expect(await plain.signedInAs()).toBeUndefined();
    const out = await browser.post('/sign-out');
    expect(out.headers.getSetCookie()).toEqual([`${cookieName}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure`]);
  });

  test('send HSTS, errors included', async () => {
    const browser = new BrowserLike(server().url);
    for (const path of ['/sign-in', '/nothing', '/password', '/setup/gone']) {
      const { headers } = await browser.get(path);
      expect({ path, sent: headers.get('strict-transport-security') }).toEqual({ path, sent: 'max-age=31536000' });
    }
    const refused = await browser.post('/sign-in', {}, {});
    expect(refused.headers.get('strict-transport-security')).toBe('max-age=31536000');
  });

  test('use the public URL, and not the Host header', async () => {
    const sent = { name: 'root', password: goodPassword };
    const browser = new BrowserLike(server().url);
    expect((await browser.post('/sign-in', sent, { origin: 'https://chat.example.com' })).status).toBe(303);
    const stranger = new BrowserLike(server().url);
    const refused = await stranger.post('/sign-in', sent, { origin: server().url });
    expect(refused.status).toBe(403);
    // Somebody opened it at another address: they are told the right one, and only they.
    expect(refused.words).toContain('Parley runs at https://chat.example.com. Open it there.');
    expect(refused.html).toContain('<a href="https://chat.example.com/" class="button">');
    const foreign = await stranger.post('/sign-in', sent, { origin: 'https://evil.example' });
    expect(foreign.words).toContain('This form came from another site');
  });
});

/** Checks wait until `open` is called; the hashes are real. */
function gatedPasswords() {
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  const passwords = new Passwords(
    { memoryKib: 8, passes: 1 },
    {
      hash: (password, cost) => Bun.password.hash(password, cost),
      verify: async (password, hash) => {
        begun++;
        await gate.promise;
        return Bun.password.verify(password, hash);
      },
    },
  );
  return { passwords, open: gate.resolve, begun: () => begun };
}

test('sign-ins beyond the queue for password checks are rejected, and succeed soon after', async () => {
  const { passwords, open } = gatedPasswords();
  const checks = Array.from({ length: 110 }, (_, i) => passwords.matches(goodPassword, null, `account ${i}`));
  const settled = Promise.allSettled(checks);
  // Two are being checked, and a hundred wait.
  await expect(checks[102]).rejects.toMatchObject({ code: 'unavailable' });
  open();
  expect((await settled).filter((result) => result.status === 'rejected')).toHaveLength(8);
  expect(await passwords.matches(goodPassword, null, 'another')).toBe(false);
});

test('one account cannot fill the queue for password checks', async () => {
  const { passwords, open } = gatedPasswords();
  const checks = Array.from({ length: 150 }, () => passwords.matches(goodPassword, null, 'mallory'));
  const settled = Promise.allSettled(checks);
  // One is being checked, and twenty wait.
  await expect(checks[21]).rejects.toMatchObject({ code: 'unavailable' });
  const ofAnother = passwords.matches(goodPassword, null, 'ada');
  open();
  expect(await ofAnother).toBe(false);
  expect((await settled).filter((result) => result.status === 'rejected')).toHaveLength(129);
  expect(await passwords.matches(goodPassword, null, 'mallory')).toBe(false);
});

describe('the rate limit of pages', () => {
  const server = serverFor(
    'sqlite',
    { PARLEY_RATE_LIMIT: '1/5', TRUST_PROXY: '1' },
    { now: () => Date.UTC(2026, 0, 1) },
  );
  const at = (address: string) => new BrowserLike(server().url, { 'x-forwarded-for': address });

  test('counts by IP, and by session for signed-in users', async () => {
    const { name } = await person(server());
    const somebody = at('198.51.100.7');
    await somebody.signIn(name, goodPassword);
    const flood = at('198.51.100.7');
    flood.cookies.set('parley_session', 'ses_made_up');
    const statuses = new Set<number>();
    let last = await flood.get('/sign-in');
    for (let i = 0; i < 12; i++) {
      last = await flood.get('/sign-in');
      statuses.add(last.status);
    }
    expect([...statuses].sort()).toEqual([200, 429]);
    expect(last.status).toBe(429);
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(last.headers.get('ratelimit-remaining')).toBe('0');
    expectProtection('a page that waits', last);
    expect((await somebody.get('/password')).status).toBe(200);
    expect((await at('198.51.100.8').get('/sign-in')).status).toBe(200);
  });
});

test('the log has the route of a page and not its URL, which may contain a secret', async () => {
  const lines: string[] = [];
  const env = { ...(await freshEnvironment('sqlite')), LOG_LEVEL: 'debug' };
  const server = await startServer(env, { print: (text) => lines.push(text) });
  const browser = new BrowserLike(server.url);
  for (const path of ['/setup/s3cret', '/invitation/s3cret', '/password-link/s3cret']) {
    await browser.get(`${path}?more=s3cret`);
    await browser.post(path, { password: 's3cret', again: 's3cret' });
  }
  await browser.signIn('s3cret', 's3cret');
  await server.stop();
  expect(lines.join('')).toContain('/setup/:secret');
  expect(lines.join('')).not.toContain('s3cret');
});

describe('an unknown name', () => {
  const server = serverFor('sqlite');

  test('takes as long to reject as a wrong password', async () => {
    const { name } = await person(server());
    for (const [who, outcome] of [
      [name, 'signed in'],
      ['nobody-at-all', 'refused'],
      ['no name', 'refused'],
    ] as const) {
      const { passwords, open, begun } = gatedPasswords();
      const services = { ...accessOf(server()), passwords, signInLimit: undefined, deviceKey: new Uint8Array(32) };
      const attempt = {
        name: who,
        password: goodPassword,
        device: undefined,
        address: '127.0.0.1',
        networks: ['test'],
        userAgent: null,
      };
      const signedIn = signIn(services, attempt);
      await eventually('the check has begun', async () => begun() === 1 || undefined);
      open();
      expect((await signedIn).outcome).toBe(outcome);
    }
  });
});
