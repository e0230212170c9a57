import { beforeAll, expect, test } from 'bun:test';
import { scopeNames, type UserId } from '@parley/contract';
import { setAdmin } from '../../store/access/users.ts';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import {
  askForTokens,
  authorizeApp,
  exchangeForm,
  expectFault,
  type Form,
  newApp,
  newCode,
  newPkce,
  refreshForm,
  type TestApp,
  tokensIn,
  withToken,
  works,
} from '../support/oauth.ts';
import { serverFor } from '../support/server.ts';

const hour = 3_600_000;
const day = 24 * hour;

onAnyEngine('tokens of an app', (engine) => {
  let time = Date.now();
  const now = () => time;
  const server = serverFor(engine, {}, { now });
  let ada: Client;
  let backend: TestApp;
  let native: TestApp;
  beforeAll(async () => {
    ada = await server().user('ada');
    backend = await newApp(server(), ada, { confidential: true, name: 'Backend' });
    native = await newApp(server(), ada, { name: 'Native' });
  });

  const code = (app: TestApp, user = ada) => newCode(server(), app, user, { now });
  const authorized = (app: TestApp, user = ada) => authorizeApp(server(), app, user, { now });
  const ask = (app: TestApp, form: Form, headers: Record<string, string> = {}) =>
    askForTokens(server(), app, form, headers);
  const acts = async (act: string) =>
    (await server().engine.all('SELECT audit_id FROM audit WHERE act = $1', [act])).length;

  /** Goes on at a later time, and comes back. */
  async function later<T>(ms: number, work: () => Promise<T>): Promise<T> {
    time += ms;
    try {
      return await work();
    } finally {
      time -= ms;
    }
  }

  test('come for a code: an hour of access, and a refresh token', async () => {
    const reply = await ask(native, exchangeForm(await code(native)));
    expect(reply.status).toBe(200);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(reply.headers.get('pragma')).toBe('no-cache');
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(reply.headers.get('x-request-id')).toMatch(/\S/);
    expect(reply.body).toEqual({
      access_token: expect.stringMatching(/^oat_[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^ort_[\w-]{43}$/),
      scope: 'messages:read messages:write chats:write',
    });
    const { access } = tokensIn(reply);
    const caller = withToken(server(), access);
    expect((await caller.ok('users.me', {})).user.user_id as number).toBe(ada.userId);
    expect(await caller.refused('webhooks.list', {})).toBe('insufficient_scope');
    expect(await later(hour - 1_000, () => works(server(), access))).toBe(true);
    expect(await later(hour, () => works(server(), access))).toBe(false);
  });

  test('are kept only as hashes', async () => {
    const { access, refresh } = await authorized(native);
    const kept = await server().engine.all<{ text: string }>(
      `SELECT hash || name || scopes AS text FROM tokens UNION ALL SELECT hash AS text FROM refresh_tokens
       UNION ALL SELECT details AS text FROM audit UNION ALL SELECT client_id || COALESCE(secret_hash, '') AS text FROM apps`,
    );
    for (const secret of [access, refresh, backend.secret ?? '?']) {
      expect(kept.filter(({ text }) => text.includes(secret.slice(4)))).toEqual([]);
    }
  });

  test('end all at once where their code comes again', async () => {
    for (const app of [native, backend]) {
      const form = exchangeForm(await code(app));
      const { access, refresh } = tokensIn(await ask(app, form));
      const refreshed = tokensIn(await ask(app, refreshForm(refresh)));
      const before = await acts('code_replayed');
      expectFault(await ask(app, form), 'invalid_grant');
      expect(await works(server(), access)).toBe(false);
      expect(await works(server(), refreshed.access)).toBe(false);
      expectFault(await ask(app, refreshForm(refreshed.refresh)), 'invalid_grant');
      expect(await acts('code_replayed')).toBe(before + 1);
    }
  });

  test('of another authorization of the same app live on when a code comes again', async () => {
    const other = await authorized(native);
    const form = exchangeForm(await code(native));
    await ask(native, form);
    expectFault(await ask(native, form), 'invalid_grant');
    expect(await works(server(), other.access)).toBe(true);
  });

  test('end as well where the code comes again after its time', async () => {
    const form = exchangeForm(await code(native));
    const { access } = tokensIn(await ask(native, form));
    await later(10 * 60_000, async () => {
      expect(await works(server(), access)).toBe(true);
      expectFault(await ask(native, form), 'invalid_grant');
      expect(await works(server(), access)).toBe(false);
    });
  });

  test('come for a code of up to 60 seconds, and no later', async () => {
    const [early, late] = [exchangeForm(await code(native)), exchangeForm(await code(native))];
    expect((await later(55_000, () => ask(native, early))).status).toBe(200);
    const reply = await later(60_000, () => ask(native, late));
    expectFault(reply, 'invalid_grant');
    expect(reply.body.error_description).toContain('expired');
  });

  test('do not come for a code of another app, which may still use it', async () => {
    const stolen = await code(native);
    for (const other of [backend, await newApp(server(), ada)]) {
      expectFault(await ask(other, exchangeForm(stolen)), 'invalid_grant');
    }
    expect((await ask(native, exchangeForm(stolen))).status).toBe(200);
  });

  test('do not end where another app brings a code that was used', async () => {
    const form = exchangeForm(await code(native));
    const { access } = tokensIn(await ask(native, form));
    expectFault(await ask(backend, form), 'invalid_grant');
    expect(await works(server(), access)).toBe(true);
  });

  test('do not come without the right verifier, and the code is gone with the first wrong one', async () => {
    for (const app of [native, backend]) {
      const wrong: [string | undefined, string][] = [
        [newPkce().verifier, 'invalid_grant'],
        [undefined, 'invalid_grant'],
        ['short', 'invalid_request'],
        ['x'.repeat(129), 'invalid_request'],
      ];
      for (const [verifier, error] of wrong) {
        const right = exchangeForm(await code(app));
        expectFault(await ask(app, { ...right, code_verifier: verifier }), error);
        expectFault(await ask(app, right), 'invalid_grant');
      }
    }
  });

  test('do not come where the verifier is the challenge itself', async () => {
    const found = await code(native);
    const challenge = new Bun.CryptoHasher('sha256').update(found.verifier).digest('base64url');
    expectFault(await ask(native, { ...exchangeForm(found), code_verifier: challenge }), 'invalid_grant');
  });

  test('are refreshed as often as one likes, each time with another refresh token', async () => {
    let { access, refresh } = await authorized(native);
    const seen = new Set([access, refresh]);
    for (let i = 0; i < 3; i++) {
      ({ access, refresh } = tokensIn(await ask(native, refreshForm(refresh))));
      expect(seen.has(access) || seen.has(refresh)).toBe(false);
      seen.add(access).add(refresh);
      expect(await works(server(), access)).toBe(true);
    }
  });

  test('all end where a refresh token comes again, however late', async () => {
    const first = await authorized(native);
    const second = tokensIn(await ask(native, refreshForm(first.refresh)));
    const third = tokensIn(await ask(native, refreshForm(second.refresh)));
    const before = await acts('refresh_token_replayed');
    const reply = await later(30 * 60_000, () => ask(native, refreshForm(first.refresh)));
    expectFault(reply, 'invalid_grant');
    for (const { access } of [first, second, third]) expect(await works(server(), access)).toBe(false);
    expectFault(await ask(native, refreshForm(third.refresh)), 'invalid_grant');
    expect(await acts('refresh_token_replayed')).toBe(before + 1);
  });

  test('are refreshed within 90 days, counted from the last time', async () => {
    const { refresh } = await authorized(native);
    await later(89 * day, async () => {
      const { refresh: next } = tokensIn(await ask(native, refreshForm(refresh)));
      await later(89 * day, async () => {
        expect((await ask(native, refreshForm(next))).status).toBe(200);
      });
    });
    const { refresh: unused } = await authorized(native);
    const reply = await later(90 * day, () => ask(native, refreshForm(unused)));
    expectFault(reply, 'invalid_grant');
    expect(reply.body.error_description).toContain('expired');
  });

  test('are not refreshed by another app, nor does its attempt end them', async () => {
    const { access, refresh } = await authorized(native);
    expectFault(await ask(backend, refreshForm(refresh)), 'invalid_grant');
    expect(await works(server(), access)).toBe(true);
    expect((await ask(native, refreshForm(refresh))).status).toBe(200);
  });

  test('are refreshed with fewer scopes for once, never with more', async () => {
    const { refresh } = await authorized(native);
    for (const scope of ['webhooks', 'messages:read webhooks', 'everything', 'admin']) {
      expectFault(await ask(native, refreshForm(refresh, scope)), 'invalid_scope');
    }
    const less = tokensIn(await ask(native, refreshForm(refresh, 'chats:write messages:read')));
    expect(less.scope).toBe('messages:read chats:write');
    const caller = withToken(server(), less.access);
    const { group } = await caller.ok('messages.create_group', { name: 'g', participants: [] });
    expect(await caller.refused('messages.send_message', { chat_id: group.chat_id, content: 'x' })).toBe(
      'insufficient_scope',
    );
    const all = tokensIn(await ask(native, refreshForm(less.refresh)));
    expect(all.scope).toBe('messages:read messages:write chats:write');
  });

  test('lose the scope admin with the first refresh after their user is no administrator', async () => {
    const boss = await server().user('boss', { admin: true });
    const granted = await authorizeApp(server(), native, boss, { scopes: ['chats:read', 'admin'], now });
    const onlyAdmin = await authorizeApp(server(), native, boss, { scopes: ['admin'], now });
    await server().engine.write((tx) => setAdmin(tx, boss.userId as UserId, false));
    expectFault(await ask(native, refreshForm(granted.refresh, 'admin')), 'invalid_scope');
    expect(tokensIn(await ask(native, refreshForm(granted.refresh))).scope).toBe('chats:read');
    expectFault(await ask(native, refreshForm(onlyAdmin.refresh)), 'invalid_grant');
  });

  test('come to an app with a secret only if it sends it, in the header or in the body', async () => {
    const { clientId, secret = '' } = backend;
    const basic = (id: string, word: string) => ({ authorization: `Basic ${btoa(`${id}:${word}`)}` });
    const inHeader = async () => ({
      ...exchangeForm(await code(backend)),
      client_id: undefined,
      client_secret: undefined,
    });
    expect((await ask(backend, exchangeForm(await code(backend)))).status).toBe(200);
    expect((await ask(backend, await inHeader(), basic(clientId, secret))).status).toBe(200);
    const escaped = clientId.replaceAll('_', '%5f').replaceAll('-', '%2D');
    expect((await ask(backend, await inHeader(), basic(escaped, secret.replaceAll('_', '%5F')))).status).toBe(200);
    expect((await ask(backend, { ...(await inHeader()), client_id: clientId }, basic(clientId, secret))).status).toBe(
      200,
    );

    const form = exchangeForm(await code(backend));
    const wrong = newPkce().verifier;
    for (const client_secret of [undefined, '', wrong, `${secret} `, secret.slice(0, -1), secret.toUpperCase()]) {
      const reply = await ask(backend, { ...form, client_secret });
      expectFault(reply, 'invalid_client');
      expect(reply.headers.get('www-authenticate')).toBeNull();
    }
    const headers = [
      ...[basic(clientId, wrong), basic(clientId, ''), basic('app_unknown', secret), basic(`${clientId}%`, secret)],
      ...['Basic', 'Basic !!!', `Basic ${btoa(clientId)}`, `Bearer ${secret}`, 'x'].map((authorization) => ({
        authorization,
      })),
    ];
    for (const header of headers) {
      const reply = await ask(backend, { ...form, client_id: undefined, client_secret: undefined }, header);
      expectFault(reply, 'invalid_client');
      expect(reply.headers.get('www-authenticate')).toStartWith('Basic realm=');
    }
    expectFault(await ask(backend, form, basic(clientId, secret)), 'invalid_request');
    expectFault(
      await ask(backend, { ...form, client_id: native.clientId, client_secret: undefined }, basic(clientId, secret)),
      'invalid_request',
    );
    // These attempts have not consumed the code.
    expect((await ask(backend, form)).status).toBe(200);
  });

  test('come to an app without a secret only if it sends none', async () => {
    const form = exchangeForm(await code(native));
    expectFault(await ask(native, { ...form, client_secret: 'acs_made-up' }), 'invalid_client');
    expectFault(await ask(native, { ...form, client_secret: backend.secret }), 'invalid_client');
    expectFault(await ask(native, { ...form, client_id: undefined }), 'invalid_client');
    expectFault(await ask(native, { ...form, client_id: 'app_unknown' }), 'invalid_client');
    expect((await ask(native, form)).status).toBe(200);
  });

  test('are refreshed only with the secret too', async () => {
    const { refresh } = await authorized(backend);
    expectFault(await ask(backend, { ...refreshForm(refresh), client_secret: undefined }), 'invalid_client');
    expect((await ask(backend, refreshForm(refresh))).status).toBe(200);
  });

  test('come for what OAuth 2 still has good reasons for, and for nothing else', async () => {
    expectFault(await ask(native, {}), 'invalid_request');
    for (const grant_type of ['password', 'implicit', 'toString', '__proto__', 'urn:ietf:params:oauth:x', 'ä"\\']) {
      expectFault(await ask(backend, { grant_type, username: 'ada', password: 'x' }), 'unsupported_grant_type');
    }
    for (const [grant_type, parameter] of [
      ['authorization_code', 'code'],
      ['refresh_token', 'refresh_token'],
    ]) {
      expectFault(await ask(native, { grant_type }), 'invalid_request');
      for (const value of ['oac_unknown', ada.token]) {
        expectFault(await ask(native, { grant_type, [parameter ?? '']: value, code_verifier: 'x' }), 'invalid_grant');
      }
      expectFault(await ask(native, { grant_type, [parameter ?? '']: 'ä\0\n' }), 'invalid_request');
    }
  });

  test('are one kind each: neither a code nor a refresh token is taken for another', async () => {
    const { access, refresh } = await authorized(native);
    const { code: another, verifier, redirect } = await code(native);
    for (const bearer of [refresh, another, backend.secret ?? '', native.clientId]) {
      expect(await works(server(), bearer)).toBe(false);
    }
    for (const wrong of [access, another]) expectFault(await ask(native, refreshForm(wrong)), 'invalid_grant');
    for (const wrong of [access, refresh]) {
      expectFault(await ask(native, exchangeForm({ code: wrong, verifier, redirect })), 'invalid_grant');
    }
  });

  test('of an app on its own account let it post as its bot', async () => {
    const reply = await ask(backend, { grant_type: 'client_credentials', scope: 'chats:write messages:write' });
    expect(reply.body.refresh_token).toBeUndefined();
    const { access, scope } = tokensIn(reply);
    expect(scope).toBe('messages:write chats:write');
    const bot = withToken(server(), access);
    const { group } = await bot.ok('messages.create_group', { name: 'g', participants: [ada.userId] });
    const { message } = await bot.ok('messages.send_message', { chat_id: group.chat_id, content: 'beep' });
    const seen = await ada.ok('messages.get_message', { message_id: message.message_id });
    expect(seen.message.user_id as number | null).toBe(backend.botId);
    expect(seen.message.user_id as number).not.toBe(ada.userId);
  });

  test('of an app on its own account cover all but administration and apps, and only what it names', async () => {
    const mine = (form: Form = {}) => ask(backend, { grant_type: 'client_credentials', ...form });
    expect(tokensIn(await mine()).scope).toBe(
      scopeNames.filter((scope) => scope !== 'admin' && scope !== 'apps').join(' '),
    );
    expect(tokensIn(await mine({ scope: 'files' })).scope).toBe('files');
    for (const scope of ['admin', 'files admin', 'apps', 'everything', 'files"']) {
      expectFault(await mine({ scope }), 'invalid_scope');
    }
  });

  test('on its own account are not for an app without a secret, nor without sending it', async () => {
    expectFault(await ask(native, { grant_type: 'client_credentials' }), 'unauthorized_client');
    const unproven = { grant_type: 'client_credentials', client_secret: undefined };
    expectFault(await ask(backend, unproven), 'invalid_client');
    expectFault(
      await ask({ ...native, clientId: 'parley-cli' }, { grant_type: 'client_credentials' }),
      'unauthorized_client',
    );
  });

  test('on its own account all come of one standing grant, however many are asked for at once', async () => {
    const app = await newApp(server(), ada, { confidential: true });
    const replies = await Promise.all(Array.from({ length: 8 }, () => ask(app, { grant_type: 'client_credentials' })));
    for (const reply of replies) expect(await works(server(), tokensIn(reply).access)).toBe(true);
    const grants = await server().engine.all('SELECT grant_id FROM grants WHERE app_id = $1', [app.appId]);
    expect(grants.length).toBe(1);
  });
});
