import { beforeAll, describe, expect, test } from 'bun:test';
import { revokeGrants } from '../../store/access/grants.ts';
import { BrowserLike, goodPassword, person } from '../support/browser-like.ts';
import { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { askForTokens, authorizationRequest, newApp, newPkce, type TestApp, tokensIn } from '../support/oauth.ts';
import { serverFor, type TestServer } from '../support/server.ts';

const site = 'https://digest.example/callback';
const program = 'http://127.0.0.1/callback';
const phone = 'com.example.digest:/callback';

type Asked = Readonly<Record<string, string | undefined>>;

/** An app of somebody who is called bob. */
async function bobsApp(server: TestServer, name = 'Weekly digest'): Promise<TestApp> {
  const bob = await person(server, { name: `bob-${name.replace(/\W+/g, '').toLowerCase()}` });
  return newApp(server, new Client(server.url, '', bob.user_id), { name, redirects: [site, program, phone] });
}

onAnyEngine('the consent page', (engine) => {
  const server = serverFor(engine, { PARLEY_SIGN_IN_LIMIT: 'off' });
  let app: TestApp;
  beforeAll(async () => {
    app = await bobsApp(server());
  });
  const pkce = newPkce();
  const address = (asked: Asked = {}) => `/oauth/authorize?${authorizationRequest(app, pkce, asked)}`;
  async function signedIn(options: { admin?: boolean } = {}) {
    const user = await person(server(), options);
    const browser = new BrowserLike(server().url);
    await browser.signIn(user.name, goodPassword);
    return { user, browser };
  }
  const answer = (location: string | null) => new URL(location ?? 'https://none.example').searchParams;

  test('lets the user sign in first, and returns with the whole request', async () => {
    const { name } = await person(server());
    const browser = new BrowserLike(server().url);
    const { status, location } = await browser.get(address());
    expect(status).toBe(303);
    const next = new URL(location ?? '', server().url).searchParams.get('next') ?? '';
    expect(location).toStartWith('/sign-in?next=');
    expect(next).toBe(address());
    expect((await browser.signIn(name, goodPassword, { next })).location).toBe(address());
    expect((await browser.get(address())).status).toBe(200);
  });

  test('shows the app, its owner, the scopes, the user and the destination', async () => {
    const { user, browser } = await signedIn();
    const { words, html } = await browser.get(address({ scope: 'messages:read files' }));
    expect(words).toContain('Allow Weekly digest to use your account?');
    expect(words).toContain('bob-weeklydigest has registered this app.');
    expect(words).toContain(`Client ID ${app.clientId}`);
    expect(words).toContain('Read the messages and events of your chats');
    expect(words).toContain('Upload and download files');
    expect(words).not.toContain('Send, edit and delete messages');
    expect(words).toContain(`You are signed in as ${user.name}`);
    expect(words).toContain('You will go to digest.example .');
    // The page itself contains no code.
    expect(html).not.toContain('oac_');
    const local = await browser.get(address({ redirect_uri: 'http://127.0.0.1:4711/callback' }));
    expect(local.words).toContain('You will return to a program on this machine ( 127.0.0.1:4711 )');
    expect((await browser.get(address({ redirect_uri: phone }))).words).toContain('an app on this device');
  });

  test('says of the command line that it is part of Parley', async () => {
    const { browser } = await signedIn();
    const asked = { client_id: 'parley-cli', redirect_uri: 'http://127.0.0.1:4711/callback', scope: 'messages:read' };
    const { words } = await browser.get(address(asked));
    expect(words).toContain('This app is part of Parley.');
  });

  test('gives the app a working code if the user allows it', async () => {
    const { user, browser } = await signedIn();
    const { status, location } = await browser.post(address(), { user: user.user_id, decision: 'allow' });
    expect(status).toBe(303);
    expect(location).toStartWith(`${site}?`);
    expect(answer(location).get('state')).toBe('a state');
    expect(answer(location).get('iss')).toBe(server().url);
    const form = {
      grant_type: 'authorization_code',
      code: answer(location).get('code') ?? '',
      code_verifier: pkce.verifier,
      redirect_uri: site,
    };
    const { access } = tokensIn(await askForTokens(server(), app, form));
    expect((await new Client(server().url, access, 0).ok('users.me', {})).user.name).toBe(user.name);
  });

  test('redirects with an error if the user denies it', async () => {
    const { user, browser } = await signedIn();
    const { status, location } = await browser.post(address(), { user: user.user_id, decision: 'deny' });
    expect(status).toBe(303);
    expect(location).toStartWith(`${site}?`);
    expect(answer(location).get('error')).toBe('access_denied');
    expect(answer(location).get('code')).toBeNull();
  });

  test('rejects a decision from another site', async () => {
    const { user, browser } = await signedIn();
    const { status, location } = await browser.post(
      address(),
      { user: user.user_id, decision: 'allow' },
      { 'sec-fetch-site': 'cross-site', origin: 'https://digest.example' },
    );
    expect({ status, location }).toEqual({ status: 403, location: null });
    const got = await server().engine.write((tx) =>
      revokeGrants(tx, { userId: user.user_id, appId: app.appId }, Date.now()),
    );
    expect(got).toBe(0);
  });

  test('asks again if another user is signed in, nobody is, or nothing was decided', async () => {
    const { user, browser } = await signedIn();
    const { user: other } = await signedIn();
    const cases = [
      { browser, fields: { user: other.user_id, decision: 'allow' } },
      { browser, fields: { user: user.user_id } },
      { browser, fields: { user: user.user_id, decision: 'yes' } },
      { browser, fields: { decision: 'allow' } },
      { browser: new BrowserLike(server().url), fields: { user: user.user_id, decision: 'allow' } },
    ];
    for (const { browser: asking, fields } of cases) {
      const { status, location } = await asking.post(address(), fields);
      expect({ fields, status, location }).toEqual({ fields, status: 303, location: address() });
    }
  });

  test('lets the user switch accounts, and returns', async () => {
    const { browser } = await signedIn();
    const { html } = await browser.get(address());
    const [, next = ''] =
      /<form[^>]*action="\/sign-out"[^>]*><input type="hidden" name="next" value="([^"]*)"/.exec(html) ?? [];
    const kept = next.replaceAll('&amp;', '&');
    expect(kept).toBe(address());
    const { location } = await browser.post('/sign-out', { next: kept });
    expect(location).toBe(`/sign-in?next=${encodeURIComponent(address())}`);
    expect(browser.session).toBeUndefined();
  });

  test('offers the scope admin only to administrators, and highlights it', async () => {
    const asked = { scope: 'messages:read admin' };
    const { browser: root } = await signedIn({ admin: true });
    const shown = await root.get(address(asked));
    expect(shown.html).toContain('<li class="grave">Administer the service');
    expect(shown.words).toContain('You are an administrator.');
    const { browser } = await signedIn();
    const hidden = await browser.get(address(asked));
    expect(hidden.words).not.toContain('Administer the service');
    expect(hidden.words).toContain('Read the messages');
    const nothing = await browser.get(address({ scope: 'admin' }));
    expect(nothing.words).toContain('You are not an administrator, so you cannot allow that.');
    expect(nothing.html).not.toContain('value="allow"');
    expect(nothing.html).toMatch(/<button [^>]*value="deny"[^>]*>Go back to the app<\/button>/);
    expect(hidden.html).toContain('value="allow"');
  });

  test('shows an error, and does not redirect, if the client or its redirect URL is unknown', async () => {
    const { user, browser } = await signedIn();
    const wrong = [
      address({ client_id: 'app_nobody' }),
      address({ client_id: undefined }),
      address({ redirect_uri: 'https://digest.example/callback/../evil' }),
      address({ redirect_uri: 'https://digest.example.evil.example/callback' }),
      address({ redirect_uri: 'https://digest.example@evil.example/callback' }),
      `${address()}&redirect_uri=https://evil.example/`,
      '/oauth/authorize',
    ];
    for (const path of wrong) {
      for (const who of [browser, new BrowserLike(server().url)]) {
        const { status, location, words } = await who.get(path);
        expect({ path, status, location }).toEqual({ path, status: 400, location: null });
        expect(words).toContain('The app got no access, and you were not redirected.');
      }
      const { status, location } = await browser.post(path, { user: user.user_id, decision: 'allow' });
      expect({ path, status, location }).toEqual({ path, status: 400, location: null });
    }
  });

  describe('with an invalid request', () => {
    const wrong: Asked[] = [{ code_challenge: undefined }, { scope: 'none' }, { response_type: 'token' }];

    test('shows the error and a link to an app that the user has not authorized, and does not redirect', async () => {
      const { user, browser } = await signedIn();
      for (const asked of wrong) {
        const path = address(asked);
        const pages = [
          await new BrowserLike(server().url).get(path),
          await browser.get(path),
          await browser.post(path, { user: user.user_id, decision: 'allow' }),
          await browser.post(path, { user: user.user_id, decision: 'deny' }),
        ];
        for (const { status, location, words, html } of pages) {
          expect({ asked, status, location }).toEqual({ asked, status: 400, location: null });
          expect(words).toContain('Weekly digest cannot ask for access');
          expect(words).toContain('Return to the app at digest.example');
          const [, href = ''] = /href="(https:[^"]+)"/.exec(html) ?? [];
          expect(href).toStartWith(`${site}?error=`);
          expect(answer(href.replaceAll('&amp;', '&')).get('state')).toBe('a state');
        }
      }
    });

    test('redirects to an app that the user has authorized, until that ends', async () => {
      const { user, browser } = await signedIn();
      const path = address({ code_challenge: undefined });
      const { location } = await browser.post(address(), { user: user.user_id, decision: 'allow' });
      // Only an app that has exchanged its code is authorized.
      expect((await browser.get(path)).status).toBe(400);
      const code = answer(location).get('code') ?? '';
      const form = { grant_type: 'authorization_code', code, redirect_uri: site, code_verifier: pkce.verifier };
      tokensIn(await askForTokens(server(), app, form));
      const back = await browser.get(path);
      expect(back.status).toBe(303);
      expect(back.location).toStartWith(`${site}?error=invalid_request`);
      // Another person, and another app, are not concerned.
      expect((await (await signedIn()).browser.get(path)).status).toBe(400);
      const which = { userId: user.user_id, appId: app.appId };
      await server().engine.write((tx) => revokeGrants(tx, which, Date.now()));
      expect((await browser.get(path)).status).toBe(400);
    });
  });
});

