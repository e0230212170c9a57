import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventsAfter, users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { complaint, expectRefusal } from '../support/wire.ts';

onAnyEngine('chats by activity', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  beforeAll(async () => {
    ({ bob } = await users(server(), 'bob'));
  });
  const newReader = async () => {
    ({ ada } = await users(server(), 'ada'));
  };
  const newGroup = async () =>
    (await bob.ok('messages.create_group', { name: 'Group', participants: [ada.userId] })).group.chat_id as number;
  const say = (chat_id: number, content = 'x') => bob.ok('messages.send_message', { chat_id, content });
  const list = (more: object = {}) => ada.ok('chats.list', { order: 'activity', ...more });
  const order = async (more: object = {}) => (await list(more)).chats.map((chat) => chat.chat_id as number);

  test('begin with the newest message', async () => {
    await newReader();
    const [a, b, c] = [await newGroup(), await newGroup(), await newGroup()];
    for (const chat_id of [c, a, b]) await say(chat_id);
    expect(await order()).toEqual([b, a, c]);
    await say(c);
    expect(await order()).toEqual([c, b, a]);
    expect((await ada.ok('chats.list', {})).chats.map((chat) => chat.chat_id as number)).toEqual([a, b, c]);
  });

  test('count joining as activity, however old the chat is and whatever happened elsewhere', async () => {
    await newReader();
    const old = (await bob.ok('messages.create_channel', { name: 'Old' })).channel.chat_id;
    await say(old);
    const [a, b] = [await newGroup(), await newGroup()];
    expect(await order()).toEqual([b, a]);
    await say(a);
    await ada.ok('chats.join', { chat_id: old });
    expect(await order()).toEqual([old, a, b]);
    await say(b);
    expect(await order()).toEqual([b, old, a]);
    const fresh = await newGroup();
    expect(await order()).toEqual([fresh, b, old, a]);
  });

  test('leave out those that were left, and those of others', async () => {
    await newReader();
    const [a, b] = [await newGroup(), await newGroup()];
    const { channel } = await bob.ok('messages.create_channel', { name: 'Not joined' });
    await say(channel.chat_id);
    await ada.ok('chats.leave', { chat_id: b });
    expect(await order()).toEqual([a]);
    expect(await list()).toMatchObject({ has_more: false, next: null });
  });

  test('are the same records as by id', async () => {
    await newReader();
    for (let i = 0; i < 3; i++) await say(await newGroup(), `${i}`);
    const { chat } = await ada.ok('messages.create_direct', { user_id: bob.userId });
    await ada.ok('chats.set_preferences', { chat_id: chat.chat_id, notify: 'none' });
    const byId = (await ada.ok('chats.list', {})).chats;
    const byActivity = (await list()).chats;
    expect(byActivity.toSorted((x, y) => x.chat_id - y.chat_id)).toEqual(byId);
    expect(byActivity[0]?.peer?.user_id as number).toBe(bob.userId);
  });

  describe('in pages', () => {
    const count = 7;
    let chats: number[];
    beforeAll(async () => {
      await newReader();
      chats = [];
      for (let i = 0; i < count; i++) chats.unshift(await newGroup());
      for (const chat_id of chats.toReversed()) await say(chat_id, 'before');
    });

    test.each([1, 2, 3, 6, 7, 8])('of %i neither repeat nor lose a chat while others write', async (limit) => {
      const expected = await order();
      const seen: number[] = [];
      let after: string | null | undefined;
      const events = new Set<number>();
      for (let i = 0; after !== null; i++) {
        const page = await list({ limit, ...(after && { after }) });
        seen.push(...page.chats.map((chat) => chat.chat_id as number));
        expect(events.add(page.event_id).size).toBe(1);
        expect(page.has_more).toBe(typeof page.next === 'string');
        after = page.next;
        // The last chat becomes the first, and there is a new one.
        await say(expected.at(-1 - (i % count)) ?? 0, 'meanwhile');
        if (i < 2) await newGroup();
      }
      expect(seen).toEqual(expected);
    });

    test('show the messages of the moment of the first, and the log has the rest', async () => {
      const chat_id = (await order()).at(-1) ?? 0;
      const { message } = await say(chat_id, 'the last before');
      await ada.ok('messages.mark_read', { chat_id });
      for (const other of (await order()).slice(1, 4)) await say(other);
      const first = await list({ limit: 1 });
      const later = await say(chat_id, 'after');
      let [page, found] = [first, first.chats.find((chat) => chat.chat_id === chat_id)];
      while (!found && page.next) {
        page = await list({ limit: 2, after: page.next });
        found = page.chats.find((chat) => chat.chat_id === chat_id);
      }
      const { message_id } = message;
      const shown = { last_message_id: message_id, last_message: { message_id }, unread_count: 0 };
      expect(found).toMatchObject(shown);
      const told = await eventsAfter(ada, first.event_id);
      expect(told.map(({ event, data }) => [event, data.message_id])).toEqual([
        ['new_message', later.message.message_id],
      ]);
    });

    test('do not begin with what happened before the event that they name', async () => {
      const { event_id, chats } = await list({ limit: 200 });
      expect(await eventsAfter(ada, event_id)).toEqual([]);
      const newest = chats[0]?.last_message_id;
      const [last] = (await eventsAfter(ada, event_id - 1)).slice(-1);
      if (last?.event === 'new_message') expect(newest as number).toBe(last.data.message_id as number);
      expect((await ada.ok('chats.list', {})).event_id).toBe(event_id);
    });

    test('leave out a chat that was left meanwhile', async () => {
      const [first, gone] = await order();
      const page = await list({ limit: 1 });
      expect(page.chats[0]?.chat_id as number).toBe(first as number);
      await ada.ok('chats.leave', { chat_id: gone ?? 0 });
      const rest = await order({ limit: 200, after: page.next });
      expect(rest).not.toContain(gone as number);
    });
  });

  test('are without the archived ones, which have a list of their own', async () => {
    await newReader();
    const [a, b, c] = [await newGroup(), await newGroup(), await newGroup()];
    for (const chat_id of [a, b]) await ada.ok('chats.set_preferences', { chat_id, archived: true });
    expect(await order()).toEqual([c]);
    expect(await order({ archived: true })).toEqual([b, a]);
    await say(a);
    expect(await order({ archived: true })).toEqual([a, b]);
    await ada.ok('chats.set_preferences', { chat_id: a, archived: false });
    expect(await order()).toEqual([a, c]);
    expect((await ada.ok('chats.list', {})).chats).toHaveLength(3);
  });

  test('may be the pinned ones, or those of a name', async () => {
    await newReader();
    const [a, b] = [await newGroup(), await newGroup()];
    await ada.ok('chats.set_preferences', { chat_id: a, pinned: true });
    expect(await order({ pinned: true })).toEqual([a]);
    await bob.ok('chats.update', { chat_id: b, name: 'Crème 100%' });
    expect(await order({ query: 'creme 100%' })).toEqual([b]);
    expect(await order({ query: 'group' })).toEqual([a]);
    const page = await list({ query: 'r', limit: 1 });
    expect(await order({ query: 'r', limit: 1, after: page.next })).toEqual([a]);
  });

  test.each([
    ['after', { order: 'id', after: '1.1.1.1' }],
    ['archived', { archived: true }],
    ['pinned', { pinned: true }],
    ['after_id', { order: 'activity', after_id: 1 }],
    ['scope', { order: 'activity', scope: 'public' }],
    ['order', { order: 'name' }],
    ['after', { order: 'activity', after: '' }],
    ['after', { order: 'activity', after: '1.1.1' }],
    ['after', { order: 'activity', after: '1.1.1.1.1' }],
    ['after', { order: 'activity', after: '-1.1.1.1' }],
    ['after', { order: 'activity', after: '1.1.1.99999999999999999' }],
    ['after', { order: 'activity', after: "1.1.1.1'" }],
  ])('refuse a wrong %s', async (field, input) => {
    const answer = await bob.call('chats.list', input as never);
    expect(complaint(expectRefusal(answer, 'validation_failed'), field)).toBeDefined();
  });

  test('show nothing that the reader may not see, whatever the cursor says', async () => {
    await newReader();
    const mine = await newGroup();
    const theirs = (await bob.ok('messages.create_group', { name: 'Theirs', participants: [] })).group.chat_id;
    await say(theirs);
    const high = '999999999999999';
    expect(await order({ after: [high, high, high, high].join('.') })).toEqual([mine]);
    expect(await order({ after: `${high}.${high}.${high}.${theirs + 1}` })).toEqual([mine]);
    expect(await order({ after: '0.0.0.0' })).toEqual([]);
  });
});
