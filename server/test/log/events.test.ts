import { beforeAll, describe, expect, test } from 'bun:test';
import { type EventName, errors, eventNames, eventTable, type LoggedEvent } from '@parley/contract';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { dropExpired, logRead } from '../support/retention.ts';
import { serverFor } from '../support/server.ts';
import { expectRefusal } from '../support/wire.ts';

/** The fields of each event's data, in their order, as the design lists them and as the contract adds ours. */
const fields: Record<Exclude<EventName, 'webhook_disabled'>, readonly string[]> = {
  new_message: ['message_id', 'chat_id', 'user_id', 'content'],
  message_edited: ['message_id', 'chat_id', 'user_id', 'content', 'previous_content'],
  message_deleted: ['message_id', 'chat_id', 'user_id', 'actor_id'],
  user_joined: ['chat_id', 'user_id', 'actor_id'],
  user_left: ['chat_id', 'user_id', 'actor_id'],
  group_created: ['chat_id', 'name', 'user_id', 'participants'],
  channel_created: ['chat_id', 'name', 'user_id', 'participants'],
  direct_created: ['chat_id', 'user_id', 'participants'],
  chat_updated: ['chat_id', 'user_id', 'name', 'description', 'visibility'],
  role_changed: ['chat_id', 'user_id', 'actor_id', 'role', 'previous_role'],
  user_updated: ['chat_id', 'user_id', 'name', 'display_name', 'status_text', 'time_zone', 'avatar_url'],
  reaction_added: ['message_id', 'chat_id', 'user_id', 'emoji'],
  reaction_removed: ['message_id', 'chat_id', 'user_id', 'emoji'],
  message_pinned: ['message_id', 'chat_id', 'user_id'],
  message_unpinned: ['message_id', 'chat_id', 'user_id'],
  preferences_changed: ['user_id', 'preferences'],
};

