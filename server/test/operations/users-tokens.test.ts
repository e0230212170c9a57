import { beforeAll, describe, expect, test } from 'bun:test';
import { type Scope, scopeNames } from '@parley/contract';
import { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine, onPostgres } from '../support/engines.ts';
import { users } from '../support/people.ts';
import { serverFor, startServer } from '../support/server.ts';
import { inSession } from '../support/visitor.ts';
import { complaint, expectRefusal } from '../support/wire.ts';

onAnyEngine('users', (engine) => {
  const server = serverFor(engine);
  let root: Client;
  let ada: Client;
  beforeAll(async () => {
    root = await server().user('root', { admin: true, displayName: 'The Root' });
    ada = await server().user('ada', { displayName: 'Ada Lovelace' });
  });
  const withScopes = async (name: string, scopes: Scope[], userId: number) =>
    new Client(server().url, await server().token(name, scopes), userId);

  test('know who they are', async () => {
    const { user } = await ada.ok('users.me', {});
    expect(user).toMatchObject({ user_id: ada.userId, name: 'ada', display_name: 'Ada Lovelace', is_admin: false });
    expect((await root.ok('users.get', { user_id: ada.userId })).user).toEqual(user);
    expect((await root.ok('users.me', {})).user.is_admin).toBe(true);
  });

  test('that do not exist are not found', async () => {
    expect(await ada.refused('users.get', { user_id: 2 ** 53 - 1 })).toBe('not_found');
  });

  describe('are fetched together', () => {
    const ids = (users: { user_id: number }[] | undefined) => users?.map(({ user_id }) => user_id);

    test('by id, each once, without those that do not exist', async () => {
      const { users } = await ada.ok('users.get', { user_ids: [ada.userId, 2 ** 53 - 1, root.userId, ada.userId] });
      expect(ids(users)).toEqual([root.userId, ada.userId].sort((a, b) => a - b));
      const { user } = await ada.ok('users.get', { user_id: root.userId });
      expect(users?.find(({ user_id }) => user_id === root.userId)).toEqual(user);
      expect(await ada.ok('users.get', { user_ids: [ada.userId] })).not.toHaveProperty('user');
      expect(await ada.ok('users.get', { user_id: ada.userId })).not.toHaveProperty('users');
    });

    test('also as a JSON array, and up to 200 of them', async () => {
      const ask = async (list: number[]) => {
        const response = await fetch(`${server().url}/api/users/get?user_ids=${JSON.stringify(list)}`, {
          headers: { authorization: `Bearer ${ada.token}` },
        });
        return { status: response.status, users: ((await response.json()) as { users?: { user_id: number }[] }).users };
      };
      const some = Array.from({ length: 200 }, (_, i) => i + 1_000_000);
      expect(await ask([])).toEqual({ status: 200, users: [] });
      expect((await ask([...some.slice(1), ada.userId])).users).toHaveLength(1);
      expect((await ask([...some, ada.userId])).status).toBe(422);
    });

    test('or one is, not both and not neither', async () => {
      for (const input of [{}, { user_id: ada.userId, user_ids: [ada.userId] }, { user_ids: [0] }]) {
        expect(await ada.refused('users.get', input)).toBe('validation_failed');
      }
      const modest = await withScopes('ada', ['messages:read'], ada.userId);
      expect(await modest.refused('users.get', { user_ids: [ada.userId] })).toBe('insufficient_scope');
    });
  });

  describe('are created', () => {
    test('by administrators, with the name as the name that is shown where none is given', async () => {
      const { user } = await root.ok('users.create', { name: 'Zoe.Z-1_x' });
      expect(user).toMatchObject({ name: 'Zoe.Z-1_x', display_name: 'Zoe.Z-1_x', is_admin: false, disabled_at: null });
      expect((await ada.ok('users.get', { user_id: user.user_id })).user).toEqual(user);
      const token = await server().token('zoe.z-1_X');
      expect((await new Client(server().url, token, 0).ok('users.me', {})).user).toEqual(user);
    });

    test('by nobody else, whatever scope the token has', async () => {
      expect(await ada.refused('users.create', { name: 'nobody' })).toBe('insufficient_scope');
      expect(await ada.refused('users.disable', { user_id: root.userId })).toBe('insufficient_scope');
      const modest = await withScopes('root', ['chats:read', 'chats:write'], root.userId);
      expect(await modest.refused('users.create', { name: 'nobody' })).toBe('insufficient_scope');
    });

    test('under a name that is not taken, whatever its case', async () => {
      await root.ok('users.create', { name: 'unique' });
      for (const name of ['unique', 'UNIQUE', 'Unique']) {
        const answer = await root.call('users.create', { name });
        expect(complaint(expectRefusal(answer, 'conflict'), 'name')).toBeDefined();
      }
    });

    test('once where the name is asked for ten times at once', async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => root.call('users.create', { name: 'race' })));
      expect(answers.map((a) => a.status).sort()).toEqual([200, ...Array(9).fill(409)]);
    });

    test.each(['', ' ', 'a b', 'ä', '-a', 'a-', '.a', '@ada', 'x'.repeat(41), 'a\n', '１２'])(
      'under a name of plain letters and digits, not %j',
      async (name) => {
        const error = expectRefusal(await root.call('users.create', { name }), 'validation_failed');
        expect(complaint(error, 'name')).toBeDefined();
      },
    );

    test('with a password of ten characters or more, which is never shown', async () => {
      const short = await root.call('users.create', { name: 'short', password: '123456789' });
      expect(complaint(expectRefusal(short, 'validation_failed'), 'password')).toContain('10');
      const { status, body } = await root.call('users.create', { name: 'long', password: 'correct horse' });
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toContain('horse');
      const row = await server().engine.get<{ password_hash: string }>(
        `SELECT password_hash FROM users WHERE name = 'long'`,
      );
      expect(row?.password_hash).toStartWith('$argon2id$');
    });

    test('under an Idempotency-Key that keeps nothing from which a password could be guessed quickly', async () => {
      const input = { is_admin: false, name: 'careful', password: 'correct horse' };
      await root.ok('users.create', input, { 'idempotency-key': 'careful-1' });
      const rows = await server().engine.all<object>('SELECT * FROM idempotency');
      expect(rows.length).toBeGreaterThan(0);
      const kept = JSON.stringify(rows);
      expect(kept).not.toContain('horse');
      // A plain hash of the input would let a reader of the table guess passwords at 10^9 per second.
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        expect(kept).not.toContain(new Bun.CryptoHasher('sha256').update(JSON.stringify(input)).digest(encoding));
      }
    });

    test('as administrators where that is asked', async () => {
      const browser = await inSession(server(), root);
      const { user } = await browser.ok('users.create', { name: 'second', is_admin: true });
      expect(user.is_admin).toBe(true);
      const second = new Client(server().url, await server().token('second'), user.user_id);
      expect((await second.ok('users.create', { name: 'third' })).user.name).toBe('third');
    });
  });

  describe('are found', () => {
    test('by a part of either name, without regard to case and accents', async () => {
      await server().user('jose', { displayName: 'José Müller 李' });
      for (const query of ['jos', 'OSE', 'josé', 'muller', 'MÜLL', '李']) {
        const found = (await ada.ok('users.search', { query })).users;
        expect({ query, names: found.map((u) => u.name) }).toEqual({ query, names: ['jose'] });
      }
    });

    test('page by page', async () => {
      for (const n of [1, 2, 3, 4]) await server().user(`pager${n}`);
      const page = async (input: object) => {
        const answer = await ada.ok('users.search', { query: 'pager', ...input });
        return {
          at: answer.users.map((u) => u.name.slice(5)),
          last: answer.users.at(-1)?.user_id,
          more: answer.has_more,
        };
      };
      const first = await page({ limit: 2 });
      expect(first).toMatchObject({ at: ['1', '2'], more: true });
      expect(await page({ limit: 2, after_id: first.last })).toMatchObject({ at: ['3', '4'], more: false });
      expect(await page({ limit: 4 })).toMatchObject({ more: false });
    });

    test.each(['%', '_', "'", '\\', '!', '*'])('with a query that is taken literally: %s', async (query) => {
      await server().user(`literal-${query.charCodeAt(0)}`, { displayName: `with ${query} in it` });
      for (const { display_name } of (await ada.ok('users.search', { query })).users)
        expect(display_name).toContain(query);
      expect((await ada.ok('users.search', { query: `with ${query} in` })).users).toHaveLength(1);
    });

    test('all of them where nothing is asked, but none that is disabled', async () => {
      const { ghost } = await users(server(), 'ghost');
      const listed = async () => (await ada.ok('users.search', { limit: 200 })).users.map((u) => u.user_id as number);
      expect(await listed()).toContain(ghost.userId);
      await root.ok('users.disable', { user_id: ghost.userId });
      expect(await listed()).not.toContain(ghost.userId);
    });
  });

  describe('that are disabled', () => {
    test('can do nothing from that moment on, and what they wrote stays', async () => {
      const { temp } = await users(server(), 'temp');
      const { group } = await ada.ok('messages.create_group', { name: 'g', participants: [temp.userId] });
      const { chat_id } = group;
      const { message } = await temp.ok('messages.send_message', { chat_id, content: 'I was here' });
      const second = (await temp.ok('tokens.create', { name: 'second' })).access_token;
      const { user } = await root.ok('users.disable', { user_id: temp.userId });
      expect(user.disabled_at).not.toBeNull();
      expect(await temp.refused('users.me', {})).toBe('unauthorized');
      expect(await new Client(server().url, second, temp.userId).refused('users.me', {})).toBe('unauthorized');
      expect((await ada.ok('messages.get_messages', { chat_id })).messages).toEqual([message]);
      expect((await ada.ok('users.get', { user_id: temp.userId })).user).toEqual(user);
    });

    test('can be disabled again without any effect', async () => {
      const { temp } = await users(server(), 'temp');
      const first = await root.ok('users.disable', { user_id: temp.userId });
      expect(await root.ok('users.disable', { user_id: temp.userId })).toEqual(first);
    });

    test('are not the last administrator', async () => {
      const env = await freshEnvironment(engine);
      const own = await startServer(env);
      try {
        const one = await own.user('one', { admin: true });
        const two = await own.user('two', { admin: true });
        const answers = await Promise.all([
          one.call('users.disable', { user_id: two.userId }),
          two.call('users.disable', { user_id: one.userId }),
        ]);
        expect(answers.filter((a) => a.status === 200)).toHaveLength(1);
        const left = (await one.call('users.me', {})).status === 200 ? one : two;
        expect(await left.refused('users.disable', { user_id: left.userId })).toBe('conflict');
      } finally {
        await own.stop();
      }
    });
  });
});

