import { afterEach, beforeEach, expect, test } from 'bun:test';
import { signalTable } from '@parley/contract';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventTip, users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { type EventReader, listen, type StreamQuery } from '../support/streams.ts';

onAnyEngine('a signal that somebody has read', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  let cleo: Client;
  let stranger: Client;
  let chat_id: number;
  let message_id: number;
  let readers: EventReader[] = [];
  beforeEach(async () => {
    ({ ada, bob, cleo, stranger } = await users(server(), 'ada', 'bob', 'cleo', 'stranger'));
    const participants = [bob.userId, cleo.userId];
    chat_id = (await ada.ok('messages.create_group', { name: 'g', participants })).group.chat_id;
    await say('first');
    message_id = await say('second');
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
  const say = async (content: string) =>
    (await ada.ok('messages.send_message', { chat_id, content })).message.message_id;
  const read = (who: Client, upTo: number = message_id) => who.ok('messages.mark_read', { chat_id, message_id: upTo });
  /** Once this has been told, whatever was to be told before it has been. */
  const untilNow = async (...streams: EventReader[]) => {
    await say('now');
    for (const stream of streams) await stream.until('it has come to now', ({ contents }) => contents.includes('now'));
  };

  test('reaches all members of the chat, and the other streams of the reader', async () => {
    const streams = [await follow(ada), await follow(bob), await follow(bob), await follow(cleo)];
    const before = Date.now();
    await read(bob);
    for (const stream of streams) {
      await stream.untilTold(1);
      const [frame] = stream.frames.slice(1);
      const [signal] = stream.signals;
      expect(frame?.text).toBe(`event: message_read\ndata: ${signal?.body}`);
      expect(Object.keys(JSON.parse(signal?.body ?? ''))).toEqual(['event', 'timestamp', 'data']);
      expect(signal?.data).toEqual({ chat_id, user_id: bob.userId, message_id });
      expect(Date.parse(signal?.timestamp ?? '')).toBeWithin(before, Date.now() + 1);
      expect(stream.lastEventId).toBe(stream.opening.id);
    }
  });

  test('names the message, and is sent only if the position has moved', async () => {
    const stream = await follow(ada);
    const first = message_id - 1;
    await read(bob, first);
    await read(bob, first);
    await bob.ok('messages.mark_read', { chat_id });
    await bob.ok('messages.mark_read', { chat_id });
    await read(bob, first);
    await cleo.ok('messages.mark_read', { chat_id });
    await untilNow(stream);
    expect(stream.signals.map(({ data }) => data)).toEqual([
      { chat_id, user_id: bob.userId, message_id: first },
      { chat_id, user_id: bob.userId, message_id },
      { chat_id, user_id: cleo.userId, message_id },
    ]);
  });

  test('does not reach strangers, nor users who have left or were removed', async () => {
    const others = [stranger, bob, cleo];
    const participants = others.map(({ userId }) => userId);
    const { group: lobby } = await ada.ok('messages.create_group', { name: 'lobby', participants });
    const streams = [await follow(stranger), await follow(bob), await follow(cleo)];
    const witness = await follow(ada);
    await bob.ok('chats.leave', { chat_id });
    await ada.ok('chats.remove_participant', { chat_id, user_id: cleo.userId });
    await witness.untilTold(2);
    await ada.ok('messages.mark_read', { chat_id, message_id: await say('alone') });
    await witness.until('the signal', ({ signals }) => signals.length > 0);
    await ada.ok('messages.send_message', { chat_id: lobby.chat_id, content: 'afterwards' });
    for (const stream of streams) {
      await stream.until('it has come to the end', ({ contents }) => contents.includes('afterwards'));
      expect(stream.signals).toEqual([]);
    }
  });

  test('reaches a user who has just joined', async () => {
    const stream = await follow(stranger);
    await ada.ok('chats.add_participants', { chat_id, participants: [stranger.userId] });
    await stream.untilTold(1);
    await read(bob);
    await stream.untilTold(2);
    expect(stream.lines).toEqual(['user_joined', 'message_read']);
  });

  test('is never kept: neither in the log nor for a reader who comes back', async () => {
    const after = await eventTip(ada);
    const stream = await follow(ada);
    await read(bob);
    await stream.untilTold(1);
    expect(await eventTip(ada)).toBe(after);
    expect((await ada.ok('events.list', { after })).events).toEqual([]);
    const back = await follow(ada, { after });
    await untilNow(back);
    expect(back.lines).toEqual(['new_message now']);
    const names = await server().engine.all<{ event: string }>('SELECT DISTINCT event FROM events');
    expect(names.map(({ event }) => event)).not.toContain('message_read');
    expect(await ada.refused('events.list', { events: ['message_read' as never] })).toBe('validation_failed');
    expect(Object.keys(signalTable)).toEqual(['message_read', 'typing', 'presence_changed', 'deliveries_changed']);
  });

  test('reaches only streams whose filters match its name and chat', async () => {
    const { group } = await ada.ok('messages.create_group', { name: 'other', participants: [] });
    const asked: [StreamQuery, string[]][] = [
      [{}, ['message_read', 'new_message now']],
      [{ events: ['message_read'] }, ['message_read']],
      [{ events: ['new_message'] }, ['new_message now']],
      [{ events: ['new_message', 'message_read'] }, ['message_read', 'new_message now']],
      [{ chat_id }, ['message_read', 'new_message now']],
      [{ chat_id: group.chat_id }, []],
      [{ chat_id, events: ['message_read'] }, ['message_read']],
      [{ after: 0, events: ['message_read'] }, ['message_read']],
    ];
    const streams = await Promise.all(asked.map(([query]) => follow(ada, query)));
    await read(bob);
    await streams[1]?.untilTold(1);
    await untilNow(...streams.slice(0, 1));
    for (const [i, [query, lines]] of asked.entries()) {
      await streams[i]?.untilTold(lines.length);
      expect({ query, lines: streams[i]?.lines }).toEqual({ query, lines });
    }
  });
});