onAnyEngine('events', (engine) => {
  const server = serverFor(engine);

  describe('are emitted', () => {
    let ada: Client;
    let bob: Client;
    let seen: LoggedEvent[];
    const one = (event: EventName) => {
      const found = seen.filter((e) => e.event === event);
      expect(found.length).toBe(1);
      return found[0]?.data;
    };
    let group: number;
    let channel: number;
    let direct: number;
    let message: number;

    beforeAll(async () => {
      ({ ada, bob } = await users(server(), 'ada', 'bob'));
      const participants = [bob.userId];
      group = (await ada.ok('messages.create_group', { name: 'Group', participants })).group.chat_id;
      await bob.ok('users.update', { status_text: 'Away', time_zone: 'Asia/Tokyo' });
      channel = (await ada.ok('messages.create_channel', { name: 'Channel' })).channel.chat_id;
      direct = (await ada.ok('messages.create_direct', { user_id: bob.userId })).chat.chat_id;
      const chat_id = group;
      const user_id = bob.userId;
      message = (await bob.ok('messages.send_message', { chat_id, content: 'first' })).message.message_id;
      await bob.ok('messages.edit_message', { message_id: message, content: 'second' });
      await ada.ok('messages.add_reaction', { message_id: message, emoji: '🎉' });
      await ada.ok('messages.remove_reaction', { message_id: message, emoji: '🎉' });
      await bob.ok('messages.pin', { message_id: message });
      await ada.ok('messages.unpin', { message_id: message });
      await ada.ok('messages.delete_message', { message_id: message });
      await ada.ok('chats.update', { chat_id, name: 'Renamed', description: 'Why' });
      await ada.ok('chats.set_role', { chat_id, user_id, role: 'admin' });
      await ada.ok('chats.set_preferences', { chat_id, notify: 'none' });
      await bob.ok('chats.join', { chat_id: channel });
      await ada.ok('chats.remove_participant', { chat_id, user_id });
      seen = await eventsAfter(ada, 0);
    });

    test('of everything that happens in chats, and once', () => {
      const ofChats = eventNames.filter((name) => name !== 'webhook_disabled');
      expect(seen.map((e) => e.event).sort()).toEqual(ofChats.sort());
    });

    test('with exactly the fields that are documented, in their order', () => {
      for (const { event, data } of seen) {
        const name = event as keyof typeof fields;
        expect({ event, fields: Object.keys(data) }).toEqual({ event, fields: [...fields[name]] });
        expect(eventTable[name].data.strict().safeParse(data).error).toBeUndefined();
      }
    });

    test('as event, timestamp and data and nothing else, in the bytes that were frozen', async () => {
      for (const { event_id, ...body } of seen) {
        expect(Object.keys(body)).toEqual(['event', 'timestamp', 'data']);
        const row = await server().engine.get<{ body: string }>('SELECT body FROM events WHERE event_id = $1', [
          event_id,
        ]);
        expect(row?.body).toBe(JSON.stringify(body));
      }
    });

    test('with ids that rise and times in UTC with milliseconds that never go back', () => {
      const ids = seen.map((e) => e.event_id as number);
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
      const times = seen.map((e) => e.timestamp);
      expect(times).toEqual([...times].sort());
      for (const time of times) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    });

    test('with the right values', async () => {
      const [a, b] = [ada.userId, bob.userId];
      const at = { chat_id: group, user_id: b };
      expect(one('group_created')).toEqual({ chat_id: group, name: 'Group', user_id: a, participants: [a, b] });
      expect(one('channel_created')).toEqual({ chat_id: channel, name: 'Channel', user_id: a, participants: [a] });
      const pair = [ada.userId, bob.userId].sort((x, y) => x - y);
      expect(one('direct_created')).toEqual({ chat_id: direct, user_id: a, participants: pair });
      expect(one('new_message')).toEqual({ message_id: message, ...at, content: 'first' });
      const edit = { content: 'second', previous_content: 'first' };
      expect(one('message_edited')).toEqual({ message_id: message, ...at, ...edit });
      expect(one('message_deleted')).toEqual({ message_id: message, ...at, actor_id: a });
      const reaction = { message_id: message, chat_id: group, user_id: a, emoji: '🎉' };
      expect(one('reaction_added')).toEqual(reaction);
      expect(one('reaction_removed')).toEqual(reaction);
      expect(one('message_pinned')).toEqual({ message_id: message, ...at });
      expect(one('message_unpinned')).toEqual({ message_id: message, chat_id: group, user_id: a });
      const update = { chat_id: group, user_id: a, name: 'Renamed', description: 'Why', visibility: 'private' };
      expect(one('chat_updated')).toEqual(update);
      expect(one('role_changed')).toEqual({ ...at, actor_id: a, role: 'admin', previous_role: 'member' });
      const preferences = { chat_id: group, notify: 'none', muted_until: null, archived: false, pinned: false };
      expect(one('preferences_changed')).toEqual({ user_id: a, preferences });
      const { name, display_name } = (await bob.ok('users.me', {})).user;
      const profile = { name, display_name, status_text: 'Away', time_zone: 'Asia/Tokyo', avatar_url: null };
      expect(one('user_updated')).toEqual({ ...at, ...profile });
      expect(one('user_joined')).toEqual({ chat_id: channel, user_id: b, actor_id: b });
      expect(one('user_left')).toEqual({ ...at, actor_id: a });
    });

    test('a reply names what it replies to, and only then', async () => {
      const tip = await eventTip(ada);
      const first = await ada.ok('messages.send_message', { chat_id: direct, content: 'x' });
      const reply_to = first.message.message_id;
      await bob.ok('messages.send_message', { chat_id: direct, content: 'y', reply_to });
      const [plain, reply] = await eventsAfter(ada, tip);
      expect(plain?.data).not.toHaveProperty('reply_to');
      expect(reply?.data.reply_to).toBe(reply_to);
      expect(Object.keys(reply?.data ?? {})).toEqual([...fields.new_message, 'thread_id', 'reply_to']);
    });

    test('the time of an event is that of the change', async () => {
      const tip = await eventTip(ada);
      const { message } = await ada.ok('messages.send_message', { chat_id: direct, content: 'x' });
      const { edited_at } = (await ada.ok('messages.edit_message', { message_id: message.message_id, content: 'y' }))
        .message;
      expect((await eventsAfter(ada, tip)).map((e) => e.timestamp)).toEqual([message.created_at, String(edited_at)]);
    });
  });

  describe('are not emitted for a change that changes nothing', () => {
    let ada: Client;
    let bob: Client;
    let chat_id: number;
    let message_id: number;
    beforeAll(async () => {
      ({ ada, bob } = await users(server(), 'ada', 'bob'));
      const create = { name: 'Still', description: 'here', participants: [bob.userId] };
      chat_id = (await ada.ok('messages.create_group', create)).group.chat_id;
      message_id = (await ada.ok('messages.send_message', { chat_id, content: 'same' })).message.message_id;
      await ada.ok('messages.create_direct', { user_id: bob.userId });
      await ada.ok('messages.add_reaction', { message_id, emoji: '🎉' });
    });

    const idle: [string, () => Promise<unknown>][] = [
      ['editing to the same text', () => ada.ok('messages.edit_message', { message_id, content: 'same' })],
      ['reacting again', () => ada.ok('messages.add_reaction', { message_id, emoji: '🎉' })],
      ['taking back what was not given', () => ada.ok('messages.remove_reaction', { message_id, emoji: '🌵' })],
      ["taking back another's reaction", () => bob.ok('messages.remove_reaction', { message_id, emoji: '🎉' })],
      ['updating to the same', () => ada.ok('chats.update', { chat_id, name: 'Still', description: 'here' })],
      ['updating nothing', () => ada.ok('chats.update', { chat_id })],
      ['making private what is private', () => ada.ok('chats.update', { chat_id, visibility: 'private' })],
      ['adding who is there', () => ada.ok('chats.add_participants', { chat_id, participants: [bob.userId] })],
      ['adding oneself', () => ada.ok('chats.add_participants', { chat_id, participants: [ada.userId] })],
      ['adding nobody', () => ada.ok('chats.add_participants', { chat_id, participants: [] })],
      ['the same role', () => ada.ok('chats.set_role', { chat_id, user_id: bob.userId, role: 'member' })],
      ['the last owner made owner', () => ada.ok('chats.set_role', { chat_id, user_id: ada.userId, role: 'owner' })],
      ['joining where one is', () => ada.ok('chats.join', { chat_id })],
      ['opening a direct chat again', () => bob.ok('messages.create_direct', { user_id: ada.userId })],
      ['marking as read', () => bob.ok('messages.mark_read', { chat_id })],
    ];
    test.each(idle)('%s', async (_, change) => {
      const tip = await eventTip(ada);
      await change();
      expect(await eventsAfter(ada, tip)).toEqual([]);
    });

    test('an edit to the same text leaves the message as it was, unedited', async () => {
      const { message } = await ada.ok('messages.edit_message', { message_id, content: 'same' });
      expect(message.edited_at).toBeNull();
    });

    test('deleting a second time', async () => {
      const gone = (await ada.ok('messages.send_message', { chat_id, content: 'gone' })).message.message_id;
      const first = await ada.ok('messages.delete_message', { message_id: gone });
      const tip = await eventTip(ada);
      expect(await ada.ok('messages.delete_message', { message_id: gone })).toEqual(first);
      expect(await eventsAfter(ada, tip)).toEqual([]);
    });
  });

  describe('are listed', () => {
    let ada: Client;
    let bob: Client;
    let cleo: Client;
    beforeAll(async () => {
      ({ ada, bob, cleo } = await users(server(), 'ada', 'bob', 'cleo'));
    });
    const groupOf = async (...others: Client[]) =>
      (await ada.ok('messages.create_group', { name: 'g', participants: others.map((c) => c.userId) })).group.chat_id;
    const say = (by: Client, chat_id: number, content: string) => by.ok('messages.send_message', { chat_id, content });
    const names = (events: readonly { event: string; data: Record<string, unknown> }[]) =>
      events.map((e) => `${e.event}${e.data.content === undefined ? '' : ` ${e.data.content}`}`);

    test('page by page, with the cursor to pass on, and no empty page while there is more', async () => {
      const chat_id = await groupOf(bob);
      const tip = await eventTip(bob);
      for (let i = 1; i <= 7; i++) {
        await say(ada, chat_id, `${i}`);
        await ada.ok('messages.create_group', { name: 'elsewhere', participants: [] });
      }
      const pages: number[] = [];
      const contents: unknown[] = [];
      for (let after = tip, more = true; more; ) {
        const page = await bob.ok('events.list', { after, limit: 3 });
        pages.push(page.events.length);
        contents.push(...page.events.map((e) => e.data.content));
        for (const e of page.events) expect(e.event_id).toBeGreaterThan(after);
        if (page.has_more) expect(page.next).toBe(page.events.at(-1)?.event_id ?? -1);
        after = page.next;
        more = page.has_more;
      }
      expect(pages).toEqual([3, 3, 1]);
      expect(contents).toEqual(['1', '2', '3', '4', '5', '6', '7']);
    });

    test('has_more is exact where a page ends with the log', async () => {
      const chat_id = await groupOf(bob);
      const tip = await eventTip(bob);
      for (const content of ['1', '2', '3']) await say(ada, chat_id, content);
      expect((await bob.ok('events.list', { after: tip, limit: 2 })).has_more).toBe(true);
      expect((await bob.ok('events.list', { after: tip, limit: 3 })).has_more).toBe(false);
      expect((await bob.ok('events.list', { after: tip, limit: 4 })).has_more).toBe(false);
    });

    test('a cursor at the end stays where it is, and finds what comes', async () => {
      const chat_id = await groupOf(bob);
      const { next } = await bob.ok('events.list', { after: await eventTip(bob) });
      expect(await bob.ok('events.list', { after: next })).toMatchObject({ events: [], next, has_more: false });
      await say(ada, chat_id, 'new');
      const found = await bob.ok('events.list', { after: next });
      expect(names(found.events)).toEqual(['new_message new']);
      expect(found.next).toBeGreaterThan(next);
    });

    test('of one chat, and by name, with a cursor that moves past the rest', async () => {
      const [one, two] = [await groupOf(bob), await groupOf(bob)];
      const tip = await eventTip(bob);
      await say(ada, one, 'one');
      await say(ada, two, 'two');
      await ada.ok('chats.update', { chat_id: one, name: 'new name' });
      const list = async (input: object) => names((await bob.ok('events.list', { after: tip, ...input })).events);
      expect(await list({ chat_id: one })).toEqual(['new_message one', 'chat_updated']);
      expect(await list({ events: ['new_message'] })).toEqual(['new_message one', 'new_message two']);
      expect(await list({ events: ['chat_updated', 'new_message'], chat_id: one })).toHaveLength(2);
      expect(await list({ events: ['user_left'] })).toEqual([]);
      const { next } = await bob.ok('events.list', { after: tip, events: ['user_left'] });
      expect(next).toBe(await eventTip(bob));
    });

    test('a name that is no event is refused', async () => {
      const answer = await bob.call('events.list', { events: ['new_mesage' as never] });
      expect(expectRefusal(answer, 'validation_failed').details[0]?.field).toBe('events[0]');
    });

    test('to those who were in the chat when they happened, joining and leaving included', async () => {
      const chat_id = await groupOf(bob);
      const tip = await eventTip(ada);
      await say(ada, chat_id, 'before');
      await ada.ok('chats.add_participants', { chat_id, participants: [cleo.userId] });
      await say(ada, chat_id, 'during');
      await cleo.ok('chats.leave', { chat_id });
      await say(ada, chat_id, 'between');
      await ada.ok('chats.update', { chat_id, name: 'between' });
      await ada.ok('chats.add_participants', { chat_id, participants: [cleo.userId] });
      await say(ada, chat_id, 'again');
      await ada.ok('chats.remove_participant', { chat_id, user_id: cleo.userId });
      await say(ada, chat_id, 'after');
      const expected = [
        'user_joined',
        'new_message during',
        'user_left',
        'user_joined',
        'new_message again',
        'user_left',
      ];
      expect(names(await eventsAfter(cleo, tip))).toEqual(expected);
      expect(names(await eventsAfter(cleo, tip, { chat_id }))).toEqual(expected);
      for (const limit of [1, 2, 5]) {
        const paged: string[] = [];
        for (let after = tip, more = true; more; ) {
          const page = await cleo.ok('events.list', { after, limit });
          if (page.has_more) expect(page.events.length).toBe(limit);
          paged.push(...names(page.events));
          after = page.next;
          more = page.has_more;
        }
        expect(paged).toEqual(expected);
      }
      expect(names(await eventsAfter(bob, tip))).toHaveLength(10);
    });

    test('a member from the start sees the creation, and nobody else does', async () => {
      const tip = await eventTip(ada);
      const chat_id = await groupOf(bob);
      expect(names(await eventsAfter(bob, tip))).toEqual(['group_created']);
      expect(await eventsAfter(cleo, tip)).toEqual([]);
      expect(await cleo.refused('events.list', { chat_id })).toBe('not_found');
    });

    test('a newcomer reads older messages, but no older events', async () => {
      const channel = (await ada.ok('messages.create_channel', { name: 'c' })).channel.chat_id;
      await say(ada, channel, 'old');
      const tip = await eventTip(bob);
      await bob.ok('chats.join', { chat_id: channel });
      expect(names(await eventsAfter(bob, tip))).toEqual(['user_joined']);
      expect(names(await eventsAfter(bob, 0, { chat_id: channel }))).toEqual(['user_joined']);
      const { messages } = await bob.ok('messages.get_messages', { chat_id: channel });
      expect(messages.map((m) => m.content)).toEqual(['old']);
    });

    test('a chat that was left can still be listed by itself', async () => {
      const chat_id = await groupOf(bob);
      await bob.ok('chats.leave', { chat_id });
      expect(names(await eventsAfter(bob, 0, { chat_id }))).toEqual(['group_created', 'user_left']);
    });

    test('events of a chat that the user left take no room in a page', async () => {
      const [left, kept] = [await groupOf(ada, bob), await groupOf(ada, bob)];
      const tip = await eventTip(ada);
      await say(ada, left, 'before');
      await bob.ok('chats.leave', { chat_id: left });
      for (const chat_id of [left, left, kept, left, kept]) await say(ada, chat_id, `in ${chat_id}`);
      for (const limit of [1, 2, 3]) {
        const seen: unknown[] = [];
        for (let after = tip, more = true; more; ) {
          const page = await bob.ok('events.list', { after, limit, events: ['new_message'] });
          seen.push(...page.events.map(({ data }) => (data as { content: string }).content));
          [after, more] = [page.next, page.has_more];
        }
        expect(seen).toEqual(['before', `in ${kept}`, `in ${kept}`]);
      }
    });
  });
});

