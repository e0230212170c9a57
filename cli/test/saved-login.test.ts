import { describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endGrants } from '@parley/server/auth/grants.ts';
import { endWithUs } from '@parley/server/test/support/cleanup.ts';
import { accessOf } from '@parley/server/test/support/oauth.ts';
import { serverFor, type TestServer } from '@parley/server/test/support/server.ts';
import { eventually } from '../../sdk/test/eventually.ts';
import { type Fault, FlakyProxy, refusal } from '../../sdk/test/flaky.ts';
import { CredentialsFile, findLogin } from '../login/credentials.ts';
import { TestContext } from './context.ts';
import { Listener } from './listener.ts';
import { future, kept, keptFile, past, type SignedIn, signedIn, signInAs, tamper } from './login.ts';
import { failed, parley, said } from './parley.ts';
import { RunningCommand } from './running-command.ts';

// It looks every so often whether the access under a stream has ended.
const server = serverFor('sqlite', {}, { sweepMs: 100 });

/** The refresh tokens of a user's authorizations, the first first: whether each was used. */
async function refreshTokensOf({ engine }: TestServer, userId: number): Promise<('used' | 'unused')[]> {
  const rows = await engine.all<{ used_at: number | null }>(
    `SELECT r.used_at FROM refresh_tokens r JOIN grants g ON g.grant_id = r.grant_id
     WHERE g.user_id = $1 ORDER BY r.used_at IS NULL, r.used_at`,
    [userId],
  );
  return rows.map(({ used_at }) => (used_at === null ? 'unused' : 'used'));
}

/** Keeps an access token that the server does not take, though it looks good for a while yet. */
const spoil = ({ env }: Pick<SignedIn, 'env'>) => tamper(env, { access_token: 'oat_ended', expires_at: future });

/** Lets the access tokens of a user end, and with them the stream under them; answers when others are in use. */
async function expire({ userId }: { userId: number }): Promise<void> {
  const { length } = await refreshTokensOf(server(), userId);
  await server().engine.run(`UPDATE tokens SET expires_at = 1 WHERE user_id = $1 AND kind = 'oauth'`, [userId]);
  await eventually('the next ones', async () => (await refreshTokensOf(server(), userId)).length > length);
}

const endAccess = (user: { userId: number }) =>
  endGrants(accessOf(server()), {
    userId: user.userId as never,
    which: { userId: user.userId as never, appId: 1 },
    actor: { userId: null, appId: 0, address: null },
    act: 'access_revoked',
    details: {},
  });

/** Somebody who is signed in through a proxy, where requests meet these faults. */
async function behind(...faults: Fault[]) {
  const proxy = new FlakyProxy(server().url, faults);
  const url = await proxy.start();
  const someone = await signedIn(server(), url);
  return { ...someone, proxy, [Symbol.dispose]: () => proxy.stop() };
}

/** As long as it takes somebody to get the same who does not have to wait. */
async function aWhile(): Promise<void> {
  const { env } = await signedIn(server());
  tamper(env, { expires_at: past });
  await said(['whoami'], env);
}

