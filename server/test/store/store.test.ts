import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ChatId, MessageId } from '@parley/contract';
import { readSettings } from '../../config.ts';
import { insertUser } from '../../store/access/users.ts';
import type { Engine } from '../../store/engine/engine.ts';
import { newestVersion, SchemaError } from '../../store/engine/migrate.ts';
import { openAsGuest, openStore } from '../../store/engine/open.ts';
import {
  type EngineName,
  type Environment,
  emptyEnvironment,
  freshEnvironment,
  onBothEngines,
  onPostgres,
} from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { eventsAfter, users } from '../support/people.ts';
import { startServer } from '../support/server.ts';

const open = (env: Environment): Promise<Engine> => openStore(readSettings(env), Date.now);

function storeFor(engine: EngineName): () => Engine {
  let store: Engine | undefined;
  beforeAll(async () => {
    store = await open(await freshEnvironment(engine));
  });
  afterAll(() => store?.close());
  return () => {
    if (!store) throw new Error('the store has not been opened yet');
    return store;
  };
}

const newUser = (name: string) => ({ name, displayName: name, isAdmin: false, passwordHash: null, at: 0 });
const countUsers = async (store: Engine) => (await store.get<{ n: number }>('SELECT count(*) AS n FROM users'))?.n;

/** Texts in many scripts, and texts that break careless code. */
const scripts: Record<string, string> = {
  Latin: 'Þingvellir, Łódź, Nuuk',
  'right to left': 'שלום עולם, مرحبا بالعالم',
  'both directions': 'abc \u202bעברית\u202c 123 \u200fعربي\u200e xyz \u2067x\u2069',
  'vowel points': 'בְּרֵאשִׁית مُحَمَّد',
  'combining marks': 'e\u0301 \u0065\u0301\u0323 Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!͖̬̰̙̗̿̋ͥͥ̂ͣ̐́́͜͞',
  'composed and decomposed': '\u00e9 is not e\u0301, \u212b is not \u00c5',
  Chinese: '你好，世界。𠮷野家 𪚥',
  Japanese: 'こんにちは、ｶﾀｶﾅ が\u3099',
  Korean: '안녕하세요 \u1112\u1161\u11ab',
  Devanagari: 'नमस्ते क्षत्रिय',
  Thai: 'สวัสดีชาวโลก กำ',
  Ethiopic: 'ሰላም ልዑል',
  'beyond the BMP': '𝕳𝖊𝖑𝖑𝖔 𐍈 𓀀 𝄞 \u{10fffd}',
  emoji: '👩🏽‍🚀👨‍👩‍👧‍👦🏳️‍🌈🇨🇦1️⃣❤️‍🔥',
  'line ends': 'one\ntwo\r\nthree\rfour\u2028five\u2029six\u0085seven',
  'control characters': 'a\u0001b\u0007c\u001bd\u007fe\tf',
  quotes: `'single' "double" \`back\` “curly” ''two''`,
  backslashes: '\\ \\\\ \\n \\u0041 \\x41 C:\\new\\table',
  'percent signs': '% %% %s %d %20 _ !% !_ ',
  SQL: `'; DROP TABLE messages; -- $1 ?1 :name @x {} [] /* */`,
  JSON: '{"a": [1, null, "\\u0000"], "b": "\\ud83d\\ude00"} <script>&amp;</script>',
  'not quite blanks': '\u00a0\u200b\u2060\ufeffx\u00ad\u034f',
  noncharacters: '\ufffe\uffff\u{1ffff} \ufffd \ue000',
  'blanks around': '  \n x \n  ',
};

