import { beforeAll, describe, expect, test } from 'bun:test';
import { Client } from '../support/client.ts';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';
import { filePart, formWith, post, sending, textPart } from '../support/files.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { serverFor, startServer } from '../support/server.ts';
import { expectRefusal } from '../support/wire.ts';

onBothEngines('mentions', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  let cleo: Client;
  let at: Record<'ada' | 'bob' | 'cleo', string>;
  beforeAll(async () => {
    ({ ada, bob, cleo } = await users(server(), 'ada', 'bob', 'cleo'));
    const nameOf = async (client: Client) => `@${(await client.ok('users.me', {})).user.name}`;
    at = { ada: await nameOf(ada), bob: await nameOf(bob), cleo: await nameOf(cleo) };
  });

  const newGroup = async (...others: Client[]) =>
    (await ada.ok('messages.create_group', { name: 'Group', participants: others.map((c) => c.userId) })).group.chat_id;
  const say = async (by: Client, chat_id: number, content: string) =>
    (await by.ok('messages.send_message', { chat_id, content })).message;
  const count = async (by: Client, chat_id: number) => {
    const { chat } = await by.ok('chats.get', { chat_id });
    const listed = (await by.ok('chats.list', { after_id: chat_id - 1, limit: 1 })).chats[0];
    expect(listed?.mention_count).toBe(chat.mention_count);
    return chat.mention_count;
  };
  const listed = async (by: Client, input: object = {}) => {
    const { messages, has_more } = await by.ok('messages.mentions', input);
    return { ids: messages.map((m) => m.message_id as number), has_more };
  };
  const idsIn = async (by: Client, chat_id: number) => (await listed(by, { chat_id })).ids;

  describe('of a message', () => {
    test('are in its record, in every reading of it and in its event, and only where there are any', async () => {
      const chat_id = await newGroup(bob, cleo);
      const from = await eventTip(ada);
      const contents = [
        `hi ${at.bob} and ${at.cleo.toUpperCase()}`,
        '@all hands',
        `${at.cleo} @all`,
        `\`${at.bob}\` x@all`,
      ];
      const expected = [
        { mentions: [bob.userId, cleo.userId] },
        { mentions_all: true },
        { mentions: [cleo.userId], mentions_all: true },
        {},
      ];
      const keys = ({ mentions, mentions_all }: { mentions?: unknown; mentions_all?: unknown }) => ({
        ...(mentions !== undefined && { mentions }),
        ...(mentions_all !== undefined && { mentions_all }),
      });
      const sent = [];
      for (const content of contents) sent.push(await say(ada, chat_id, content));
      expect(sent.map(keys)).toEqual(expected as never);
      const { messages } = await bob.ok('messages.get_messages', { chat_id });
      expect(messages).toEqual(sent);
      for (const message of sent) {
        expect((await cleo.ok('messages.get_message', { message_id: message.message_id })).message).toEqual(message);
      }
      const events = await eventsAfter(bob, from, { chat_id });
      expect(events.map(({ data }) => keys(data))).toEqual(expected as never);
      expect(Object.keys(events[2]?.data ?? {})).toEqual([
        'message_id',
        'chat_id',
        'user_id',
        'content',
        'mentions',
        'mentions_all',
      ]);
    });

    test('are not those in code, also in lists and quotations', async () => {
      const chat_id = await newGroup(bob, cleo);
      for (const marks of ['- ', '1. ', '> ', '> 1. ']) {
        const indent = marks.replaceAll(/[^> ]/g, ' ');
        const code = [`${marks}\`\`\``, `${indent}${at.cleo}`, `${indent}\`\`\``].join('\n');
        const { mentions } = await say(ada, chat_id, `${code}\n\n${at.bob} please look`);
        expect([marks, mentions]).toEqual([marks, [bob.userId]]);
      }
      const { mentions } = await say(ada, chat_id, `text\n\n    ${at.cleo}\n\ntext\n    ${at.bob}`);
      expect(mentions).toEqual([bob.userId]);
    });

    test('are those of participants only, and never its author', async () => {
      const chat_id = await newGroup(bob);
      expect(await say(ada, chat_id, `${at.ada} ${at.cleo} @nobody-at-all`)).not.toHaveProperty('mentions');
      await ada.ok('chats.add_participants', { chat_id, participants: [cleo.userId] });
      expect(await say(ada, chat_id, at.cleo)).toMatchObject({ mentions: [cleo.userId] });
      await cleo.ok('chats.leave', { chat_id });
      expect(await say(ada, chat_id, at.cleo)).not.toHaveProperty('mentions');
    });

    test('take the longest name that a participant has', async () => {
      const { name } = (await bob.ok('users.me', {})).user;
      const longer = await server().user(`${name}.smith`);
      const chat_id = await newGroup(bob, longer);
      const said = await say(ada, chat_id, `@${name}.smith. @${name}.Jones`);
      expect(said).toMatchObject({ mentions: [longer.userId, bob.userId] });
      const without = await newGroup(bob);
      expect(await say(ada, without, `@${name}.smith.`)).toMatchObject({ mentions: [bob.userId] });
    });

    test('are found in a message with a file, in its event too', async () => {
      const chat_id = await newGroup(bob);
      const from = await eventTip(ada);
      const form = formWith(textPart('chat_id', chat_id), textPart('content', at.bob), filePart('bytes', 'a.txt'));
      await post(ada, sending, form);
      const [message] = (await bob.ok('messages.get_messages', { chat_id })).messages;
      expect(message).toMatchObject({ mentions: [bob.userId], file: { name: 'a.txt' } });
      const [event] = await eventsAfter(bob, from, { chat_id });
      expect(event?.data).toMatchObject({ mentions: [bob.userId], file: { name: 'a.txt' } });
      expect(await count(bob, chat_id)).toBe(1);
    });

    test('of many messages at once are those of each', async () => {
      const chats = await Promise.all([newGroup(bob), newGroup(cleo), newGroup(bob, cleo)]);
      const contents = ['plain', at.bob, at.cleo, '@all'];
      const calls = chats.flatMap((chat_id) => contents.map((content) => say(ada, chat_id, content)));
      const sent = await Promise.all(calls);
      const told = sent.map(({ mentions, mentions_all }) => mentions ?? mentions_all ?? null);
      const [b, c] = [[bob.userId], [cleo.userId]];
      expect(told as unknown).toEqual([null, b, null, true, null, null, c, true, null, b, c, true]);
      expect(await Promise.all(chats.map((chat_id) => count(bob, chat_id).catch(() => null)))).toEqual([2, null, 2]);
    });
  });

  describe('through edits and deletions', () => {
    test('are found again in the new text', async () => {
      const chat_id = await newGroup(bob, cleo);
      const { message_id } = await say(ada, chat_id, `hi ${at.bob}`);
      const from = await eventTip(ada);
      const edit = (content: string) => ada.ok('messages.edit_message', { message_id, content });
      const told = (fields: object) => ({ message_id, chat_id, user_id: ada.userId, ...fields });
      expect((await edit(`hi ${at.cleo}`)).message).toMatchObject({ mentions: [cleo.userId] });
      expect([await count(bob, chat_id), await count(cleo, chat_id)]).toEqual([0, 1]);
      expect((await edit('hi @all')).message).not.toHaveProperty('mentions');
      expect([await count(bob, chat_id), await count(cleo, chat_id)]).toEqual([1, 1]);
      const plain = (await edit('hi')).message;
      expect(plain).not.toHaveProperty('mentions_all');
      expect([await count(bob, chat_id), await idsIn(cleo, chat_id)]).toEqual([0, []]);
      expect((await bob.ok('messages.get_messages', { chat_id })).messages).toEqual([plain]);
      const events = await eventsAfter(bob, from, { chat_id });
      const { userId: b } = bob;
      const { userId: c } = cleo;
      expect(events.map(({ data }) => data)).toEqual([
        told({ content: `hi ${at.cleo}`, mentions: [c], previous_content: `hi ${at.bob}`, previous_mentions: [b] }),
        told({ content: 'hi @all', mentions_all: true, previous_content: `hi ${at.cleo}`, previous_mentions: [c] }),
        told({ content: 'hi', previous_content: 'hi @all', previous_mentions_all: true }),
      ] as never);
    });

    test('end with the message, and its event keeps them', async () => {
      const chat_id = await newGroup(bob);
      const from = await eventTip(ada);
      const [named, all] = [await say(ada, chat_id, at.bob), await say(ada, chat_id, `${at.bob} @all`)];
      expect(await idsIn(bob, chat_id)).toEqual([all.message_id, named.message_id]);
      const sent = await eventsAfter(bob, from, { chat_id });
      for (const { message_id } of [named, all]) {
        const { message } = await ada.ok('messages.delete_message', { message_id });
        expect(message).not.toHaveProperty('mentions');
        expect(message).not.toHaveProperty('mentions_all');
        expect((await bob.ok('messages.get_message', { message_id })).message).toEqual(message);
      }
      expect([await count(bob, chat_id), await idsIn(bob, chat_id)]).toEqual([0, []]);
      const events = await eventsAfter(bob, from, { chat_id });
      expect(events.slice(0, 2)).toEqual(sent);
      const mentioned = { mentions: [bob.userId] };
      const of = { chat_id, user_id: ada.userId, actor_id: ada.userId };
      expect(events.slice(2).map(({ data }) => data)).toEqual([
        { ...of, message_id: named.message_id, ...mentioned },
        { ...of, message_id: all.message_id, ...mentioned, mentions_all: true },
      ] as never);
    });

    test('are the same whether edits and sends run at once or in turn', async () => {
      const chat_id = await newGroup(bob);
      const { message_id } = await say(ada, chat_id, 'start');
      const texts = Array.from({ length: 8 }, (_, i) => (i % 2 ? `${i} ${at.bob}` : `${i} @all`));
      const edits = texts.map((content) => ada.ok('messages.edit_message', { message_id, content }));
      const sends = texts.map((content) => say(ada, chat_id, content));
      await Promise.all([...edits, ...sends]);
      expect(await count(bob, chat_id)).toBe(9);
      await ada.ok('messages.edit_message', { message_id, content: 'end' });
      expect(await count(bob, chat_id)).toBe(8);
    });
  });

  describe('count', () => {
    test('those of others after the read marker, one for each message', async () => {
      const chat_id = await newGroup(bob, cleo);
      const first = await say(ada, chat_id, at.bob);
      await say(ada, chat_id, `${at.bob} ${at.bob} @all`);
      await say(bob, chat_id, '@all');
      await say(ada, chat_id, 'nobody');
      expect([await count(ada, chat_id), await count(bob, chat_id), await count(cleo, chat_id)]).toEqual([1, 2, 2]);
      await bob.ok('messages.mark_read', { chat_id, message_id: first.message_id });
      expect(await count(bob, chat_id)).toBe(1);
      expect((await bob.ok('chats.get', { chat_id })).chat.last_read_id).toBe(first.message_id);
      await bob.ok('messages.mark_read', { chat_id });
      expect(await count(bob, chat_id)).toBe(0);
    });

    test('among the newest 100 of each kind', async () => {
      const chat_id = await newGroup(bob);
      await Promise.all(Array.from({ length: 105 }, () => say(ada, chat_id, at.bob)));
      expect(await count(bob, chat_id)).toBe(100);
      await say(ada, chat_id, '@all');
      expect(await count(bob, chat_id)).toBe(101);
    });

    test('none for those who join later or only look on', async () => {
      const { channel } = await ada.ok('messages.create_channel', { name: 'Open', participants: [bob.userId] });
      await say(ada, channel.chat_id, '@all');
      expect((await cleo.ok('chats.get', { chat_id: channel.chat_id })).chat.mention_count).toBe(0);
      await cleo.ok('chats.join', { chat_id: channel.chat_id });
      expect([await count(cleo, channel.chat_id), await count(bob, channel.chat_id)]).toEqual([0, 1]);
    });
  });

  describe('listed', () => {
    test('come newest first, in pages, of all chats or of one', async () => {
      const { reader } = await users(server(), 'reader');
      const me = `@${(await reader.ok('users.me', {})).user.name}`;
      const chats = await Promise.all([newGroup(reader, bob), newGroup(reader), newGroup(bob)]);
      const ids: number[] = [];
      const [one = 0, two = 0, foreign = 0] = chats;
      for (let i = 0; i < 6; i++) {
        ids.unshift((await say(ada, one, `${i} ${i % 2 ? me : '@all'}`)).message_id);
        ids.unshift((await say(ada, two, `${i} ${i % 2 ? '@all' : me} ${me}`)).message_id);
        await say(ada, foreign, '@all');
        await say(reader, one, '@all');
        await say(ada, one, at.bob);
      }
      expect(await listed(reader)).toEqual({ ids, has_more: false });
      expect(await listed(reader, { limit: 12 })).toEqual({ ids, has_more: false });
      const paged: number[] = [];
      for (let before_id: number | undefined; ; ) {
        const page = await listed(reader, { limit: 5, ...(before_id !== undefined && { before_id }) });
        paged.push(...page.ids);
        before_id = page.ids.at(-1);
        if (!page.has_more) break;
      }
      expect(paged).toEqual(ids);
      expect(await listed(reader, { chat_id: two, limit: 2 })).toEqual({
        ids: ids.filter((_, i) => i % 2 === 0).slice(0, 2),
        has_more: true,
      });
      const { messages } = await reader.ok('messages.mentions', { limit: 1 });
      expect(messages).toEqual((await reader.ok('messages.get_messages', { chat_id: two, limit: 1 })).messages);
      await reader.ok('chats.leave', { chat_id: two });
      expect((await listed(reader)).ids).toEqual(ids.filter((_, i) => i % 2 === 1));
      expectRefusal(await reader.call('messages.mentions', { chat_id: two }), 'not_found');
      expectRefusal(await reader.call('messages.mentions', { chat_id: foreign }), 'not_found');
    });

    test('refuse bad input', async () => {
      for (const input of [{ limit: 0 }, { before_id: 0 }, { chat_id: 0 }, { chat_id: 'x' }, { user_id: 1 }]) {
        expectRefusal(await ada.call('messages.mentions', input as never), 'validation_failed');
      }
    });
  });

  test('are the same after a restart', async () => {
    const env = await freshEnvironment(engine);
    const before = await startServer(env);
    const { ada: writer, bob: reader } = await users(before, 'ada', 'bob');
    const { name } = (await reader.ok('users.me', {})).user;
    const { group } = await writer.ok('messages.create_group', { name: 'g', participants: [reader.userId] });
    const from = await eventTip(reader);
    await say(writer, group.chat_id, `@${name} @all`);
    const read = async (by: Client) => ({
      events: await eventsAfter(by, from),
      listed: await by.ok('messages.mentions', {}),
      chat: await by.ok('chats.get', { chat_id: group.chat_id }),
    });
    const told = await read(reader);
    await before.stop();
    const after = await startServer(env);
    expect(await read(new Client(after.url, reader.token, reader.userId))).toEqual(told);
    expect(told.listed.messages).toHaveLength(1);
    await after.stop();
  });
});
