import { beforeAll, describe, expect, test } from 'bun:test';
import { pruneAccess } from '../../store/access/expired.ts';
import type { Client, SessionClient } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import {
  appRedirect,
  askForTokens,
  authorizeApp,
  newApp,
  newCode,
  refreshForm,
  type TestApp,
  works,
} from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { countActs, inSession, lastAct } from '../support/visitor.ts';

const day = 86_400_000;

onAnyEngine('in the console', (engine) => {
  const server = serverFor(engine);
  let [ada, bob]: Client[] = [];
  let browser: SessionClient;
  let other: SessionClient;
  beforeAll(async () => {
    const people = await users(server(), 'ada', 'bob');
    [ada, bob] = [people.ada, people.bob];
    [browser, other] = [await inSession(server(), people.ada), await inSession(server(), people.bob)];
  });
  const owner = () => ada as Client;
  const guest = () => bob as Client;
  const bySecret = (app: TestApp) => askForTokens(server(), app, { grant_type: 'client_credentials' });
  const expectAct = async (act: string, user: Client, details: object) =>
    expect(await lastAct(server())).toMatchObject({ act, user_id: user.userId, details: details as never });

  describe('an app that somebody authorized', () => {
    test('is listed with all its scopes', async () => {
      const { cleo } = await users(server(), 'cleo');
      const app = await newApp(server(), guest(), { name: 'Listed' });
      await authorizeApp(server(), app, cleo, { scopes: ['messages:read'] });
      await authorizeApp(server(), app, cleo, { scopes: ['files', 'messages:read'] });
      const { apps } = await (await inSession(server(), cleo)).ok('apps.authorized', {});
      expect(apps).toMatchObject([{ app_id: app.appId, name: 'Listed', scopes: ['messages:read', 'files'] }]);
      expect((await browser.ok('apps.authorized', {})).apps).toEqual([]);
    });

    test('loses all access when the user ends it, and other apps do not', async () => {
      const { cleo } = await users(server(), 'cleo');
      const app = await newApp(server(), guest(), { name: 'Ended' });
      const [first, second] = [await authorizeApp(server(), app, cleo), await authorizeApp(server(), app, cleo)];
      const kept = await authorizeApp(server(), await newApp(server(), guest(), { name: 'Kept' }), cleo);
      const bobs = await authorizeApp(server(), app, guest());
      const reader = await inSession(server(), cleo);
      await reader.ok('apps.revoke_access', { app_id: app.appId });
      expect(await works(server(), first.access)).toBe(false);
      expect(await works(server(), second.access)).toBe(false);
      expect((await askForTokens(server(), app, refreshForm(second.refresh))).status).toBe(400);
      expect(await works(server(), kept.access)).toBe(true);
      expect(await works(server(), bobs.access)).toBe(true);
      await expectAct('access_revoked', cleo, { app_id: app.appId, name: 'Ended' });
      expect((await reader.ok('apps.authorized', {})).apps.map(({ name }) => name)).toEqual(['Kept']);
    });

    test('is still listed if only its refresh token is left', async () => {
      const { cleo } = await users(server(), 'cleo');
      const app = await newApp(server(), guest(), { name: 'Resting' });
      const { refresh } = await authorizeApp(server(), app, cleo);
      await server().engine.write((tx) => pruneAccess(tx, Date.now() + 3 * day, 1_000));
      const reader = await inSession(server(), cleo);
      expect((await reader.ok('apps.authorized', {})).apps.map(({ name }) => name)).toEqual(['Resting']);
      await reader.ok('apps.revoke_access', { app_id: app.appId });
      expect((await askForTokens(server(), app, refreshForm(refresh))).status).toBe(400);
    });

    test('keeps its access when another user ends theirs', async () => {
      const app = await newApp(server(), owner());
      const { access } = await authorizeApp(server(), app, guest());
      await browser.ok('apps.revoke_access', { app_id: app.appId });
      expect(await works(server(), access)).toBe(true);
    });
  });

  describe('an app of their own', () => {
    const register = () => newApp(server(), owner(), { confidential: true, name: 'Stand-up' });

    test('is changed', async () => {
      const { appId: app_id } = await register();
      const to = { name: 'Sit-down', redirects: ['https://c.example/', 'https://d.example/'] };
      expect((await browser.ok('apps.update', { app_id, ...to })).app).toMatchObject(to);
      await expectAct('app_changed', owner(), { app_id, ...to });
      const before = await countActs(server());
      for (const wrong of [
        { ...to, name: ' ' },
        { ...to, redirects: ['ftp://x.example/'] },
      ])
        expect(await browser.refused('apps.update', { app_id, ...wrong })).toBe('validation_failed');
      expect(await countActs(server())).toBe(before);
    });

    test('gets a new secret, and the old one ends', async () => {
      const app = await register();
      const { client_secret: secret } = await browser.ok('apps.replace_secret', { app_id: app.appId });
      expect(secret).not.toBe(app.secret ?? '');
      expect((await bySecret(app)).status).toBe(401);
      expect((await bySecret({ ...app, secret })).status).toBe(200);
      const open = await newApp(server(), owner());
      expect(await browser.refused('apps.replace_secret', { app_id: open.appId })).toBe('conflict');
    });

    test('has an audit entry for a new secret', async () => {
      const { appId: app_id } = await register();
      await browser.ok('apps.replace_secret', { app_id });
      await expectAct('app_secret_replaced', owner(), { app_id, name: 'Stand-up' });
    });

    test('loses the access of all its users when it is deleted', async () => {
      const app = await register();
      const own = await authorizeApp(server(), app, owner());
      const bobs = await authorizeApp(server(), app, guest());
      const bots = String((await bySecret(app)).body.access_token);
      const { appId: app_id } = app;
      expect((await browser.ok('apps.get', { app_id })).people_count).toBe(2);
      await browser.ok('apps.delete', { app_id });
      await expectAct('app_deleted', owner(), { app_id, name: 'Stand-up' });
      for (const token of [own.access, bobs.access, bots]) expect(await works(server(), token)).toBe(false);
      expect((await askForTokens(server(), app, refreshForm(bobs.refresh))).status).toBe(401);
      expect((await bySecret(app)).status).toBe(401);
      expect(await browser.refused('apps.get', { app_id })).toBe('not_found');
      expect((await other.ok('apps.authorized', {})).apps.map(({ name }) => name)).not.toContain('Stand-up');
      // The bot and its messages stay.
      expect((await browser.ok('bots.list', {})).bots.map(({ user_id }) => user_id as number)).toContain(
        app.botId ?? 0,
      );
    });

    test('counts the people who have authorized it', async () => {
      const app = await register();
      const count = async () => (await browser.ok('apps.get', { app_id: app.appId })).people_count;
      await bySecret(app);
      expect(await count()).toBe(0);
      await authorizeApp(server(), app, guest());
      // An unused code does not count, and neither does an expired grant.
      await newCode(server(), app, owner());
      await authorizeApp(server(), app, guest());
      expect(await count()).toBe(1);
      await server().engine.write((tx) => tx.run('UPDATE grants SET expires_at = 1 WHERE app_id = $1', [app.appId]));
      expect(await count()).toBe(0);
    });

    test('is not found by another user', async () => {
      const app = await register();
      const { appId: app_id } = app;
      const before = await countActs(server());
      expect(await other.refused('apps.get', { app_id })).toBe('not_found');
      expect(await other.refused('apps.update', { app_id, name: 'x', redirects: [appRedirect] })).toBe('not_found');
      for (const act of ['apps.replace_secret', 'apps.delete'] as const)
        expect(await other.refused(act, { app_id })).toBe('not_found');
      expect(await countActs(server())).toBe(before);
      expect((await bySecret(app)).status).toBe(200);
    });

    test('has a bot that no longer works for it once it is disabled', async () => {
      const app = await register();
      await browser.ok('bots.disable', { user_id: app.botId ?? 0 });
      expect((await bySecret(app)).status).toBe(400);
    });
  });

  test('the tokens and the end of a bot are in the audit log', async () => {
    const { user_id } = (await browser.ok('bots.create', { name: 'robot' })).bot;
    await expectAct('bot_created', owner(), { bot_id: user_id, name: 'robot' });
    const scopes = ['messages:write', 'chats:read'] as const;
    const { token } = await browser.ok('bots.create_token', { user_id, name: 'deploys', scopes: [...scopes] });
    const { token_id } = token;
    await expectAct('token_created', owner(), { token_id, user_id, name: 'deploys', scopes });
    await browser.ok('bots.revoke_token', { user_id, token_id });
    await expectAct('token_revoked', owner(), { token_id, user_id, name: 'deploys' });
    await browser.ok('bots.disable', { user_id });
    await expectAct('user_disabled', owner(), { user_id, name: 'robot' });
  });

  test('the session of a browser is not revoked as a token', async () => {
    const [session] = await server().engine.all<{ token_id: number }>(
      `SELECT token_id FROM tokens WHERE kind = 'session' AND user_id = ${owner().userId}`,
    );
    expect(await browser.refused('tokens.revoke', { token_id: session?.token_id ?? 0 })).toBe('not_found');
    await browser.ok('users.me', {});
  });
});
