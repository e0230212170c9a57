import { beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { TokenId } from '@parley/contract';
import { Client } from '../support/client.ts';
import { type Environment, freshEnvironment, onAnyEngine, onPostgres } from '../support/engines.ts';
import { authorizeApp, newApp, revoke, withToken } from '../support/oauth.ts';
import { users } from '../support/people.ts';
import { serverFor, startServer } from '../support/server.ts';
import { EventReader, groupOf, listen, streamUrl } from '../support/streams.ts';
import { inSession, signedIn } from '../support/visitor.ts';
import { request } from '../support/wire.ts';

const hour = 3_600_000;

/** A second token of a user. */
async function spare(
  of: Client,
  options: { expires_in?: number } = {},
): Promise<{ client: Client; token_id: TokenId }> {
  const made = await of.ok('tokens.create', { name: 'spare', ...options });
  return { client: new Client(of.url, made.access_token, of.userId), token_id: made.token.token_id };
}

/** It goes on: what happens now is told. */
async function goesOn(stream: EventReader, by: Client, chat_id: number): Promise<void> {
  const { message } = await by.ok('messages.send_message', { chat_id, content: 'still there?' });
  await stream.until('it goes on', ({ told }) => told.some(({ data }) => data.message_id === message.message_id));
  expect(stream.end).toBeUndefined();
  stream.breakOff();
}

onAnyEngine('a stream whose access has ended', (engine) => {
  // Sweeps are too rare to end a stream, so only a notification can.
  const server = serverFor(engine, {}, { sweepMs: hour });
  let root: Client;
  let ada: Client;
  let bob: Client;
  let chat_id: number;
  beforeAll(async () => {
    root = await server().user('root', { admin: true });
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
    chat_id = await groupOf(ada, bob);
  });
  const refuses = async (token: string) => {
    const { status } = await request(streamUrl(server().url), { headers: { authorization: `Bearer ${token}` } });
    expect(status).toBe(401);
  };

  const inBrowser = (session: string | undefined) =>
    EventReader.open(streamUrl(server().url), {
      Cookie: `parley_session=${session}`,
      'Sec-Fetch-Site': 'same-origin',
    });

  test('ends with its token; those with other tokens go on', async () => {
    const { client, token_id } = await spare(bob);
    const [own, other, third] = [await listen(client), await listen(bob), await listen(client, { after: 0 })];
    await bob.ok('tokens.revoke', { token_id });
    for (const stream of [own, third]) expect((await stream.untilEnded()).end).toBe('whole');
    await refuses(client.token);
    await goesOn(other, ada, chat_id);
  });

  test('ends with the token that made its token', async () => {
    const { client, token_id } = await spare(bob);
    const { client: child } = await spare(client);
    const stream = await listen(child);
    await bob.ok('tokens.revoke', { token_id });
    await stream.untilEnded();
  });

  test('ends with the user', async () => {
    const { cleo } = await users(server(), 'cleo');
    const { client } = await spare(cleo);
    const streams = [await listen(cleo), await listen(client)];
    const other = await listen(bob);
    await root.ok('users.disable', { user_id: cleo.userId });
    for (const stream of streams) await stream.untilEnded();
    await goesOn(other, ada, chat_id);
  });

  test('ends with the browser’s session; other sessions and tokens go on', async () => {
    const [visitor, elsewhere] = [await signedIn(server(), bob), await signedIn(server(), bob)];
    const streams = [await inBrowser(visitor.session), await inBrowser(elsewhere.session), await listen(bob)];
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await visitor.post('/sign-out')).status).toBe(303);
    await streams[0]?.untilEnded();
    for (const stream of streams.slice(1)) await goesOn(stream, ada, chat_id);
  });

  test('ends with a session that is signed out in another browser', async () => {
    const [away, here] = [await signedIn(server(), bob), await signedIn(server(), bob)];
    const [lost, kept] = [await inBrowser(away.session), await inBrowser(here.session)];
    const [row] = await server().engine.all<{ token_id: number }>(
      'SELECT max(token_id) - 1 AS token_id FROM tokens WHERE user_id = $1',
      [bob.userId],
    );
    expect((await here.post(`/sessions/${row?.token_id}/sign-out`)).status).toBe(303);
    await lost.untilEnded();
    await goesOn(kept, ada, chat_id);
  });

  test('ends with what an app was granted, by its user or by itself', async () => {
    const app = await newApp(server(), ada);
    const scopes = ['messages:read'] as const;
    const own = await listen(bob);
    const first = await listen(withToken(server(), (await authorizeApp(server(), app, bob, { scopes })).access));
    await (await inSession(server(), bob)).ok('apps.revoke_access', { app_id: app.appId });
    await first.untilEnded();
    const { access } = await authorizeApp(server(), app, bob, { scopes });
    const second = await listen(withToken(server(), access));
    expect((await revoke(server(), app, access)).status).toBe(200);
    await second.untilEnded();
    await goesOn(own, ada, chat_id);
  });

  test('ends also where that happens while it is being opened', async () => {
    for (let i = 0; i < 25; i++) {
      const { client, token_id } = await spare(bob);
      // It is known by now, so that the stream is under way when it is revoked.
      await client.ok('users.me', {});
      const asked = EventReader.open(streamUrl(client.url, { after: 0, chat_id }), {
        Authorization: `Bearer ${client.token}`,
      });
      await Bun.sleep(Math.random() * 3);
      await bob.ok('tokens.revoke', { token_id });
      const stream = await asked;
      if (stream.status === 200) await stream.untilEnded();
      else expect(stream.status).toBe(401);
      stream.breakOff();
    }
  });
});