onAnyEngine('tokens', (engine) => {
  let now = Date.now();
  const server = serverFor(engine, {}, { now: () => now });
  let ada: Client;
  let bob: Client;
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
  });
  const holder = (token: string) => new Client(server().url, token, 0);

  test('are shown once, and stored only as a hash', async () => {
    const { token, access_token } = await ada.ok('tokens.create', { name: 'Laptop 💻' });
    expect(access_token).toMatch(/^pat_[\w-]{43}$/);
    expect(token).toMatchObject({ name: 'Laptop 💻', expires_at: null });
    const { tokens } = await ada.ok('tokens.list', {});
    expect(tokens.map((t) => t.name)).toContain('Laptop 💻');
    expect(JSON.stringify(tokens)).not.toContain(access_token);
    const rows = await server().engine.all<object>('SELECT * FROM tokens');
    expect(JSON.stringify(rows)).not.toContain(access_token);
    expect(JSON.stringify(rows)).not.toContain(access_token.slice(4));
  });

  test('have the scopes of the one that made them, where none are named', async () => {
    const { token } = await ada.ok('tokens.create', { name: 'same' });
    expect(token.scopes).toEqual(scopeNames.filter((s) => s !== 'admin'));
    const narrow = await ada.ok('tokens.create', { name: 'narrow', scopes: ['chats:read', 'messages:read'] });
    expect(narrow.token.scopes).toEqual(['messages:read', 'chats:read']);
    const heir = await holder(narrow.access_token).ok('tokens.create', { name: 'heir' });
    expect(heir.token.scopes).toEqual(['messages:read', 'chats:read']);
  });

  test('never give a scope that they lack, nor revoke one that can do more', async () => {
    const strong = await ada.ok('tokens.create', { name: 'strong' });
    const weak = holder((await ada.ok('tokens.create', { name: 'weak', scopes: ['messages:read'] })).access_token);
    for (const scope of scopeNames.filter((s) => s !== 'messages:read')) {
      expect(await weak.refused('tokens.create', { name: 'x', scopes: ['messages:read', scope] })).toBe(
        'insufficient_scope',
      );
    }
    expect(await ada.refused('tokens.create', { name: 'x', scopes: ['admin'] })).toBe('insufficient_scope');
    expect(await weak.refused('tokens.revoke', { token_id: strong.token.token_id })).toBe('insufficient_scope');
    expect((await holder(strong.access_token).call('users.me', {})).status).toBe(200);
    const peer = await weak.ok('tokens.create', { name: 'peer' });
    await weak.ok('tokens.revoke', { token_id: peer.token.token_id });
  });

  test('are refused with scopes that do not exist, or none', async () => {
    for (const scopes of [[], ['messages:everything'], ['']]) {
      const answer = await ada.call('tokens.create', { name: 'x', scopes: scopes as never });
      expect(expectRefusal(answer, 'validation_failed').details[0]?.field).toStartWith('scopes');
    }
  });

  test('that are revoked stop at once, by whichever token, and are listed no more', async () => {
    const { token, access_token } = await ada.ok('tokens.create', { name: 'doomed' });
    const doomed = holder(access_token);
    await Promise.all(Array.from({ length: 5 }, () => doomed.ok('users.me', {})));
    const { token_id } = token;
    await ada.ok('tokens.revoke', { token_id });
    expect(await doomed.refused('users.me', {})).toBe('unauthorized');
    expect((await ada.ok('tokens.list', {})).tokens.map((t) => t.name)).not.toContain('doomed');
    expect(await ada.refused('tokens.revoke', { token_id })).toBe('not_found');
  });

  test('can revoke themselves', async () => {
    const { token, access_token } = await ada.ok('tokens.create', { name: 'self-ending' });
    await holder(access_token).ok('tokens.revoke', { token_id: token.token_id });
    expect(await holder(access_token).refused('users.me', {})).toBe('unauthorized');
  });

  test('of others can be neither seen nor revoked, and are as if they were not there', async () => {
    const { token, access_token } = await bob.ok('tokens.create', { name: 'private' });
    expect((await ada.ok('tokens.list', {})).tokens.map((t) => t.name)).not.toContain('private');
    const theirs = await ada.call('tokens.revoke', { token_id: token.token_id });
    const absent = await ada.call('tokens.revoke', { token_id: 2 ** 53 - 1 });
    expect({ ...theirs.error, request_id: '' }).toEqual({ ...absent.error, request_id: '' } as never);
    expect((await holder(access_token).call('users.me', {})).status).toBe(200);
  });

  test('expire to the second, also while they are in use', async () => {
    const { token, access_token } = await ada.ok('tokens.create', { name: 'brief', expires_in: 60 });
    const brief = holder(access_token);
    expect(Date.parse(String(token.expires_at)) - Date.parse(token.created_at)).toBe(60_000);
    now += 59_000;
    expect((await brief.call('users.me', {})).status).toBe(200);
    expect((await ada.ok('tokens.list', {})).tokens.map((t) => t.name)).toContain('brief');
    now += 999;
    expect((await brief.call('users.me', {})).status).toBe(200);
    now += 1;
    expect(await brief.refused('users.me', {})).toBe('unauthorized');
    expect((await ada.ok('tokens.list', {})).tokens.map((t) => t.name)).not.toContain('brief');
  });

  test('made by one that expires do not outlive it', async () => {
    const mortal = await ada.ok('tokens.create', { name: 'mortal', expires_in: 60 });
    for (const asked of [{}, { expires_in: 3_600 }]) {
      const { status, body } = await holder(mortal.access_token).call('tokens.create', { name: 'heir', ...asked });
      if (status !== 200) continue;
      const end = body.token.expires_at ?? 'never';
      expect({ asked, end, inTime: end <= String(mortal.token.expires_at) }).toEqual({ asked, end, inTime: true });
    }
  });
});

onPostgres('tokens on two servers', () => {
  test('a revocation on one is known to the other within two seconds', async () => {
    let now = Date.now();
    const env = await freshEnvironment('postgres');
    const runtime = { now: () => now };
    const [one, two] = [await startServer(env, runtime), await startServer(env, runtime)];
    try {
      const ada = await one.user('ada');
      const { token, access_token } = await ada.ok('tokens.create', { name: 'shared' });
      const elsewhere = new Client(two.url, access_token, ada.userId);
      expect((await elsewhere.call('users.me', {})).status).toBe(200);
      await ada.ok('tokens.revoke', { token_id: token.token_id });
      now += 2_000;
      expect(await elsewhere.refused('users.me', {})).toBe('unauthorized');
    } finally {
      await one.stop();
      await two.stop();
    }
  });
});