onBothEngines('the store', (engine) => {
  const store = storeFor(engine);

  describe('a write', () => {
    test('that throws leaves nothing behind, and the next one works', async () => {
      const before = await countUsers(store());
      const failing = store().write(async (tx) => {
        await insertUser(tx, newUser('rolled-back'));
        await tx.takeIds({ messages: 3, events: 3 });
        await tx.run('UPDATE cursors SET event_id = 77');
        expect(await tx.get('SELECT 1 AS seen FROM users WHERE name = $1', ['rolled-back'])).toBeDefined();
        throw new Error('changed my mind');
      });
      await expect(failing).rejects.toThrow('changed my mind');
      expect(await countUsers(store())).toBe(before ?? -1);
      expect(await store().all('SELECT event_id FROM cursors WHERE event_id = 77')).toEqual([]);
      await store().write((tx) => insertUser(tx, newUser('kept')));
      expect(await countUsers(store())).toBe((before ?? 0) + 1);
    });

    test('with a failed statement leaves nothing behind, even with others running beside it', async () => {
      const before = await countUsers(store());
      const failing = store().write(async (tx) => {
        await insertUser(tx, newUser('collateral'));
        await Promise.all([
          tx.run('INSERT INTO tokens (user_id, name, hash, scopes, created_at) VALUES ($1, $2, $3, $4, $5)', [
            999_999,
            'x',
            'x',
            '',
            0,
          ]),
          tx.all('SELECT * FROM users'),
        ]);
      });
      await expect(failing).rejects.toThrow();
      expect(await countUsers(store())).toBe(before ?? -1);
      await store().write((tx) => insertUser(tx, newUser('collateral')));
    });

    test('is invisible to others until it is committed', async () => {
      const seen: unknown[] = [];
      const look = async () =>
        seen.push(await store().get('SELECT 1 AS there FROM users WHERE name = $1', ['halfway']));
      await store().write(async (tx) => {
        await insertUser(tx, newUser('halfway'));
        await look();
      });
      await look();
      expect(seen).toEqual([undefined, { there: 1 }]);
    });

    test('sees all earlier commits, with 40 concurrent counters', async () => {
      await store().write((tx) => tx.run(`INSERT INTO cursors (name, event_id) VALUES ('count', 0)`));
      await Promise.all(
        Array.from({ length: 40 }, () =>
          store().write(async (tx) => {
            await tx.lockChat(1);
            const row = await tx.get<{ event_id: number }>(`SELECT event_id FROM cursors WHERE name = 'count'`);
            await Bun.sleep(0);
            await tx.run(`UPDATE cursors SET event_id = $1 WHERE name = 'count'`, [(row?.event_id ?? 0) + 1]);
          }),
        ),
      );
      expect(await store().get(`SELECT event_id FROM cursors WHERE name = 'count'`)).toEqual({ event_id: 40 });
    });

    test('is exclusive under its keys, in whatever order they are given', async () => {
      let inside = 0;
      const keys = ['a', 'b', 'c', 'd'];
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          store().write(async (tx) => {
            await tx.lockKeys(i % 2 ? keys : [...keys].reverse());
            expect(++inside).toBe(1);
            await Bun.sleep(1);
            inside--;
          }),
        ),
      );
    });

    test('returns how many rows a statement changed', async () => {
      await store().write(async (tx) => {
        await tx.run(`INSERT INTO cursors (name, event_id) VALUES ('x1', 5), ('x2', 5)`);
        expect(await tx.run('UPDATE cursors SET event_id = 6 WHERE event_id = 5')).toBe(2);
        expect(await tx.run('UPDATE cursors SET event_id = 6 WHERE event_id = 5')).toBe(0);
        expect(await tx.run('DELETE FROM cursors WHERE event_id = 6')).toBe(2);
      });
    });
  });

  describe('ids', () => {
    test('rise strictly over 60 concurrent writers, and are unique', async () => {
      const given: { messages: number[]; events: number[] }[] = [];
      await Promise.all(
        Array.from({ length: 60 }, (_, i) =>
          store().write(async (tx) => {
            const ids = await tx.takeIds({ messages: i % 4, events: (i % 4) + 1 });
            expect(ids.messages).toHaveLength(i % 4);
            expect(ids.events).toHaveLength((i % 4) + 1);
            given.push({ messages: ids.messages, events: ids.events });
          }),
        ),
      );
      for (const kind of ['messages', 'events'] as const) {
        const ids = given.flatMap((g) => g[kind]);
        expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
      }
    });

    test('are none if none are taken', async () => {
      expect(await store().write((tx) => tx.takeIds({ messages: 0, events: 0 }))).toEqual({ messages: [], events: [] });
    });
  });

  describe('rows passed as a parameter', () => {
    const columns = { id: 'int', label: 'text', other: 'int' } as const;
    const select = (rows: unknown[]) =>
      store().all(`SELECT id, label, other FROM ${store().dialect.rows('$1', columns, 'r')} ORDER BY id`, [
        JSON.stringify(rows),
      ]);

    /** Skips the row with the id of the second parameter, and adds the first parameter to the others. */
    const statement = {
      columns,
      statements: [
        (source: string) =>
          `SELECT x.id, x.label, x.other, CAST($1 AS text) AS extra FROM ${source} AS x WHERE x.id <> $2`,
      ],
    };
    type Passed = { id: number; label: string | null; other: number | null; extra: string };
    const pass = async (rows: [number, string | null, number | null][]) => {
      const answered = await store().write((tx) => tx.bulk<Passed>(statement, rows, ["it's $3", 4]));
      return answered.sort((a, b) => a.id - b.id).map((r) => [r.id, r.label, r.other, r.extra]);
    };

    test('may be none', async () => {
      expect(await select([])).toEqual([]);
      expect(await pass([])).toEqual([]);
    });

    test('may hold nulls, and missing fields are null', async () => {
      expect(await select([{ id: 1, label: null, other: null }, { id: 2 }, { id: 3, label: '', other: 0 }])).toEqual([
        { id: 1, label: null, other: null },
        { id: 2, label: null, other: null },
        { id: 3, label: '', other: 0 },
      ]);
    });

    test('may hold numbers up to 2^53 - 1 and text of every script', async () => {
      const rows = Object.values(scripts).map((label, id) => ({ id, label, other: Number.MAX_SAFE_INTEGER - id }));
      expect(await select(rows)).toEqual(rows);
      const numbers = [
        0,
        -1,
        2 ** 31 - 1,
        2 ** 31,
        2 ** 32,
        2 ** 52 + 1,
        Number.MAX_SAFE_INTEGER,
        -Number.MAX_SAFE_INTEGER,
      ];
      const given = numbers.map((other, id) => ({ id, label: null, other }));
      expect(await select(given)).toEqual(given);
    });

    test('reach a bulk statement in any number, after its own parameters', async () => {
      const texts = Object.values(scripts);
      for (const count of [1, 2, 3, 7, 8, 9, 31, 33, 64, 65, 100, 257, 1_000]) {
        const rows = Array.from({ length: count }, (_, id): [number, string | null, number | null] => [
          id,
          id % 5 ? (texts[id % texts.length] ?? '') : null,
          id % 3 ? Number.MAX_SAFE_INTEGER - id : null,
        ]);
        expect(await pass(rows)).toEqual(rows.filter(([id]) => id !== 4).map((row) => [...row, "it's $3"]));
      }
    });
  });

  test('parameters arrive as they were given, whatever their width', async () => {
    for (const value of [0, 1, -1, 127, 128, 32_768, 2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
      expect(await store().get('SELECT CAST($1 AS bigint) AS value', [value])).toEqual({ value });
    }
    for (const value of Object.values(scripts)) {
      expect(await store().get('SELECT CAST($1 AS text) AS value', [value])).toEqual({ value });
    }
    expect(await store().get('SELECT CAST($1 AS text) AS value', [null])).toEqual({ value: null });
    expect(await store().get('SELECT 1 AS one WHERE 1 = $1', [2])).toBeUndefined();
  });
});