onAnyEngine('events past their time', (engine) => {
  const day = 24 * 3_600_000;
  let now = Date.now();
  const server = serverFor(engine, { PARLEY_EVENT_DAYS: '1' }, { now: () => now, sweepMs: 20 });
  const drop = () => dropExpired(server().engine, () => now);

  test('are dropped; a cursor among them is refused, one at their end is not, and 0 starts at what is kept', async () => {
    const { ada } = await users(server(), 'ada');
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'g', participants: [] })).group;
    const say = (content: string) => ada.ok('messages.send_message', { chat_id, content });
    for (const content of ['old one', 'old two', 'old three']) await say(content);
    const [first] = await eventsAfter(ada, 0);
    const end = await eventTip(ada);
    await logRead(server().engine);
    now += day - 1_000;
    await drop();
    expect(await eventsAfter(ada, 0)).toHaveLength(4);

    now += 2_000;
    await say('new');
    await drop();
    const refused = await ada.call('events.list', { after: first?.event_id ?? 0 });
    const foreign = await ada.call('events.list', { after: 1_000_000_000 });
    for (const answer of [refused, foreign]) {
      const [, remedy = '?'] = /\. (.*)$/.exec(expectRefusal(answer, 'cursor_expired').message) ?? [];
      expect(errors.cursor_expired.when).toContain(remedy);
    }
    expect((await eventsAfter(ada, 0)).map((e) => e.data.content)).toEqual(['new']);
    expect((await eventsAfter(ada, end)).map((e) => e.data.content)).toEqual(['new']);
    const messages = (await ada.ok('messages.get_messages', { chat_id })).messages;
    expect(messages.map((m) => m.content)).toEqual(['old one', 'old two', 'old three', 'new']);
  });

  test('leave a log that continues with higher ids after all events were pruned', async () => {
    const { ada } = await users(server(), 'ada');
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'g', participants: [] })).group;
    await ada.ok('messages.send_message', { chat_id, content: 'soon gone' });
    const end = await eventTip(ada);
    await logRead(server().engine);
    now += 3 * day;
    await drop();
    expect(await ada.ok('events.list', { after: 0 })).toMatchObject({ events: [], next: end, has_more: false });
    expect((await ada.call('events.list', { after: end })).status).toBe(200);
    expect(await ada.refused('events.list', { after: end - 1 })).toBe('cursor_expired');
    await ada.ok('messages.send_message', { chat_id, content: 'new' });
    const [event] = await eventsAfter(ada, end);
    expect(event?.event_id).toBeGreaterThan(end);
  });

  test('take the stays with them that ended among them, and no other', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'g', participants: [bob.userId] })).group;
    const stays = async () => {
      const sql = 'SELECT count(*) AS n FROM members WHERE chat_id = $1 AND user_id = $2';
      return (await server().engine.get<{ n: number }>(sql, [chat_id, bob.userId]))?.n;
    };
    for (let i = 0; i < 3; i++) {
      await bob.ok('chats.leave', { chat_id });
      await ada.ok('chats.add_participants', { chat_id, participants: [bob.userId] });
    }
    expect(await stays()).toBe(4);
    await logRead(server().engine);
    now += 3 * day;
    await bob.ok('chats.leave', { chat_id });
    await drop();
    expect(await stays()).toBe(1);
    expect((await eventsAfter(bob, 0, { chat_id })).map((e) => e.event)).toEqual(['user_left']);
  });

  test('wait for the search index, so that nothing is missing from it', async () => {
    const { ada } = await users(server(), 'ada');
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'g', participants: [] })).group;
    await ada.ok('messages.send_message', { chat_id, content: 'unindexed' });
    now += 3 * day;
    await drop();
    await eventually('the message can be found', async () => {
      const { messages } = await ada.ok('messages.search_messages', { query: 'unindexed' });
      return messages.length === 1 || undefined;
    });
  });
});
