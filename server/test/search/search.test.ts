import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { expectRefusal, statuses } from '../support/wire.ts';

onAnyEngine('searching messages', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  let chat_id: number;
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
    const created = await ada.ok('messages.create_group', { name: 'Group', participants: [bob.userId] });
    chat_id = created.group.chat_id;
  });

  const newGroup = async () => (await ada.ok('messages.create_group', { name: 'G', participants: [] })).group.chat_id;
  const say = async (content: string, chat = chat_id, by = ada) =>
    (await by.ok('messages.send_message', { chat_id: chat, content })).message.message_id as number;
  const find = async (query: string, more: object = {}, by = ada) =>
    (await by.ok('messages.search_messages', { query, ...more })).messages;
  /** Waits until the index has come as far as now: what is sent last is found last. */
  let marks = 0;
  const settled = async () => {
    const mark = `settled${++marks}x`;
    const message_id = await say(mark);
    await eventually('the newest message can be found', async () => (await find(mark))[0]);
    await ada.ok('messages.delete_message', { message_id });
  };

  test('finds a message within a second of its being sent', async () => {
    for (const content of ['punctuality', 'punctuality again']) {
      const message_id = await say(content);
      await eventually('it is found', async () => (await find('punctuality')).find((m) => m.message_id === message_id));
    }
  });

  describe('matches', () => {
    const texts: [text: string, finds: string[], not: string[]][] = [
      [
        'The quick brown fox',
        ['fox', 'quick fox', 'fox quick', 'BROWN', 'quick bro', 'the'],
        ['quick cat', 'ick', 'qui fox', 'foxes'],
      ],
      ['Crème brûlée à la carte', ['creme', 'CRÈME', 'brule', 'brûlée carte', 'cre\u0300me'], ['brulet', 'dreme']],
      ['Ärger über Öl, naïve Straße', ['arger', 'uber ol', 'ÄRGER', 'naive', 'straße'], ['aerger']],
      ['Ångström ﬁne ２０２６ Ⅷ', ['angstrom', 'fine', '2026', 'viii'], ['20266']],
      ['مُحَمَّدٌ يَكْتُبُ رِسَالَةً', ['محمد', 'مُحَمَّد', 'يكتب رسالة', 'رسا'], ['أحمد']],
      ['שָׁלוֹם לָעוֹלָם', ['שלום', 'שָׁלוֹם', 'שלום לעו'], ['להתראות']],
      ['می‌خواهم بروم', ['می‌خواهم', 'بروم', 'خواهم'], ['نمی‌دانم']],
      ['今天天气很好，我们去公园', ['天气', '公园', '天气 公园', '我'], ['下雨']],
      ['カタカナとひらがなと漢字', ['カタカナ', 'ひらがな', '漢字', '漢字 カタ'], ['英語']],
      ['안녕하세요 세계', ['안녕', '세계', '안녕하세요 세'], ['세상']],
      ['Привет, МИР! Ёлка', ['привет', 'мир', 'при', 'ёлка'], ['пока']],
      ['Γειά σου Κόσμε', ['γεια', 'κοσμε', 'ΚΌΣΜΕ'], ['αντίο']],
      ['नमस्ते दुनिया', ['नमस्ते', 'दुनिया', 'नम'], ['अलविदा']],
      ['สวัสดีชาวโลก', ['สวัสดี', 'ชาวโลก'], ['ลาก่อน']],
      ['Party 🎉 with 👨‍👩‍👧 and 👍🏽 in 🇨🇦', ['🎉', 'party 🎉', '👨‍👩‍👧', '👍', '👍🏽', '🇨🇦', '🎉 par'], ['🎊', '🇫🇷']],
      [
        'call snake_case and kebab-case or a.b.c',
        ['snake_case', 'snake', 'kebab-case', 'kebab', 'a.b.c', 'snake_ca'],
        ['snake_oil'],
      ],
      [
        'mail ada@example.com or https://example.com/x?y=1',
        ['ada@example.com', 'example.com', 'https', 'y=1'],
        ['bob@example.com'],
      ],
      ['it\'s O\'Brien "quoted" C++ 100%', ["o'brien", "it's", '"quoted"', 'c++', '100%', '100'], ['smith']],
      ['version 3.14 of 2026-01-31', ['3.14', '2026-01-31', '2026', '01'], ['2027']],
    ];
    beforeAll(async () => {
      for (const [text] of texts) await say(text);
      await settled();
    });

    test.each(texts)('%s', async (text, finds, not) => {
      const found = async (query: string) => (await find(query)).some((m) => m.content === text);
      expect(await Promise.all(finds.map(async (query) => ({ query, found: await found(query) })))).toEqual(
        finds.map((query) => ({ query, found: true })),
      );
      expect(await Promise.all(not.map(async (query) => ({ query, found: await found(query) })))).toEqual(
        not.map((query) => ({ query, found: false })),
      );
    });
  });

  describe('takes the query for plain text', () => {
    const tricks = [
      '" OR *',
      '"',
      '""',
      'a" OR "b',
      'NEAR(',
      'NEAR(a b, 2)',
      'a:b',
      'words:x',
      'chat:1',
      'chat : 1',
      '-word',
      'NOT word',
      'a AND',
      'OR',
      '^a',
      '{words chat}: a',
      'a*',
      "'&|!a",
      "a'b''c",
      "a' & b:*",
      'a & !b',
      '(a | b) <-> c',
      'a:*',
      'a:ABCD',
      '\\',
      "\\'a",
      '%',
      '_',
      '__',
      '%a_',
      '$1',
      '?1',
      ';--x',
      '#1',
      '#',
      'x'.repeat(1_024),
      'a '.repeat(500).trim(),
      '漢'.repeat(341),
      '🎉'.repeat(256),
      'a_'.repeat(300),
      '\u200d',
      '\u00ad',
      '️',
      '\u0301',
      '٠١٢',
      '…',
    ];
    test.each(tricks)('%s', async (query) => {
      const { status, error } = await ada.call('messages.search_messages', { query });
      expect([200, statuses.validation_failed]).toContain(status);
      if (error) expect(error.details[0]?.field).toBe('query');
      const inChat = await ada.call('messages.search_messages', { query, chat_id });
      expect(inChat.status).toBe(status);
    });

    test('a chat’s number is no word of its messages', async () => {
      const other = await newGroup();
      await say('unnumbered', other);
      await settled();
      for (const query of [String(other), `#${other}`]) {
        const found = await ada.call('messages.search_messages', { query, chat_id: other });
        expect(found.body.messages).toEqual([]);
      }
    });
  });

  test.each(['', ' ', '!?', 'a\nb\u0007', 'x'.repeat(1_025)])(
    'refuses what has nothing to look for: %j',
    async (query) => {
      const error = expectRefusal(await ada.call('messages.search_messages', { query }), 'validation_failed');
      expect(error.details[0]?.field).toBe('query');
    },
  );

  test('finds an edited message by its new words and no longer by the old ones', async () => {
    const message_id = await say('formerly visible');
    await settled();
    expect(await find('formerly')).toHaveLength(1);
    await ada.ok('messages.edit_message', { message_id, content: 'presently visible' });
    await settled();
    expect(await find('formerly')).toEqual([]);
    const [message] = await find('presently');
    expect(message).toMatchObject({ message_id, content: 'presently visible' });
  });

  test('finds a deleted message no more, at once', async () => {
    const message_id = await say('ephemeral');
    await settled();
    expect(await find('ephemeral')).toHaveLength(1);
    await ada.ok('messages.delete_message', { message_id });
    expect(await find('ephemeral')).toEqual([]);
    await settled();
    expect(await find('ephemeral')).toEqual([]);
  });

  test('looks only into chats that the caller is in, from joining to leaving', async () => {
    const theirs = await newGroup();
    await say('confidential', theirs);
    await settled();
    expect(await find('confidential', {}, ada)).toHaveLength(1);
    expect(await find('confidential', {}, bob)).toEqual([]);
    await ada.ok('chats.add_participants', { chat_id: theirs, participants: [bob.userId] });
    expect(await find('confidential', {}, bob)).toHaveLength(1);
    await bob.ok('chats.leave', { chat_id: theirs });
    expect(await find('confidential', {}, bob)).toEqual([]);
  });

  test('looks only into the chats of a caller with hundreds, by whole words and by prefixes of many', async () => {
    const { cleo } = await users(server(), 'cleo');
    const theirs: number[] = [];
    const add = async () => {
      const created = await ada.ok('messages.create_group', { name: 'G', participants: [cleo.userId] });
      theirs.push(created.group.chat_id);
    };
    for (let i = 0; i < 201; i += 3) await Promise.all([add(), add(), add()]);
    const [left = 0, ...rest] = theirs;
    const expected: number[] = [];
    for (const [i, chat] of rest.slice(-20).entries()) expected.unshift(await say(`manifold manifold${i}`, chat));
    await say('manifold', left);
    await say('manifold');
    await cleo.ok('chats.leave', { chat_id: left });
    await settled();
    const idsOf = async (query: string) => (await find(query, {}, cleo)).map((m) => m.message_id as number);
    for (let i = 0; i < 2; i++) {
      expect(await idsOf('manifold manifold7')).toEqual(expected.slice(12, 13));
      expect(await idsOf('manifold')).toEqual(expected);
      expect(await idsOf('nowhere')).toEqual([]);
      await add();
    }
  });

  test('looks into one chat where that is asked', async () => {
    const [one, two] = [await newGroup(), await newGroup()];
    const there = await say('everywhere one', one);
    await say('everywhere two', two);
    await settled();
    expect((await find('everywhere')).length).toBe(2);
    expect((await find('everywhere', { chat_id: one })).map((m) => m.message_id as number)).toEqual([there]);
  });

  test('gives the newest first and pages backwards', async () => {
    const other = await newGroup();
    const ids: number[] = [];
    for (let i = 0; i < 7; i++) ids.push(await say(`paged ${i}`, i % 2 ? other : chat_id));
    await settled();
    const page = async (input: object) => {
      const { messages, has_more } = await ada.ok('messages.search_messages', { query: 'paged', ...input });
      return { at: messages.map((m) => ids.indexOf(m.message_id)), has_more };
    };
    expect(await page({})).toEqual({ at: [6, 5, 4, 3, 2, 1, 0], has_more: false });
    expect(await page({ limit: 3 })).toEqual({ at: [6, 5, 4], has_more: true });
    expect(await page({ limit: 3, before_id: ids[4] })).toEqual({ at: [3, 2, 1], has_more: true });
    expect(await page({ limit: 3, before_id: ids[1] })).toEqual({ at: [0], has_more: false });
    expect(await page({ limit: 7 })).toMatchObject({ has_more: false });
    expect(await page({ limit: 6 })).toMatchObject({ has_more: true });
    expect(await page({ limit: 2, chat_id: other, before_id: ids[5] })).toEqual({ at: [3, 1], has_more: false });
    expect(await page({ before_id: ids[0] })).toEqual({ at: [], has_more: false });
  });

  test('shows messages as get_message does', async () => {
    const message_id = await say('complete');
    await bob.ok('messages.add_reaction', { message_id, emoji: '🎉' });
    await settled();
    expect(await find('complete')).toEqual([(await ada.ok('messages.get_message', { message_id })).message]);
  });

  test('finds the last word of the longest message', async () => {
    await say(`${'lorem ipsum '.repeat(1_300)}thelastword`);
    await say('漢'.repeat(5_000));
    await say('w'.repeat(16_384));
    await say('ﷺ'.repeat(5_461));
    await settled();
    expect(await find('lorem thelastword')).toHaveLength(1);
    expect(await find(`${'w'.repeat(40)}`)).toHaveLength(1);
    expect((await find('漢漢')).length).toBeGreaterThan(0);
    expect((await find('ﷺ')).length).toBe(1);
  });
});
