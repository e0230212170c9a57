import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { filePart, formWith, post, sending, textPart } from '../support/files.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { expectRefusal } from '../support/wire.ts';

onAnyEngine('messages', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  let cleo: Client;
  beforeAll(async () => {
    ({ ada, bob, cleo } = await users(server(), 'ada', 'bob', 'cleo'));
  });

  const newGroup = async (...others: Client[]) =>
    (await ada.ok('messages.create_group', { name: 'Group', participants: others.map((c) => c.userId) })).group.chat_id;
  const say = async (by: Client, chat_id: number, content: string) =>
    (await by.ok('messages.send_message', { chat_id, content })).message.message_id;
  const sayAll = async (chat_id: number, count: number) => {
    const ids: number[] = [];
    for (let i = 0; i < count; i++) ids.push(await say(ada, chat_id, `message ${i}`));
    return ids;
  };

  describe('paging', () => {
    let chat_id: number;
    let ids: number[];
    beforeAll(async () => {
      chat_id = await newGroup(bob);
      const elsewhere = await newGroup(bob);
      ids = [];
      for (let i = 0; i < 10; i++) {
        ids.push(await say(ada, chat_id, `message ${i}`));
        await say(ada, elsewhere, 'elsewhere');
      }
    });
    const page = async (input: object) => {
      const { messages, has_more } = await bob.ok('messages.get_messages', { chat_id, ...input });
      return { at: messages.map((m) => ids.indexOf(m.message_id)), has_more };
    };

    test('without a bound gives the newest, in ascending order', async () => {
      expect(await page({ limit: 3 })).toEqual({ at: [7, 8, 9], has_more: true });
      expect(await page({})).toEqual({ at: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], has_more: false });
    });

    test('from after_id 0 starts at the oldest', async () => {
      expect(await page({ after_id: 0, limit: 3 })).toEqual({ at: [0, 1, 2], has_more: true });
    });

    test('goes backwards with before_id until nothing is left', async () => {
      expect(await page({ before_id: ids[7], limit: 3 })).toEqual({ at: [4, 5, 6], has_more: true });
      expect(await page({ before_id: ids[4], limit: 3 })).toEqual({ at: [1, 2, 3], has_more: true });
      expect(await page({ before_id: ids[1], limit: 3 })).toEqual({ at: [0], has_more: false });
      expect(await page({ before_id: ids[0], limit: 3 })).toEqual({ at: [], has_more: false });
    });

    test('goes around a message, which is in the middle if there are enough on both sides', async () => {
      const around = (i: number, limit: number) => page({ around_id: ids[i], limit });
      expect(await around(5, 5)).toEqual({ at: [3, 4, 5, 6, 7], has_more: true });
      expect(await around(5, 4)).toEqual({ at: [3, 4, 5, 6], has_more: true });
      expect(await around(5, 1)).toEqual({ at: [5], has_more: true });
      expect(await around(0, 5)).toEqual({ at: [0, 1, 2], has_more: true });
      expect(await around(9, 5)).toEqual({ at: [7, 8, 9], has_more: true });
      expect(await around(4, 20)).toEqual({ at: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], has_more: false });
      expect(await page({ around_id: (ids[3] ?? 0) + 1, limit: 2 })).toEqual({ at: [3, 4], has_more: true });
      expect(await page({ around_id: Number.MAX_SAFE_INTEGER, limit: 4 })).toEqual({ at: [8, 9], has_more: true });
      const reacted = ids[4] ?? 0;
      await bob.ok('messages.add_reaction', { message_id: reacted, emoji: '👍' });
      const { messages } = await bob.ok('messages.get_messages', { chat_id, around_id: ids[5], limit: 4 });
      expect(messages.map(({ reactions }) => reactions.length)).toEqual([0, 1, 0, 0]);
      await bob.ok('messages.remove_reaction', { message_id: reacted, emoji: '👍' });
      for (const more of [{ before_id: ids[5] }, { after_id: 0 }]) {
        expect(await ada.refused('messages.get_messages', { chat_id, around_id: ids[5], ...more })).toBe(
          'validation_failed',
        );
      }
      expect(await cleo.refused('messages.get_messages', { chat_id, around_id: ids[5] })).toBe('not_found');
    });

    test('goes forwards with after_id until nothing is left', async () => {
      expect(await page({ after_id: ids[2], limit: 3 })).toEqual({ at: [3, 4, 5], has_more: true });
      expect(await page({ after_id: ids[8], limit: 3 })).toEqual({ at: [9], has_more: false });
      expect(await page({ after_id: ids[9], limit: 3 })).toEqual({ at: [], has_more: false });
    });

    test('between both bounds gives the oldest there, neither end included', async () => {
      expect(await page({ after_id: ids[2], before_id: ids[6] })).toEqual({ at: [3, 4, 5], has_more: false });
      expect(await page({ after_id: ids[2], before_id: ids[6], limit: 2 })).toEqual({ at: [3, 4], has_more: true });
      expect(await page({ after_id: ids[2], before_id: ids[3] })).toEqual({ at: [], has_more: false });
      expect(await page({ after_id: ids[6], before_id: ids[2] })).toEqual({ at: [], has_more: false });
    });

    test('says exactly whether there is more, where a page just fits', async () => {
      expect(await page({ limit: 10 })).toMatchObject({ has_more: false });
      expect(await page({ limit: 9 })).toMatchObject({ has_more: true });
      expect(await page({ after_id: 0, limit: 10 })).toMatchObject({ has_more: false });
      expect(await page({ after_id: 0, limit: 9 })).toMatchObject({ has_more: true });
      expect(await page({ before_id: ids[5], limit: 5 })).toEqual({ at: [0, 1, 2, 3, 4], has_more: false });
      expect(await page({ before_id: ids[5], limit: 4 })).toEqual({ at: [1, 2, 3, 4], has_more: true });
      expect(await page({ after_id: ids[4], before_id: ids[8], limit: 3 })).toMatchObject({ has_more: false });
    });

    test('a bound need not be a message of the chat', async () => {
      expect(await page({ after_id: Number.MAX_SAFE_INTEGER })).toEqual({ at: [], has_more: false });
      expect(await page({ before_id: Number.MAX_SAFE_INTEGER, limit: 1 })).toEqual({ at: [9], has_more: true });
      expect(await page({ before_id: 1 })).toEqual({ at: [], has_more: false });
      expect(await page({ after_id: (ids[3] ?? 0) + 1, limit: 1 })).toEqual({ at: [4], has_more: true });
    });

    test('shows each message as it is read alone, whether it has reactions, a file, both or neither', async () => {
      const mixed = await newGroup(bob);
      const form = formWith(textPart('chat_id', mixed), filePart('bytes', 'a.txt'));
      for (let i = 0; i < 4; i++) {
        await say(ada, mixed, `line one\nline "two" ${i}`);
        await post(ada, sending, form);
      }
      const sent = (await bob.ok('messages.get_messages', { chat_id: mixed })).messages;
      for (const i of [0, 3, 4]) {
        await ada.ok('messages.add_reaction', { message_id: sent[i]?.message_id ?? 0, emoji: '🎉' });
      }
      const alone = [];
      for (const { message_id } of sent) alone.push((await bob.ok('messages.get_message', { message_id })).message);
      expect(alone.filter(({ file }) => file).length).toBe(4);
      const all = { chat_id: mixed, before_id: Number.MAX_SAFE_INTEGER };
      const { messages } = await bob.ok('messages.get_messages', all);
      expect(JSON.stringify(messages)).toBe(JSON.stringify(alone));
    });

    test('gives 50 where no limit is named', async () => {
      const long = await newGroup();
      await Promise.all(Array.from({ length: 51 }, () => say(ada, long, 'x')));
      const { messages, has_more } = await ada.ok('messages.get_messages', { chat_id: long });
      expect({ count: messages.length, has_more }).toEqual({ count: 50, has_more: true });
    });

    test('of a chat without messages gives none', async () => {
      const empty = await newGroup();
      for (const input of [{}, { after_id: 0 }, { before_id: 5 }]) {
        const answer = await ada.ok('messages.get_messages', { chat_id: empty, ...input });
        expect(answer).toMatchObject({ messages: [], has_more: false });
      }
    });

    test('shows every change on the newest page at once, also on a cached one', async () => {
      const changing = await newGroup(bob);
      const message_id = await say(ada, changing, 'first');
      const expectPage = async (...messages: object[]) => {
        for (const reader of [ada, bob, bob]) {
          const newest = await reader.ok('messages.get_messages', { chat_id: changing });
          expect(newest.messages).toMatchObject(messages);
        }
      };
      await expectPage({ content: 'first' });
      await say(bob, changing, 'second');
      await expectPage({ content: 'first' }, { content: 'second' });
      await ada.ok('messages.edit_message', { message_id, content: 'edited' });
      await expectPage({ content: 'edited' }, { content: 'second' });
      await bob.ok('messages.add_reaction', { message_id, emoji: '+1' });
      await expectPage({ reactions: [{ emoji: '+1', count: 1 }] }, { reactions: [] });
      await bob.ok('messages.remove_reaction', { message_id, emoji: '+1' });
      await expectPage({ reactions: [] }, { reactions: [] });
      await ada.ok('messages.delete_message', { message_id });
      await expectPage({ content: '' }, { content: 'second' });
    });

    test('both ways sees every message once while others write', async () => {
      const busy = await newGroup(bob, cleo);
      const before = await sayAll(busy, 20);
      let writing = true;
      const sent: number[] = [];
      const writer = async (by: Client) => {
        while (writing) sent.push(await say(by, busy, 'meanwhile'));
      };
      const writers = [ada, bob, cleo].map(writer);
      const backwards: number[] = [];
      for (let before_id: number | undefined, more = true; more; ) {
        const { messages, has_more } = await bob.ok('messages.get_messages', {
          chat_id: busy,
          limit: 7,
          ...(before_id !== undefined && { before_id }),
        });
        backwards.unshift(...messages.map((m) => m.message_id as number));
        before_id = messages[0]?.message_id;
        more = has_more;
      }
      const forwards: number[] = [];
      for (let after_id = 0, rounds = 0; rounds < 15; rounds++) {
        const { messages } = await bob.ok('messages.get_messages', { chat_id: busy, limit: 7, after_id });
        forwards.push(...messages.map((m) => m.message_id as number));
        after_id = forwards.at(-1) ?? 0;
      }
      writing = false;
      await Promise.all(writers);
      const all = [...before, ...sent].sort((a, b) => a - b);
      expect(backwards).toEqual(all.slice(0, backwards.length));
      expect(forwards).toEqual(all.slice(0, forwards.length));
    });
  });

  describe('a message', () => {
    test('has a link at the URL of the server', async () => {
      const message_id = await say(ada, await newGroup(), 'to link to');
      const { link } = await ada.ok('messages.get_message', { message_id });
      expect(link).toBe(`${server().url}/m/${message_id}`);
    });

    test('is answered as it is read back, by everyone in the chat', async () => {
      const chat_id = await newGroup(bob);
      const first = await say(ada, chat_id, 'first');
      const { message } = await bob.ok('messages.send_message', { chat_id, content: 'an answer', reply_to: first });
      expect(message).toMatchObject({
        chat_id,
        user_id: bob.userId,
        content: 'an answer',
        reply_to: first,
        file: null,
      });
      expect(message).toMatchObject({ reactions: [], edited_at: null, deleted_at: null });
      for (const reader of [ada, bob]) {
        const { message_id } = message;
        expect((await reader.ok('messages.get_message', { message_id })).message).toEqual(message);
        expect((await reader.ok('messages.get_messages', { chat_id })).messages.at(-1)).toEqual(message);
      }
    });

    test('has an id above every earlier one, also where many arrive at once', async () => {
      const chat_id = await newGroup();
      const rounds: number[][] = [];
      for (let i = 0; i < 3; i++) {
        rounds.push(await Promise.all(Array.from({ length: 40 }, (_, n) => say(ada, chat_id, `${n}`))));
      }
      const [first = [], second = [], third = []] = rounds;
      expect(new Set(rounds.flat()).size).toBe(120);
      expect(Math.max(...first)).toBeLessThan(Math.min(...second));
      expect(Math.max(...second)).toBeLessThan(Math.min(...third));
    });

    test('that is bad fails alone among those that arrive with it', async () => {
      const chat_id = await newGroup();
      const foreign = await say(ada, await newGroup(), 'foreign');
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, i) =>
          i % 3 === 0
            ? ada.call('messages.send_message', { chat_id, content: `${i}` })
            : i % 3 === 1
              ? cleo.call('messages.send_message', { chat_id, content: `${i}` })
              : ada.call('messages.send_message', { chat_id, content: `${i}`, reply_to: foreign }),
        ),
      );
      expect(answers.map((a) => a.status)).toEqual(answers.map((_, i) => [200, 404, 422][i % 3] ?? 0));
      const { messages } = await ada.ok('messages.get_messages', { chat_id });
      expect(messages.map((m) => Number(m.content)).sort((a, b) => a - b)).toEqual([
        0, 3, 6, 9, 12, 15, 18, 21, 24, 27,
      ]);
    });
  });

  describe('sending while one’s place in the chat changes', () => {
    const kinds = {
      group: { remove: true, event: 'user_left' },
      channel: { remove: false, event: 'role_changed' },
    } as const;
    for (const [kind, { remove, event }] of Object.entries(kinds)) {
      test(`in a ${kind}, nothing is accepted after ${event}`, async () => {
        for (let round = 0; round < 4; round++) {
          const chat_id = remove
            ? await newGroup(bob)
            : (await ada.ok('messages.create_channel', { name: 'c', participants: [bob.userId] })).channel.chat_id;
          if (!remove) await ada.ok('chats.set_role', { chat_id, user_id: bob.userId, role: 'admin' });
          const after = await eventTip(ada);
          const change = () =>
            remove
              ? ada.ok('chats.remove_participant', { chat_id, user_id: bob.userId })
              : ada.ok('chats.set_role', { chat_id, user_id: bob.userId, role: 'member' });
          const answers = await Promise.all(
            Array.from({ length: 40 }, async (_, i) => {
              await Bun.sleep(i % 8);
              if (i === 20) await change();
              return bob.call('messages.send_message', { chat_id, content: 'x' });
            }),
          );
          const events = (await eventsAfter(ada, after, { chat_id })).map((e) => e.event);
          expect(events.at(-1)).toBe(event);
          expect(events.length - 1).toBe(answers.filter((a) => a.status === 200).length);
        }
      });
    }
  });

  describe('editing', () => {
    test('changes the text and says when, for every reader', async () => {
      const chat_id = await newGroup(bob);
      const message_id = await say(ada, chat_id, 'befor');
      const { message } = await ada.ok('messages.edit_message', { message_id, content: 'before' });
      expect(message.content).toBe('before');
      expect(Date.parse(String(message.edited_at))).toBeGreaterThanOrEqual(Date.parse(message.created_at));
      expect((await bob.ok('messages.get_message', { message_id })).message).toEqual(message);
    });

    test('keeps reactions and what the message replies to', async () => {
      const chat_id = await newGroup(bob);
      const reply_to = await say(ada, chat_id, 'question');
      const sent = await ada.ok('messages.send_message', { chat_id, content: 'anser', reply_to });
      const { message_id } = sent.message;
      await bob.ok('messages.add_reaction', { message_id, emoji: '👀' });
      const { message } = await ada.ok('messages.edit_message', { message_id, content: 'answer' });
      expect(message).toMatchObject({ reply_to, reactions: [{ emoji: '👀', count: 1, reacted: false }] });
    });

    test('is refused once the message is deleted', async () => {
      const message_id = await say(ada, await newGroup(), 'gone');
      await ada.ok('messages.delete_message', { message_id });
      expectRefusal(await ada.call('messages.edit_message', { message_id, content: 'back' }), 'conflict');
    });
  });

  describe('deleting', () => {
    test('leaves a tombstone in its place, without text and reactions', async () => {
      const chat_id = await newGroup(bob);
      const ids = await sayAll(chat_id, 3);
      const [, message_id = 0] = ids;
      await bob.ok('messages.add_reaction', { message_id, emoji: '🎉' });
      const { message } = await ada.ok('messages.delete_message', { message_id });
      expect(message).toMatchObject({ message_id, content: '', reactions: [], user_id: ada.userId });
      expect(message.deleted_at).not.toBeNull();
      const { messages } = await bob.ok('messages.get_messages', { chat_id });
      expect(messages.map((m) => m.message_id as number)).toEqual(ids);
      expect(messages[1]).toEqual(message);
      expect((await bob.ok('messages.get_message', { message_id })).message).toEqual(message);
      expect((await bob.ok('chats.get', { chat_id })).chat.last_message_id).toBe(ids[2] ?? 0);
    });

    test('leaves answers to it, and it can still be answered', async () => {
      const chat_id = await newGroup();
      const reply_to = await say(ada, chat_id, 'question');
      const { message } = await ada.ok('messages.send_message', { chat_id, content: 'answer', reply_to });
      await ada.ok('messages.delete_message', { message_id: reply_to });
      const { message_id } = message;
      expect((await ada.ok('messages.get_message', { message_id })).message.reply_to).toBe(reply_to as never);
      await ada.ok('messages.send_message', { chat_id, content: 'another', reply_to });
    });

    test('ends reacting to it, without troubling who takes a reaction back', async () => {
      const message_id = await say(ada, await newGroup(), 'gone');
      await ada.ok('messages.add_reaction', { message_id, emoji: '🎉' });
      await ada.ok('messages.delete_message', { message_id });
      expectRefusal(await ada.call('messages.add_reaction', { message_id, emoji: '🎉' }), 'conflict');
      expect((await ada.ok('messages.remove_reaction', { message_id, emoji: '🎉' })).message.reactions).toEqual([]);
    });
  });

  describe('reactions', () => {
    test('are counted by kind, in the order in which each kind first came, and tell what is yours', async () => {
      const chat_id = await newGroup(bob, cleo);
      const message_id = await say(ada, chat_id, 'news');
      const react = (by: Client, emoji: string) => by.ok('messages.add_reaction', { message_id, emoji });
      await react(bob, '🎉');
      await react(ada, '👍');
      await react(cleo, '🎉');
      const { message } = await react(ada, '🎉');
      expect(message.reactions).toEqual([
        { emoji: '🎉', count: 3, reacted: true },
        { emoji: '👍', count: 1, reacted: true },
      ]);
      expect((await bob.ok('messages.get_message', { message_id })).message.reactions).toEqual([
        { emoji: '🎉', count: 3, reacted: true },
        { emoji: '👍', count: 1, reacted: false },
      ]);
      const { messages } = await cleo.ok('messages.get_messages', { chat_id });
      expect(messages[0]?.reactions.map((r) => r.reacted)).toEqual([true, false]);
    });

    test('name those who reacted in pages, in the chats that one is in', async () => {
      const message_id = await say(ada, await newGroup(bob), 'news');
      for (const by of [bob, ada]) await by.ok('messages.add_reaction', { message_id, emoji: '🎉' });
      await bob.ok('messages.add_reaction', { message_id, emoji: '👍' });
      const page = async (input: object) => {
        const { users, has_more } = await ada.ok('messages.reactions', { message_id, emoji: '🎉', ...input });
        return [users.map(({ user_id }) => user_id), has_more];
      };
      expect(await page({})).toEqual([[ada.userId, bob.userId], false]);
      expect(await page({ limit: 1 })).toEqual([[ada.userId], true]);
      expect(await page({ limit: 1, after_id: ada.userId })).toEqual([[bob.userId], false]);
      expect(await page({ emoji: '👍' })).toEqual([[bob.userId], false]);
      expect(await page({ emoji: '👀' })).toEqual([[], false]);
      expect(await cleo.refused('messages.reactions', { message_id, emoji: '🎉' })).toBe('not_found');
    });

    test('go when the last one of a kind is taken back, and come back at the end', async () => {
      const message_id = await say(ada, await newGroup(bob), 'news');
      for (const emoji of ['a', 'b']) await ada.ok('messages.add_reaction', { message_id, emoji });
      await bob.ok('messages.add_reaction', { message_id, emoji: 'a' });
      await ada.ok('messages.remove_reaction', { message_id, emoji: 'a' });
      const { message } = await bob.ok('messages.remove_reaction', { message_id, emoji: 'a' });
      expect(message.reactions).toEqual([{ emoji: 'b', count: 1, reacted: false }]);
      const again = await bob.ok('messages.add_reaction', { message_id, emoji: 'a' });
      expect(again.message.reactions.map((r) => r.emoji)).toEqual(['b', 'a']);
    });

    test('stay with their own message on a page of several', async () => {
      const chat_id = await newGroup();
      const ids = await sayAll(chat_id, 4);
      for (const i of [0, 2]) await ada.ok('messages.add_reaction', { message_id: ids[i] ?? 0, emoji: `e${i}` });
      const { messages } = await ada.ok('messages.get_messages', { chat_id });
      expect(messages.map((m) => m.reactions.map((r) => r.emoji))).toEqual([['e0'], [], ['e2'], []]);
    });

    test.each(['👍🏽', '👨‍👩‍👧‍👦', '🏳️‍🌈', '🇨🇦', '1️⃣', '+1', ':tada:', '❤', '❤️', 'صح', '好'])(
      'take %s as it is',
      async (emoji) => {
        const message_id = await say(ada, await newGroup(), 'x');
        const { message } = await ada.ok('messages.add_reaction', { message_id, emoji });
        expect(message.reactions).toEqual([{ emoji, count: 1, reacted: true }]);
      },
    );

    test.each(['', ' ', 'a b', 'a\n', 'x'.repeat(65), '😀'.repeat(17)])('refuse what is none: %j', async (emoji) => {
      const message_id = await say(ada, await newGroup(), 'x');
      const error = expectRefusal(await ada.call('messages.add_reaction', { message_id, emoji }), 'validation_failed');
      expect(error.details[0]?.field).toBe('emoji');
    });

    test('are of at most 50 kinds, and more people may join each', async () => {
      const message_id = await say(ada, await newGroup(bob), 'popular');
      for (let i = 0; i < 50; i++) await ada.ok('messages.add_reaction', { message_id, emoji: `kind${i}` });
      expectRefusal(await ada.call('messages.add_reaction', { message_id, emoji: 'one-more' }), 'conflict');
      expectRefusal(await bob.call('messages.add_reaction', { message_id, emoji: 'one-more' }), 'conflict');
      await bob.ok('messages.add_reaction', { message_id, emoji: 'kind7' });
      await ada.ok('messages.remove_reaction', { message_id, emoji: 'kind3' });
      const { message } = await bob.ok('messages.add_reaction', { message_id, emoji: 'one-more' });
      expect(message.reactions).toHaveLength(50);
    });

    test('by 20 people at once are 20', async () => {
      const message_id = await say(ada, await newGroup(bob, cleo), 'x');
      const people = [ada, bob, cleo];
      const calls = Array.from({ length: 21 }, (_, i) =>
        people[i % 3]?.call('messages.add_reaction', { message_id, emoji: '👏' }),
      );
      for (const answer of await Promise.all(calls)) expect(answer?.status).toBe(200);
      const { message } = await ada.ok('messages.get_message', { message_id });
      expect(message.reactions).toEqual([{ emoji: '👏', count: 3, reacted: true }]);
    });
  });

  describe('what is unread', () => {
    const unread = async (by: Client, chat_id: number) => (await by.ok('chats.get', { chat_id })).chat.unread_count;

    test('is what others wrote after the marker', async () => {
      const chat_id = await newGroup(bob);
      const ids = await sayAll(chat_id, 5);
      expect(await unread(ada, chat_id)).toBe(0);
      expect(await unread(bob, chat_id)).toBe(5);
      const { read } = await bob.ok('messages.mark_read', { chat_id, message_id: ids[2] ?? 0 });
      expect(read).toEqual({ chat_id, last_read_id: ids[2] ?? 0, unread_count: 2 } as never);
      expect(await unread(bob, chat_id)).toBe(2);
      const { chats } = await bob.ok('chats.list', { limit: 200 });
      expect(chats.find((c) => c.chat_id === chat_id)?.unread_count).toBe(2);
    });

    test('is nothing once all is marked', async () => {
      const chat_id = await newGroup(bob);
      const ids = await sayAll(chat_id, 3);
      const { read } = await bob.ok('messages.mark_read', { chat_id });
      expect(read).toEqual({ chat_id, last_read_id: ids[2] ?? 0, unread_count: 0 } as never);
      await say(ada, chat_id, 'one more');
      expect(await unread(bob, chat_id)).toBe(1);
    });

    test('does not grow with messages of your own', async () => {
      const chat_id = await newGroup(bob);
      await say(ada, chat_id, 'hers');
      await say(bob, chat_id, 'his');
      expect([await unread(ada, chat_id), await unread(bob, chat_id)]).toEqual([1, 1]);
    });

    test('shrinks when an unread message is deleted', async () => {
      const chat_id = await newGroup(bob);
      const [first = 0] = await sayAll(chat_id, 2);
      await ada.ok('messages.delete_message', { message_id: first });
      expect(await unread(bob, chat_id)).toBe(1);
    });

    test('is told of what is newest, however much before it was deleted or is your own', async () => {
      const chat_id = await newGroup(bob);
      const ids = await sayAll(chat_id, 100);
      await Promise.all(ids.map((message_id) => ada.ok('messages.delete_message', { message_id })));
      for (let i = 0; i < 100; i++) await say(bob, chat_id, 'his own');
      expect(await unread(bob, chat_id)).toBe(0);
      await say(ada, chat_id, 'new');
      expect(await unread(bob, chat_id)).toBe(1);
    });

    test('stops growing at 100', async () => {
      const chat_id = await newGroup(bob);
      await sayAll(chat_id, 103);
      expect(await unread(bob, chat_id)).toBe(100);
    });

    test('is nothing for somebody who is not in the channel', async () => {
      const { chat_id } = (await ada.ok('messages.create_channel', { name: 'Open' })).channel;
      await sayAll(chat_id, 2);
      expect(await unread(bob, chat_id)).toBe(0);
      const { chats } = await bob.ok('chats.list', { scope: 'public', limit: 200 });
      expect(chats.find((c) => c.chat_id === chat_id)?.unread_count).toBe(0);
    });

    test('starts at nothing for a newcomer, also on coming back', async () => {
      const chat_id = await newGroup();
      await sayAll(chat_id, 3);
      await ada.ok('chats.add_participants', { chat_id, participants: [bob.userId] });
      expect(await unread(bob, chat_id)).toBe(0);
      await say(ada, chat_id, 'new');
      expect(await unread(bob, chat_id)).toBe(1);
      await bob.ok('chats.leave', { chat_id });
      await sayAll(chat_id, 2);
      await ada.ok('chats.add_participants', { chat_id, participants: [bob.userId] });
      expect(await unread(bob, chat_id)).toBe(0);
    });

    test('is kept by a marker that never goes back', async () => {
      const chat_id = await newGroup(bob);
      const ids = await sayAll(chat_id, 4);
      const mark = async (message_id?: number) =>
        (await bob.ok('messages.mark_read', { chat_id, ...(message_id !== undefined && { message_id }) })).read;
      await mark(ids[2]);
      expect(await mark(ids[0])).toMatchObject({ last_read_id: ids[2], unread_count: 1 });
      await mark();
      expect(await mark(ids[1])).toMatchObject({ last_read_id: ids[3], unread_count: 0 });
    });

    test('is not marked in advance by an id that no message has yet', async () => {
      const chat_id = await newGroup(bob);
      const [only = 0] = await sayAll(chat_id, 1);
      const { read } = await bob.ok('messages.mark_read', { chat_id, message_id: Number.MAX_SAFE_INTEGER });
      expect(read).toMatchObject({ last_read_id: only, unread_count: 0 });
      await say(ada, chat_id, 'later');
      expect(await unread(bob, chat_id)).toBe(1);
    });

    test('in a chat without messages has no marker', async () => {
      const chat_id = await newGroup();
      const { read } = await ada.ok('messages.mark_read', { chat_id });
      expect(read).toEqual({ chat_id, last_read_id: null, unread_count: 0 } as never);
    });

    test('is each reader’s own, where many mark at once', async () => {
      const chat_id = await newGroup(bob, cleo);
      const ids = await sayAll(chat_id, 10);
      await Promise.all(
        ids.flatMap((message_id, i) => [
          bob.ok('messages.mark_read', { chat_id, message_id }),
          ...(i < 4 ? [cleo.ok('messages.mark_read', { chat_id, message_id })] : []),
        ]),
      );
      expect([await unread(bob, chat_id), await unread(cleo, chat_id)]).toEqual([0, 6]);
    });
  });
});
