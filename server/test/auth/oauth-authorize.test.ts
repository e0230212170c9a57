import { beforeAll, describe, expect, test } from 'bun:test';
import { scopeNames } from '@parley/contract';
import { type AuthorizationCheck, OAuth } from '../../auth/oauth/oauth.ts';
import { checkRedirects } from '../../auth/oauth/redirects.ts';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import {
  accessOf,
  appRedirect,
  askForTokens,
  authorizationRequest,
  authorizeApp,
  decide,
  exchangeForm,
  newApp,
  newCode,
  newPkce,
  type TestApp,
  tokensIn,
  works,
} from '../support/oauth.ts';
import { serverFor } from '../support/server.ts';

const pkce = newPkce();

onAnyEngine('a request for authorization', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let root: Client;
  /** Has a secret, and an address with a query of its own beside the plain one. */
  let backend: TestApp;
  let native: TestApp;
  const ownQuery = 'https://app.example/with?own=query&and=more';
  beforeAll(async () => {
    root = await server().user('root', { admin: true });
    ada = await server().user('ada');
    backend = await newApp(server(), ada, { confidential: true, redirects: [appRedirect, ownQuery], name: 'Backend' });
    native = await newApp(server(), ada);
  });

  const check = (params: URLSearchParams): Promise<AuthorizationCheck> =>
    new OAuth(accessOf(server())).check(params, server().url);
  const ask = (app: TestApp, other: Readonly<Record<string, string | undefined>> = {}) =>
    check(authorizationRequest(app, pkce, other));

  /** Returns the parameters of the redirect to the app. Throws if there is no redirect. */
  function sentToApp(check: AuthorizationCheck): Record<string, string> {
    if (check.outcome !== 'redirect') throw new Error(`no redirect but ${JSON.stringify(check)}`);
    return Object.fromEntries(new URL(check.location).searchParams);
  }

  test('that is in order may be put before the user, with scopes in the order of the table', async () => {
    const found = await ask(backend, { scope: 'webhooks  messages:read webhooks' });
    expect(found).toMatchObject({
      outcome: 'ask',
      scopes: ['messages:read', 'webhooks'],
      redirect: appRedirect,
      client: { clientId: backend.clientId, name: 'Backend', ownerId: ada.userId },
    });
  });

  test('of the command line is known from the start, at any port of the loopback', async () => {
    const commandLine = { ...native, clientId: 'parley-cli' };
    const found = await ask(commandLine, { redirect_uri: 'http://127.0.0.1:49152/callback' });
    expect(found).toMatchObject({ outcome: 'ask', client: { ownerId: null } });
  });

  const faults: [string, Readonly<Record<string, string | undefined>>, string][] = [
    ['without a response type', { response_type: undefined }, 'invalid_request'],
    ['for a token instead of a code', { response_type: 'token' }, 'unsupported_response_type'],
    ['for a code and more', { response_type: 'code id_token' }, 'unsupported_response_type'],
    ['for an answer in the fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['without a challenge', { code_challenge: undefined }, 'invalid_request'],
    ['with an empty challenge', { code_challenge: '' }, 'invalid_request'],
    ['without a method, which would mean plain', { code_challenge_method: undefined }, 'invalid_request'],
    ['with plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['with the method in small letters', { code_challenge_method: 's256' }, 'invalid_request'],
    ['with a challenge that is too short', { code_challenge: 'a'.repeat(42) }, 'invalid_request'],
    ['with a challenge that is too long', { code_challenge: 'a'.repeat(44) }, 'invalid_request'],
    ['with a challenge that is padded', { code_challenge: `${'a'.repeat(42)}=` }, 'invalid_request'],
    ['without a scope', { scope: undefined }, 'invalid_scope'],
    ['with a blank scope', { scope: '  ' }, 'invalid_scope'],
    ['with a scope that there is not', { scope: 'messages:read everything' }, 'invalid_scope'],
    ['with a scope in other letters', { scope: 'Messages:Read' }, 'invalid_scope'],
    ['with a line break in its state', { state: 'a\r\nset-cookie: b=c' }, 'invalid_request'],
  ];
  for (const [how, other, error] of faults) {
    test(`${how} is refused, and the app is told so, with a secret or without`, async () => {
      for (const app of [backend, native]) {
        const told = sentToApp(await ask(app, other));
        expect(told).toMatchObject({ error, iss: server().url });
        expect(told.error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
        expect(told.code).toBeUndefined();
        expect(told.state).toBe(other.state === undefined ? 'a state' : undefined);
      }
    });
  }

  test('is refused as well when the user has decided: no code comes of it', async () => {
    for (const [, other, error] of faults) {
      const location = await decide(server(), authorizationRequest(native, pkce, other), ada);
      expect(Object.fromEntries(new URL(location).searchParams)).toMatchObject({ error });
    }
    const { codes } = (await server().engine.get<{ codes: number }>(
      `SELECT count(*) AS codes FROM authorization_codes c JOIN grants g ON g.grant_id = c.grant_id WHERE g.app_id = $1`,
      [native.appId],
    )) ?? { codes: -1 };
    expect(codes).toBe(0);
  });

  test('says which scopes there are, where one is missing or unknown', async () => {
    for (const scope of [undefined, 'everything']) {
      expect(sentToApp(await ask(native, { scope })).error_description).toContain(scopeNames.join(', '));
    }
  });

  test('with a parameter given twice is refused, whichever it is', async () => {
    for (const name of ['response_type', 'scope', 'code_challenge', 'code_challenge_method', 'state', 'what-else']) {
      const params = authorizationRequest(native, pkce, { 'what-else': 'x' });
      params.append(name, params.get(name) ?? '');
      const told = sentToApp(await check(params));
      expect(told).toMatchObject({ error: 'invalid_request', iss: server().url });
      expect(told.state).toBe(name === 'state' ? undefined : 'a state');
    }
    for (const name of ['client_id', 'redirect_uri']) {
      const params = authorizationRequest(native, pkce);
      params.append(name, params.get(name) ?? '');
      expect((await check(params)).outcome).toBe('refused');
    }
  });

  test('of an app that nobody knows leads nowhere', async () => {
    for (const client_id of [undefined, '', 'app_unknown', 'a\0b', 'ä', 'x'.repeat(5_000)]) {
      expect((await ask(native, { client_id })).outcome).toBe('refused');
    }
  });

  test('gives the state back to the letter', async () => {
    for (const state of ['{"a": [1, 2]}', '&code=stolen#x', 'ä€𝄞 +%2B', '?=&;', 'x'.repeat(2_000)]) {
      const location = new URL(await decide(server(), authorizationRequest(native, pkce, { state }), ada));
      expect([...location.searchParams.keys()]).toEqual(['code', 'state', 'iss']);
      expect(location.searchParams.get('state')).toBe(state);
      expect(location.hash).toBe('');
      expect(sentToApp(await ask(native, { state, scope: 'none' })).state).toBe(state);
    }
  });

  test('without a state is answered without one', async () => {
    for (const state of [undefined, '']) {
      const location = new URL(await decide(server(), authorizationRequest(native, pkce, { state }), ada));
      expect([...location.searchParams.keys()]).toEqual(['code', 'iss']);
    }
  });

  test('never leads to a line break in the address that it answers with', async () => {
    const params = authorizationRequest(native, pkce, { state: 'a b', scope: 'x\r\nlocation: https://evil.example' });
    const found = await check(params);
    expect(found.outcome === 'redirect' && found.location).toMatch(/^[\x21-\x7e]+$/);
    for (const redirect_uri of [`${native.redirect}\r\nx: y`, `${native.redirect}%0d%0ax:%20y`]) {
      expect((await ask(native, { redirect_uri })).outcome).toBe('refused');
    }
  });

  test('keeps the query that an address has of its own', async () => {
    const params = authorizationRequest(backend, pkce, { redirect_uri: ownQuery });
    const location = await decide(server(), params, ada);
    expect(location).toStartWith(`${ownQuery}&code=oac_`);
    expect(sentToApp(await ask(backend, { redirect_uri: ownQuery, scope: 'x' }))).toMatchObject({
      own: 'query',
      and: 'more',
      error: 'invalid_scope',
    });
  });

  test('may leave the address out where the app has one alone', async () => {
    expect(await ask(native, { redirect_uri: undefined })).toMatchObject({ redirect: native.redirect });
    expect((await ask(backend, { redirect_uri: undefined })).outcome).toBe('refused');
    const location = new URL(
      await decide(server(), authorizationRequest(native, pkce, { redirect_uri: undefined }), ada),
    );
    const code = location.searchParams.get('code') ?? '';
    const form = exchangeForm({ code, verifier: pkce.verifier, redirect: '' });
    expect((await askForTokens(server(), native, form)).status).toBe(200);
  });

  test('that the user does not allow ends with access_denied', async () => {
    const location = new URL(await decide(server(), authorizationRequest(native, pkce), ada, { allowed: false }));
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'a state',
      iss: server().url,
    });
    expect(location.searchParams.has('code')).toBe(false);
  });

  test('for administration is granted by administrators alone', async () => {
    const scopes = ['messages:read', 'admin'] as const;
    expect((await authorizeApp(server(), native, root, { scopes })).scope).toBe('messages:read admin');
    expect((await authorizeApp(server(), native, ada, { scopes })).scope).toBe('messages:read');
    const location = new URL(await decide(server(), authorizationRequest(native, pkce, { scope: 'admin' }), ada));
    expect(location.searchParams.get('error')).toBe('access_denied');
  });

  test('is written down when it is granted: who, to which app, and what, but no secret', async () => {
    const { code } = await newCode(server(), backend, ada, { scopes: ['webhooks', 'messages:read'] });
    const entry = await server().engine.get<{ user_id: number; address: string; details: string }>(
      `SELECT user_id, address, details FROM audit WHERE act = 'access_granted' ORDER BY audit_id DESC LIMIT 1`,
    );
    expect(entry).toMatchObject({ user_id: ada.userId, address: '127.0.0.1' });
    expect(JSON.parse(entry?.details ?? '')).toEqual({
      app_id: backend.appId,
      name: 'Backend',
      scopes: ['messages:read', 'webhooks'],
    });
    const all = await server().engine.all<{ text: string }>(
      `SELECT hash || ' ' || redirect AS text FROM authorization_codes UNION ALL SELECT details AS text FROM audit`,
    );
    expect(all.filter(({ text }) => text.includes(code))).toEqual([]);
  });

  describe('to be answered elsewhere', () => {
    const tricks: [string, (redirect: string) => string][] = [
      ['something behind the path', (r) => `${r}evil`],
      ['a path below', (r) => `${r}/more`],
      ['a slash at the end', (r) => `${r}/`],
      ['less of the path', (r) => r.slice(0, -1)],
      ['another query', (r) => `${r}?next=https://evil.example`],
      ['an empty query', (r) => `${r}?`],
      ['a fragment', (r) => `${r}#x`],
      ['an empty fragment', (r) => `${r}#`],
      ['a way up and down again', (r) => r.replace('/callback', '/x/../callback')],
      ['a way up to elsewhere', (r) => `${r}/../../evil`],
      ['an encoded way up', (r) => `${r}/%2e%2e/evil`],
      ['an encoded slash', (r) => r.replace('/callback', '%2fcallback')],
      ['an encoded letter', (r) => r.replace('callback', 'c%61llback')],
      ['a doubled slash', (r) => r.replace('/callback', '//callback')],
      ['a backslash', (r) => r.replace('/callback', '\\callback')],
      ['capitals in the path', (r) => r.replace('callback', 'Callback')],
      ['a blank in front', (r) => ` ${r}`],
      ['a blank behind', (r) => `${r} `],
      ['a tab within', (r) => r.replace('callback', 'call\tback')],
      ['a NUL behind', (r) => `${r}\0`],
      ['a semicolon', (r) => `${r};x`],
      ['only the path', () => '/callback'],
      ['no scheme', (r) => r.replace(/^\w+:/, '')],
      ['a script', () => 'javascript:alert(1)//callback'],
      ['two in one', (r) => `${r} ${r}`],
      ['two in one, with a comma', (r) => `${r},https://evil.example/callback`],
    ];
    const hostTricks: [string, string][] = [
      ['a host that begins like it', 'https://app.example.evil.example/callback'],
      ['a host that ends like it', 'https://evilapp.example/callback'],
      ['a user that looks like it', 'https://app.example@evil.example/callback'],
      ['a user and a password that look like it', 'https://app.example:443@evil.example/callback'],
      ['a user at the right host', 'https://evil@app.example/callback'],
      ['a backslash before another host', 'https://app.example\\@evil.example/callback'],
      ['an encoded user', 'https://app.example%40evil.example/callback'],
      ['http instead of https', 'http://app.example/callback'],
      ['capitals in the host', 'https://APP.example/callback'],
      ['capitals in the scheme', 'HTTPS://app.example/callback'],
      ['a dot behind the host', 'https://app.example./callback'],
      ['another port', 'https://app.example:8443/callback'],
      ['the usual port', 'https://app.example:443/callback'],
      ['a letter that only looks alike', 'https://аpp.example/callback'],
      ['a wide letter that is folded', 'https://ａpp.example/callback'],
      ['a full stop of another script', 'https://app。example/callback'],
      ['a soft hyphen', 'https://app\u00ad.example/callback'],
      ['a subdomain', 'https://evil.app.example/callback'],
      ['three slashes', 'https:///app.example/callback'],
      ['one slash', 'https:/app.example/callback'],
      ['a query that holds it', 'https://evil.example/?https://app.example/callback'],
      ['a fragment that holds it', 'https://evil.example/#https://app.example/callback'],
    ];
    const loopbackTricks: [string, string][] = [
      ['a host that begins like the loopback', 'http://127.0.0.1.evil.example/callback'],
      ['a host that begins like localhost', 'http://localhost.evil.example/callback'],
      ['a user and a port that look like the loopback', 'http://127.0.0.1:80@evil.example/callback'],
      ['a user that looks like the loopback', 'http://127.0.0.1@evil.example/callback'],
      ['a port that ends in another host', 'http://127.0.0.1:80.evil.example/callback'],
      ['a port that is none', 'http://127.0.0.1:99999/callback'],
      ['a port of letters', 'http://127.0.0.1:abc/callback'],
      ['an empty port', 'http://127.0.0.1:/callback'],
      ['another name of the loopback', 'http://localhost/callback'],
      ['another address of the loopback', 'http://127.0.0.2/callback'],
      ['the loopback of IPv6', 'http://[::1]/callback'],
      ['the loopback in short', 'http://127.1/callback'],
      ['the loopback as one number', 'http://2130706433/callback'],
      ['the loopback in octal', 'http://0177.0.0.1/callback'],
      ['every address', 'http://0.0.0.0/callback'],
      ['the loopback over https', 'https://127.0.0.1/callback'],
      ['another path at another port', 'http://127.0.0.1:4000/other'],
      ['a path below at another port', 'http://127.0.0.1:4000/callback/more'],
      ['a query at another port', 'http://127.0.0.1:4000/callback?x=y'],
      ['a fragment at another port', 'http://127.0.0.1:4000/callback#x'],
      ['a fragment in place of the path', 'http://127.0.0.1:4000#/callback'],
      ['a backslash at another port', 'http://127.0.0.1:4000\\@evil.example/callback'],
      ['capitals at another port', 'http://127.0.0.1:4000/CALLBACK'],
    ];
    const refuses = async (app: TestApp, redirect_uri: string) => {
      expect(redirect_uri).not.toBe(app.redirect);
      expect({ redirect_uri, outcome: (await ask(app, { redirect_uri })).outcome }).toEqual({
        redirect_uri,
        outcome: 'refused',
      });
    };

    for (const [trick, change] of tricks) {
      test(`with ${trick}, it is refused and nobody is sent there`, async () => {
        for (const app of [backend, native]) await refuses(app, change(app.redirect));
      });
    }
    for (const [trick, redirect] of hostTricks) {
      test(`with ${trick}, it is refused and nobody is sent there`, () => refuses(backend, redirect));
    }
    for (const [trick, redirect] of loopbackTricks) {
      test(`with ${trick}, it is refused and nobody is sent there`, () => refuses(native, redirect));
    }

    test('at any port of the loopback is allowed to an app on a person’s machine, and to no other', async () => {
      const redirect_uri = 'http://127.0.0.1:50123/callback';
      expect(await ask(native, { redirect_uri })).toMatchObject({ outcome: 'ask', redirect: redirect_uri });
      const server2 = await newApp(server(), ada, { confidential: true, redirects: ['http://127.0.0.1/callback'] });
      expect((await ask(server2, { redirect_uri: 'http://127.0.0.1/callback' })).outcome).toBe('ask');
      expect((await ask(server2, { redirect_uri })).outcome).toBe('refused');
    });
  });

  test('binds the code to the address that it named', async () => {
    const redirect = 'http://127.0.0.1:50123/callback';
    for (const other of ['http://127.0.0.1:50124/callback', native.redirect, undefined]) {
      const code = await newCode(server(), native, ada, { redirect });
      const form = { ...exchangeForm(code), redirect_uri: other };
      expect((await askForTokens(server(), native, form)).body.error).toBe('invalid_grant');
    }
    const code = await newCode(server(), native, ada, { redirect });
    const { access } = tokensIn(await askForTokens(server(), native, exchangeForm(code)));
    expect(await works(server(), access)).toBe(true);
  });
});

