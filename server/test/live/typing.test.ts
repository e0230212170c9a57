import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventTip, users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { type EventReader, groupOf, listen, type StreamQuery } from '../support/streams.ts';

onAnyEngine('a signal that somebody is typing', (engine) => {
  let at = Date.now();
  const server = serverFor(engine, {}, { now: () => at });
  let ada: Client;
  let bob: Client;
  let cleo: Client;
  let stranger: Client;
  let chat_id: number;
  let readers: EventReader[] = [];
  beforeEach(async () => {
    ({ ada, bob, cleo, stranger } = await users(server(), 'ada', 'bob', 'cleo', 'stranger'));
    chat_id = await groupOf(ada, bob, cleo);
  });
  afterEach(() => {
    for (const reader of readers) reader.breakOff();
    readers = [];
  });
  const follow = async (who: Client, query: StreamQuery = {}) => {
    const reader = await listen(who, query);
    readers.push(reader);
    return reader;
  };
  /** Once this message has arrived, every signal before it has arrived too. */
  const untilNow = async (...streams: EventReader[]) => {
    await ada.ok('messages.send_message', { chat_id, content: 'now' });
    for (const stream of streams) await stream.until('it has come to now', ({ contents }) => contents.includes('now'));
  };
  const typists = (stream: EventReader) =>
    stream.signals.filter(({ event }) => event === 'typing').map(({ data }) => data);

  test('reaches the participants, is not stored, and has no id', async () => {
    const after = await eventTip(ada);
    const streams = [await follow(ada), await follow(bob), await follow(cleo, { events: ['typing'] })];
    const outside = await follow(stranger);
    expect(await bob.ok('chats.typing', { chat_id })).toMatchObject({ chat_id });
    for (const stream of streams) {
      await stream.until('the signal', ({ signals }) => signals.length > 0);
      expect(typists(stream)).toEqual([{ chat_id, user_id: bob.userId }]);
      expect(stream.lastEventId).toBe(stream.opening.id);
    }
    expect(await eventTip(ada)).toBe(after);
    const lobby = await groupOf(ada, stranger);
    await ada.ok('messages.send_message', { chat_id: lobby, content: 'afterwards' });
    await outside.until('it has come to the end', ({ contents }) => contents.includes('afterwards'));
    expect(typists(outside)).toEqual([]);
  });

  test('is sent once in 3 seconds for each user and chat, also if the clock is set back', async () => {
    const other = await groupOf(ada, bob);
    const stream = await follow(ada);
    const type = (who: Client, chat: number = chat_id) => who.ok('chats.typing', { chat_id: chat });
    await Promise.all(Array.from({ length: 10 }, () => type(bob)));
    await type(cleo);
    await type(bob, other);
    at += 2_999;
    await type(bob);
    at += 1;
    await type(bob);
    at -= 3_600_000;
    await type(bob);
    at += 3_600_000;
    await untilNow(stream);
    const [b, c] = [bob.userId, cleo.userId];
    expect(typists(stream)).toEqual([
      { chat_id, user_id: b },
      { chat_id, user_id: c },
      { chat_id: other, user_id: b },
      { chat_id, user_id: b },
      { chat_id, user_id: b },
    ]);
  });

  test('is refused to those who may not send, and tells them nothing of other chats', async () => {
    expect(await stranger.refused('chats.typing', { chat_id })).toBe('not_found');
    expect(await stranger.refused('chats.typing', { chat_id: 999_999 })).toBe('not_found');
    const { channel } = await ada.ok('messages.create_channel', { name: 'News', participants: [bob.userId] });
    expect(await bob.refused('chats.typing', { chat_id: channel.chat_id })).toBe('forbidden');
    await bob.ok('chats.leave', { chat_id });
    expect(await bob.refused('chats.typing', { chat_id })).toBe('not_found');
    expect(await ada.refused('chats.typing', { chat_id: 'x' as never })).toBe('validation_failed');
  });

  test('is dropped in a chat of more than 100 participants', async () => {
    const stream = await follow(ada);
    const crowd: number[] = [];
    for (let i = 0; i < 98; i++) crowd.push((await server().user(`crowd${i}of${chat_id}`)).userId);
    await ada.ok('chats.add_participants', { chat_id, participants: crowd.slice(0, 97) });
    await bob.ok('chats.typing', { chat_id });
    await ada.ok('chats.add_participants', { chat_id, participants: crowd });
    await cleo.ok('chats.typing', { chat_id });
    await untilNow(stream);
    expect(typists(stream)).toEqual([{ chat_id, user_id: bob.userId }]);
  });
});
