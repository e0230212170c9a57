import { describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { scopeNames } from '@parley/contract';
import { addUser } from '@parley/server/auth/administer.ts';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { accessOf, works } from '@parley/server/test/support/oauth.ts';
import { freePort } from '@parley/server/test/support/postgres.ts';
import { serverFor, type TestServer } from '@parley/server/test/support/server.ts';
import { eventually } from '../../sdk/test/eventually.ts';
import { TestClock } from '../../sdk/test/test-clock.ts';
import { CredentialsFile } from '../login/credentials.ts';
import { discover } from '../login/oauth.ts';
import { signIn } from '../login/sign-in.ts';
import { DeviceLogin, freshHome, kept, keptFile, Login, signedIn, signInAs } from './login.ts';
import { failed, parley, said } from './parley.ts';
import { RunningCommand } from './running-command.ts';
import { ownServer } from './scene.ts';

const server = serverFor('sqlite');

/** A minimal browser: it keeps cookies, submits forms, and sends the origin. */
class Browser {
  readonly #cookies = new Map<string, string>();

  async get(url: URL | string): Promise<Response> {
    return this.#send(String(url), {});
  }

  async post(url: URL | string, form: Record<string, string>): Promise<Response> {
    return this.#send(String(url), { method: 'POST', body: new URLSearchParams(form) });
  }

  async #send(url: string, init: RequestInit): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      ...init,
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
      redirect: 'manual',
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    return response;
  }
}

/** Every grant of a user to the command line: whether it lives, and how many of its tokens were made. */
function grantsOf({ engine }: TestServer, userId: number) {
  return engine.all<{ revoked_at: number | null; codes: number; tokens: number }>(
    `SELECT g.revoked_at,
       (SELECT count(*) FROM authorization_codes c WHERE c.grant_id = g.grant_id AND c.used_at IS NOT NULL) AS codes,
       (SELECT count(*) FROM tokens t WHERE t.grant_id = g.grant_id) AS tokens
     FROM grants g WHERE g.user_id = $1 ORDER BY g.grant_id`,
    [userId],
  );
}