describe('an address that an app registers', () => {
  const good = [
    'https://example.com/callback',
    'https://example.com',
    'https://example.com:8443/a/b?c=d&e=f',
    'https://xn--mnchen-3ya.example/cb',
    'http://127.0.0.1/callback',
    'http://127.0.0.1:8080/',
    'http://[::1]:3000/cb',
    'http://localhost/cb?x=1',
    'com.example.app:/callback',
    'com.example.app://callback',
  ];
  for (const redirect of good) {
    test(`may be ${redirect}`, () => {
      expect(checkRedirects([redirect])).toEqual([redirect]);
    });
  }

  const bad: [string, string][] = [
    ['', 'nothing'],
    ['/callback', 'a path alone'],
    ['//example.com/callback', 'without a scheme'],
    ['http://example.com/callback', 'http to another machine'],
    ['http://127.0.0.1.evil.example/', 'http to a name like the loopback'],
    ['http://127.0.0.1:80@evil.example/', 'http to what looks like the loopback'],
    ['http://localhost:99999/', 'at a port that is none'],
    ['HTTP://127.0.0.1/', 'http in capitals'],
    ['https:/example.com/callback', 'https with one slash'],
    ['https:example.com', 'https without slashes'],
    ['https:///example.com', 'https with three slashes'],
    ['https://user@example.com/', 'with a user'],
    ['https://:password@example.com/', 'with a password'],
    ['https://@example.com/', 'with an empty user'],
    ['https://example.com/#fragment', 'with a fragment'],
    ['https://example.com/#', 'with an empty fragment'],
    ['https://example.com/\\evil', 'with a backslash'],
    ['https://*.example.com/', 'with a wildcard'],
    ['https://exämple.com/', 'outside of ASCII'],
    ['https://example.com/a b', 'with a blank'],
    ['https://example.com/\r\nx: y', 'with a line break'],
    ['https://example.com/?code=1', 'with a code of its own'],
    ['https://example.com/?a=b&state=1', 'with a state of its own'],
    ['https://example.com/?iss=x', 'with an issuer of its own'],
    ['https://example.com/?%65rror=x', 'with an error of its own'],
    ['javascript:alert(1)', 'a script'],
    ['data:text/html,x', 'data'],
    ['file:///etc/passwd', 'a file'],
    ['myapp:/callback', 'a scheme that is nobody’s'],
    [`https://example.com/${'x'.repeat(1_000)}`, 'too long'],
  ];
  for (const [redirect, what] of bad) {
    test(`may not be ${what}`, () => {
      expect(() => checkRedirects([redirect])).toThrow(/redirects/);
    });
  }

  test('is one of at least one and at most twenty, each kept once', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `https://example.com/${i}`);
    expect(checkRedirects(many(20)).length).toBe(20);
    expect(() => checkRedirects(many(21))).toThrow(/at most 20/);
    expect(() => checkRedirects([])).toThrow(/at least one/);
    expect(checkRedirects(['https://a.example/', 'https://a.example/'])).toEqual(['https://a.example/']);
  });
});
