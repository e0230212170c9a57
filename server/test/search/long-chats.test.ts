import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ChatId, MessageId, UserId } from '@parley/contract';
import { readSettings } from '../../config.ts';
import { insertUser } from '../../store/access/users.ts';
import type { Db, Engine, Tx, Value } from '../../store/engine/engine.ts';
import { openAsGuest, openStore } from '../../store/engine/open.ts';
import { addToIndex, dropFromIndex } from '../../store/search/indexing.ts';
import { searchAllChats, searchMessages } from '../../store/search/search.ts';
import { type EngineName, type Environment, freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { planning } from '../support/plans.ts';

interface Message {
  readonly message_id: MessageId;
  readonly chat_id: ChatId;
  words: string[];
  is_deleted: boolean;
}

/** Chats 1 to 12, of which the first has half of all messages; the reader has left the last. */
const chatIds = Array.from({ length: 12 }, (_, i) => (i + 1) as ChatId);
const left = chatIds.at(-1);
const count = 12_000;
const reader = 1 as UserId;

/** Words of every kind: in how many messages they are, how many others begin like them, and where they lie. */
const wordsOf = (i: number): string[] => [
  'every',
  ['kin', 'kind', 'kindle'][i % 3] ?? '',
  `family${i % 40}`,
  `ticket${i}`,
  ...(i % 20 < 2 ? ['tenth'] : []),
  ...(i % 100 < 2 ? ['fiftieth'] : []),
  ...(i % 3_000 < 2 ? ['seldom', 'seldomly'] : []),
  ...(i < 4_000 ? ['once'] : []),
  ...(i > count - 100 ? ['lately'] : []),
];

/** The last word of each query is a prefix. */
const queries = [
  ['every'],
  ['e'],
  ['kin'],
  ['kindl'],
  ['edited'],
  ['edited', 'kindr'],
  ['tenth'],
  ['fiftieth'],
  ['seldom'],
  ['once'],
  ['lately'],
  ['family3'],
  ['fam'],
  ['ticket119'],
  ['every', 'fam'],
  ['tenth', 'kin'],
  ['once', 'lately'],
  ['kin', 'e'],
  ['kind', 'seldom', 'every'],
  ['never'],
];

/** Fills a database with messages as they are kept, and tells what is in it. */
async function fill(engine: Engine): Promise<Message[]> {
  const messages = Array.from({ length: count }, (_, i): Message => {
    const chat_id = (i % 2 === 0 ? 1 : 2 + (((i - 1) / 2) % (chatIds.length - 1))) as ChatId;
    return { message_id: (i + 1) as MessageId, chat_id, words: wordsOf(i), is_deleted: i % 47 === 7 };
  });
  await engine.write(async (tx) => {
    await insertUser(tx, { name: 'reader', displayName: 'Reader', isAdmin: false, passwordHash: null, at: 0 });
    for (const chat_id of chatIds) await insertChatOf(tx, chat_id);
    const columns = { message_id: 'int', chat_id: 'int', is_deleted: 'int' } as const;
    const insert = (source: string) =>
      `INSERT INTO messages (message_id, chat_id, user_id, is_deleted, json)
       SELECT message_id, chat_id, 1, is_deleted, '{}' FROM ${source} AS given`;
    const rows = messages.map((m) => [m.message_id, m.chat_id, m.is_deleted ? 1 : 0]);
    await tx.bulk({ columns, statements: [insert] }, rows);
  });
  for (let at = 0; at < count; at += 1_000) await engine.write((tx) => addToIndex(tx, messages.slice(at, at + 1_000)));
  const edited = messages.filter((_, i) => i % 71 === 5);
  for (const message of edited) message.words = ['edited', 'kindred'];
  await engine.write(async (tx) => {
    await dropFromIndex(
      tx,
      edited.map((m) => m.message_id),
    );
    await addToIndex(tx, edited);
  });
  return messages;
}

async function insertChatOf(tx: Tx, chatId: ChatId): Promise<void> {
  await tx.run(
    `INSERT INTO chats (type, visibility, name, search_key, description, created_by, created_at)
     VALUES ('group', 'private', 'Chat', 'chat', '', 1, 0)`,
  );
  await tx.run(
    `INSERT INTO members (chat_id, user_id, joined_event, left_event, role, joined_at, last_read_id)
     VALUES ($1, 1, 1, $2, 'member', 0, 0)`,
    [chatId, chatId === left ? 2 : null],
  );
}

/** The same, by a look at every message. */
function expected(messages: readonly Message[], words: readonly string[], chats: readonly ChatId[]): MessageId[] {
  const [last = '', ...whole] = words.toReversed();
  return messages
    .filter((m) => chats.includes(m.chat_id) && m.chat_id !== left && !m.is_deleted)
    .filter((m) => whole.every((word) => m.words.includes(word)) && m.words.some((word) => word.startsWith(last)))
    .map((m) => m.message_id)
    .reverse();
}

onAnyEngine('a search among many messages', (name: EngineName) => {
  let environment: Environment;
  let engine: Engine;
  let messages: Message[];
  beforeAll(async () => {
    environment = await freshEnvironment(name);
    engine = await openStore(readSettings(environment), Date.now);
    messages = await fill(engine);
    if (name === 'postgres') await engine.run('ANALYZE');
  });
  afterAll(() => engine.close());

  const search = (words: string[], chats: readonly ChatId[], before: number, limit: number) =>
    searchMessages(engine, { userId: reader, words, chatIds: chats, before, limit });

  describe.each([
    ['the longest chat', [1]],
    ['a shorter one', [5]],
    ['one that was left', [12]],
    ['a few', [1, 4, 12]],
    ['all', chatIds],
  ] as [string, ChatId[]][])('in %s', (_, chats) => {
    test.each(queries)('finds what a look at every message finds, page after page: %s %s %s', async (...query) => {
      const words = query.filter((word) => word !== undefined);
      const all = expected(messages, words, chats);
      for (const limit of [7, 51, 201]) {
        let before = Number.MAX_SAFE_INTEGER;
        for (let page = 0; page < 3; page++) {
          const found = await search(words, chats, before, limit);
          expect(found).toEqual(all.filter((id) => id < before).slice(0, limit));
          before = found.at(-1) ?? 0;
        }
      }
      for (const before of [1, 300, 4_000, 6_001, 11_000]) {
        expect(await search(words, chats, before, 51)).toEqual(all.filter((id) => id < before).slice(0, 51));
      }
    });
  });

  test.each(queries)('in all chats at once finds the same, or says that it cannot: %s %s %s', async (...query) => {
    const words = query.filter((word) => word !== undefined);
    const all = expected(messages, words, chatIds);
    for (const limit of [7, 51, 201]) {
      for (const before of [Number.MAX_SAFE_INTEGER, 6_001, 300, 1]) {
        const found = await searchAllChats(engine, { userId: reader, words, before, limit });
        if (found) expect(found).toEqual(all.filter((id) => id < before).slice(0, limit));
        else expect(['e', 'every', 'kin', 'fam', 'ticket119']).toContain(words.at(-1) ?? '');
      }
    }
  });

  if (name === 'sqlite') {
    test('checks fewer messages of others if there are many words, because each message then costs more', async () => {
      const q = { userId: 999 as UserId, before: 1_000, limit: 51 };
      expect(await searchAllChats(engine, { ...q, words: ['every'] })).toEqual([]);
      expect(await searchAllChats(engine, { ...q, words: Array(20).fill('every') })).toBeUndefined();
    });

    test('asks for whole words where few begin so: the beginning of a word gives all messages before the first', async () => {
      const asked: (readonly Value[])[] = [];
      const all: Db['all'] = (sql, params = []) => {
        asked.push(params);
        return engine.all(sql, params);
      };
      const matchFor = async (last: string, chats: readonly ChatId[]) => {
        const { dialect, sharesStatements, get, run, bulk } = engine;
        const recording = { dialect, sharesStatements, all, get, run, bulk };
        const query = { userId: reader, words: ['every', last], chatIds: chats, before: count, limit: 51 };
        expect((await searchMessages(recording, query)).length).toBeGreaterThan(0);
        return asked.at(-1)?.[1];
      };
      const [one = 1 as ChatId, two = 2 as ChatId] = chatIds;
      expect(await matchFor('kin', [one])).toBe('("1xevery" AND ("1xkin" OR "1xkind" OR "1xkindle" OR "1xkindred"))');
      expect(await matchFor('tenth', [one, two])).toBe('("1xevery" AND ("1xtenth")) OR ("2xevery" AND ("2xtenth"))');
      expect(await matchFor('fam', [one])).toBe('("1xevery" AND ("1xfam" *))');
      expect(await matchFor('tenth', chatIds)).toContain('("12xevery" AND ("12xtenth" *))');
    });
  } else {
    test('checks the membership for each message, and never goes through the chats of the user first', async () => {
      const guest = await openAsGuest(readSettings(environment));
      const { tx, plans } = planning(guest);
      await searchAllChats(tx, { userId: reader, words: ['seldom'], before: count, limit: 51 });
      const readingMembers = plans.filter((plan) => plan.includes('on members'));
      expect(readingMembers).toHaveLength(2);
      for (const plan of readingMembers) expect(plan).toMatch(/SubPlan \d+\n +-> .* on members/);
      await guest.close();
    });

    test('goes from the newest message of the chat backwards, then to the index, and never through all messages', async () => {
      const guest = await openAsGuest(readSettings(environment));
      for (const chat of [1, 5] as ChatId[]) {
        const { tx, plans } = planning(guest);
        await searchMessages(tx, { userId: reader, words: ['seldom'], chatIds: [chat], before: count, limit: 51 });
        expect(plans).toHaveLength(2);
        expect(plans[0]).toContain('Index Scan Backward using messages_by_chat');
        expect(plans[0]).toContain('Index Cond: (message_id = m.message_id)');
        expect(plans[0]).not.toContain('messages_pkey');
        expect(plans[1]).toContain('Bitmap Index Scan on message_words_by_word');
        expect(plans[1]).toContain('Index Cond: (message_id = f.message_id)');
        expect(plans[1]).not.toContain('message_words_pkey');
      }
      await guest.close();
    });
  }

  test('finds nothing where there is nowhere to look', async () => {
    expect(await search(['every'], [], Number.MAX_SAFE_INTEGER, 51)).toEqual([]);
  });
});
