import { beforeAll, expect, test } from 'bun:test';
import { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { serverFor, startServer } from '../support/server.ts';
import { expectRefusal } from '../support/wire.ts';

onAnyEngine('pinned messages', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  let cleo: Client;
  beforeAll(async () => {
    ({ ada, bob, cleo } = await users(server(), 'ada', 'bob', 'cleo'));
  });
  const newGroup = async () =>
    (await ada.ok('messages.create_group', { name: 'Group', participants: [bob.userId] })).group.chat_id as number;
  const say = async (chat_id: number, content = 'x') =>
    (await ada.ok('messages.send_message', { chat_id, content })).message.message_id as number;
  const pinsIn = async (user: Client, chat_id: number) => {
    const { chat } = await user.ok('chats.get', { chat_id });
    const { messages } = await user.ok('messages.pins', { chat_id });
    expect(messages.map(({ message_id }) => message_id)).toEqual(chat.pins);
    return chat.pins as number[];
  };

  test('are those of the chat for everyone in it, the newest pin first', async () => {
    const chat_id = await newGroup();
    const [first, second, third] = [await say(chat_id), await say(chat_id), await say(chat_id)];
    for (const [by, message_id] of [
      [ada, second],
      [bob, first],
      [ada, third],
    ] as const) {
      const { chat } = await by.ok('messages.pin', { message_id });
      expect(chat.pins[0] as number).toBe(message_id);
    }
    expect(await pinsIn(bob, chat_id)).toEqual([third, first, second]);
    const [listed] = (await ada.ok('chats.list', { after_id: chat_id - 1 })).chats;
    expect(listed?.pins as number[]).toEqual([third, first, second]);
    expect((await bob.ok('messages.unpin', { message_id: first })).chat.pins as number[]).toEqual([third, second]);
    expect(await pinsIn(ada, chat_id)).toEqual([third, second]);
  });

  test('are shown as they are now: edited, with reactions and files', async () => {
    const chat_id = await newGroup();
    const edited = await say(chat_id, 'before');
    const { message } = await ada.ok('messages.send_message', { chat_id, file: new File(['bytes'], 'a.txt') });
    for (const message_id of [edited, message.message_id]) await ada.ok('messages.pin', { message_id });
    await ada.ok('messages.edit_message', { message_id: edited, content: 'after' });
    await bob.ok('messages.add_reaction', { message_id: edited, emoji: '👍' });
    const { messages } = await bob.ok('messages.pins', { chat_id });
    expect(messages).toMatchObject([
      { file: { name: 'a.txt' } },
      { content: 'after', reactions: [{ emoji: '👍', count: 1, reacted: true }] },
    ]);
  });

  test('are announced once, and not if nothing changes', async () => {
    const chat_id = await newGroup();
    const message_id = await say(chat_id);
    const tip = await eventTip(bob);
    for (let i = 0; i < 2; i++) await bob.ok('messages.pin', { message_id });
    for (let i = 0; i < 2; i++) await ada.ok('messages.unpin', { message_id });
    expect((await eventsAfter(bob, tip)).map(({ event, data }) => [event, data])).toEqual([
      ['message_pinned', { message_id, chat_id, user_id: bob.userId }],
      ['message_unpinned', { message_id, chat_id, user_id: ada.userId }],
    ]);
  });

  test('are unpinned when they are deleted, and a deleted message cannot be pinned', async () => {
    const chat_id = await newGroup();
    const [kept, gone] = [await say(chat_id), await say(chat_id)];
    for (const message_id of [kept, gone]) await bob.ok('messages.pin', { message_id });
    const tip = await eventTip(bob);
    await ada.ok('messages.delete_message', { message_id: gone });
    expect(await pinsIn(bob, chat_id)).toEqual([kept]);
    expect((await eventsAfter(bob, tip)).map(({ event }) => event)).toEqual(['message_deleted']);
    expect(await bob.refused('messages.pin', { message_id: gone })).toBe('conflict');
    expect((await bob.ok('messages.unpin', { message_id: gone })).chat.pins as number[]).toEqual([kept]);
  });

  test('are at most 50, also if many are pinned at once', async () => {
    const chat_id = await newGroup();
    const ids: number[] = [];
    for (let i = 0; i < 55; i++) ids.push(await say(chat_id));
    const answers = await Promise.all(
      ids.map((message_id, i) => (i % 2 ? ada : bob).call('messages.pin', { message_id })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50);
    for (const answer of answers) if (answer.status !== 200) expectRefusal(answer, 'conflict');
    const pins = await pinsIn(ada, chat_id);
    expect(new Set(pins).size).toBe(50);
    const over = ids.find((id) => !pins.includes(id)) ?? 0;
    expect(await ada.refused('messages.pin', { message_id: over })).toBe('conflict');
    // One that is pinned already needs no room.
    await ada.ok('messages.pin', { message_id: pins[7] ?? 0 });
    await ada.ok('messages.unpin', { message_id: pins[0] ?? 0 });
    await ada.ok('messages.pin', { message_id: over });
    expect((await pinsIn(ada, chat_id))[0]).toBe(over);
  });

  test('are hidden from everybody else', async () => {
    const chat_id = await newGroup();
    const message_id = await say(chat_id);
    await ada.ok('messages.pin', { message_id });
    expect(await cleo.refused('messages.pins', { chat_id })).toBe('not_found');
    expect(await cleo.refused('messages.unpin', { message_id })).toBe('not_found');
    expect(await cleo.refused('messages.pin', { message_id: 2 ** 53 - 1 })).toBe('not_found');
    const { channel } = await ada.ok('messages.create_channel', { name: 'Open pins' });
    await ada.ok('messages.pin', { message_id: await say(channel.chat_id) });
    expect((await cleo.ok('chats.get', { chat_id: channel.chat_id })).chat.pins).toEqual([]);
    expect(await cleo.refused('messages.pins', { chat_id: channel.chat_id })).toBe('forbidden');
    await cleo.ok('chats.join', { chat_id: channel.chat_id });
    expect(await pinsIn(cleo, channel.chat_id)).toHaveLength(1);
  });

  test('stay pinned over a restart, and so do preferences', async () => {
    const env = await freshEnvironment(engine);
    let own = await startServer(env);
    const user = await own.user('dora');
    const { chat_id } = (await user.ok('messages.create_group', { name: 'Kept', participants: [] })).group;
    const { message_id } = (await user.ok('messages.send_message', { chat_id, content: 'x' })).message;
    await user.ok('messages.pin', { message_id });
    const { chat } = await user.ok('chats.set_preferences', { chat_id, archived: true, notify: 'none' });
    await own.stop();
    own = await startServer(env);
    const again = new Client(own.url, user.token, user.userId);
    expect((await again.ok('chats.get', { chat_id })).chat).toEqual(chat);
    expect(chat.pins).toEqual([message_id]);
    await own.stop();
  });
});