describe('login', () => {
  test('passes the pages for sign-in and consent, and prints the user', async () => {
    const password = 'a rather long sentence';
    const { user_id } = await addUser(accessOf(server()), { name: 'hedy', isAdmin: false, password });
    const env = freshHome(server());
    await using login = await Login.start(env);
    const browser = new Browser();

    const toSignIn = await browser.get(login.address);
    const signInPage = new URL(toSignIn.headers.get('location') ?? '', login.address);
    expect(signInPage.pathname).toBe('/sign-in');
    const next = signInPage.searchParams.get('next') ?? '';
    const backToConsent = await browser.post(new URL('/sign-in', login.address), { next, name: 'hedy', password });
    const consent = new URL(backToConsent.headers.get('location') ?? '', login.address);
    expect(await (await browser.get(consent)).text()).toContain('Parley command line');
    const allowed = await browser.post(consent, { user: String(user_id), decision: 'allow' });
    const page = await browser.get(allowed.headers.get('location') ?? '');

    expect(page.status).toBe(200);
    expect(await page.text()).toContain('You are signed in. You can close this window.');
    const { code, stdout } = await login.end();
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Signed in as hedy (id ${user_id}) at ${server().url}.\n` });
    expect(JSON.parse(await said(['whoami', '--json'], env))).toMatchObject({ user_id, name: 'hedy', by: 'login' });
  });

  test('asks for all scopes but admin, with a challenge and a state that nobody can guess', async () => {
    await using login = await Login.start(freshHome(server()));
    await using other = await Login.start(freshHome(server()));
    expect(Object.fromEntries(login.address.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'parley-cli',
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
      scope: scopeNames.filter((name) => name !== 'admin').join(' '),
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    expect(other.state).not.toBe(login.state);
    expect(other.address.searchParams.get('code_challenge')).not.toBe(login.address.searchParams.get('code_challenge'));
  });

  test('gets no more than the scopes that were asked for', async () => {
    const env = freshHome(server());
    await signInAs(server(), await server().user('sparse'), env, ['--scopes', 'messages:read, files']);
    expect(JSON.parse(await said(['whoami', '--json'], env)).scopes).toEqual(['messages:read', 'files']);
    expect(await parley(['chats'], env)).toEqual(failed(1, 'This access token lacks the scope chats:read.'));
  });

  test('saves the login where only its owner can read it', async () => {
    const env = freshHome(server());
    await signInAs(server(), await server().user('mary'), env);
    const file = keptFile(env) ?? '';
    const modes = [file, dirname(file)].map((path) => (statSync(path).mode & 0o777).toString(8));
    expect(modes).toEqual(['600', '700']);
    // The folder contains no draft and no other file with a secret.
    expect(readdirSync(dirname(file)).filter((name) => !name.endsWith('.lock'))).toEqual([
      file.split('/').at(-1) ?? '',
    ]);
  });

  test('closes a folder that stood open', async () => {
    const user = await server().user('ruth');
    const env = freshHome(server());
    const folder = join(env.XDG_CONFIG_HOME ?? '', 'parley');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    await signInAs(server(), user, env);
    expect((statSync(folder).mode & 0o777).toString(8)).toBe('700');
  });

  test('reports a denial, here and in the browser, and saves nothing', async () => {
    const user = await server().user('denise');
    const env = freshHome(server());
    await using login = await Login.start(env);
    const page = await fetch(await login.decided(server(), user, false));
    expect(page.status).toBe(400);
    expect(await page.text()).toContain('You are not signed in. Access was denied.');
    const { code, stdout, stderr } = await login.end();
    expect({ code, stdout, last: stderr.split('\n').at(-2) }).toEqual({
      code: 1,
      stdout: '',
      last: expect.stringMatching(/^Access was denied\./),
    });
    expect(keptFile(env)).toBeUndefined();
  });

  test('waits on through whatever else comes to its address', async () => {
    const user = await server().user('wanda');
    await using login = await Login.start(freshHome(server()));
    const { redirect, state } = login;
    const right = await login.decided(server(), user);
    const answers = [
      await fetch(new URL('/', redirect)),
      await fetch(new URL('/favicon.ico', redirect)),
      await fetch(right, { method: 'POST' }),
      await fetch(redirect),
      await fetch(`${redirect}?code=x&state=guessed`),
      await fetch(`${redirect}?error=access_denied&state=guessed`),
      await fetch(`${redirect}?code=x&state=guessed&state=${state}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 400, 400, 400, 400]);
    expect((await fetch(right)).status).toBe(200);
    expect((await login.end()).code).toBe(0);
  });

  test('shows pages that run no code, load nothing and are not cached', async () => {
    await using login = await Login.start(freshHome(server()));
    const script = '<script>alert(1)</script>';
    const params = new URLSearchParams({
      state: login.state,
      iss: server().url,
      error: 'x',
      error_description: script,
    });
    const page = await fetch(`${login.redirect}?${params}`);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    const html = await page.text();
    expect(html).not.toContain('<script');
    expect(html).toContain('&lt;script&gt;');
  });

  test.each([
    ['another server', 'https://attacker.example'],
    ['nobody', undefined],
  ])('does not hand in a code that comes from %s', async (_, iss) => {
    const name = iss === undefined ? 'ivy' : 'iris';
    const user = await server().user(name);
    const env = freshHome(server());
    await using login = await Login.start(env);
    const location = await login.decided(server(), user);
    location.searchParams.delete('iss');
    if (iss !== undefined) location.searchParams.set('iss', iss);
    expect((await fetch(location)).status).toBe(400);
    const { code, stderr } = await login.end();
    expect(code).toBe(1);
    expect(stderr).toContain(`The sign-in response is not from ${server().url}.`);
    expect(await grantsOf(server(), user.userId)).toEqual([{ revoked_at: null, codes: 0, tokens: 0 }]);
  });

  test('reports that the server refused the code', async () => {
    const user = await server().user('cody');
    const env = freshHome(server());
    await using login = await Login.start(env);
    const location = await login.decided(server(), user);
    location.searchParams.set('code', 'oac_wrong');
    const page = await fetch(location);
    expect(await page.text()).toContain('You are not signed in. The server refused: invalid_grant');
    expect((await login.end()).code).toBe(1);
    expect(keptFile(env)).toBeUndefined();
  });

  test('ends on SIGINT', async () => {
    await using login = await Login.start(freshHome(server()));
    expect(await login.stop('SIGINT')).toBe('SIGINT');
    await expect(fetch(login.redirect)).rejects.toThrow();
  });

  test('times out after five minutes', async () => {
    const clock = new TestClock();
    const target = { server: server().url, clock };
    const call = signIn({
      ...target,
      metadata: await discover(target),
      scopes: ['files'],
      signal: new AbortController().signal,
      show: async () => {},
      finish: async () => {},
    });
    await eventually('it waits', () => clock.timeouts.includes(5 * 60_000));
    clock.expire();
    await expect(call).rejects.toThrow('Nobody signed in within the time limit. Start again: npx parley login');
  });

  test('once more replaces the saved login and revokes it', async () => {
    const { env, user } = await signedIn(server());
    const before = kept(env);
    await signInAs(server(), user, env);
    expect(kept(env).refresh_token).not.toBe(before.refresh_token);
    expect(await grantsOf(server(), user.userId)).toMatchObject([
      { revoked_at: expect.any(Number), tokens: 1 },
      { revoked_at: null, tokens: 1 },
    ]);
    expect(await works(server(), before.access_token)).toBe(false);
    expect(JSON.parse(await said(['whoami', '--json'], env)).user_id).toBe(user.userId);
  });

  test('revokes the grant if it cannot be saved', async () => {
    const user = await server().user('full');
    const file = join(temporaryFolder(), 'no folder');
    writeFileSync(file, '');
    await using login = await Login.start({ ...freshHome(server()), XDG_CONFIG_HOME: file });
    expect(await (await fetch(await login.decided(server(), user))).text()).toContain('You are not signed in.');
    expect((await login.end()).code).toBe(1);
    expect(await grantsOf(server(), user.userId)).toMatchObject([{ revoked_at: expect.any(Number), tokens: 1 }]);
  });

  test('warns that a token in the environment takes precedence', async () => {
    const user = await server().user('prior');
    await using login = await Login.start({ ...freshHome(server()), PARLEY_TOKEN: 'pat_other' });
    await fetch(await login.decided(server(), user));
    expect((await login.end()).stderr).toContain('unset PARLEY_TOKEN');
  });

  test('refuses a scope that there is not, before anything else', async () => {
    expect(await parley(['login', '--scopes', 'messages:raed'])).toEqual(
      failed(2, 'There is no scope "messages:raed". Did you mean messages:read?'),
    );
  });
});