describe('an access token that is about to end', () => {
  test('is replaced before it is used', async () => {
    const { env, name, user } = await signedIn(server());
    const before = kept(env);
    const since = Date.now();
    tamper(env, { expires_at: since + 30_000 });
    expect(await said(['whoami'], env)).toStartWith(name);
    const after = kept(env);
    expect(after.access_token).not.toBe(before.access_token);
    expect(after.refresh_token).not.toBe(before.refresh_token);
    expect(after.expires_at).toBeGreaterThan(since + 3_000_000);
    expect(after).toMatchObject({ user_id: user.userId, name, scopes: before.scopes });
  });

  test('is refreshed once by concurrent commands, which all use the result', async () => {
    using someone = await behind('none', 'hold');
    const { env, user, proxy } = someone;
    tamper(env, { expires_at: past });
    const running = Array.from({ length: 5 }, () => parley(['whoami', '--json'], env));
    await eventually('the first of them', () => proxy.holds);
    await aWhile();
    proxy.release();
    const outcomes = await Promise.all(running);
    expect(outcomes.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      outcomes.map(() => ({ code: 0, stderr: '' })),
    );
    expect(outcomes.map(({ stdout }) => JSON.parse(stdout).user_id)).toEqual(outcomes.map(() => user.userId));
    expect(await refreshTokensOf(server(), user.userId)).toEqual(['used', 'unused']);
  });

  test('is replaced once by many calls of one process', async () => {
    const { env, user } = await signedIn(server());
    tamper(env, { expires_at: past });
    const login = findLogin(new CredentialsFile({ url: server().url }, env), new TestContext());
    const tokens = await Promise.all(Array.from({ length: 5 }, () => login?.token()));
    expect(tokens).toEqual(tokens.map(() => kept(env).access_token));
    expect(await refreshTokensOf(server(), user.userId)).toEqual(['used', 'unused']);
  });

  test('is left alone while it is good', async () => {
    const { env, user } = await signedIn(server());
    await said(['whoami'], env);
    expect(await refreshTokensOf(server(), user.userId)).toEqual(['unused']);
  });
});

describe('an access token that the server refuses', () => {
  test('is replaced, and the call is made again', async () => {
    const someone = await signedIn(server());
    spoil(someone);
    const { group } = await someone.user.ok('messages.create_group', { name: 'Launch', participants: [] });
    expect(await said(['send', String(group.chat_id), 'once'], someone.env)).toStartWith('Sent message ');
    const { messages } = await someone.user.ok('messages.get_messages', { chat_id: group.chat_id });
    expect(messages.map(({ content }) => content)).toEqual(['once']);
    expect(await refreshTokensOf(server(), someone.user.userId)).toEqual(['used', 'unused']);
  });

  test('is replaced once by many', async () => {
    const someone = await signedIn(server());
    spoil(someone);
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => parley(['whoami'], someone.env)));
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(await refreshTokensOf(server(), someone.user.userId)).toEqual(['used', 'unused']);
  });

  test('with a revoked grant is removed, and the command says to sign in again', async () => {
    const { env, user } = await signedIn(server());
    await endAccess(user);
    const ended = `Your sign-in at ${server().url} has ended. Sign in again with: npx parley login`;
    expect(await parley(['whoami'], env)).toEqual(failed(1, ended));
    expect(keptFile(env)).toBeUndefined();
    expect(await parley(['whoami'], env)).toEqual(failed(1, `You are not signed in at ${server().url}.`));
  });
});

describe('trouble while it is replaced', () => {
  test.each([
    ['a broken connection', 3, 'drop'],
    ['a server in trouble', 3, refusal(503, 'unavailable')],
    ['a server that asks for patience', 3, { status: 429, body: '{"error":"temporarily_unavailable"}' }],
    ['a proxy with a page of its own', 3, { status: 502, body: '<h1>Bad Gateway</h1>' }],
    ['an answer that is none', 1, { status: 200, body: '{}' }],
  ] as const)('loses nothing: %s', async (_, attempts, fault) => {
    // Before each attempt the server is asked to describe itself.
    using someone = await behind(...Array.from({ length: attempts }, () => ['none' as const, fault]).flat());
    const { env, name, proxy } = someone;
    tamper(env, { expires_at: past });
    const before = readFileSync(keptFile(env) ?? '', 'utf8');
    expect(await parley(['whoami'], env)).toMatchObject({ code: 1, stderr: expect.stringMatching(/^[^\n]+\n$/) });
    expect(proxy.seen.filter(({ url }) => url === '/oauth/token')).toHaveLength(attempts);
    expect(readFileSync(keptFile(env) ?? '', 'utf8')).toBe(before);
    expect(await said(['whoami'], env)).toStartWith(name);
  });

  test('is kept if the server cannot be reached', async () => {
    const someone = await behind();
    tamper(someone.env, { expires_at: past });
    const before = readFileSync(keptFile(someone.env) ?? '', 'utf8');
    someone.proxy.stop();
    expect(await parley(['whoami'], someone.env)).toEqual(failed(1, 'Cannot reach Parley at '));
    expect(readFileSync(keptFile(someone.env) ?? '', 'utf8')).toBe(before);
  });

  test('a signal during a refresh ends the command after the new tokens are saved', async () => {
    using someone = await behind('none', 'hold');
    const { env, proxy, name } = someone;
    tamper(env, { expires_at: past });
    const before = kept(env);
    const whoami = new RunningCommand(['whoami'], { env });
    await eventually('the request', () => proxy.holds);
    whoami.signal('SIGINT');
    proxy.release();
    expect(await whoami.status).toBe('SIGINT');
    expect(kept(env).refresh_token).not.toBe(before.refresh_token);
    expect(whoami.stdout).toBe('');
    expect(await said(['whoami'], env)).toStartWith(name);
  });
});

