import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { scopeNames } from '@parley/contract';
import type { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import {
  askForTokens,
  authorizeApp,
  exchangeForm,
  expectFault,
  newApp,
  newCode,
  refreshForm,
  type TestApp,
  tokensIn,
  works,
} from '../support/oauth.ts';
import { serverFor, startServer, type TestServer } from '../support/server.ts';
import { overSocket, type Reply, request } from '../support/wire.ts';

const formType = 'application/x-www-form-urlencoded';
const metadataPath = '/.well-known/oauth-authorization-server';

onAnyEngine('the endpoints of OAuth', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let app: TestApp;
  beforeAll(async () => {
    ada = await server().user('ada');
    app = await newApp(server(), ada, { confidential: true });
  });

  const post = (path: string, body: BodyInit, type = formType): Promise<Reply> =>
    request(`${server().url}${path}`, { method: 'POST', body, headers: { 'content-type': type } });
  const credentials = () => `client_id=${app.clientId}&client_secret=${app.secret}`;

  test('are described where every client looks for it', async () => {
    const { url } = server();
    const reply = await request(`${url}${metadataPath}`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(reply.body).toEqual({
      issuer: url,
      authorization_endpoint: `${url}/oauth/authorize`,
      token_endpoint: `${url}/oauth/token`,
      revocation_endpoint: `${url}/oauth/revoke`,
      device_authorization_endpoint: `${url}/oauth/device_authorization`,
      scopes_supported: scopeNames,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: [
        'authorization_code',
        'refresh_token',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      authorization_response_iss_parameter_supported: true,
    });
  });

  test('take the methods that they are for, and name them to others', async () => {
    const paths: [string, string, string][] = [
      ['/oauth/token', 'GET', 'POST'],
      ['/oauth/token', 'PUT', 'POST'],
      ['/oauth/revoke', 'GET', 'POST'],
      ['/oauth/revoke', 'DELETE', 'POST'],
      ['/oauth/device_authorization', 'GET', 'POST'],
      [metadataPath, 'POST', 'GET, HEAD'],
    ];
    for (const [path, method, allow] of paths) {
      const reply = await request(`${server().url}${path}`, { method });
      expectFault(reply, 'invalid_request', 405);
      expect(reply.headers.get('allow')).toBe(allow);
    }
    const head = await fetch(`${server().url}${metadataPath}`, { method: 'HEAD' });
    expect(head.status).toBe(200);
  });

  test('can be used by a page of any site, without its visitors’ cookies', async () => {
    const headers = { origin: 'https://app.example' };
    for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/device_authorization', metadataPath]) {
      const allowed = await fetch(`${server().url}${path}`, { method: 'OPTIONS', headers });
      expect(allowed.status).toBe(204);
      expect(allowed.headers.get('access-control-allow-origin')).toBe('*');
      expect(allowed.headers.get('access-control-allow-methods')).toContain('POST');
      expect(allowed.headers.get('access-control-allow-headers')).toContain('Authorization');
      expect(allowed.headers.get('access-control-allow-credentials')).toBeNull();
      const method = path === metadataPath ? 'GET' : 'POST';
      const answered = await fetch(`${server().url}${path}`, { method, headers });
      expect(answered.headers.get('access-control-allow-origin')).toBe('*');
      expect(answered.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
      expect(answered.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  test('take forms alone', async () => {
    const bodies: [string, string][] = [
      [JSON.stringify({ grant_type: 'client_credentials' }), 'application/json'],
      ['grant_type=client_credentials', 'text/plain'],
      ['grant_type=client_credentials', ''],
    ];
    for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/device_authorization']) {
      for (const [body, type] of bodies) {
        expectFault(await post(path, new Blob([body], { type }), type), 'invalid_request', 415);
      }
      const multipart = new FormData();
      multipart.append('grant_type', 'client_credentials');
      const reply = await request(`${server().url}${path}`, { method: 'POST', body: multipart });
      expectFault(reply, 'invalid_request', 415);
      expectFault(await post(path, '{"grant_type":"client_credentials"}'), 'invalid_request');
    }
    const body = `${credentials()}&grant_type=client_credentials`;
    expect((await post('/oauth/token', body, `${formType}; charset=UTF-8`)).status).toBe(200);
    expect((await post('/oauth/token', body, formType.toUpperCase())).status).toBe(200);
  });

  test('refuse a field that comes twice, empty or not', async () => {
    for (const twice of [
      'grant_type=client_credentials&grant_type=client_credentials',
      'grant_type=client_credentials&scope=files&scope=',
      'grant_type=client_credentials&x=1&x=1',
    ]) {
      expectFault(await post('/oauth/token', `${credentials()}&${twice}`), 'invalid_request');
    }
    expectFault(await post('/oauth/revoke', `${credentials()}&token=a&token=b`), 'invalid_request');
  });

  test('take a field without a value for one that is not there', async () => {
    const reply = await post('/oauth/token', `${credentials()}&grant_type=client_credentials&scope=&code=`);
    expect(reply.status).toBe(200);
  });

  test('refuse what is not UTF-8', async () => {
    const start = `${credentials()}&grant_type=client_credentials&scope=`;
    for (const wrong of ['%ff', '%E4', '%']) {
      expectFault(await post('/oauth/token', `${start}${wrong}`), 'invalid_request');
    }
    const bytes = Buffer.concat([Buffer.from(start), Buffer.from([0xff, 0xfe])]);
    expectFault(await post('/oauth/token', new Blob([bytes])), 'invalid_request');
  });

  test('take a body of up to 64 KiB, announced or not', async () => {
    const start = `${credentials()}&grant_type=client_credentials&x=`;
    const sized = (bytes: number) => start + 'x'.repeat(bytes - start.length);
    expect((await post('/oauth/token', sized(65_536))).status).toBe(200);
    expectFault(await post('/oauth/token', sized(65_537)), 'invalid_request', 413);
    const inParts = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 40; i++) controller.enqueue(Buffer.from('x'.repeat(4_096)));
        controller.close();
      },
    });
    expectFault(await post('/oauth/token', inParts), 'invalid_request', 413);
  });

  test('do not wait for the rest of a body that is too large', async () => {
    for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/device_authorization']) {
      const head = [
        `POST ${path} HTTP/1.1`,
        `Host: ${new URL(server().url).host}`,
        `Content-Type: ${formType}`,
        `Content-Length: ${100 * 1_048_576}`,
        '\r\n',
      ].join('\r\n');
      const answer = await overSocket(server().url, [head, 'x'.repeat(4_096)]);
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
      expect(answer).toContain('"error":"invalid_request"');
    }
  });

  test('take nothing from the address, where others could read it', async () => {
    const query = `${credentials()}&grant_type=client_credentials`;
    expectFault(await post(`/oauth/token?${query}`, ''), 'invalid_request');
    expectFault(await post(`/oauth/token?client_secret=${app.secret}`, query), 'invalid_request');
    expectFault(await post(`/oauth/revoke?token=x`, query), 'invalid_request');
    const { access } = tokensIn(await post('/oauth/token', query));
    for (const name of ['access_token', 'token', 'authorization']) {
      const reply = await fetch(`${server().url}/api/users.php?action=me&${name}=${access}`);
      expect(reply.status).toBe(401);
    }
    expect(await works(server(), access)).toBe(true);
  });

  test('have no other names', async () => {
    for (const path of [
      '/oauth/token/',
      '/oauth//token',
      '/OAuth/Token',
      '/oauth/tokens',
      '/oauth/%74oken',
      '/oauth',
    ]) {
      const { status } = await fetch(`${server().url}${path}`, {
        method: 'POST',
        body: new URLSearchParams(`${credentials()}&grant_type=client_credentials`),
      });
      expect(status).not.toBe(200);
    }
  });
});