describe('login with a code', () => {
  /** Enters the code in a browser somewhere else, and decides. */
  async function decide(login: DeviceLogin, name: string, decision: 'allow' | 'deny'): Promise<number> {
    const password = 'a rather long sentence';
    const { user_id } = await addUser(accessOf(server()), { name, isAdmin: false, password });
    const browser = new Browser();
    await browser.post(new URL('/sign-in', login.address), { name, password });
    const consent = await browser.post(login.address, { user_code: login.code });
    expect(await consent.text()).toContain('Parley command line');
    await browser.post(login.address, { user_code: login.code, user: String(user_id), decision });
    return user_id;
  }

  test('passes the page for devices and consent, and prints and saves the user', async () => {
    const env = freshHome(server());
    await using login = await DeviceLogin.start(env, ['--device', '--profile', 'away', '--url', server().url]);
    expect(login.code).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
    const user_id = await decide(login, 'radia', 'allow');
    login.clock.release();
    const { code, stdout } = await login.end();
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Signed in as radia (id ${user_id}) at ${server().url}.\n` });
    expect(JSON.parse(await said(['whoami', '--json', '--profile', 'away'], env))).toMatchObject({
      user_id,
      by: 'login',
    });
    expect(login.clock.pauses).toEqual([5_000]);
  });

  test('reports a denial, and saves nothing', async () => {
    const env = freshHome(server());
    await using login = await DeviceLogin.start(env);
    await decide(login, 'dolores', 'deny');
    login.clock.release();
    const { code, stdout, stderr } = await login.end();
    expect({ code, stdout, last: stderr.split('\n').at(-2) }).toEqual({
      code: 1,
      stdout: '',
      last: 'Access was denied.',
    });
    expect(keptFile(env)).toBeUndefined();
  });

  test('says why the server refuses, and how long to wait', async () => {
    await using own = await ownServer({ PARLEY_RATE_LIMIT: 'off' });
    const fields = new URLSearchParams({ client_id: 'parley-cli', scope: 'files' });
    const request = () => fetch(`${own.server.url}/oauth/device_authorization`, { method: 'POST', body: fields });
    while ((await request()).status === 200);
    expect(await parley(['login', '--device'], freshHome(own.server))).toEqual(
      failed(1, /responded with HTTP 429: Too many codes were requested from your network\. Try again in \d+ s\./),
    );
  });

  test('ends with its code', async () => {
    await using login = await DeviceLogin.start(freshHome(server()));
    login.clock.expire(600_000);
    expect(await login.end()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The code has expired. Start again: npx parley login --device'),
    });
  });

  test('ends with Ctrl-C', async () => {
    await using login = await DeviceLogin.start(freshHome(server()));
    expect(await login.stop('SIGINT')).toBe('SIGINT');
  });

  test('shows a QR code on a terminal', async () => {
    await using login = await DeviceLogin.start(freshHome(server()), ['--device'], { isTerminal: true });
    await eventually('the QR code', () => login.stderr.includes('▀'));
    await using plain = await DeviceLogin.start(freshHome(server()));
    expect(plain.stderr).not.toContain('▀');
  });

  test('cannot be asked for together with a URL for this machine', async () => {
    expect(await parley(['login', '--device', '--no-browser'])).toEqual(
      failed(2, 'Give --device or --no-browser, not both.'),
    );
  });

  /** A server that responds to each poll with the next of these. */
  function scripted(polls: (() => Response)[], other: object = {}) {
    return disposable(
      Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: ({ url }) => {
          const { origin, pathname } = new URL(url);
          const at = (path: string) => `${origin}${path}`;
          if (pathname === '/oauth/token') return (polls.shift() ?? (() => new Response(null, { status: 404 })))();
          if (pathname === '/device_codes') {
            const uri = { verification_uri: at('/device'), expires_in: 600 };
            return Response.json({ device_code: 'odc_1', user_code: 'BCDF-GHJK', ...uri, ...other });
          }
          return Response.json({
            issuer: origin,
            authorization_endpoint: at('/oauth/authorize'),
            token_endpoint: at('/oauth/token'),
            revocation_endpoint: at('/oauth/revoke'),
            device_authorization_endpoint: at('/device_codes'),
          });
        },
      }),
    );
  }
  const refusal = (error: string) => () => Response.json({ error }, { status: 400 });

  test('polls more slowly if it is told so or the server is away', async () => {
    const away = () => new Response('', { status: 503 });
    const polls = ['authorization_pending', 'slow_down', 'authorization_pending'].map(refusal);
    await using other = scripted([...polls, away, refusal('expired_token')], { interval: 7 });
    const clock = new TestClock();
    await using login = new RunningCommand(['login', '--device'], {
      env: freshHome({ url: `http://127.0.0.1:${other.port}` }),
      clock,
    });
    expect((await login.end()).stderr).toContain('The code has expired.');
    expect(clock.pauses).toEqual([7_000, 7_000, 12_000, 12_000, 17_000]);
  });

  test('sends people to no other server', async () => {
    await using other = scripted([], { verification_uri: 'https://attacker.example/device' });
    const url = `http://127.0.0.1:${other.port}`;
    expect(await parley(['login', '--device'], freshHome({ url }))).toEqual(failed(1, 'on the same origin.'));
  });
});