describe('the consent page of any app', () => {
  const server = serverFor('sqlite', { PARLEY_SIGN_IN_LIMIT: 'off' });

  async function pageFor(name: string, redirect: string, other: Asked = {}) {
    const app = await bobsApp(server(), name);
    const browser = new BrowserLike(server().url);
    await browser.signIn((await person(server())).name, goodPassword);
    const request = authorizationRequest(app, newPkce(), { redirect_uri: redirect, ...other });
    return browser.get(`/oauth/authorize?${request}`);
  }

  test('shows names and parameters of apps as text', async () => {
    const { html, words } = await pageFor('<script>alert(1)</script>"', site, { state: '"><script>alert(2)</script>' });
    expect(html).not.toContain('<script');
    expect(words).toContain('Allow <script>alert(1)</script>" to use your account?');
  });

  test('isolates the names of apps from its own text', async () => {
    const { html } = await pageFor('שלום app', site);
    expect(html).toContain('<h1>Allow <bdi>שלום app</bdi> to use your account?</h1>');
    expect(html).toContain('<title>Allow \u2068שלום app\u2069 to use your account? · Parley</title>');
  });

  test('allows its form to redirect to the scheme of the app, and other pages do not', async () => {
    const targets: Record<string, string> = {
      [site]: "form-action 'self' https:",
      'http://127.0.0.1:9999/callback': "form-action 'self' http: https:",
      [phone]: "form-action 'self' com.example.digest:",
    };
    let made = 0;
    for (const [redirect, expected] of Object.entries(targets)) {
      const { headers } = await pageFor(`App ${++made}`, redirect);
      expect((headers.get('content-security-policy') ?? '').split('; ')).toContain(expected);
    }
    const { headers } = await new BrowserLike(server().url).get('/sign-in');
    expect((headers.get('content-security-policy') ?? '').split('; ')).toContain("form-action 'self'");
  });
});