onAnyEngine('a stream whose access expires', (engine) => {
  const quietMs = 20;
  let now = Date.now();
  let monotonic = 0;
  const server = serverFor(engine, {}, { now: () => now, monotonic: () => monotonic, quietMs, sweepMs: hour });

  test('ends then, and not before', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const chat_id = await groupOf(ada, bob);
    const { client } = await spare(bob, { expires_in: 3_600 });
    const [expiring, lasting] = [await listen(client), await listen(bob)];
    now += hour - 1;
    monotonic += quietMs;
    // The expiry is checked in the same turn.
    await expiring.until('a sign of life', ({ frames }) => frames.length > 1);
    now += 1;
    await expiring.untilEnded();
    await goesOn(lasting, ada, chat_id);
  });
});

const commandLine = join(import.meta.dir, '../../../cli/main.ts');

/** Runs a command beside a running server. */
async function parley(env: Environment, ...words: string[]): Promise<void> {
  const child = Bun.spawn([process.execPath, commandLine, ...words], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const said = await new Response(child.stderr).text();
  expect({ code: await child.exited, said }).toEqual({ code: 0, said: expect.any(String) });
}

describe('a stream whose access another process has ended, which nobody tells', () => {
  const sweepMs = 50;

  onAnyEngine('the command line', (engine) => {
    const server = serverFor(engine, {}, { sweepMs });

    test('ends, and those of others go on', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const chat_id = await groupOf(ada, bob);
      const { client, token_id } = await spare(bob);
      const [ended, other] = [await listen(client), await listen(bob)];
      await parley(server().env, 'token', 'revoke', String(token_id));
      await ended.untilEnded();
      await goesOn(other, ada, chat_id);
    });
  });

  onPostgres('another server without NATS', () => {
    test('ends, and events of the other process arrive here', async () => {
      const env = { ...(await freshEnvironment('postgres')), PARLEY_SECRET_KEY: 'ab'.repeat(32) };
      const here = await startServer(env, { sweepMs });
      const there = await startServer(env, { sweepMs });
      const { ada, bob } = await users(there, 'ada', 'bob');
      const chat_id = await groupOf(ada, bob);
      const { client, token_id } = await spare(bob);
      const [ended, other] = [
        await listen({ url: here.url, token: client.token }),
        await listen({ url: here.url, token: bob.token }),
      ];
      await bob.ok('tokens.revoke', { token_id });
      await ended.untilEnded();
      await goesOn(other, ada, chat_id);
      await Promise.all([here.stop(), there.stop()]);
    });
  });
});