/** Moves all ids ahead, as a restored backup does. */
async function skipAhead(store: Engine, to: number): Promise<void> {
  await store.write(async (tx) => {
    for (const [table, column] of [
      ['users', 'user_id'],
      ['tokens', 'token_id'],
      ['chats', 'chat_id'],
    ] as const) {
      await (tx.dialect.name === 'sqlite'
        ? tx.run('INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)', [table, to])
        : tx.get(`SELECT setval(pg_get_serial_sequence('${table}', '${column}'), $1)`, [to]));
    }
    for (const kind of ['message', 'event']) {
      await (tx.dialect.name === 'sqlite'
        ? tx.run('UPDATE id_counters SET last_id = $2 WHERE name = $1', [`${kind}s`, to])
        : tx.get(`SELECT setval('${kind}_ids', $1)`, [to]));
    }
  });
}

onBothEngines('a service with high ids', (engine) => {
  for (const [what, start] of [
    ['above 2^31', 2 ** 31 + 7],
    ['above 2^32', 2 ** 32 + 7],
    ['near 2^53', Number.MAX_SAFE_INTEGER - 1_000],
  ] as const) {
    test(`works with ids ${what}`, async () => {
      const env = await freshEnvironment(engine);
      const store = await open(env);
      await skipAhead(store, start);
      await store.close();
      const server = await startServer(env);
      try {
        const { ada, bob, cleo } = await users(server, 'ada', 'bob', 'cleo');
        expect([ada, bob, cleo].map((c) => c.userId)).toEqual([start + 1, start + 2, start + 3]);
        const { group } = await ada.ok('messages.create_group', { name: 'Far', participants: [bob.userId] });
        const { chat_id } = group;
        expect(chat_id).toBe((start + 1) as ChatId);
        const { message } = await ada.ok('messages.send_message', { chat_id, content: 'far away' });
        const { message_id } = message;
        expect(message_id).toBe((start + 1) as MessageId);
        const reply = await bob.ok('messages.send_message', { chat_id, content: 'very far', reply_to: message_id });
        expect(reply.message.reply_to).toBe(message_id);
        await bob.ok('messages.add_reaction', { message_id, emoji: '🚀' });
        await ada.ok('messages.edit_message', { message_id, content: 'far out' });
        await ada.ok('chats.add_participants', { chat_id, participants: [cleo.userId] });
        await ada.ok('chats.set_role', { chat_id, user_id: cleo.userId, role: 'admin' });
        await cleo.ok('chats.leave', { chat_id });
        const { chat } = await ada.ok('messages.create_direct', { user_id: bob.userId });
        expect((await bob.ok('messages.create_direct', { user_id: ada.userId })).chat.chat_id).toBe(chat.chat_id);
        const { read } = await bob.ok('messages.mark_read', { chat_id, message_id });
        expect(read).toEqual({ chat_id, last_read_id: message_id, unread_count: 0 });
        const listed = await bob.ok('messages.get_messages', { chat_id, after_id: message_id - 1, limit: 1 });
        expect(listed).toMatchObject({ has_more: true, messages: [{ message_id, content: 'far out', chat_id }] });
        expect(listed.messages[0]?.reactions).toEqual([{ emoji: '🚀', count: 1, reacted: true }]);
        const seen = await eventsAfter(bob, start);
        expect(seen.map((e) => e.event_id as number)).toEqual(seen.map((_, i) => start + 1 + i));
        const found = await eventually('the message can be found', async () => {
          const { messages } = await bob.ok('messages.search_messages', { query: 'far', chat_id });
          return messages.length === 2 ? messages : undefined;
        });
        expect(found.map((m) => m.message_id as number)).toEqual([start + 2, start + 1]);
        const { token } = await ada.ok('tokens.create', { name: 'x' });
        await ada.ok('tokens.revoke', { token_id: token.token_id });
        expect((await ada.ok('chats.list', {})).chats.map((c) => c.chat_id as number)).toEqual([start + 1, start + 2]);
        await ada.ok('messages.delete_message', { message_id });
      } finally {
        await server.stop();
      }
    });
  }
});