describe('the holder of the lock', () => {
  test('and is killed does not keep the others from it', async () => {
    const { env, name } = await signedIn(server());
    tamper(env, { expires_at: past });
    const lock = (keptFile(env) ?? '').replace(/json$/, 'lock');
    const script = `
      const { withLock } = await import(${JSON.stringify(join(import.meta.dir, '../lock.ts'))});
      await withLock(${JSON.stringify(lock)}, async () => { console.log('held'); await Bun.sleep(600_000); });`;
    const holder = Bun.spawn([process.execPath, '--eval', script], { stdout: 'pipe' });
    endWithUs(holder);
    for await (const _ of holder.stdout) break;
    const waiting = new RunningCommand(['whoami'], { env });
    const before = kept(env);
    await aWhile();
    expect(kept(env)).toEqual(before);
    holder.kill('SIGKILL');
    const { code, stdout } = await waiting.end();
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`${name} (id `) });
  });
});

describe('listen', () => {
  async function listening(someone: SignedIn) {
    const { group } = await someone.user.ok('messages.create_group', { name: 'Launch', participants: [] });
    const listener = await Listener.start(['--events', 'new_message', '--json'], someone.env);
    const send = (content: string) => someone.user.ok('messages.send_message', { chat_id: group.chat_id, content });
    return { listener, send, [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose]() };
  }

  test('lives through the end of its access token, known beforehand or not', async () => {
    const someone = await signedIn(server());
    await using running = await listening(someone);
    const { listener, send } = running;
    tamper(someone.env, { expires_at: past });
    await expire(someone.user);
    await send('one');
    await listener.prints(1);
    spoil(someone);
    await expire(someone.user);
    await send('two');
    const lines = await listener.prints(2);
    expect(lines.map((line) => JSON.parse(line).data.content)).toEqual(['one', 'two']);
    expect(await refreshTokensOf(server(), someone.user.userId)).toEqual(['used', 'used', 'unused']);
    expect(listener.stderr.split('\n')).toHaveLength(2);
    expect(await listener.stop()).toBe(0);
  });

  test('ends with a plain line when one signs out meanwhile', async () => {
    const someone = await signedIn(server());
    await using running = await listening(someone);
    await said(['logout'], someone.env);
    await running.listener.says(
      `You are no longer signed in at ${server().url}. Sign in again with: npx parley login\n`,
    );
    expect(await running.listener.command.status).toBe(1);
  });

  test('does not go on as somebody else who signs in meanwhile', async () => {
    const someone = await signedIn(server());
    await using running = await listening(someone);
    const other = await server().user(`${someone.name}-friend`);
    await signInAs(server(), other, someone.env);
    await running.listener.says(`${someone.name}-friend has signed in at ${server().url} meanwhile.\n`);
  });
});

test('a damaged login is reported, and signing in again replaces it', async () => {
  const { env, user, name } = await signedIn(server());
  const file = keptFile(env) ?? '';
  for (const damage of ['', '{', 'null', '{"access_token":"oat_x"}']) {
    writeFileSync(file, damage);
    expect(await parley(['whoami'], env)).toEqual(
      failed(1, `${file} is damaged. Sign in again with: npx parley login`),
    );
  }
  await signInAs(server(), user, env);
  expect(await said(['whoami'], env)).toStartWith(name);
});