describe('the address that a server says it has', () => {
  test('is the one that is set, whatever the request names', async () => {
    const env = { ...(await freshEnvironment('sqlite')), PUBLIC_URL: 'https://chat.example' };
    const server = await startServer(env);
    const { body } = await request(`${server.url}${metadataPath}`, { headers: { host: 'localhost:1' } });
    await server.stop();
    expect(body).toMatchObject({
      issuer: 'https://chat.example',
      token_endpoint: 'https://chat.example/oauth/token',
    });
  });
});

onAnyEngine('the limit of those who ask for tokens', (engine) => {
  let now = Date.now();
  const server = serverFor(engine, { PARLEY_RATE_LIMIT: '5/10' }, { now: () => now });
  let app: TestApp;
  beforeAll(async () => {
    app = await newApp(server(), await server().user('ada'), { confidential: true });
  });
  const wrong = () => askForTokens(server(), app, { grant_type: 'client_credentials', client_secret: 'acs_guess' });
  const right = () => askForTokens(server(), app, { grant_type: 'client_credentials' });
  const limitOf = ({ headers }: Reply) =>
    ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`));

  test('stops who guesses at secrets, even once the guess is right', async () => {
    now += 60_000;
    for (let left = 9; left >= 0; left--) {
      const reply = await wrong();
      expectFault(reply, 'invalid_client');
      expect(limitOf(reply).slice(0, 2)).toEqual(['10', String(left)]);
    }
    for (const reply of [await wrong(), await right()]) {
      expectFault(reply, 'temporarily_unavailable', 429);
      expect(reply.headers.get('retry-after')).toBe('1');
      expect(limitOf(reply)).toEqual(['10', '0', '2']);
    }
    now += 1_000;
    expect((await right()).status).toBe(200);
  });

  test('stops who asks for ever more tokens, too', async () => {
    now += 60_000;
    for (let left = 9; left >= 0; left--) {
      const reply = await right();
      expect(reply.status).toBe(200);
      expect(limitOf(reply).slice(0, 2)).toEqual(['10', String(left)]);
    }
    expectFault(await right(), 'temporarily_unavailable', 429);
    // Wrong secrets do not count as bad tokens: the API still looks up new ones from this IP.
    now += 200;
    expect(await works(server(), tokensIn(await right()).access)).toBe(true);
  });

  test('counts bad tokens at the API and bad secrets here as the same', async () => {
    now += 60_000;
    for (let i = 0; i < 10; i++) expect(await works(server(), `oat_bad${i}`)).toBe(false);
    expectFault(await right(), 'temporarily_unavailable', 429);
  });

  test('is told with the description as well, which it does not hold back', async () => {
    now += 60_000;
    for (let i = 0; i < 12; i++) {
      const reply = await request(`${server().url}${metadataPath}`);
      expect(reply.status).toBe(200);
      expect(limitOf(reply)).toEqual(['10', '10', '0']);
    }
  });
});

onAnyEngine('a fault of ours', (engine) => {
  let said = '';
  let server: TestServer;
  let ada: Client;
  let app: TestApp;
  beforeAll(async () => {
    const env = { ...(await freshEnvironment(engine)), LOG_LEVEL: 'error' };
    server = await startServer(env, { print: (text) => (said += text) });
    ada = await server.user('ada');
    app = await newApp(server, ada);
  });
  afterAll(() => server.stop());

  test('is told without its cause, which the log has, and leaves the code as it was', async () => {
    const form = exchangeForm(await newCode(server, app, ada));
    const before = await authorizeApp(server, app, ada);
    await server.engine.run('ALTER TABLE refresh_tokens RENAME TO refresh_tokens_away');
    for (const asked of [form, refreshForm(before.refresh)]) {
      const reply = await askForTokens(server, app, asked);
      expect(reply.status).toBe(500);
      expect(reply.body).toEqual({ error: 'server_error', error_description: 'Something went wrong on our side.' });
      const requestId = reply.headers.get('x-request-id') ?? '?';
      const line = said.split('\n').find((text) => text.includes(requestId)) ?? '{}';
      expect(JSON.parse(line)).toMatchObject({ operation: 'oauth.token', status: 500, code: 'server_error' });
      expect(line).toContain('refresh_tokens');
      for (const secret of [form.code, form.code_verifier, before.refresh]) expect(line).not.toContain(secret);
    }
    await server.engine.run('ALTER TABLE refresh_tokens_away RENAME TO refresh_tokens');
    for (const asked of [form, refreshForm(before.refresh)]) {
      expect((await askForTokens(server, app, asked)).status).toBe(200);
    }
  });
});