onBothEngines('every script', (engine) => {
  test.each(Object.entries(scripts))('%s is returned unchanged everywhere', async (_, text) => {
    const server = shared();
    const { ada } = await users(server, 'ada');
    const created = await ada.ok('messages.create_group', { name: 'Texts', description: text, participants: [] });
    expect(created.group.description).toBe(text);
    const { chat_id } = created.group;
    const { message } = await ada.ok('messages.send_message', { chat_id, content: text });
    const { message_id } = message;
    expect(message.content).toBe(text);
    expect((await ada.ok('messages.get_message', { message_id })).message).toEqual(message);
    expect((await ada.ok('messages.get_messages', { chat_id })).messages).toEqual([message]);
    await ada.ok('messages.edit_message', { message_id, content: `${text}!` });
    await ada.ok('messages.add_reaction', { message_id, emoji: 'x' });
    expect((await ada.ok('messages.get_messages', { chat_id })).messages[0]?.content).toBe(`${text}!`);
    const [, sent, edited] = await eventsAfter(ada, 0, { chat_id });
    expect(sent?.data.content).toBe(text);
    expect(edited?.data).toMatchObject({ content: `${text}!`, previous_content: text });
    const row = await server.engine.get<{ body: string }>('SELECT body FROM events WHERE event_id = $1', [
      sent?.event_id ?? 0,
    ]);
    const { event_id: __, ...body } = sent ?? { event_id: 0 };
    expect(row?.body).toBe(JSON.stringify(body));
  });

  let server: Awaited<ReturnType<typeof startServer>> | undefined;
  const shared = () => {
    if (!server) throw new Error('the server has not been started yet');
    return server;
  };
  beforeAll(async () => {
    server = await startServer(await freshEnvironment(engine));
  });
  afterAll(() => server?.stop());
});

