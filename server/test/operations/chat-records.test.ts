import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';

onAnyEngine('the record of a chat', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
  });
  const newGroup = async (...others: Client[]) => {
    const participants = others.map(({ userId }) => userId);
    return (await ada.ok('messages.create_group', { name: 'Group', participants })).group.chat_id;
  };
  const lastIn = async (user: Client, chat_id: number) => {
    const { last_message } = (await user.ok('chats.get', { chat_id })).chat;
    const [listed] = (await user.ok('chats.list', { after_id: chat_id - 1, limit: 1 })).chats;
    expect(listed?.last_message).toEqual(last_message);
    return last_message;
  };

  describe('has the last message', () => {
    test('with its author, text and time', async () => {
      const chat_id = await newGroup(bob);
      expect(await lastIn(ada, chat_id)).toBeNull();
      await ada.ok('messages.send_message', { chat_id, content: 'first' });
      const { message } = await bob.ok('messages.send_message', { chat_id, content: 'second "quoted"\n\\ 🎉' });
      const { user } = await bob.ok('users.me', {});
      const { message_id, user_id, content, created_at } = message;
      const { name, display_name } = user;
      const expected = { message_id, user_id, name, display_name, content, file: null, created_at };
      expect(await lastIn(ada, chat_id)).toEqual(expected);
    });

    test('cut to 200 characters in any script', async () => {
      const chat_id = await newGroup();
      for (const character of ['x', 'é', '漢', '😀', '"', '\\', '\n', '\u0001', '\u2028']) {
        await ada.ok('messages.send_message', { chat_id, content: character.repeat(199).concat('x') });
        expect((await lastIn(ada, chat_id))?.content).toBe(character.repeat(199).concat('x'));
        await ada.ok('messages.send_message', { chat_id, content: `x${character.repeat(2_000)}` });
        expect((await lastIn(ada, chat_id))?.content).toBe(`x${character.repeat(199)}`);
      }
    });

    test('with its own time, whatever its text and its file say', async () => {
      const chat_id = await newGroup();
      const content = '"created_at":"1999","content":"'.repeat(50);
      const { message } = await ada.ok('messages.send_message', { chat_id, content });
      expect(await lastIn(ada, chat_id)).toMatchObject({
        content: content.slice(0, 200),
        created_at: message.created_at,
      });
      await ada.ok('messages.edit_message', { message_id: message.message_id, content: `edited ${content}` });
      expect(await lastIn(ada, chat_id)).toMatchObject({ created_at: message.created_at });
      const file = new File(['bytes'], '"created_at":"1999","content":"');
      const sent = await ada.ok('messages.send_message', { chat_id, content: 'x', file });
      expect(await lastIn(ada, chat_id)).toMatchObject({ content: 'x', created_at: sent.message.created_at });
    });

    test('with the name of its file', async () => {
      const chat_id = await newGroup();
      await ada.ok('messages.send_message', { chat_id, file: new File(['bytes'], 'Ünïcode "file".txt') });
      expect(await lastIn(ada, chat_id)).toMatchObject({ content: '', file: 'Ünïcode "file".txt' });
    });

    test('as it is after an edit, and empty after it is deleted', async () => {
      const chat_id = await newGroup();
      const { message_id } = (await ada.ok('messages.send_message', { chat_id, content: 'before' })).message;
      await ada.ok('messages.edit_message', { message_id, content: 'after' });
      expect(await lastIn(ada, chat_id)).toMatchObject({ message_id, content: 'after' });
      await ada.ok('messages.delete_message', { message_id });
      expect(await lastIn(ada, chat_id)).toMatchObject({ message_id, content: '', file: null });
    });

    test('for participants alone', async () => {
      const { chat_id } = (await ada.ok('messages.create_channel', { name: 'Open records' })).channel;
      await ada.ok('messages.send_message', { chat_id, content: 'inside' });
      expect((await bob.ok('chats.get', { chat_id })).chat.last_message).toBeNull();
      const [found] = (await bob.ok('chats.list', { scope: 'public', query: 'open records' })).chats;
      expect(found).toMatchObject({ chat_id, last_message: null });
      expect((await bob.ok('chats.join', { chat_id })).chat.last_message).toMatchObject({ content: 'inside' });
    });
  });

  describe('has the peer', () => {
    test('of a direct chat, which is the other side for each', async () => {
      const { chat } = await ada.ok('messages.create_direct', { user_id: bob.userId });
      const peerFor = async (user: Client) => (await user.ok('chats.get', { chat_id: chat.chat_id })).chat.peer;
      for (const [user, other] of [
        [ada, bob],
        [bob, ada],
      ] as const) {
        const { user_id, kind, name, display_name } = (await other.ok('users.me', {})).user;
        expect(await peerFor(user)).toEqual({ user_id, kind, name, display_name });
      }
      expect(chat.peer).toEqual(await peerFor(ada));
    });

    test('of no other chat', async () => {
      const chat_id = await newGroup(bob);
      expect((await ada.ok('chats.get', { chat_id })).chat.peer).toBeNull();
    });
  });

  test('is complete in lists of many chats', async () => {
    const { cleo } = await users(server(), 'cleo');
    const expected = new Map<number, object>();
    for (let i = 0; i < 12; i++) {
      const { userId } = (await users(server(), `peer${i}`))[`peer${i}`] as Client;
      const { chat } = await cleo.ok('messages.create_direct', { user_id: userId });
      const { message } = await cleo.ok('messages.send_message', { chat_id: chat.chat_id, content: `to ${i}` });
      expected.set(chat.chat_id, { content: message.content, user_id: userId });
    }
    const { chats } = await cleo.ok('chats.list', {});
    const listed = chats.map(({ chat_id, last_message, peer }): [number, object] => [
      chat_id,
      { content: last_message?.content, user_id: peer?.user_id },
    ]);
    expect(new Map(listed)).toEqual(expected);
  });
});
