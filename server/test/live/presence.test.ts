import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Presence, TokenId } from '@parley/contract';
import { botOf } from '../support/cast.ts';
import { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { eventTip, users } from '../support/people.ts';
import { serverFor, startServer } from '../support/server.ts';
import { type EventReader, groupOf, listen, type StreamQuery, streamsOpen } from '../support/streams.ts';

onAnyEngine('presence', (engine) => {
  /** Stands still, unless a test moves it. */
  let clock = 0;
  const server = serverFor(engine, {}, { monotonic: () => clock });
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
  const of = async (who: Client, asking: Client) =>
    (await asking.ok('users.presence', { user_ids: [who.userId] })).presence[0]?.presence;
  const toldOf = (stream: EventReader, who: Client) =>
    stream.presence.filter(({ data }) => data.user_id === who.userId).map(({ data }) => data.presence as Presence);
  const untilTold = (stream: EventReader, who: Client, ...states: Presence[]) =>
    stream
      .until(`told of ${states}`, () => toldOf(stream, who).length >= states.length)
      .then(() => expect(toldOf(stream, who)).toEqual(states));
  const set = (who: Client, presence: 'online' | 'away') => who.ok('users.set_presence', { presence });
  /** A second client of the same user. */
  const another = async (who: Client): Promise<Client & { tokenId: TokenId }> => {
    const made = await who.ok('tokens.create', { name: 'another' });
    const client = new Client(who.url, made.access_token, who.userId);
    return Object.assign(client, { tokenId: made.token.token_id });
  };
  /** Somebody else comes online, whom the reader is told of after all that has happened before. */
  const untilNow = async (stream: EventReader, reader: Client) => {
    const { mark } = await users(server(), 'mark');
    await reader.ok('messages.create_direct', { user_id: mark.userId });
    await follow(mark);
    await untilTold(stream, mark, 'online');
  };

  test('follows the streams and the word of the client, and is told to those who share a small chat', async () => {
    const { dora } = await users(server(), 'dora');
    await bob.ok('messages.create_direct', { user_id: dora.userId });
    const after = await eventTip(ada);
    const watching = [await follow(ada), await follow(dora, { events: ['presence_changed'] })];
    const outside = await follow(stranger);
    expect([await of(bob, ada), await of(bob, dora)]).toEqual(['offline', 'offline']);
    const own = await follow(bob);
    const expected: Presence[] = ['online'];
    for (const state of ['away', 'online', 'away'] as const) {
      for (const stream of watching) await untilTold(stream, bob, ...expected);
      clock += 3_000;
      expect(await set(bob, state)).toMatchObject({ hidden: false });
      expected.push(state);
    }
    for (const stream of watching) await untilTold(stream, bob, ...expected);
    expect([await of(bob, ada), await of(bob, dora), await of(bob, bob)]).toEqual(['away', 'away', 'away']);
    own.breakOff();
    await eventually('it has gone offline', async () => {
      clock += 2_500;
      return (await of(bob, ada)) === 'offline' || undefined;
    });
    for (const stream of watching) await untilTold(stream, bob, ...expected, 'offline');
    expect(await eventTip(ada)).toBe(after);
    await untilNow(outside, stranger);
    expect(toldOf(outside, bob)).toEqual([]);
    const [signal] = watching[0]?.presence.filter(({ data }) => data.user_id === bob.userId) ?? [];
    expect(Object.keys(JSON.parse(signal?.body ?? ''))).toEqual(['event', 'timestamp', 'data']);
    expect(signal?.event_id).toBeUndefined();
  });

  test('is offline for those who share no chat, or no longer', async () => {
    await follow(bob);
    await eventually('it is online', async () => (await of(bob, ada)) === 'online' || undefined);
    expect(await of(bob, stranger)).toBe('offline');
    await ada.ok('chats.remove_participant', { chat_id, user_id: bob.userId });
    expect(await of(bob, ada)).toBe('offline');
    expect(await of(bob, bob)).toBe('online');
  });

  test('does not change in a short disconnect, and an idle client stays idle through it', async () => {
    const stream = await follow(ada);
    const first = await follow(bob);
    await untilTold(stream, bob, 'online');
    clock += 3_000;
    await set(bob, 'away');
    await untilTold(stream, bob, 'online', 'away');
    first.breakOff();
    await streamsOpen(server().url, 1);
    clock += 4_999;
    await follow(bob);
    clock += 60_000;
    await untilNow(stream, ada);
    expect(toldOf(stream, bob)).toEqual(['online', 'away']);
    expect(await of(bob, ada)).toBe('away');
  });

  test('is that of the most present client', async () => {
    const stream = await follow(ada);
    const phone = await another(bob);
    const [desk, mobile] = [await follow(bob), await follow(phone)];
    await untilTold(stream, bob, 'online');
    clock += 3_000;
    await set(bob, 'away');
    await untilNow(stream, ada);
    expect(toldOf(stream, bob)).toEqual(['online']);
    mobile.breakOff();
    await untilTold(stream, bob, 'online', 'away');
    clock += 3_000;
    await set(bob, 'online');
    await untilTold(stream, bob, 'online', 'away', 'online');
    clock += 3_000;
    // A client without a stream does not count.
    await set(phone, 'online');
    await set(bob, 'away');
    await untilTold(stream, bob, 'online', 'away', 'online', 'away');
    desk.breakOff();
  });

  test('is away only as long as the client that said so has streams', async () => {
    const stream = await follow(ada);
    const phone = await another(bob);
    const idle = await follow(bob);
    await follow(phone);
    await untilTold(stream, bob, 'online');
    await set(bob, 'away');
    idle.breakOff();
    await streamsOpen(server().url, 2);
    clock += 5_000;
    await follow(bob);
    await set(phone, 'away');
    await untilNow(stream, ada);
    expect(toldOf(stream, bob)).toEqual(['online']);
    await set(bob, 'away');
    await untilTold(stream, bob, 'online', 'away');
  });

  test('stays away through a short disconnect of one of two clients', async () => {
    const stream = await follow(ada);
    const phone = await another(bob);
    const mobile = await follow(phone);
    const idle = await follow(bob);
    await untilTold(stream, bob, 'online');
    await set(bob, 'away');
    idle.breakOff();
    await streamsOpen(server().url, 2);
    clock += 4_999;
    await follow(bob);
    mobile.breakOff();
    await untilTold(stream, bob, 'online', 'away');
  });

  test('is told at most once in 3 seconds', async () => {
    const stream = await follow(ada);
    await follow(bob);
    await untilTold(stream, bob, 'online');
    for (let i = 0; i < 10; i++) await set(bob, i % 2 ? 'online' : 'away');
    await set(bob, 'away');
    await untilNow(stream, ada);
    expect(toldOf(stream, bob)).toEqual(['online']);
    clock += 3_000;
    await untilTold(stream, bob, 'online', 'away');
  });

  test('goes with the access', async () => {
    const stream = await follow(ada);
    const phone = await another(bob);
    await follow(phone);
    await untilTold(stream, bob, 'online');
    await bob.ok('tokens.revoke', { token_id: phone.tokenId });
    await eventually('it has gone offline', async () => {
      clock += 2_500;
      return (await of(bob, ada)) === 'offline' || undefined;
    });
    await untilTold(stream, bob, 'online', 'offline');
  });

  test('of a bot is online while it has a stream, and apart from that of its owner', async () => {
    const stream = await follow(ada);
    const bot = await botOf(server(), bob, `bot-of-${bob.userId}`);
    await ada.ok('chats.add_participants', { chat_id, participants: [bot.userId] });
    await follow(bot);
    await untilTold(stream, bot, 'online');
    await bot.ok('users.set_presence', { hidden: true });
    expect(await set(bob, 'online')).toMatchObject({ hidden: false });
    expect(await of(bob, ada)).toBe('offline');
    expect(await of(bot, ada)).toBe('offline');
  });

  test('reaches only streams whose filters match', async () => {
    const streams = [
      await follow(ada, { chat_id }),
      await follow(ada, { events: ['new_message'] }),
      await follow(ada, { events: ['new_message', 'presence_changed'] }),
    ];
    await follow(bob);
    await untilTold(streams[2] as EventReader, bob, 'online');
    await ada.ok('messages.send_message', { chat_id, content: 'now' });
    for (const stream of streams) await stream.until('now', ({ contents }) => contents.includes('now'));
    expect(streams.map((stream) => toldOf(stream, bob))).toEqual([[], [], ['online']]);
  });

  test('is not told in chats of more than 100 participants, but can be asked for', async () => {
    const stream = await follow(stranger);
    const crowd: number[] = [bob.userId, stranger.userId];
    for (let i = 0; i < 98; i++) crowd.push((await server().user(`many${i}of${chat_id}`)).userId);
    await ada.ok('messages.create_group', { name: 'Crowd', participants: crowd });
    await follow(bob);
    await eventually('it is online', async () => (await of(bob, stranger)) === 'online' || undefined);
    await untilNow(stream, stranger);
    expect(toldOf(stream, bob)).toEqual([]);
  });

  test('can be asked for many users, in their order, and for none that is unknown', async () => {
    await follow(bob);
    await eventually('it is online', async () => (await of(bob, ada)) === 'online' || undefined);
    const user_ids = [stranger.userId, bob.userId, 999_999, bob.userId, cleo.userId];
    expect((await ada.ok('users.presence', { user_ids })).presence).toEqual([
      { user_id: stranger.userId, presence: 'offline' },
      { user_id: bob.userId, presence: 'online' },
      { user_id: 999_999, presence: 'offline' },
      { user_id: cleo.userId, presence: 'offline' },
    ]);
    expect(await ada.refused('users.presence', { user_ids: [] })).toBe('validation_failed');
    const many = Array.from({ length: 201 }, (_, i) => i + 1);
    expect(await ada.refused('users.presence', { user_ids: many })).toBe('validation_failed');
    expect(await ada.refused('users.presence', {} as never)).toBe('validation_failed');
    expect(await ada.refused('users.set_presence', { presence: 'offline' as never })).toBe('validation_failed');
    expect(await ada.refused('users.set_presence', { hidden: 'perhaps' as never })).toBe('validation_failed');
  });

  describe('that is hidden', () => {
    test('is offline for others from the response on, and is told when it is shown again', async () => {
      const stream = await follow(ada);
      await follow(bob);
      await untilTold(stream, bob, 'online');
      clock += 3_000;
      expect(await bob.ok('users.set_presence', { hidden: true })).toMatchObject({ hidden: true });
      expect(await of(bob, ada)).toBe('offline');
      await untilTold(stream, bob, 'online', 'offline');
      clock += 3_000;
      await set(bob, 'away');
      await set(bob, 'online');
      const back = await follow(await another(bob));
      back.breakOff();
      clock += 60_000;
      await untilNow(stream, ada);
      expect(toldOf(stream, bob)).toEqual(['online', 'offline']);
      expect(await bob.ok('users.set_presence', { hidden: false })).toMatchObject({ hidden: false });
      await untilTold(stream, bob, 'online', 'offline', 'online');
    });

    test('is what the last of many callers said', async () => {
      const stream = await follow(ada);
      await follow(bob);
      await untilTold(stream, bob, 'online');
      await Promise.all(Array.from({ length: 20 }, (_, i) => bob.ok('users.set_presence', { hidden: i % 2 === 0 })));
      const { hidden } = await bob.ok('users.set_presence', {});
      clock += 3_000;
      await untilNow(stream, ada);
      expect(toldOf(stream, bob)).toEqual(hidden ? ['online', 'offline'] : ['online']);
    });
  });
});

onAnyEngine('the choice to hide', (engine) => {
  test('outlives a restart', async () => {
    const env = await freshEnvironment(engine);
    const before = await startServer(env);
    const { ada, bob } = await users(before, 'ada', 'bob');
    await groupOf(ada, bob);
    await bob.ok('users.set_presence', { hidden: true });
    await before.stop();
    const server = await startServer(env);
    const at = ({ token, userId }: Client) => new Client(server.url, token, userId);
    const stream = await listen(at(ada));
    const own = await listen(at(bob));
    const { cleo } = await users(server, 'cleo');
    await at(ada).ok('messages.create_direct', { user_id: cleo.userId });
    const mark = await listen(cleo);
    await stream.until('cleo is online', ({ presence }) => presence.some(({ data }) => data.user_id === cleo.userId));
    expect(stream.presence.filter(({ data }) => data.user_id === bob.userId)).toEqual([]);
    expect(await at(bob).ok('users.set_presence', {})).toMatchObject({ hidden: true });
    for (const reader of [stream, own, mark]) reader.breakOff();
    await server.stop();
  });
});
