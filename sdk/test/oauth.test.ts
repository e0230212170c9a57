import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client as TestUser } from '@parley/server/test/support/client.ts';
import { authorizeApp, newApp, revoke, type TestApp } from '@parley/server/test/support/oauth.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { createClient, OAuthError, type OAuthTokens, type RefreshOptions, refreshingToken } from '../index.ts';

const server = serverFor('sqlite');
let ada: TestUser;
let apps: readonly TestApp[] = [];
beforeAll(async () => {
  ada = await server().user('ada');
  apps = [await newApp(server(), ada), await newApp(server(), ada, { confidential: true, name: 'Backend' })];
});

/** An app with the tokens of ada, whose refreshes are counted. */
async function authorized(which: 0 | 1 = 0, options: Partial<RefreshOptions> = {}) {
  const app = apps[which] as TestApp;
  const { access, refresh } = await authorizeApp(server(), app, ada);
  const saved: OAuthTokens[] = [];
  const urls: string[] = [];
  const token = refreshingToken({
    url: `${server().url}/api`,
    clientId: app.clientId,
    clientSecret: app.secret,
    tokens: { refreshToken: refresh },
    save: (tokens) => void saved.push(tokens),
    fetch: (url, init) => {
      urls.push(url);
      return fetch(url, init);
    },
    ...options,
  });
  return { app, access, refresh, saved, urls, token, client: createClient({ url: server().url, token }) };
}

describe('a token that refreshes itself', () => {
  test.each([0, 1] as const)(
    'is fetched with the refresh token alone, and saved before it is used (app %p)',
    async (which) => {
      const { client, saved } = await authorized(which);
      expect((await client.users.me()).user.name).toBe('ada');
      expect(saved).toHaveLength(1);
      expect(saved[0]?.expiresAt).toBeGreaterThan(Date.now() + 3_000_000);
      await client.users.me();
      expect(saved).toHaveLength(1);
    },
  );

  test('is refreshed once for calls at the same time', async () => {
    const { client, urls } = await authorized();
    await Promise.all([1, 2, 3, 4, 5].map(() => client.users.me()));
    expect(urls).toEqual([`${server().url}/oauth/token`]);
  });

  test('is refreshed when it is about to expire, each time with the newest refresh token', async () => {
    let time = Date.now();
    const { client, saved } = await authorized(0, { now: () => time });
    for (let i = 1; i <= 3; i++) {
      await client.users.me();
      expect(saved).toHaveLength(i);
      time = (saved.at(-1)?.expiresAt ?? 0) - 59_000;
    }
    expect(new Set(saved.map(({ refreshToken }) => refreshToken)).size).toBe(3);
  });

  test('is refreshed after the server has refused it', async () => {
    const { app, refresh, saved } = await authorized();
    const token = refreshingToken({
      url: server().url,
      clientId: app.clientId,
      tokens: { refreshToken: refresh, accessToken: 'oat_spent', expiresAt: Date.now() + 3_600_000 },
      save: (tokens) => void saved.push(tokens),
    });
    expect((await createClient({ url: server().url, token }).users.me()).user.name).toBe('ada');
    expect(saved).toHaveLength(1);
  });

  test('is not used before it could be saved, and not fetched again', async () => {
    let fails = true;
    const saved: OAuthTokens[] = [];
    const { client, urls } = await authorized(0, {
      save: async (tokens) => {
        if (fails) throw new Error('the disk is full');
        saved.push(tokens);
      },
    });
    await expect(client.users.me()).rejects.toThrow('the disk is full');
    fails = false;
    expect((await client.users.me()).user.name).toBe('ada');
    expect(saved).toHaveLength(1);
    expect(urls).toHaveLength(1);
  });

  test('reports that the user has revoked the authorization', async () => {
    const { app, refresh, client } = await authorized();
    await revoke(server(), app, refresh);
    const error = await client.users.me().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(OAuthError);
    expect(error).toMatchObject({ code: 'invalid_grant' });
  });

  test('reports a server that cannot be reached, and a response of something else', async () => {
    const options = { clientId: 'x', tokens: { refreshToken: 'y' }, save: () => {} };
    const away = refreshingToken({ ...options, url: 'http://127.0.0.1:9' });
    await expect(away()).rejects.toThrow('Cannot reach Parley at http://127.0.0.1:9/oauth/token');
    const other = refreshingToken({ ...options, url: 'http://x.example', fetch: async () => new Response('<html>') });
    await expect(other()).rejects.toThrow('sent no tokens: HTTP 200');
  });
});