onBothEngines('opening the store', (engine) => {
  test('again finds everything as it was', async () => {
    const env = await emptyEnvironment(engine);
    const first = await open(env);
    await first.write((tx) => insertUser(tx, newUser('lasting')));
    const { events } = await first.write((tx) => tx.takeIds({ messages: 0, events: 5 }));
    await first.close();
    const second = await open(env);
    expect(await countUsers(second)).toBe(1);
    const later = await second.write((tx) => tx.takeIds({ messages: 0, events: 1 }));
    expect(later.events[0]).toBeGreaterThan(events.at(-1) ?? 0);
    await second.close();
  });

  test('fails with one line if a newer Parley has migrated it, for servers and guests', async () => {
    const env = await emptyEnvironment(engine);
    const store = await open(env);
    await store.run('INSERT INTO schema_versions (version, applied_at) VALUES ($1, 0)', [newestVersion + 1]);
    await store.close();
    for (const attempt of [() => open(env), () => openAsGuest(readSettings(env))]) {
      const refusal = await attempt().then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(refusal).toBeInstanceOf(SchemaError);
      expect((refusal as Error).message).toContain(String(newestVersion + 1));
      expect((refusal as Error).message).not.toContain('\n');
    }
  });

  test('as a guest fails without a database, and says to start the server first', async () => {
    const env = await emptyEnvironment(engine);
    const refusal = await openAsGuest(readSettings(env)).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(SchemaError);
    expect((refusal as Error).message).toContain('Start the server');
    expect((refusal as Error).message).not.toContain('\n');
  });
});

onPostgres('opening the store', () => {
  test('20 times at once on an empty database sets it up once', async () => {
    const env = { ...(await emptyEnvironment('postgres')), PARLEY_DATABASE_CONNECTIONS: '2' };
    const stores = await Promise.all(Array.from({ length: 20 }, () => open(env)));
    const versions = await Promise.all(
      stores.map((store) => store.all<{ version: number }>('SELECT version FROM schema_versions ORDER BY version')),
    );
    for (const rows of versions) {
      expect(rows.map((r) => r.version)).toEqual(Array.from({ length: newestVersion }, (_, i) => i + 1));
    }
    await Promise.all(stores.map((store) => store.close()));
  });
});

describe('the data folder', () => {
  test('is not changed by a guest that finds no database', async () => {
    const env = await emptyEnvironment('sqlite');
    await openAsGuest(readSettings(env)).catch(() => {});
    expect(readdirSync(env.PARLEY_DATA ?? '')).toEqual([]);
    const missing = { ...env, PARLEY_DATA: join(env.PARLEY_DATA ?? '', 'missing') };
    await openAsGuest(readSettings(missing)).catch(() => {});
    expect(existsSync(missing.PARLEY_DATA)).toBe(false);
  });

  test('is created if it is missing, for its owner alone', async () => {
    const env = await emptyEnvironment('sqlite');
    const folder = join(env.PARLEY_DATA ?? '', 'deep', 'er');
    const store = await open({ ...env, PARLEY_DATA: folder });
    expect(statSync(folder).mode & 0o077).toBe(0);
    for (const file of readdirSync(folder).filter((name) => name.startsWith('parley.sqlite'))) {
      expect({ file, mode: statSync(join(folder, file)).mode & 0o077 }).toEqual({ file, mode: 0 });
    }
    await store.close();
  });
});
