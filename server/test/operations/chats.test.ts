import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { complaint, expectRefusal } from '../support/wire.ts';

onAnyEngine('chats', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  let cleo: Client;
  beforeAll(async () => {
    ({ ada, bob, cleo } = await users(server(), 'ada', 'bob', 'cleo'));
  });
  const ids = (...people: Client[]) => people.map((c) => c.userId);
  const newGroup = async (...others: Client[]) =>
    (await ada.ok('messages.create_group', { name: 'Group', participants: ids(...others) })).group.chat_id;
  const newChannel = async (more: object = {}) =>
    (await ada.ok('messages.create_channel', { name: 'Channel', ...more })).channel.chat_id;
  const rolesIn = async (by: Client, chat_id: number) =>
    Object.fromEntries((await by.ok('chats.participants', { chat_id })).participants.map((p) => [p.user_id, p.role]));

  describe('a group', () => {
    test('is what was asked for, owned by who made it', async () => {
      const { group } = await ada.ok('messages.create_group', {
        name: 'Ñandú 🦤 قروپ',
        description: 'two\nlines',
        participants: ids(bob, cleo),
      });
      expect(group).toMatchObject({
        type: 'group',
        visibility: 'private',
        name: 'Ñandú 🦤 قروپ',
        description: 'two\nlines',
        created_by: ada.userId,
        participant_count: 3,
        last_message_id: null,
        role: 'owner',
        unread_count: 0,
        mention_count: 0,
      });
      const { chat_id } = group;
      expect((await ada.ok('chats.get', { chat_id })).chat).toEqual(group);
      expect((await bob.ok('chats.get', { chat_id })).chat).toEqual({ ...group, role: 'member' });
      expect(await rolesIn(bob, chat_id)).toEqual({
        [ada.userId]: 'owner',
        [bob.userId]: 'member',
        [cleo.userId]: 'member',
      });
    });

    test('counts its maker and a repeated participant once', async () => {
      const participants = ids(bob, ada, bob, bob);
      const { group } = await ada.ok('messages.create_group', { name: 'x', participants });
      expect(group.participant_count).toBe(2);
    });

    test('may start alone', async () => {
      for (const input of [{ name: 'x', participants: [] }, { name: 'x' }]) {
        expect((await ada.ok('messages.create_group', input)).group.participant_count).toBe(1);
      }
    });

    test('starts with up to 1,000 others, and not one more', async () => {
      const name = (i: number) => `crowd-${i}`;
      await server().engine.write(async (tx) => {
        const rows = Array.from({ length: 1_001 }, (_, i) => ({ name: name(i) }));
        await tx.run(
          `INSERT INTO users (name, name_key, display_name, search_key, created_at)
           SELECT name, name, name, name, 0 FROM ${tx.dialect.rows('$1', { name: 'text' }, 'r')}`,
          [JSON.stringify(rows)],
        );
      });
      const crowd = await server().engine.all<{ user_id: number }>(
        `SELECT user_id FROM users WHERE name LIKE 'crowd-%'`,
      );
      const all = crowd.map((u) => u.user_id);
      expect(all).toHaveLength(1_001);
      const create = (participants: number[]) => ada.call('messages.create_group', { name: 'Crowd', participants });
      expect((await create(all.slice(1))).body.group.participant_count).toBe(1_001);
      expect(complaint(expectRefusal(await create(all), 'validation_failed'), 'participants')).toContain('1000');
    });

    test.each(['', ' ', '\n', 'two\nlines', 'tab\there', 'x'.repeat(101), '\u2028', 'bell\u0007'])(
      'has a name of one line and up to 100 characters, not %j',
      async (name) => {
        const error = expectRefusal(
          await ada.call('messages.create_group', { name, participants: [] }),
          'validation_failed',
        );
        expect(complaint(error, 'name')).toBeDefined();
      },
    );

    test.each(['x'.repeat(100), '漢'.repeat(100), '😀'.repeat(100), '" \' \\ % <b> & ;--', 'مجموعة'])(
      'may be called %s',
      async (name) => {
        expect((await ada.ok('messages.create_group', { name, participants: [] })).group.name).toBe(name);
      },
    );
  });

  describe('a direct chat', () => {
    test('is the same for both sides, however often it is opened', async () => {
      const { chat } = await ada.ok('messages.create_direct', { user_id: bob.userId });
      expect(chat).toMatchObject({
        type: 'direct',
        visibility: 'private',
        name: null,
        participant_count: 2,
        role: 'member',
      });
      expect((await ada.ok('messages.create_direct', { user_id: bob.userId })).chat).toEqual(chat);
      const theirs = (await bob.ok('messages.create_direct', { user_id: ada.userId })).chat;
      expect(theirs).toEqual({ ...chat, peer: theirs.peer });
      expect((await cleo.ok('messages.create_direct', { user_id: ada.userId })).chat.chat_id).not.toBe(chat.chat_id);
    });

    test('is one where both sides open it 20 times at once', async () => {
      const { left, right } = await users(server(), 'left', 'right');
      const open = (i: number) =>
        i % 2
          ? left.ok('messages.create_direct', { user_id: right.userId })
          : right.ok('messages.create_direct', { user_id: left.userId });
      const chats = await Promise.all(Array.from({ length: 20 }, (_, i) => open(i)));
      expect(new Set(chats.map((c) => c.chat.chat_id)).size).toBe(1);
      for (const side of [left, right]) {
        expect((await eventsAfter(side, 0)).map((e) => e.event)).toEqual(['direct_created']);
        expect((await side.ok('chats.list', {})).chats).toHaveLength(1);
      }
    });

    test('has two sides', async () => {
      const alone = await ada.call('messages.create_direct', { user_id: ada.userId });
      expect(complaint(expectRefusal(alone, 'validation_failed'), 'user_id')).toBeDefined();
    });
  });

  describe('a channel', () => {
    test('is public unless it is made private, and starts with its maker', async () => {
      const { channel } = await ada.ok('messages.create_channel', { name: 'News' });
      expect(channel).toMatchObject({ type: 'channel', visibility: 'public', participant_count: 1, role: 'owner' });
      const hidden = await ada.ok('messages.create_channel', {
        name: 'Staff',
        visibility: 'private',
        participants: ids(bob),
      });
      expect(hidden.channel).toMatchObject({ visibility: 'private', participant_count: 2 });
    });

    test('that is public is found by any part of its name and joined by anyone', async () => {
      const chat_id = await newChannel({ name: 'Crème Brûlée Ўзбек' });
      for (const query of ['creme', 'CRÈME BRÛ', 'brule', 'lée ўз', 'збек']) {
        const { chats } = await bob.ok('chats.list', { scope: 'public', query });
        expect({ query, found: chats.map((c) => [c.chat_id as number, c.role]) }).toEqual({
          query,
          found: [[chat_id, null]],
        });
      }
      expect((await bob.ok('chats.list', {})).chats.map((c) => c.chat_id as number)).not.toContain(chat_id);
      const { chat } = await bob.ok('chats.join', { chat_id });
      expect(chat).toMatchObject({ chat_id, role: 'member', participant_count: 2 });
      expect((await bob.ok('chats.list', {})).chats.map((c) => c.chat_id as number)).toContain(chat_id);
      const [found] = (await bob.ok('chats.list', { scope: 'public', query: 'creme' })).chats;
      expect(found).toEqual(chat);
    });

    test('that is private is neither found nor joined, and can be opened and closed', async () => {
      const chat_id = await newChannel({ name: 'Openclose', visibility: 'private' });
      const found = async () => (await bob.ok('chats.list', { scope: 'public', query: 'openclose' })).chats.length;
      expect(await found()).toBe(0);
      expect(await bob.refused('chats.join', { chat_id })).toBe('not_found');
      await ada.ok('chats.update', { chat_id, visibility: 'public' });
      expect(await found()).toBe(1);
      await bob.ok('chats.join', { chat_id });
      await ada.ok('chats.update', { chat_id, visibility: 'private' });
      expect(await found()).toBe(0);
      expect((await bob.ok('chats.get', { chat_id })).chat.role).toBe('member');
      expect(await cleo.refused('chats.get', { chat_id })).toBe('not_found');
    });

    test('lets owner and admins post, and everyone in it read and react', async () => {
      const chat_id = await newChannel({ participants: ids(bob, cleo) });
      await ada.ok('chats.set_role', { chat_id, user_id: bob.userId, role: 'admin' });
      await ada.ok('messages.send_message', { chat_id, content: 'from the owner' });
      const { message } = await bob.ok('messages.send_message', { chat_id, content: 'from an admin' });
      expect(await cleo.refused('messages.send_message', { chat_id, content: 'me too' })).toBe('forbidden');
      expect((await cleo.ok('messages.get_messages', { chat_id })).messages).toHaveLength(2);
      await cleo.ok('messages.add_reaction', { message_id: message.message_id, emoji: '👏' });
      await ada.ok('chats.set_role', { chat_id, user_id: bob.userId, role: 'member' });
      expect(await bob.refused('messages.send_message', { chat_id, content: 'again' })).toBe('forbidden');
    });
  });

  describe('lists', () => {
    test('hold my chats in the order of their ids, page by page', async () => {
      const { dora } = await users(server(), 'dora');
      const made: number[] = [];
      for (let i = 0; i < 5; i++) {
        const { group } = await ada.ok('messages.create_group', { name: `List ${i}`, participants: ids(dora) });
        made.push(group.chat_id);
      }
      const page = async (input: object) => {
        const { chats, has_more } = await dora.ok('chats.list', input);
        return { at: chats.map((c) => made.indexOf(c.chat_id)), has_more };
      };
      expect(await page({})).toEqual({ at: [0, 1, 2, 3, 4], has_more: false });
      expect(await page({ limit: 2 })).toEqual({ at: [0, 1], has_more: true });
      expect(await page({ limit: 2, after_id: made[1] })).toEqual({ at: [2, 3], has_more: true });
      expect(await page({ limit: 2, after_id: made[2] })).toEqual({ at: [3, 4], has_more: false });
      expect(await page({ after_id: made[4] })).toEqual({ at: [], has_more: false });
      expect(await page({ query: 'list 3' })).toEqual({ at: [3], has_more: false });
    });

    test.each(['%', '_', '100%', 'a_b', '!', '\\', "'", '"; DROP TABLE chats; --', '*'])(
      'take a query literally: %s',
      async (query) => {
        const { eva } = await users(server(), 'eva');
        await eva.ok('messages.create_group', { name: `with ${query} in it`, participants: [] });
        await eva.ok('messages.create_group', { name: 'without, 100 or axb', participants: [] });
        const { chats } = await eva.ok('chats.list', { query });
        expect(chats.map((c) => c.name)).toEqual([`with ${query} in it`]);
      },
    );

    test('of participants go by user id, page by page', async () => {
      const chat_id = await newGroup(bob, cleo);
      const page = async (input: object) => {
        const { participants, has_more } = await bob.ok('chats.participants', { chat_id, ...input });
        return { at: participants.map((p) => p.user_id as number), has_more };
      };
      const [a, b, c] = ids(ada, bob, cleo) as [number, number, number];
      expect(await page({})).toEqual({ at: [a, b, c], has_more: false });
      expect(await page({ limit: 2 })).toEqual({ at: [a, b], has_more: true });
      expect(await page({ limit: 2, after_id: b })).toEqual({ at: [c], has_more: false });
      const { participants } = await bob.ok('chats.participants', { chat_id, limit: 1 });
      const { user } = await ada.ok('users.me', {});
      expect(participants[0]).toMatchObject({
        user_id: a,
        name: user.name,
        display_name: user.display_name,
        role: 'owner',
      });
    });
  });

  describe('updating', () => {
    test('changes what is given and leaves the rest', async () => {
      const chat_id = await newGroup(bob);
      await ada.ok('chats.update', { chat_id, description: 'About' });
      const { chat } = await ada.ok('chats.update', { chat_id, name: 'New name' });
      expect(chat).toMatchObject({ name: 'New name', description: 'About', visibility: 'private' });
      await ada.ok('chats.update', { chat_id, description: '' });
      expect((await bob.ok('chats.get', { chat_id })).chat).toMatchObject({ name: 'New name', description: '' });
      expect((await bob.ok('chats.list', { query: 'new name' })).chats.map((c) => c.chat_id as number)).toContain(
        chat_id,
      );
    });

    test('makes no group public', async () => {
      const chat_id = await newGroup();
      const error = expectRefusal(
        await ada.call('chats.update', { chat_id, visibility: 'public' }),
        'validation_failed',
      );
      expect(complaint(error, 'visibility')).toBeDefined();
      expect((await ada.ok('chats.get', { chat_id })).chat.visibility).toBe('private');
    });
  });

  describe('participants', () => {
    test('are added once, and who is new is told', async () => {
      const chat_id = await newGroup(bob);
      const tip = await eventTip(ada);
      const { chat, added } = await ada.ok('chats.add_participants', {
        chat_id,
        participants: ids(bob, cleo, cleo, ada),
      });
      expect(added.map(Number)).toEqual([cleo.userId]);
      expect(chat.participant_count).toBe(3);
      expect((await eventsAfter(ada, tip)).map((e) => [e.event, e.data.user_id])).toEqual([
        ['user_joined', cleo.userId],
      ]);
    });

    test('are added all or not at all', async () => {
      const chat_id = await newGroup();
      const answer = await ada.call('chats.add_participants', { chat_id, participants: [bob.userId, 2 ** 53 - 1] });
      expectRefusal(answer, 'validation_failed');
      expect((await ada.ok('chats.get', { chat_id })).chat.participant_count).toBe(1);
    });

    test('come back as members, whatever they were', async () => {
      const chat_id = await newGroup(bob);
      await ada.ok('chats.set_role', { chat_id, user_id: bob.userId, role: 'admin' });
      await bob.ok('chats.leave', { chat_id });
      await ada.ok('chats.add_participants', { chat_id, participants: ids(bob) });
      expect(await rolesIn(ada, chat_id)).toEqual({ [ada.userId]: 'owner', [bob.userId]: 'member' });
    });

    test('that are none cannot be removed or given a role', async () => {
      const chat_id = await newGroup();
      expect(await ada.refused('chats.remove_participant', { chat_id, user_id: bob.userId })).toBe('not_found');
      expect(await ada.refused('chats.set_role', { chat_id, user_id: bob.userId, role: 'admin' })).toBe('not_found');
    });

    test('who are removed are out at once, and counted no more', async () => {
      const chat_id = await newGroup(bob, cleo);
      const { chat } = await ada.ok('chats.remove_participant', { chat_id, user_id: bob.userId });
      expect(chat.participant_count).toBe(2);
      expect(await bob.refused('messages.send_message', { chat_id, content: 'x' })).toBe('not_found');
      expect(await rolesIn(cleo, chat_id)).toEqual({ [ada.userId]: 'owner', [cleo.userId]: 'member' });
    });

    test('may be admins who remove each other, and themselves', async () => {
      const chat_id = await newGroup(bob, cleo);
      for (const user_id of ids(bob, cleo)) await ada.ok('chats.set_role', { chat_id, user_id, role: 'admin' });
      await bob.ok('chats.remove_participant', { chat_id, user_id: cleo.userId });
      await bob.ok('chats.remove_participant', { chat_id, user_id: bob.userId });
      expect(await rolesIn(ada, chat_id)).toEqual({ [ada.userId]: 'owner' });
    });

    test('get the role that was set, and several may own a chat', async () => {
      const chat_id = await newGroup(bob);
      const { participant } = await ada.ok('chats.set_role', { chat_id, user_id: bob.userId, role: 'owner' });
      expect(participant).toMatchObject({ user_id: bob.userId, role: 'owner' });
      expect((await bob.ok('chats.get', { chat_id })).chat.role).toBe('owner');
      await bob.ok('chats.set_role', { chat_id, user_id: ada.userId, role: 'member' });
      expect((await ada.ok('chats.get', { chat_id })).chat.role).toBe('member');
    });

    test('join and leave at the same moment without a trace of disorder', async () => {
      const chat_id = await newChannel();
      const tip = await eventTip(ada);
      await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          (i % 4 === 3 ? cleo : bob).call(i % 2 ? 'chats.leave' : 'chats.join', { chat_id }),
        ),
      );
      const inside = new Set<unknown>();
      for (const { event, data } of await eventsAfter(ada, tip, { chat_id })) {
        expect(inside.has(data.user_id)).toBe(event === 'user_left');
        if (event === 'user_joined') inside.add(data.user_id);
        else inside.delete(data.user_id);
      }
      const { participants } = await ada.ok('chats.participants', { chat_id });
      expect(participants.map((p) => p.user_id as number)).toEqual([
        ada.userId,
        ...ids(bob, cleo).filter((id) => inside.has(id)),
      ]);
      expect((await ada.ok('chats.get', { chat_id })).chat.participant_count).toBe(participants.length);
    });
  });

  test('the newest message is named, and is the newest also after one is deleted', async () => {
    const chat_id = await newGroup();
    const send = async () => (await ada.ok('messages.send_message', { chat_id, content: 'x' })).message.message_id;
    const newest = async () => (await ada.ok('chats.get', { chat_id })).chat.last_message_id;
    await send();
    const last = await send();
    expect(await newest()).toBe(last);
    await ada.ok('messages.delete_message', { message_id: last });
    expect(await newest()).toBe(last);
  });
});
