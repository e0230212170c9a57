import { afterEach, beforeAll, expect, test } from 'bun:test';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventTip, users } from '../support/people.ts';
import { serverFor } from '../support/server.ts';
import { type EventReader, listen, logged, parsed, type StreamQuery } from '../support/streams.ts';

onAnyEngine('a stream that is open', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let bob: Client;
  let cleo: Client;
  /** A chat with all users. The arrival of its last message shows that all earlier events have arrived. */
  let lobby: number;
  let readers: EventReader[] = [];
  beforeAll(async () => {
    ({ ada, bob, cleo } = await users(server(), 'ada', 'bob', 'cleo'));
    lobby = await groupOf(bob, cleo);
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
  const groupOf = async (...others: Client[]) =>
    (await ada.ok('messages.create_group', { name: 'g', participants: others.map((c) => c.userId) })).group.chat_id;
  const say = (chat_id: number, content: string) => ada.ok('messages.send_message', { chat_id, content });
  const add = (chat_id: number, who: Client) =>
    ada.ok('chats.add_participants', { chat_id, participants: [who.userId] });
  const remove = (chat_id: number, who: Client) => ada.ok('chats.remove_participant', { chat_id, user_id: who.userId });

  let ends = 0;
  /** Returns the events of the streams once everything up to now has arrived. */
  const readToTheEnd = async (...streams: EventReader[]) => {
    const end = `end ${++ends}`;
    await say(lobby, end);
    for (const stream of streams)
      await stream.until('it has come to the end', ({ contents }) => contents.includes(end));
  };
  /** Up to what was told last: others go on meanwhile. */
  const expectTheLog = async (who: Client, stream: EventReader, after = Number(stream.opening.id)) => {
    const last = stream.eventIds.at(-1) ?? 0;
    expect(parsed(stream.told)).toEqual((await logged(who, after)).filter(({ event_id }) => Number(event_id) <= last));
  };

  test('tells from the joining on and up to the leaving, both included', async () => {
    const chat_id = await groupOf(bob);
    const stream = await follow(cleo);
    await say(chat_id, 'before');
    await add(chat_id, cleo);
    await say(chat_id, 'during');
    await cleo.ok('chats.leave', { chat_id });
    await say(chat_id, 'between');
    await add(chat_id, cleo);
    await say(chat_id, 'again');
    await remove(chat_id, cleo);
    await say(chat_id, 'after');
    await readToTheEnd(stream);
    const told = ['user_joined', 'new_message during', 'user_left', 'user_joined', 'new_message again', 'user_left'];
    expect(stream.lines.slice(0, -1)).toEqual(told);
    await expectTheLog(cleo, stream);
  });

  test('tells of new groups, channels and direct chats, and of nobody else’s', async () => {
    const { dan } = await users(server(), 'dan');
    await add(lobby, dan);
    const [bobs, dans] = [await follow(bob), await follow(dan)];
    await say(await groupOf(bob), 'in a group');
    const { channel } = await ada.ok('messages.create_channel', { name: 'c', participants: [bob.userId] });
    await say(channel.chat_id, 'in a channel');
    const { chat } = await ada.ok('messages.create_direct', { user_id: bob.userId });
    await say(chat.chat_id, 'between two');
    await dan.ok('chats.join', { chat_id: channel.chat_id });
    await readToTheEnd(bobs, dans);
    expect(bobs.lines.slice(0, -1)).toEqual([
      ...['group_created', 'new_message in a group', 'channel_created', 'new_message in a channel'],
      ...['direct_created', 'new_message between two', 'user_joined'],
    ]);
    expect(dans.lines.slice(0, -1)).toEqual(['user_joined']);
  });

  test('of one chat gets no events after the user leaves, and gets them again after a return', async () => {
    const chat_id = await groupOf(cleo);
    const [one, whole] = [await follow(cleo, { chat_id }), await follow(cleo)];
    await remove(chat_id, cleo);
    await say(chat_id, 'without cleo');
    const late = await follow(cleo, { chat_id });
    await add(chat_id, cleo);
    await say(chat_id, 'with cleo');
    await readToTheEnd(whole);
    await one.untilTold(3);
    expect(one.lines).toEqual(['user_left', 'user_joined', 'new_message with cleo']);
    expect(late.lines).toEqual(['user_joined', 'new_message with cleo']);
  });

  test('tells exactly what the log holds for its reader while many join and leave in bursts', async () => {
    const chats = await Promise.all(Array.from({ length: 4 }, () => groupOf(bob)));
    const stream = await follow(cleo);
    const bobs = await follow(bob);
    const later: EventReader[] = [];
    let writing = true;
    const writers = chats.map(async (chat_id, n) => {
      for (let i = 0; writing; i++) await say(chat_id, `${n} ${i}`);
    });
    const moves = chats.map(async (chat_id, n) => {
      for (let i = 0; i < 12; i++) {
        await add(chat_id, cleo);
        // The next move is on its way before the last one was answered.
        const left = n % 2 ? cleo.call('chats.leave', { chat_id }) : remove(chat_id, cleo);
        const again = add(chat_id, cleo);
        await Promise.all([left, again]);
        if (i % 8 === n) later.push(await follow(cleo));
        await cleo.call('chats.leave', { chat_id });
      }
    });
    await Promise.all(moves);
    writing = false;
    await Promise.all(writers);
    await readToTheEnd(stream, bobs, ...later);
    expect(stream.told.filter(({ event }) => event === 'user_joined').length).toBeGreaterThanOrEqual(4 * 12);
    expect(later).toHaveLength(8);
    for (const one of [stream, ...later]) await expectTheLog(cleo, one);
    await expectTheLog(bob, bobs);
  });

  test('gets the same events as hundreds of others, and as one that opens meanwhile', async () => {
    const chat_id = await groupOf(bob, cleo);
    const others: EventReader[] = [];
    // They are told in turns, between which others come.
    for (let i = 0; i < 10; i++) {
      others.push(...(await Promise.all(Array.from({ length: 30 }, (_, n) => follow(n % 2 ? bob : cleo)))));
    }
    const after = Number(others[0]?.opening.id);
    const later: EventReader[] = [];
    for (let i = 0; i < 20; i++) {
      const told = Promise.all([say(chat_id, `${i}`), say(chat_id, `${i} again`)]);
      later.push(await follow(bob, { after }));
      await told;
    }
    await readToTheEnd(...others, ...later);
    const expected = (await logged(bob, after)).map(({ event_id }) => Number(event_id));
    for (const one of [...others, ...later]) expect(one.eventIds).toEqual(expected);
  });

  test('misses nothing and tells nothing too much where one joins or leaves while it is being opened', async () => {
    const { dan, eve } = await users(server(), 'dan', 'eve');
    const rounds = async (who: Client, isTold: boolean) => {
      const chats = [await groupOf(), await groupOf(who)];
      await add(lobby, who);
      for (let i = 0; i < 16; i++) {
        const [joined = 0, left = 0] = i % 2 ? chats.toReversed() : chats;
        const after = await eventTip(who);
        const changes = (async () => {
          await Bun.sleep(Math.random() * 4);
          await Promise.all([add(joined, who), remove(left, who), say(joined, `${i}`), say(left, `${i}`)]);
          await Promise.all([say(joined, `${i} more`), say(left, `${i} more`)]);
        })();
        await Bun.sleep(Math.random() * 3);
        const stream = await listen(who, isTold ? { after } : {});
        await changes;
        await readToTheEnd(stream);
        await expectTheLog(who, stream, isTold ? after : undefined);
        // The user has no streams any more, so the next one loads the memberships again.
        stream.breakOff();
      }
    };
    await Promise.all([rounds(dan, true), rounds(eve, false)]);
  });
});
