import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventTip, users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { type Reply, statuses } from '../support/wire.ts';

/** An id that nothing has. */
const absent = Number.MAX_SAFE_INTEGER;

/** All that a caller can tell two refusals apart by; an id that the caller gave stands as ID. */
function told({ status, body }: Pick<Reply, 'status'> & { body: object }, id?: number): unknown {
  const { request_id: _, ...error } = (body as { error: Record<string, unknown> }).error;
  const given = id === undefined ? /$^/g : new RegExp(`\\b${id}\\b`, 'g');
  return { status, error: JSON.parse(JSON.stringify(error).replace(given, 'ID')) };
}

onAnyEngine('what must not be told apart', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  let mallory: Client;
  let hidden: { chat_id: number; message_id: number }[];
  beforeAll(async () => {
    ({ ada, bob, mallory } = await users(server(), 'ada', 'bob', 'mallory'));
    const { group } = await ada.ok('messages.create_group', { name: 'Hidden', participants: [bob.userId] });
    const { channel } = await ada.ok('messages.create_channel', { name: 'Hidden', visibility: 'private' });
    const { chat } = await ada.ok('messages.create_direct', { user_id: bob.userId });
    hidden = [];
    for (const { chat_id } of [group, channel, chat]) {
      const { message } = await ada.ok('messages.send_message', { chat_id, content: 'hidden' });
      hidden.push({ chat_id, message_id: message.message_id });
    }
  });

  const byChat: [string, (by: Client, chat_id: number) => Promise<Reply>][] = [
    ['chats.get', (by, chat_id) => by.call('chats.get', { chat_id })],
    ['chats.participants', (by, chat_id) => by.call('chats.participants', { chat_id })],
    ['chats.update', (by, chat_id) => by.call('chats.update', { chat_id, name: 'x' })],
    [
      'chats.add_participants',
      (by, chat_id) => by.call('chats.add_participants', { chat_id, participants: [by.userId] }),
    ],
    ['chats.remove_participant', (by, chat_id) => by.call('chats.remove_participant', { chat_id, user_id: by.userId })],
    ['chats.set_role', (by, chat_id) => by.call('chats.set_role', { chat_id, user_id: by.userId, role: 'owner' })],
    ['chats.join', (by, chat_id) => by.call('chats.join', { chat_id })],
    ['chats.leave', (by, chat_id) => by.call('chats.leave', { chat_id })],
    ['messages.send_message', (by, chat_id) => by.call('messages.send_message', { chat_id, content: 'x' })],
    ['a reply', (by, chat_id) => by.call('messages.send_message', { chat_id, content: 'x', reply_to: 1 })],
    ['messages.get_messages', (by, chat_id) => by.call('messages.get_messages', { chat_id })],
    ['messages.search_messages', (by, chat_id) => by.call('messages.search_messages', { chat_id, query: 'hidden' })],
    ['messages.mentions', (by, chat_id) => by.call('messages.mentions', { chat_id })],
    ['messages.mark_read', (by, chat_id) => by.call('messages.mark_read', { chat_id })],
    ['events.list', (by, chat_id) => by.call('events.list', { chat_id })],
  ];
  test.each(byChat)('an absent chat and a hidden one: %s', async (_, call) => {
    const none = told(await call(mallory, absent));
    expect(none).toMatchObject({ status: statuses.not_found, error: { code: 'not_found' } });
    for (const { chat_id } of hidden) expect(told(await call(mallory, chat_id))).toEqual(none);
  });

  const byMessage: [string, (by: Client, message_id: number) => Promise<Reply>][] = [
    ['messages.get_message', (by, message_id) => by.call('messages.get_message', { message_id })],
    ['messages.edit_message', (by, message_id) => by.call('messages.edit_message', { message_id, content: 'x' })],
    ['messages.delete_message', (by, message_id) => by.call('messages.delete_message', { message_id })],
    ['messages.add_reaction', (by, message_id) => by.call('messages.add_reaction', { message_id, emoji: 'x' })],
    ['messages.remove_reaction', (by, message_id) => by.call('messages.remove_reaction', { message_id, emoji: 'x' })],
  ];
  test.each(byMessage)('an absent message and a hidden one: %s', async (_, call) => {
    const none = told(await call(mallory, absent));
    expect(none).toMatchObject({ status: statuses.not_found, error: { code: 'not_found' } });
    for (const { message_id } of hidden) expect(told(await call(mallory, message_id))).toEqual(none);
  });

  test('an absent message and a hidden one, as what a message replies to', async () => {
    const { chat_id } = (await mallory.ok('messages.create_group', { name: 'Mine', participants: [] })).group;
    const reply = (reply_to: number) => mallory.call('messages.send_message', { chat_id, content: 'x', reply_to });
    const none = told(await reply(absent));
    expect(none).toMatchObject({ error: { code: 'validation_failed', details: [{ field: 'reply_to' }] } });
    for (const { message_id } of hidden) expect(told(await reply(message_id))).toEqual(none);
  });

  test('where a read marker is put, by messages of other chats', async () => {
    const { chat_id } = (await mallory.ok('messages.create_group', { name: 'Mine', participants: [] })).group;
    const { message } = await mallory.ok('messages.send_message', { chat_id, content: 'x' });
    for (const message_id of [message.message_id, hidden[0]?.message_id ?? 0, absent]) {
      const { read } = await mallory.ok('messages.mark_read', { chat_id, message_id });
      expect([null, message.message_id]).toContain(read.last_read_id);
    }
  });

  describe('an unknown user and a disabled one', () => {
    let gone: Client;
    let chat_id: number;
    beforeAll(async () => {
      ({ gone } = await users(server(), 'gone'));
      const root = await server().user('root', { admin: true });
      await root.ok('users.disable', { user_id: gone.userId });
      chat_id = (await mallory.ok('messages.create_group', { name: 'Mine', participants: [] })).group.chat_id;
    });

    const calls: [string, (user_id: number) => Promise<Reply>][] = [
      ['create_direct', (user_id) => mallory.call('messages.create_direct', { user_id })],
      ['create_group', (id) => mallory.call('messages.create_group', { name: 'x', participants: [bob.userId, id] })],
      ['create_channel', (id) => mallory.call('messages.create_channel', { name: 'x', participants: [id] })],
      ['add_participants', (id) => mallory.call('chats.add_participants', { chat_id, participants: [bob.userId, id] })],
      ['remove_participant', (user_id) => mallory.call('chats.remove_participant', { chat_id, user_id })],
      ['set_role', (user_id) => mallory.call('chats.set_role', { chat_id, user_id, role: 'admin' })],
    ];
    test.each(calls)('%s', async (_, call) => {
      const tip = await eventTip(mallory);
      const none = told(await call(absent), absent);
      expect(none).toMatchObject({ error: { code: expect.stringMatching(/validation_failed|not_found/) } });
      expect(told(await call(gone.userId), gone.userId)).toEqual(none);
      expect((await mallory.ok('events.list', { after: tip })).events).toEqual([]);
    });

    test('an unknown participant is named, and nothing is created', async () => {
      const before = await mallory.ok('chats.list', { limit: 200 });
      const { error } = await mallory.call('messages.create_group', {
        name: 'x',
        participants: [bob.userId, absent, absent - 1],
      });
      expect(error?.code).toBe('validation_failed');
      expect(error?.details[0]?.field).toStartWith('participants');
      expect(error?.message).toContain(String(absent));
      expect(error?.message).toContain(String(absent - 1));
      expect(error?.message).not.toContain(`${bob.userId},`);
      expect(await mallory.ok('chats.list', { limit: 200 })).toEqual(before);
    });
  });

  describe('ids of another chat', () => {
    test('a message replies only to one of its own chat', async () => {
      const [one, two] = hidden;
      if (!one || !two) throw new Error('there are hidden chats');
      const { error } = await ada.call('messages.send_message', {
        chat_id: one.chat_id,
        content: 'x',
        reply_to: two.message_id,
      });
      expect(error?.details[0]?.field).toBe('reply_to');
      const fine = { chat_id: one.chat_id, content: 'x', reply_to: one.message_id };
      expect((await ada.ok('messages.send_message', fine)).message.reply_to).toBe(one.message_id);
    });

    test('bounds of another chat only bound', async () => {
      const [one, two] = hidden;
      if (!one || !two) throw new Error('there are hidden chats');
      const { messages } = await ada.ok('messages.get_messages', { chat_id: one.chat_id, before_id: two.message_id });
      expect(messages.map((m) => m.message_id)).toEqual([one.message_id]);
      expect(new Set(messages.map((m) => m.chat_id))).toEqual(new Set([one.chat_id]));
    });
  });
});
