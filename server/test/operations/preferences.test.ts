import { beforeAll, expect, test } from 'bun:test';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { complaint, expectRefusal } from '../support/wire.ts';

const unset = { notify: 'all', muted_until: null, archived: false, pinned: false };

onAnyEngine('preferences for a chat', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  let chat_id: number;
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
  });
  const newGroup = async () =>
    (await ada.ok('messages.create_group', { name: 'Group', participants: [bob.userId] })).group.chat_id;
  const preferencesOf = async (user: Client) => {
    const { notify, muted_until, archived, pinned } = (await user.ok('chats.get', { chat_id })).chat;
    return { notify, muted_until, archived, pinned };
  };

  test('change one by one, and are those of one user alone', async () => {
    chat_id = await newGroup();
    expect(await preferencesOf(bob)).toEqual(unset as never);
    const steps = [
      [{ notify: 'mentions' }, { notify: 'mentions' }],
      [{ muted_until: '2030-01-01T01:00:00+01:00' }, { muted_until: '2030-01-01T00:00:00.000Z' }],
      [{ archived: true }, { archived: true }],
      [
        { pinned: true, notify: 'none' },
        { pinned: true, notify: 'none' },
      ],
      [
        { muted_until: null, archived: false },
        { muted_until: null, archived: false },
      ],
    ] as const;
    let expected: object = unset;
    for (const [input, change] of steps) {
      expected = { ...expected, ...change };
      const { chat } = await bob.ok('chats.set_preferences', { chat_id, ...input });
      expect(chat).toMatchObject(expected);
      expect(await preferencesOf(bob)).toEqual(expected as never);
    }
    expect(await preferencesOf(ada)).toEqual(unset as never);
    const [listed] = (await bob.ok('chats.list', { after_id: chat_id - 1 })).chats;
    expect(listed).toMatchObject(expected);
  });

  test('are told to nobody else, and only if they have changed', async () => {
    chat_id = await newGroup();
    const tips = { ada: await eventTip(ada), bob: await eventTip(bob) };
    await bob.ok('chats.set_preferences', { chat_id });
    await bob.ok('chats.set_preferences', { chat_id, ...(unset as object) });
    expect(await eventsAfter(bob, tips.bob)).toEqual([]);
    for (let i = 0; i < 2; i++) await bob.ok('chats.set_preferences', { chat_id, pinned: true });
    const told = await eventsAfter(bob, tips.bob);
    expect(told.map(({ event, data }) => ({ event, data }))).toEqual([
      { event: 'preferences_changed', data: { user_id: bob.userId, preferences: { chat_id, ...unset, pinned: true } } },
    ]);
    expect(await eventsAfter(ada, tips.ada)).toEqual([]);
  });

  test('that are set at the same time are all kept', async () => {
    chat_id = await newGroup();
    const tip = await eventTip(bob);
    const calls = [{ notify: 'none' }, { archived: true }, { pinned: true }, { muted_until: '2030-01-01T00:00:00Z' }];
    await Promise.all(calls.map((input) => bob.ok('chats.set_preferences', { chat_id, ...(input as object) })));
    const all = { notify: 'none', muted_until: '2030-01-01T00:00:00.000Z', archived: true, pinned: true };
    expect(await preferencesOf(bob)).toEqual(all as never);
    const told = await eventsAfter(bob, tip);
    expect(told).toHaveLength(4);
    expect(told.at(-1)?.data.preferences).toEqual({ chat_id, ...all });
  });

  test('end with the membership', async () => {
    chat_id = await newGroup();
    await bob.ok('chats.set_preferences', { chat_id, archived: true, notify: 'none' });
    await bob.ok('chats.leave', { chat_id });
    expect(await bob.refused('chats.set_preferences', { chat_id, archived: false })).toBe('not_found');
    await ada.ok('chats.add_participants', { chat_id, participants: [bob.userId] });
    expect(await preferencesOf(bob)).toEqual(unset as never);
  });

  test('are not for somebody outside, who sees the defaults of a public channel', async () => {
    chat_id = (await ada.ok('messages.create_channel', { name: 'News' })).channel.chat_id;
    await ada.ok('chats.set_preferences', { chat_id, pinned: true });
    expect(await preferencesOf(bob)).toEqual(unset as never);
    expect(await bob.refused('chats.set_preferences', { chat_id, pinned: true })).toBe('forbidden');
    expect(await bob.refused('chats.set_preferences', { chat_id: 2 ** 53 - 1, pinned: true })).toBe('not_found');
  });

  test.each([
    ['notify', 'some'],
    ['notify', null],
    ['muted_until', 'tomorrow'],
    ['muted_until', '9999-12-31T23:59:59-12:00'],
    ['muted_until', '0000-01-01T00:00:00+12:00'],
    ['muted_until', 5],
    ['archived', 'yes'],
    ['pinned', null],
  ])('are checked: %s %p', async (field, value) => {
    chat_id = await newGroup();
    const answer = await bob.call('chats.set_preferences', { chat_id, [field]: value } as never);
    expect(complaint(expectRefusal(answer, 'validation_failed'), field)).toBeDefined();
    expect(await preferencesOf(bob)).toEqual(unset as never);
  });

  test('may be a form', async () => {
    chat_id = await newGroup();
    const response = await fetch(`${server().url}/api/chats/set_preferences`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bob.token}` },
      body: new URLSearchParams({ chat_id: String(chat_id), archived: '1', muted_until: '2030-01-01T00:00:00Z' }),
    });
    expect(response.status).toBe(200);
    expect(await preferencesOf(bob)).toMatchObject({ archived: true, muted_until: '2030-01-01T00:00:00.000Z' });
  });
});