describe('the browser', () => {
  /** A folder with a program in place of the one that opens browsers, which writes down what it is to open. */
  function opener(): { PATH: string; opened: string } {
    const folder = temporaryFolder();
    const opened = join(folder, 'opened');
    writeFileSync(
      join(folder, 'xdg-open'),
      `#!/bin/sh\nprintf %s "$1" > ${opened}.part; mv ${opened}.part ${opened}\n`,
    );
    chmodSync(join(folder, 'xdg-open'), 0o755);
    return { PATH: `${folder}:${process.env.PATH}`, opened };
  }

  const read = (file: string) => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return undefined;
    }
  };

  test.if(process.platform === 'linux')('is opened where there is one', async () => {
    const { PATH, opened } = opener();
    await using login = await Login.start({ ...freshHome(server()), PATH, DISPLAY: ':9' }, []);
    expect(await eventually('a browser', () => read(opened))).toBe(login.address.href);
  });

  test.if(process.platform === 'linux')('is not opened against the will of whoever signs in', async () => {
    const { PATH, opened } = opener();
    const user = await server().user('nora');
    await using login = await Login.start({ ...freshHome(server()), PATH, DISPLAY: ':9' }, ['--no-browser']);
    await fetch(await login.decided(server(), user));
    expect((await login.end()).code).toBe(0);
    expect(read(opened)).toBeUndefined();
  });

  test.if(process.platform === 'linux').each([
    ['without the program that opens it', { PATH: '/nowhere', DISPLAY: ':9' }],
    ['without a screen', { DISPLAY: '', WAYLAND_DISPLAY: '' }],
  ])('may be on another machine: %s, a code is shown', async (_, env) => {
    await using login = await DeviceLogin.start({ ...freshHome(server()), ...env }, []);
    expect(login.address.href).toBe(`${server().url}/device`);
  });
});

