import { beforeAll, describe, expect, test } from 'bun:test';
import { Client } from '../support/client.ts';
import { freshEnvironment, onBothEngines } from '../support/engines.ts';
import { filePart, formWith, post, sending, textPart } from '../support/files.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { serverFor, startServer } from '../support/server.ts';
import { expectRefusal } from '../support/wire.ts';

onBothEngines('threads', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  let cleo: Client;
  beforeAll(async () => {
    ({ ada, bob, cleo } = await users(server(), 'ada', 'bob', 'cleo'));
  });

  const newGroup = async (...others: Client[]) =>
    (await ada.ok('messages.create_group', { name: 'Group', participants: others.map((c) => c.userId) })).group.chat_id;
  const say = async (by: Client, chat_id: number, reply_to?: number) => {
    const input = { chat_id, content: `to ${reply_to}`, ...(reply_to !== undefined && { reply_to }) };
    return (await by.ok('messages.send_message', input)).message;
  };
  const read = async (by: Client, message_id: number) => (await by.ok('messages.get_message', { message_id })).message;
  const repliesIn = async (by: Client, chat_id: number, thread_id: number, input: object = {}) => {
    const { messages, has_more } = await by.ok('messages.get_messages', { chat_id, thread_id, ...input });
    return { ids: messages.map((m) => m.message_id as number), has_more };
  };
  const threads = async (by: Client, input: object = {}) => (await by.ok('messages.threads', input)).threads;
  const summary = async (by: Client) =>
    (await threads(by)).map((t) => [t.message.message_id as number, t.reply_count, t.last_reply_id, t.unread_count]);

  describe('a reply', () => {
    test('belongs to the thread of the message that it answers, however deep', async () => {
      const chat_id = await newGroup(bob);
      const from = await eventTip(ada);
      const root = await say(ada, chat_id);
      expect(root).not.toHaveProperty('thread_id');
      const first = await say(bob, chat_id, root.message_id);
      const second = await say(ada, chat_id, first.message_id);
      const third = await say(bob, chat_id, second.message_id);
      const told = [first, second, third];
      expect(told.map(({ thread_id, reply_to }) => [thread_id, reply_to])).toEqual([
        [root.message_id, root.message_id],
        [root.message_id, first.message_id],
        [root.message_id, second.message_id],
      ]);
      const events = await eventsAfter(bob, from, { chat_id });
      expect(events.map(({ data }) => data.thread_id ?? null)).toEqual([null, ...told.map(() => root.message_id)]);
      expect(Object.keys(events[1]?.data ?? {})).toEqual([
        'message_id',
        'chat_id',
        'user_id',
        'content',
        'thread_id',
        'reply_to',
      ]);
      const shown = await read(bob, root.message_id);
      expect(shown).toEqual({
        ...root,
        reply_count: 3,
        last_reply_id: third.message_id,
        last_reply_at: third.created_at,
      });
      expect((await bob.ok('messages.get_messages', { chat_id })).messages).toEqual([shown, ...told]);
      expect((await ada.ok('messages.get_messages', { chat_id })).messages).toEqual([shown, ...told]);
      expect(await repliesIn(bob, chat_id, root.message_id)).toEqual({
        ids: told.map((m) => m.message_id),
        has_more: false,
      });
    });

    test('with a file is one too, and so is its event', async () => {
      const chat_id = await newGroup(bob);
      const { message_id: root } = await say(ada, chat_id);
      const from = await eventTip(ada);
      const form = formWith(textPart('chat_id', chat_id), textPart('reply_to', root), filePart('bytes', 'a.txt'));
      await post(bob, sending, form);
      const [event] = await eventsAfter(ada, from, { chat_id });
      expect(event?.data).toMatchObject({ thread_id: root, reply_to: root, file: { name: 'a.txt' } });
      expect(await read(ada, root)).toMatchObject({ reply_count: 1, last_reply_id: event?.data.message_id as number });
    });

    test('to a message of another chat is refused, and opens no thread', async () => {
      const [here, there] = [await newGroup(bob), await newGroup(bob)];
      const { message_id } = await say(ada, here);
      expectRefusal(
        await bob.call('messages.send_message', { chat_id: there, content: 'x', reply_to: message_id }),
        'validation_failed',
      );
      expect(await read(bob, message_id)).not.toHaveProperty('reply_count');
      expect((await threads(bob)).filter((t) => t.message.message_id === message_id)).toEqual([]);
    });

    test('that is deleted is not counted, and what answers it stays in the thread', async () => {
      const chat_id = await newGroup(bob);
      const { message_id: root } = await say(ada, chat_id);
      const [one, two] = [await say(bob, chat_id, root), await say(bob, chat_id, root)];
      const from = await eventTip(ada);
      const { message } = await bob.ok('messages.delete_message', { message_id: two.message_id });
      expect(message).toMatchObject({ thread_id: root, reply_to: root, content: '' });
      const [event] = await eventsAfter(ada, from, { chat_id });
      expect(event?.data).toMatchObject({ message_id: two.message_id, thread_id: root });
      expect(await read(ada, root)).toMatchObject({
        reply_count: 1,
        last_reply_id: one.message_id,
        last_reply_at: one.created_at,
      });
      expect((await repliesIn(ada, chat_id, root)).ids).toEqual([one.message_id]);
      await bob.ok('messages.delete_message', { message_id: two.message_id });
      await bob.ok('messages.delete_message', { message_id: one.message_id });
      expect(await read(ada, root)).not.toHaveProperty('reply_count');
      expect((await threads(bob)).some((t) => t.message.message_id === root)).toBe(false);
      const late = await say(ada, chat_id, two.message_id);
      expect(late).toMatchObject({ thread_id: root, reply_to: two.message_id });
      expect(await read(ada, root)).toMatchObject({ reply_count: 1, last_reply_id: late.message_id });
    });

    test('stays where it is if the first message is edited or deleted', async () => {
      const chat_id = await newGroup(bob);
      const { message_id } = await say(ada, chat_id);
      const reply = await say(bob, chat_id, message_id);
      await bob.ok('messages.add_reaction', { message_id, emoji: '👍' });
      const replies = { reply_count: 1, last_reply_id: reply.message_id };
      const edited = await ada.ok('messages.edit_message', { message_id, content: 'edited' });
      expect(edited.message).toMatchObject({ ...replies, reactions: [{ emoji: '👍' }] });
      expect((await bob.ok('messages.remove_reaction', { message_id, emoji: '👍' })).message).toMatchObject(replies);
      const deleted = await ada.ok('messages.delete_message', { message_id });
      expect(deleted.message).toMatchObject({ ...replies, content: '' });
      expect((await ada.ok('messages.delete_message', { message_id })).message).toEqual(deleted.message);
      expect(await read(bob, message_id)).toEqual(deleted.message);
      expect((await threads(bob))[0]?.message).toEqual(deleted.message);
      expect((await repliesIn(bob, chat_id, message_id)).ids).toEqual([reply.message_id]);
    });
  });

  test('count every reply, whether they are sent and deleted at once or in turn', async () => {
    const chat_id = await newGroup(bob, cleo);
    const roots = [await say(ada, chat_id), await say(ada, chat_id)].map((m) => m.message_id as number);
    const everyone = [ada, bob, cleo];
    const replyToAll = () => everyone.flatMap((by) => roots.map((root) => say(by, chat_id, root)));
    const early = await Promise.all([...replyToAll(), ...replyToAll(), ...replyToAll()]);
    const byOf = (userId: number) => everyone.find((c) => c.userId === userId) as Client;
    const deletions = early
      .slice(0, 6)
      .map(({ message_id, user_id }) => byOf(user_id).ok('messages.delete_message', { message_id }));
    const edits = roots.map((message_id) => ada.ok('messages.edit_message', { message_id, content: 'edited' }));
    const reactions = roots.map((message_id) => bob.ok('messages.add_reaction', { message_id, emoji: '👍' }));
    const late = [...replyToAll(), ...replyToAll()];
    await Promise.all<unknown>([...deletions, ...edits, ...reactions, ...late]);
    for (const root of roots) {
      const { ids } = await repliesIn(bob, chat_id, root);
      const shown = await read(bob, root);
      expect(ids.length).toBe(3 * 5 - 3);
      expect(shown).toMatchObject({ content: 'edited', reply_count: ids.length, last_reply_id: ids.at(-1) as never });
      expect(shown.reactions).toHaveLength(1);
    }
  });

  describe('the replies in a thread', () => {
    test('come in pages like the messages of a chat', async () => {
      const chat_id = await newGroup(bob);
      const { message_id: root } = await say(ada, chat_id);
      const ids: number[] = [];
      for (let i = 0; i < 7; i++) {
        ids.push((await say(bob, chat_id, root)).message_id);
        await say(bob, chat_id);
      }
      const page = async (input: object) => {
        const { ids: found, has_more } = await repliesIn(ada, chat_id, root, input);
        return { at: found.map((id) => ids.indexOf(id)), has_more };
      };
      expect(await page({ limit: 3 })).toEqual({ at: [4, 5, 6], has_more: true });
      expect(await page({ limit: 7 })).toEqual({ at: [0, 1, 2, 3, 4, 5, 6], has_more: false });
      expect(await page({ limit: 3, before_id: ids[4] })).toEqual({ at: [1, 2, 3], has_more: true });
      expect(await page({ limit: 3, before_id: ids[1] })).toEqual({ at: [0], has_more: false });
      expect(await page({ limit: 3, after_id: 0 })).toEqual({ at: [0, 1, 2], has_more: true });
      expect(await page({ limit: 3, after_id: ids[4] })).toEqual({ at: [5, 6], has_more: false });
      expect(await page({ after_id: ids[1], before_id: ids[4] })).toEqual({ at: [2, 3], has_more: false });
    });

    test('are the same for the id of any of them, also of one that is deleted', async () => {
      const chat_id = await newGroup(bob);
      const root = await say(ada, chat_id);
      const first = await say(bob, chat_id, root.message_id);
      const second = await say(ada, chat_id, first.message_id);
      const expected = { ids: [first.message_id as number, second.message_id as number], has_more: false };
      for (const { message_id } of [root, first, second]) {
        expect(await repliesIn(bob, chat_id, message_id)).toEqual(expected);
      }
      await bob.ok('messages.delete_message', { message_id: first.message_id });
      expect((await repliesIn(bob, chat_id, first.message_id)).ids).toEqual([second.message_id]);
    });

    test('are those of a message of the chat, and nobody else reads them', async () => {
      const [chat_id, other] = [await newGroup(bob), await newGroup()];
      const { message_id: thread_id } = await say(ada, chat_id);
      await say(bob, chat_id, thread_id);
      expect(await repliesIn(ada, other, (await say(ada, other)).message_id)).toEqual({ ids: [], has_more: false });
      const hidden = await say(ada, other);
      await say(ada, other, hidden.message_id);
      for (const id of [hidden.message_id, Number.MAX_SAFE_INTEGER]) {
        expectRefusal(await bob.call('messages.get_messages', { chat_id, thread_id: id }), 'not_found');
      }
      expectRefusal(await cleo.call('messages.get_messages', { chat_id, thread_id }), 'not_found');
      expectRefusal(await ada.call('messages.get_messages', { chat_id: other, thread_id }), 'not_found');
      for (const bad of [0, -1, 1.5]) {
        expectRefusal(await ada.call('messages.get_messages', { chat_id, thread_id: bad }), 'validation_failed');
      }
    });
  });

  describe('the list of threads', () => {
    test('has those in which one has written, the latest reply first, with unread replies of others', async () => {
      const { dan, erin } = await users(server(), 'dan', 'erin');
      const chat_id = await newGroup(dan, erin);
      const [one, two, three] = [await say(dan, chat_id), await say(ada, chat_id), await say(ada, chat_id)];
      const [a = 0, b = 0, c = 0] = [one, two, three].map((m) => m.message_id as number);
      expect(await summary(dan)).toEqual([]);
      const toB = await say(dan, chat_id, b);
      await say(erin, chat_id, c);
      const toA = await say(erin, chat_id, a);
      expect(await summary(dan)).toEqual([
        [a, 1, toA.message_id, 1],
        [b, 1, toB.message_id, 0],
      ]);
      expect((await threads(dan))[0]?.message).toEqual(await read(dan, a));
      const again = await say(erin, chat_id, b);
      expect(await summary(dan)).toEqual([
        [b, 2, again.message_id, 1],
        [a, 1, toA.message_id, 1],
      ]);
      expect((await summary(erin)).map(([id]) => id)).toEqual([b, a, c]);
      await dan.ok('messages.mark_read', { chat_id, message_id: toA.message_id });
      expect((await summary(dan)).map((t) => t[3])).toEqual([1, 0]);
      await dan.ok('messages.mark_read', { chat_id });
      expect((await summary(dan)).map((t) => t[3])).toEqual([0, 0]);
      const page = await erin.ok('messages.threads', { limit: 2 });
      expect(page.has_more).toBe(true);
      const rest = await threads(erin, { limit: 2, before_id: page.threads.at(-1)?.last_reply_id });
      expect(rest.map((t) => t.message.message_id as number)).toEqual([c]);
      await erin.ok('chats.leave', { chat_id });
      expect(await summary(erin)).toEqual([]);
      expect(await summary(dan)).toHaveLength(2);
    });

    test('refuses bad input', async () => {
      for (const input of [{ limit: 0 }, { before_id: 0 }, { chat_id: 1 }]) {
        expectRefusal(await ada.call('messages.threads', input as never), 'validation_failed');
      }
    });
  });

  test('are the same after a restart', async () => {
    const env = await freshEnvironment(engine);
    const before = await startServer(env);
    const { ada: writer, bob: reader } = await users(before, 'ada', 'bob');
    const { group } = await writer.ok('messages.create_group', { name: 'g', participants: [reader.userId] });
    const from = await eventTip(reader);
    const root = await say(writer, group.chat_id);
    await say(writer, group.chat_id, root.message_id);
    await say(reader, group.chat_id, root.message_id);
    const state = async (by: Client) => ({
      events: await eventsAfter(by, from),
      threads: await by.ok('messages.threads', {}),
      messages: await by.ok('messages.get_messages', { chat_id: group.chat_id }),
    });
    const told = await state(reader);
    await before.stop();
    const after = await startServer(env);
    expect(await state(new Client(after.url, reader.token, reader.userId))).toEqual(told);
    expect(told.threads.threads).toMatchObject([{ reply_count: 2, unread_count: 1 }]);
    await after.stop();
  });
});
