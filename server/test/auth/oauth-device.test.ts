import { beforeAll, describe, expect, test } from 'bun:test';
import * as oauth4webapi from 'oauth4webapi';
import { OAuth } from '../../auth/oauth/oauth.ts';
import { dropEnded } from '../../auth/retention.ts';
import { findUser } from '../../store/access/users.ts';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import {
  accessOf,
  askForTokens,
  expectFault,
  newApp,
  postForm,
  refreshForm,
  type TestApp,
  tokensIn,
  withToken,
  works,
} from '../support/oauth.ts';
import { serverFor } from '../support/server.ts';
import type { Reply } from '../support/wire.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:device_code';

onAnyEngine('a device without a browser', (engine) => {
  let now = Date.now();
  const server = serverFor(engine, { PARLEY_RATE_LIMIT: 'off' }, { now: () => now });
  let ada: Client;
  let app: TestApp;
  beforeAll(async () => {
    ada = await server().user('ada');
    app = await newApp(server(), ada, { name: 'Doorbell' });
  });

  const start = (other: Record<string, string | undefined> = {}) =>
    postForm(`${server().url}/oauth/device_authorization`, {
      client_id: app.clientId,
      scope: 'messages:read chats:read',
      ...other,
    });
  async function newDevice(): Promise<{ code: string; userCode: string }> {
    const { status, body } = await start();
    expect(status).toBe(200);
    return { code: String(body.device_code), userCode: String(body.user_code) };
  }
  const poll = (code: string, by = app): Promise<Reply> =>
    askForTokens(server(), by, { grant_type: grantType, device_code: code });

  /** Decides as a user does on the page. Returns the outcome. */
  async function decide(userCode: string, user: Client, allowed = true): Promise<string> {
    const oauth = new OAuth(accessOf(server(), () => now));
    const row = await findUser(server().engine, user.userId as never);
    if (!row) throw new Error('there is no such user');
    const decider = { userId: row.user_id, isAdmin: row.is_admin, address: '127.0.0.1' };
    const found = await oauth.findDevice(userCode, decider);
    return found.outcome === 'ask' ? (await oauth.decideDevice(found, decider, allowed)).outcome : found.outcome;
  }

  test('gets two codes, and the page to enter the short one at', async () => {
    const { status, headers, body } = await start();
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      device_code: expect.stringMatching(/^odc_[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${server().url}/device`,
      verification_uri_complete: `${server().url}/device?user_code=${body.user_code}`,
      expires_in: 600,
      interval: 5,
    });
  });

  test('has no code in the database that anybody could use', async () => {
    const { code, userCode } = await newDevice();
    const rows = JSON.stringify(await server().engine.all('SELECT * FROM device_codes'));
    for (const secret of [code, userCode, userCode.replace('-', '')]) expect(rows).not.toContain(secret);
  });

  test('waits for the user, then gets tokens with the scopes that it asked for', async () => {
    const { code, userCode } = await newDevice();
    expectFault(await poll(code), 'authorization_pending');
    expect(await decide(userCode.toLowerCase().replace('-', ' '), ada)).toBe('done');
    const { access, refresh, scope } = tokensIn(await poll(code));
    expect(scope).toBe('messages:read chats:read');
    const { user } = await withToken(server(), access).ok('users.me', {});
    expect(user.user_id as number).toBe(ada.userId);
    expect(await works(server(), tokensIn(await askForTokens(server(), app, refreshForm(refresh))).access)).toBe(true);
  });

  test('is told to slow down, by five more seconds each time', async () => {
    const { code, userCode } = await newDevice();
    expectFault(await poll(code), 'authorization_pending');
    expectFault(await poll(code), 'slow_down');
    now += 9_999;
    expectFault(await poll(code), 'slow_down');
    now += 15_000;
    expectFault(await poll(code), 'authorization_pending');
    // Once the user has decided, nothing is gained by another wait.
    await decide(userCode, ada);
    expect((await poll(code)).status).toBe(200);
  });

  test('is told that the user denied it, and stays denied', async () => {
    const { code, userCode } = await newDevice();
    expect(await decide(userCode, ada, false)).toBe('done');
    expectFault(await poll(code), 'access_denied');
    expect(await decide(userCode, ada)).toBe('unknown');
    expectFault(await poll(code), 'access_denied');
  });

  test('is told that its code has expired, which nobody can allow any more', async () => {
    const [pending, allowed] = [await newDevice(), await newDevice()];
    await decide(allowed.userCode, ada);
    now += 599_999;
    expectFault(await poll(pending.code), 'authorization_pending');
    now += 1;
    for (const { code } of [pending, allowed]) expectFault(await poll(code), 'expired_token');
    expect(await decide(pending.userCode, ada)).toBe('unknown');
  });

  test('gets tokens once. A second time revokes them', async () => {
    const { code, userCode } = await newDevice();
    await decide(userCode, ada);
    expect(await decide(userCode, ada)).toBe('unknown');
    const { access } = tokensIn(await poll(code));
    expect(await works(server(), access)).toBe(true);
    expectFault(await poll(code), 'invalid_grant');
    expect(await works(server(), access)).toBe(false);
  });

  test('gets tokens once, also if it asks many times at once', async () => {
    const { code, userCode } = await newDevice();
    await decide(userCode, ada);
    const replies = await Promise.all(Array.from({ length: 5 }, () => poll(code)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('is decided about once, also by two people at once', async () => {
    const { userCode } = await newDevice();
    const bob = await server().user('bob');
    const outcomes = await Promise.all([decide(userCode, ada), decide(userCode, bob)]);
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
    const { grants } = (await server().engine.get<{ grants: number }>(
      'SELECT count(*) AS grants FROM grants WHERE app_id = $1 AND user_id = $2',
      [app.appId, bob.userId],
    )) ?? { grants: 0 };
    expect(grants).toBe(outcomes[1] === 'done' ? 1 : 0);
  });

  test('gets nothing with the code of another app', async () => {
    const { code, userCode } = await newDevice();
    await decide(userCode, ada);
    const other = await newApp(server(), ada, { name: 'Other' });
    expectFault(await poll(code, other), 'invalid_grant');
    expect((await poll(code)).status).toBe(200);
  });

  test('gets nothing with no code, an unknown one, or the short one', async () => {
    const { userCode } = await newDevice();
    expectFault(await askForTokens(server(), app, { grant_type: grantType }), 'invalid_request');
    for (const code of ['odc_unknown', userCode]) expectFault(await poll(code), 'invalid_grant');
  });

  test('must name an app and known scopes', async () => {
    expectFault(await start({ client_id: undefined }), 'invalid_client');
    expectFault(await start({ client_id: 'app_unknown' }), 'invalid_client');
    expectFault(await start({ scope: undefined }), 'invalid_scope');
    expectFault(await start({ scope: 'everything' }), 'invalid_scope');
  });

  test('of an app with a secret must send it', async () => {
    const backend = await newApp(server(), ada, { confidential: true });
    expectFault(await start({ client_id: backend.clientId }), 'invalid_client');
    const { body } = await start({ client_id: backend.clientId, client_secret: backend.secret });
    await decide(String(body.user_code), ada);
    expectFault(await poll(String(body.device_code), { ...backend, secret: undefined }), 'invalid_client');
    expect((await poll(String(body.device_code), backend)).status).toBe(200);
  });

  test('gets no scope admin from somebody who is no administrator', async () => {
    const { body } = await start({ scope: 'admin' });
    expect(await decide(String(body.user_code), ada)).toBe('refused');
    const both = await start({ scope: 'admin files' });
    await decide(String(both.body.user_code), ada);
    expect(tokensIn(await poll(String(both.body.device_code))).scope).toBe('files');
  });

  test('works with a client that others wrote', async () => {
    const insecure = { [oauth4webapi.allowInsecureRequests]: true };
    const issuer = new URL(server().url);
    const as = await oauth4webapi
      .discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
      .then((response) => oauth4webapi.processDiscoveryResponse(issuer, response));
    const client: oauth4webapi.Client = { client_id: app.clientId };
    const started = await oauth4webapi
      .deviceAuthorizationRequest(as, client, oauth4webapi.None(), { scope: 'files' }, insecure)
      .then((response) => oauth4webapi.processDeviceAuthorizationResponse(as, client, response));
    const redeem = () =>
      oauth4webapi
        .deviceCodeGrantRequest(as, client, oauth4webapi.None(), started.device_code, insecure)
        .then((response) => oauth4webapi.processDeviceCodeResponse(as, client, response));
    await expect(redeem()).rejects.toMatchObject({ error: 'authorization_pending' });
    await decide(started.user_code, ada);
    expect(await redeem()).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'files' });
  });

  test('is removed some time after its code has expired', async () => {
    const { code } = await newDevice();
    const rows = () => server().engine.all('SELECT 1 AS one FROM device_codes');
    await dropEnded(server().engine, { now, auditDays: 365 });
    expectFault(await poll(code), 'authorization_pending');
    const later = now + 48 * 3_600_000;
    while (await dropEnded(server().engine, { now: later, auditDays: 365 }));
    expect(await rows()).toEqual([]);
  });
});

onAnyEngine('a device that polls', (engine) => {
  const now = Date.now();
  const server = serverFor(engine, { PARLEY_RATE_LIMIT: '5/10' }, { now: () => now });

  test('does not count as one that guesses', async () => {
    const form = { client_id: 'parley-cli', scope: 'files' };
    const { body } = await postForm(`${server().url}/oauth/device_authorization`, form);
    for (let polls = 0; polls < 5; polls++) {
      const asked = { client_id: 'parley-cli', grant_type: grantType, device_code: String(body.device_code) };
      expectFault(await postForm(`${server().url}/oauth/token`, asked), polls ? 'slow_down' : 'authorization_pending');
    }
    const { headers } = await withToken(server(), 'oat_bad').call('users.me', {});
    expect(headers.get('ratelimit-remaining')).toBe('9');
  });
});

onAnyEngine('codes of devices', (engine) => {
  const now = Date.now();
  const server = serverFor(engine, { PARLEY_RATE_LIMIT: 'off' }, { now: () => now });
  const start = () =>
    postForm(`${server().url}/oauth/device_authorization`, { client_id: 'parley-cli', scope: 'files' });

  describe('are limited in number', () => {
    test('in a network', async () => {
      const statuses: number[] = [];
      for (let i = 0; i < 52; i++) statuses.push((await start()).status);
      expect(statuses.slice(0, 50)).toEqual(Array.from({ length: 50 }, () => 200));
      expect(statuses.at(-1)).toBe(429);
      const { body, headers } = await start();
      // One every 12 s, as the text says.
      expect([body.error, headers.get('retry-after')]).toEqual(['temporarily_unavailable', '12']);
      expect(body.error_description).toContain('Try again in 12 s.');
    });

    test('in all', async () => {
      await server().engine.write(async (tx) => {
        await tx.run('DELETE FROM throttles');
        const rows = Array.from({ length: 10_000 }, (_, i) => ({ hash: `filler ${i}` }));
        await tx.run(
          `INSERT INTO device_codes (hash, user_code_hash, app_id, scopes, interval_ms, expires_at)
           SELECT f.hash, f.hash, 1, 'files', 5000, $2
           FROM ${tx.dialect.rows('$1', { hash: 'text' }, 'f')}`,
          [JSON.stringify(rows), now + 60_000],
        );
      });
      const { status, body } = await start();
      expect({ status, error: body.error }).toEqual({ status: 503, error: 'temporarily_unavailable' });
    });
  });
});