describe('a server to sign in to', () => {
  test('that has another URL is reported with it', async () => {
    await using own = await ownServer({ PUBLIC_URL: 'https://chat.example.org' });
    expect(await parley(['login', '--no-browser'], freshHome(own.server))).toEqual(
      failed(1, `The server at ${own.server.url} uses another URL. Use it: --url https://chat.example.org`),
    );
  });

  test('that is not running is reported', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await parley(['login', '--no-browser'], freshHome({ url }))).toEqual(
      failed(1, `Cannot reach Parley at ${url}`),
    );
  });

  test.each([
    ['another program', () => new Response('<h1>Hello</h1>')],
    ['another program with nothing there', () => new Response('no', { status: 404 })],
    ['an empty answer', () => Response.json({})],
  ])('that is %s is reported', async (_, fetch) => {
    await using other = disposable(Bun.serve({ hostname: '127.0.0.1', port: 0, fetch }));
    const url = `http://127.0.0.1:${other.port}`;
    expect(await parley(['login', '--no-browser'], freshHome({ url }))).toEqual(
      failed(1, `You cannot sign in to ${url}: `),
    );
  });

  test('receives no secret on another origin', async () => {
    const own = {
      authorization_endpoint: '/oauth/authorize',
      token_endpoint: '/oauth/token',
      revocation_endpoint: '/oauth/revoke',
    };
    const answers = Object.keys(own).map((name) => ({ ...own, [name]: 'https://attacker.example/' }));
    for (const answer of answers) {
      await using other = disposable(
        Bun.serve({
          hostname: '127.0.0.1',
          port: 0,
          fetch: ({ url }) => {
            const issuer = new URL(url).origin;
            const entries = Object.entries(answer).map(([name, path]) => [name, new URL(path, issuer).href]);
            return Response.json({ issuer, ...Object.fromEntries(entries) });
          },
        }),
      );
      const url = `http://127.0.0.1:${other.port}`;
      expect(await parley(['login', '--no-browser'], freshHome({ url }))).toEqual(failed(1, 'on the same origin.'));
    }
  });

  test('is known in every spelling of its address', async () => {
    const { env, name } = await signedIn(server());
    const spelled = `${server().url.replace('http', 'HTTP')}/api/`;
    expect(await said(['whoami', '--url', spelled], env)).toStartWith(`${name} (id `);
  });
});

describe('whoami', () => {
  test('tells who, where and by what', async () => {
    const { env, name, user } = await signedIn(server());
    const start = `${name} (id ${user.userId}) at ${server().url}, by `;
    expect(await said(['whoami'], env)).toBe(
      `${start}npx parley login.\nScopes: messages:read, messages:write, chats:read, chats:write, webhooks, files, apps.`,
    );
    expect(await said(['whoami'], { ...env, PARLEY_TOKEN: user.token })).toBe(
      `${start}the access token in PARLEY_TOKEN.`,
    );
    expect(JSON.parse(await said(['whoami', '--json', '--token', user.token], env))).toEqual({
      user_id: user.userId,
      name,
      server: server().url,
      by: 'token',
      scopes: null,
    });
  });

  test('uses --token, then PARLEY_TOKEN, then the saved login', async () => {
    const { env } = await signedIn(server());
    const [first, second] = [await server().user('first'), await server().user('second')];
    const ask = async (words: string[], other: Record<string, string>) =>
      JSON.parse(await said(['whoami', '--json', ...words], { ...env, ...other })).name;
    expect(await ask(['--token', first.token], { PARLEY_TOKEN: second.token })).toBe('first');
    expect(await ask([], { PARLEY_TOKEN: second.token })).toBe('second');
    expect(await ask([], { PARLEY_TOKEN: ' ' })).toStartWith('grace');
    expect(await parley(['whoami', '--token', ''], env)).toEqual(failed(1, 'The access token must be'));
  });

  test('explains both ways to sign in if there is no access', async () => {
    const env = freshHome(server());
    const refused = await parley(['whoami'], env);
    expect(refused).toEqual(failed(1, `You are not signed in at ${server().url}. Sign in (npx parley login), or`));
    expect(refused.stderr).toContain('npx parley token create <user name>');
    const elsewhere = await parley(['whoami', '--url', 'http://127.0.0.1:9'], env);
    expect(elsewhere).toEqual(failed(1, '(npx parley login --url http://127.0.0.1:9)'));
  });
});

