import { beforeAll, expect, test } from 'bun:test';
import type { UserId, WebhookId } from '@parley/contract';
import { deleteApp, replaceSecret } from '../../auth/apps.ts';
import { endWithoutAccess } from '../../store/webhooks/webhook-ends.ts';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import {
  accessOf,
  askForTokens,
  authorizationRequest,
  authorizeApp,
  decide,
  exchangeForm,
  expectFault,
  newApp,
  newCode,
  newPkce,
  refreshForm,
  revoke,
  type TestApp,
  type Tokens,
  tokensIn,
  withToken,
  works,
} from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';

onAnyEngine('access that an app was granted', (engine) => {
  let time = Date.now();
  const now = () => time;
  const server = serverFor(engine, {}, { now });
  let root: Client;
  beforeAll(async () => {
    root = await server().user('root', { admin: true });
  });

  /** A user, an app of somebody else, and what the user has granted it. */
  async function granted(confidential = false): Promise<{ app: TestApp; ada: Client; owner: Client; tokens: Tokens }> {
    const { ada, owner } = await users(server(), 'ada', 'owner');
    const app = await newApp(server(), owner, { confidential });
    return { app, ada, owner, tokens: await authorize(app, ada) };
  }
  const authorize = (app: TestApp, user: Client): Promise<Tokens> =>
    authorizeApp(server(), app, user, { scopes: ['messages:read', 'chats:write', 'webhooks'], now });
  const actorOf = (user: Client) => ({ userId: user.userId as UserId, appId: 0, address: '127.0.0.1' });
  const acts = async (act: string, userId: number) =>
    (await server().engine.all('SELECT audit_id FROM audit WHERE act = $1 AND user_id = $2', [act, userId])).length;

  async function hook({ access }: Tokens): Promise<WebhookId> {
    const { webhook } = await withToken(server(), access).ok('webhooks.register', {
      url: 'http://127.0.0.1:9/',
      events: ['new_message'],
      secret: 'a secret of the app',
    });
    return webhook.webhook_id;
  }
  const statusOf = async (webhook_id: WebhookId, { access }: Tokens) => {
    const { webhook } = await withToken(server(), access).ok('webhooks.get', { webhook_id });
    return { status: webhook.status, reason: webhook.disabled_reason };
  };

  test('ends as a whole with a refresh token that the app gives back', async () => {
    for (const confidential of [false, true]) {
      const { app, ada, tokens } = await granted(confidential);
      const next = tokensIn(await askForTokens(server(), app, refreshForm(tokens.refresh)));
      const reply = await revoke(server(), app, next.refresh, { token_type_hint: 'refresh_token' });
      expect(reply.status).toBe(200);
      expect(reply.headers.get('cache-control')).toBe('no-store');
      for (const { access } of [tokens, next]) expect(await works(server(), access)).toBe(false);
      expectFault(await askForTokens(server(), app, refreshForm(next.refresh)), 'invalid_grant');
      expect(await acts('access_revoked', ada.userId)).toBe(1);
    }
  });

  test('ends as a whole with a refresh token that was used before, too', async () => {
    const { app, tokens } = await granted();
    const next = tokensIn(await askForTokens(server(), app, refreshForm(tokens.refresh)));
    expect((await revoke(server(), app, tokens.refresh)).status).toBe(200);
    expect(await works(server(), next.access)).toBe(false);
  });

  test('goes on without an access token that the app gives back', async () => {
    const { app, ada, tokens } = await granted();
    const next = tokensIn(await askForTokens(server(), app, refreshForm(tokens.refresh)));
    // A wrong hint, and one that nobody knows, make no difference.
    expect((await revoke(server(), app, tokens.access, { token_type_hint: 'refresh_token' })).status).toBe(200);
    expect(await works(server(), tokens.access)).toBe(false);
    expect(await works(server(), next.access)).toBe(true);
    expect((await revoke(server(), app, next.access, { token_type_hint: 'made_up' })).status).toBe(200);
    expect(await works(server(), next.access)).toBe(false);
    expect((await askForTokens(server(), app, refreshForm(next.refresh))).status).toBe(200);
    expect(await acts('token_revoked', ada.userId)).toBe(2);
  });

  test('is not ended by another app, nor is anything else that is not an app’s', async () => {
    const { app, ada, tokens } = await granted();
    const other = await newApp(server(), ada, { confidential: true });
    for (const token of [tokens.access, tokens.refresh, ada.token, 'oat_unknown', 'ä\0']) {
      const reply = await revoke(server(), other, token);
      expect({ status: reply.status, body: reply.body }).toEqual({ status: 200, body: {} });
    }
    expect(await works(server(), ada.token)).toBe(true);
    expect(await works(server(), tokens.access)).toBe(true);
    expect((await revoke(server(), app, ada.token)).status).toBe(200);
    expect(await works(server(), ada.token)).toBe(true);
    expect((await askForTokens(server(), app, refreshForm(tokens.refresh))).status).toBe(200);
  });

  test('is not ended by whoever cannot prove to be the app', async () => {
    const { app, tokens } = await granted(true);
    expectFault(await revoke(server(), { ...app, secret: undefined }, tokens.refresh), 'invalid_client');
    expectFault(await revoke(server(), { ...app, secret: 'acs_wrong' }, tokens.refresh), 'invalid_client');
    expectFault(await revoke(server(), { ...app, clientId: 'app_x' }, tokens.refresh), 'invalid_client');
    expectFault(await revoke(server(), app, ''), 'invalid_request');
    expect(await works(server(), tokens.access)).toBe(true);
  });

  test('takes the app’s webhooks with it when it ends, and only those', async () => {
    const { app, ada, tokens } = await granted();
    const { app: otherApp, tokens: others } = await granted();
    const second = await authorize(otherApp, ada);
    const [ending, staying, alsoStaying] = [await hook(tokens), await hook(second), await hook(others)];
    expect((await revoke(server(), app, tokens.refresh)).status).toBe(200);
    const again = await authorize(app, ada);
    expect(await statusOf(ending, again)).toEqual({ status: 'disabled', reason: 'access_revoked' });
    expect((await statusOf(staying, second)).status).toBe('active');
    expect((await statusOf(alsoStaying, others)).status).toBe('active');
  });

  test('takes the app’s webhooks with it when a code or a refresh token comes twice', async () => {
    const { app, ada, tokens } = await granted();
    const first = await hook(tokens);
    await askForTokens(server(), app, refreshForm(tokens.refresh));
    expectFault(await askForTokens(server(), app, refreshForm(tokens.refresh)), 'invalid_grant');
    const scopes = ['messages:read', 'webhooks'] as const;
    const form = exchangeForm(await newCode(server(), app, ada, { scopes, now }));
    const second = await hook(tokensIn(await askForTokens(server(), app, form)));
    expectFault(await askForTokens(server(), app, form), 'invalid_grant');
    const again = await authorize(app, ada);
    for (const webhookId of [first, second]) {
      expect(await statusOf(webhookId, again)).toEqual({ status: 'disabled', reason: 'access_revoked' });
    }
  });

  test('keeps its webhooks while it lasts, however short its access tokens live', async () => {
    const { app, tokens } = await granted();
    const webhookId = await hook(tokens);
    time += 2 * 3_600_000;
    try {
      expect(await works(server(), tokens.access)).toBe(false);
      await server().engine.write((tx) => endWithoutAccess(tx, now()));
      const next = tokensIn(await askForTokens(server(), app, refreshForm(tokens.refresh)));
      expect((await statusOf(webhookId, next)).status).toBe('active');
      expect((await revoke(server(), app, tokens.access)).status).toBe(200);
      expect((await statusOf(webhookId, next)).status).toBe('active');
    } finally {
      time -= 2 * 3_600_000;
    }
  });

  test('ends its webhooks once nobody has refreshed it for 90 days', async () => {
    const { app, ada, tokens } = await granted();
    const webhookId = await hook(tokens);
    time += 91 * 24 * 3_600_000;
    try {
      await server().engine.write((tx) => endWithoutAccess(tx, now(), ada.userId as UserId));
      expect((await statusOf(webhookId, await authorize(app, ada))).status).toBe('disabled');
    } finally {
      time -= 91 * 24 * 3_600_000;
    }
  });

  test('ends with its user', async () => {
    const { app, ada, tokens } = await granted();
    const code = exchangeForm(await newCode(server(), app, ada, { now }));
    await root.ok('users.disable', { user_id: ada.userId });
    expect(await works(server(), tokens.access)).toBe(false);
    expectFault(await askForTokens(server(), app, refreshForm(tokens.refresh)), 'invalid_grant');
    expectFault(await askForTokens(server(), app, code), 'invalid_grant');
    const location = new URL(await decide(server(), authorizationRequest(app, newPkce()), ada));
    expect(location.searchParams.get('error')).toBe('access_denied');
    expect(location.searchParams.has('code')).toBe(false);
  });

  test('ends with its app', async () => {
    const { app, ada, owner, tokens } = await granted(true);
    const code = exchangeForm(await newCode(server(), app, ada, { now }));
    const bot = tokensIn(await askForTokens(server(), app, { grant_type: 'client_credentials' }));
    await deleteApp(accessOf(server(), now), actorOf(owner), app.appId);
    for (const form of [code, refreshForm(tokens.refresh), { grant_type: 'client_credentials' }]) {
      expectFault(await askForTokens(server(), app, form), 'invalid_client');
    }
    await expect(decide(server(), authorizationRequest(app, newPkce()), ada)).rejects.toThrow(/^refused/);
    // It was deleted beside the server, which believes what it has read for up to two seconds.
    for (const { access } of [tokens, bot]) {
      await eventually('the token is refused', async () => (await works(server(), access)) === false || undefined);
    }
  });

  test('rests while the owner of its app is disabled', async () => {
    const { app, ada, owner, tokens } = await granted(true);
    const bot = tokensIn(await askForTokens(server(), app, { grant_type: 'client_credentials' }));
    await root.ok('users.disable', { user_id: owner.userId });
    expect(await works(server(), bot.access)).toBe(false);
    for (const form of [refreshForm(tokens.refresh), { grant_type: 'client_credentials' }]) {
      expectFault(await askForTokens(server(), app, form), 'invalid_client');
    }
    expectFault(await revoke(server(), app, tokens.refresh), 'invalid_client');
    await expect(decide(server(), authorizationRequest(app, newPkce()), ada)).rejects.toThrow(/^refused/);
  });

  test('of an app on its own account ends with its bot', async () => {
    const { app } = await granted(true);
    const bot = tokensIn(await askForTokens(server(), app, { grant_type: 'client_credentials' }));
    await root.ok('users.disable', { user_id: app.botId ?? 0 });
    expect(await works(server(), bot.access)).toBe(false);
    const reply = await askForTokens(server(), app, { grant_type: 'client_credentials' });
    expectFault(reply, 'invalid_grant');
    expect(reply.body.error_description).toContain('bot');
  });

  test('goes on under a new secret, and not under the old one', async () => {
    const { app, owner, tokens } = await granted(true);
    const secret = await replaceSecret(accessOf(server(), now), actorOf(owner), app.appId);
    expectFault(await askForTokens(server(), app, refreshForm(tokens.refresh)), 'invalid_client');
    expect((await askForTokens(server(), { ...app, secret }, refreshForm(tokens.refresh))).status).toBe(200);
  });
});
