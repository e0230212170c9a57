import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import {
  type Environment,
  emptyEnvironment,
  freshEnvironment,
  onAnyEngine,
} from '@parley/server/test/support/engines.ts';
import { attach, type ServerProcess, spawnServer, type TestServer } from '@parley/server/test/support/server.ts';
import { ApiError, createClient } from '@parley-chat/sdk';
import { eventually } from '../../sdk/test/eventually.ts';
import { failed, parley, said } from './parley.ts';

const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

onAnyEngine('administering beside a running server', (engine) => {
  let env: Environment = {};
  let running: ServerProcess | undefined;
  let server: TestServer | undefined;

  beforeAll(async () => {
    env = await freshEnvironment(engine);
    running = await spawnServer(env);
    server = await attach(running.url, env);
  });
  afterAll(async () => {
    await server?.stop();
    await running?.kill('SIGTERM');
  });

  const clientWith = (token: string) => createClient({ url: running?.url ?? '', token, retries: 0 });

  describe('user', () => {
    test('add tells the id in a plain line, and in JSON the whole user', async () => {
      expect(await said(['user', 'add', 'ada', '--admin'], env)).toBe('Added the administrator ada with id 1.');
      const line = await said(['user', 'add', 'bob', '--display-name', 'Bob 🎈', '--json'], env);
      expect(line).not.toContain('\n');
      expect(JSON.parse(line)).toEqual({
        user_id: 2,
        kind: 'person',
        owner_id: null,
        name: 'bob',
        display_name: 'Bob 🎈',
        status_text: '',
        time_zone: null,
        is_admin: false,
        created_at: isoTime,
        disabled_at: null,
      });
    });

    test('list shows everyone', async () => {
      const { users } = JSON.parse(await said(['user', 'list', '--json'], env));
      expect(users.map((u: { name: string }) => u.name)).toEqual(['ada', 'bob']);
      expect((await said(['user', 'list'], env)).split('\n')).toEqual([
        expect.stringMatching(/^id {2}name {2}kind {4}display name {2}since/),
        expect.stringMatching(/^1 {3}ada {3}person {2}ada {11}\d{4}-\d\d-\d\d \d\d:\d\d {2}administrator$/),
        expect.stringMatching(/^2 {3}bob {3}person {2}Bob 🎈 {8}\d{4}-\d\d-\d\d \d\d:\d\d$/),
      ]);
    });

    test('add takes a password from standard input and keeps only its hash', async () => {
      await said(['user', 'add', 'cleo', '--password-stdin'], env, 'correct horse\n');
      const row = await server?.engine.get<{ password_hash: string }>(
        `SELECT password_hash FROM users WHERE name = 'cleo'`,
      );
      expect(row?.password_hash).toStartWith('$argon2id$');
      expect(await Bun.password.verify('correct horse', row?.password_hash ?? '')).toBe(true);
    });

    test('add refuses a name that is taken, in whichever case', async () => {
      expect(await parley(['user', 'add', 'ADA'], env)).toEqual(failed(1, 'The name ADA is taken.'));
    });

    test('add refuses the same names as the API', async () => {
      const refused = await Promise.all([
        parley(['user', 'add', 'two words'], env),
        parley(['user', 'add', 'zoe', '--password', 'short'], env),
      ]);
      expect(refused).toEqual([
        failed(1, 'The name must be 1 to 40 of'),
        failed(1, 'The password must be at least 10 characters'),
      ]);
    });
  });

  describe('token', () => {
    test('create prints the token alone, and the running server takes it at once', async () => {
      const { code, stdout, stderr } = await parley(['token', 'create', 'ada'], env);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^pat_[\w-]{43}\n$/) });
      expect(stderr).toMatch(/^Token \d+ of ada, scopes: messages:read, .*admin\. It is shown only once\.\n$/);
      expect((await clientWith(stdout.trim()).users.me()).user.name).toBe('ada');
    });

    test('create gives the scopes asked for and no other, and tells them in JSON', async () => {
      const words = ['token', 'create', 'bob', '--scopes', 'messages:read,files', '--name', 'reader', '--json'];
      const { code, stdout, stderr } = await parley(words, env);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const { access_token, ...token } = JSON.parse(stdout);
      expect(token).toEqual({
        token_id: expect.any(Number),
        user_id: 2,
        name: 'reader',
        scopes: ['messages:read', 'files'],
        created_at: isoTime,
        expires_at: null,
        last_used_at: null,
      });
      expect(await codeOf(clientWith(access_token).chats.list())).toBe('insufficient_scope');
    });

    test('create refuses an unknown user, and administration by anyone', async () => {
      expect(await parley(['token', 'create', 'nobody'], env)).toEqual(failed(1, 'There is no user named nobody'));
      const refused = await parley(['token', 'create', 'bob', '--scopes', 'admin'], env);
      expect(refused).toEqual(failed(1, 'bob is not an administrator'));
    });

    test('revoke ends exactly one token, of any user', async () => {
      const kept = await server?.user('dora');
      const { token_id, access_token } = JSON.parse(await said(['token', 'create', 'dora', '--json'], env));
      const client = clientWith(access_token);
      await client.users.me();
      expect(await said(['token', 'revoke', String(token_id)], env)).toBe(`Revoked token ${token_id} (command line).`);
      const listed = await said(['token', 'list', 'dora'], env);
      expect(listed.split('\n').map((line) => line.split(/ {2,}/)[1])).toEqual(['name', 'first']);
      expect(await parley(['token', 'revoke', String(token_id)], env)).toEqual(
        failed(1, `There is no access token ${token_id}, or it is revoked already.`),
      );
      await eventually('the server notices', async () => (await codeOf(client.users.me())) === 'unauthorized');
      expect((await clientWith(kept?.token ?? '').users.me()).user.name).toBe('dora');
    });
  });
});

onAnyEngine('administering before there is a database', (engine) => {
  test('says to start the server, and creates nothing', async () => {
    const env = await emptyEnvironment(engine);
    expect(await parley(['user', 'add', 'ada'], env)).toEqual(failed(1, 'Start the server once: npm start'));
    expect(readdirSync(env.PARLEY_DATA ?? '')).toEqual([]);
  });
});

test('invalid input is refused before the database is opened', async () => {
  const refused = await Promise.all([
    parley(['user', 'add', 'ada', '--display-name', 'a\nb']),
    parley(['token', 'create', 'ada', '--scopes', 'messages:raed']),
    parley(['token', 'create', 'ada', '--name', ' ']),
  ]);
  expect(refused).toEqual([
    failed(1, 'display_name: must be a single line'),
    failed(1, 'scopes[0]: must be one of messages:read, '),
    failed(1, 'name: must not be blank'),
  ]);
});

test('an unreachable database and an invalid setting are reported in one line', async () => {
  const away = 'postgres://parley@127.0.0.1:1/parley';
  expect(await parley(['user', 'list'], { DATABASE_URL: away })).toEqual(failed(1, 'The database is unavailable'));
  expect(await parley(['user', 'list'], { DATABASE_URL: 'parley' })).toEqual(failed(1, 'DATABASE_URL must be '));
});

/** The code of the refusal that a call meets. */
async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'none';
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}