describe('logout', () => {
  test('removes the login here and revokes it at the server, and nothing else', async () => {
    const { env, name, user } = await signedIn(server());
    const elsewhere = freshHome(server());
    await signInAs(server(), user, elsewhere);
    const { access_token } = kept(env);
    expect(await said(['logout'], env)).toBe(`Signed out ${name} at ${server().url}.`);
    expect(keptFile(env)).toBeUndefined();
    expect(await works(server(), access_token)).toBe(false);
    expect(await said(['whoami'], elsewhere)).toStartWith(name);
    expect(await works(server(), user.token)).toBe(true);
  });

  test('also works while the server is down, and says that it was not revoked', async () => {
    const own = await ownServer();
    const { env, name } = await signedIn(own.server);
    await own.server.stop();
    const { code, stdout, stderr } = await parley(['logout'], env);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Signed out ${name} at ${own.server.url}.\n` });
    expect(stderr).toMatch(
      /^The server did not revoke the access of the command line: Cannot reach Parley at [^\n]+\n$/,
    );
    expect(keptFile(env)).toBeUndefined();
  });

  test('tells when nobody is signed in', async () => {
    expect(await parley(['logout'], freshHome(server()))).toEqual(
      failed(1, `You are not signed in at ${server().url}.`),
    );
  });

  test('removes a damaged login', async () => {
    const { env } = await signedIn(server());
    writeFileSync(keptFile(env) ?? '', '{');
    expect(await parley(['whoami'], env)).toEqual(failed(1, 'is damaged. Sign in again with: npx parley login'));
    expect((await parley(['logout'], env)).code).toBe(0);
    expect(keptFile(env)).toBeUndefined();
  });

  test('of one server leaves the others', async () => {
    await using own = await ownServer();
    const { env, user } = await signedIn(server());
    const other = await own.server.user('otto');
    await signInAs(own.server, other, { ...env, PARLEY_URL: own.server.url });
    await said(['logout', '--url', own.server.url], env);
    expect(JSON.parse(await said(['whoami', '--json'], env)).user_id).toBe(user.userId);
  });
});

describe('the login of a profile', () => {
  /** Somebody who is signed in with the profile `work`. */
  async function withProfile(at: TestServer, name: string) {
    const env = freshHome(at);
    await signInAs(at, await at.user(name), env, ['--profile', 'work', '--url', at.url]);
    const file = new CredentialsFile({ url: at.url, profile: 'work' }, env);
    return { env, file, access: file.load()?.access_token ?? '' };
  }

  test.each([
    ['is removed', 'pia', ['profile', 'remove', 'work']],
    ['gets another URL', 'pit', ['profile', 'add', 'work', 'http://127.0.0.1:9']],
  ])('ends when the profile %s', async (_, name, words) => {
    const { env, file, access } = await withProfile(server(), name);
    expect(await works(server(), access)).toBe(true);
    // The same URL changes nothing.
    await said(['profile', 'add', 'work', server().url], env);
    expect(file.load()?.access_token).toBe(access);
    expect(await said(words, env)).toStartWith(`Signed out ${name} at ${server().url}.\n`);
    expect([file.load(), await works(server(), access)]).toEqual([undefined, false]);
  });

  test('ends when the profile signs in at another URL', async () => {
    await using own = await ownServer();
    const { env, file, access } = await withProfile(server(), 'pam');
    await signInAs(own.server, await own.server.user('pam'), env, ['--profile', 'work', '--url', own.server.url]);
    expect([file.load(), await works(server(), access)]).toEqual([undefined, false]);
    expect(await said(['whoami', '--profile', 'work'], env)).toContain(own.server.url);
  });

  test('is removed while the server is down, which the command says', async () => {
    const own = await ownServer();
    const { env, file } = await withProfile(own.server, 'pol');
    await own.server.stop();
    const { code, stderr } = await parley(['profile', 'remove', 'work'], env);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('The server did not revoke the access of the command line: Cannot reach Parley'),
    });
    expect(file.load()).toBeUndefined();
    expect(await said(['profile', 'list', '--field', 'profiles'], env)).toBe('');
  });
});

function disposable(started: Bun.Server<undefined>) {
  return { port: started.port, [Symbol.asyncDispose]: () => started.stop(true) };
}
