import { afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { type ErrorCode, type EventName, eventNames } from '@parley/contract';
import { eventsNamed } from '../../store/log/events.ts';
import type { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine, onBothEngines } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { filePart, formWith, post, sending, textPart } from '../support/files.ts';
import { eventTip, users } from '../support/people.ts';
import { receiverFor } from '../support/receiver.ts';
import { dropExpired, logRead } from '../support/retention.ts';
import { serverFor, startServer, type TestServer } from '../support/server.ts';
import {
  comeBack,
  EventReader,
  groupOf,
  listen,
  logged,
  metric,
  parsed,
  type StreamQuery,
  streamsOpen,
  streamUrl,
} from '../support/streams.ts';
import { complaint, expectRefusal, request } from '../support/wire.ts';

const say = async (by: Client, chat_id: number, content: string) =>
  (await by.ok('messages.send_message', { chat_id, content })).message.message_id;

/** Returns the body of an event in the log. */
const frozen = async ({ engine }: TestServer, eventId = 0) => (await eventsNamed(engine, [eventId]))[0]?.body;

onBothEngines('a stream', (engine) => {
  // No time passes for streams, so none is quiet for long.
  const server = serverFor(engine, {}, { monotonic: () => 0 });
  const receiver = receiverFor();
  let ada: Client;
  let bob: Client;
  let chat_id: number;
  let readers: EventReader[] = [];
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
    chat_id = await groupOf(ada, bob);
  });
  afterEach(() => {
    for (const reader of readers) reader.breakOff();
    readers = [];
  });
  const follow = async (who: Client, query: StreamQuery = {}, headers: Record<string, string> = {}) => {
    const reader = await listen(who, query, headers);
    readers.push(reader);
    return reader;
  };

  describe('is written', () => {
    test('with the time to come back after and the cursor first, and then nothing until something happens', async () => {
      const tip = await eventTip(bob);
      const stream = await follow(bob);
      expect(stream.opening.text).toMatch(/^retry: \d+\nid: \d+$/);
      expect(stream.opening.id).toBe(String(tip));
      expect(Number(stream.opening.retry)).toBeWithin(1_000, 2_001);
      await say(ada, chat_id, 'now');
      await stream.untilTold(1);
      expect(stream.frames.map(({ event }) => event)).toEqual([undefined, 'new_message']);
    });

    test('of every event with its id, its name and the bytes that were frozen, which are what webhooks are sent', async () => {
      const { cleo, dan } = await users(server(), 'cleo', 'dan');
      const gone = receiver().endpoint(410);
      const endpoint = receiver().endpoint();
      const hook = { url: endpoint.url, events: ['*'], secret: 'a secret' };
      await cleo.ok('webhooks.register', hook);
      const stream = await follow(cleo);
      const group = await groupOf(cleo, dan);
      const message_id = await say(dan, group, 'one\nline and \u2028 another, "quoted" \\ 🎉 é');
      await dan.ok('messages.edit_message', { message_id, content: 'data: no\n\nid: 7\n\n' });
      await cleo.ok('messages.add_reaction', { message_id, emoji: '🎉' });
      await cleo.ok('messages.remove_reaction', { message_id, emoji: '🎉' });
      await cleo.ok('messages.pin', { message_id });
      await cleo.ok('messages.unpin', { message_id });
      await cleo.ok('messages.delete_message', { message_id });
      await cleo.ok('chats.update', { chat_id: group, name: 'Renamed' });
      await cleo.ok('chats.set_role', { chat_id: group, user_id: dan.userId, role: 'admin' });
      await cleo.ok('chats.remove_participant', { chat_id: group, user_id: dan.userId });
      await cleo.ok('chats.add_participants', { chat_id: group, participants: [dan.userId] });
      await dan.ok('users.update', { display_name: 'Dan\u0065 "D"' });
      await cleo.ok('messages.create_channel', { name: 'c' });
      await cleo.ok('chats.set_preferences', { chat_id: group, archived: true });
      await cleo.ok('messages.create_direct', { user_id: dan.userId });
      await cleo.ok('webhooks.register', { ...hook, url: gone.url, events: ['new_message'] });
      await say(cleo, group, 'to be told of');
      await stream.until('one webhook was disabled', ({ told }) => told.at(-1)?.event === 'webhook_disabled');
      expect([...new Set(stream.told.map(({ event }) => event))].sort()).toEqual([...eventNames].sort());
      for (const frame of stream.frames.slice(1)) {
        const body = await frozen(server(), Number(frame.id));
        expect(frame.text).toBe(`id: ${frame.id}\nevent: ${frame.event}\ndata: ${body}`);
      }
      const arrivals = await endpoint.arrived(stream.told.length);
      const sent = new Map(arrivals.map(({ eventId, body }) => [eventId, body]));
      expect(stream.told.map(({ event_id }) => sent.get(event_id ?? 0))).toEqual(stream.told.map(({ body }) => body));
    });

    test('of messages that arrive together, with and without a file, beside one that is refused', async () => {
      const stream = await follow(bob);
      const contents = ['two\nlines', '{"not":\n"ours"}', '[refused]', '\r\n\u2028x', 'with a file', '\\n'];
      const withFile = formWith(textPart('chat_id', chat_id), textPart('content', 'with a file'), filePart('bytes'));
      const answers = await Promise.all(
        contents.map((content) =>
          content === 'with a file'
            ? post(ada, sending, withFile)
            : ada.call('messages.send_message', { chat_id: content === '[refused]' ? 987_654_321 : chat_id, content }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 200, 200, 200]);
      const shown = answers.map(({ body }) => (body as { message?: { content: string } }).message?.content);
      expect(shown).toEqual(contents.map((content) => (content === '[refused]' ? undefined : content)));
      await stream.untilTold(5);
      const told = stream.events.map(({ data }) => data as { content: string; file?: { size: number } });
      expect(told.map(({ content }) => content).sort()).toEqual(
        contents.filter((content) => content !== '[refused]').sort(),
      );
      expect(told.flatMap(({ content, file }) => (file ? [[content, file.size]] : []))).toEqual([['with a file', 5]]);
      for (const { event_id, body } of stream.events) expect(body).toBe((await frozen(server(), event_id)) ?? '');
    });

    test('as a stream of events that nobody keeps or holds back', async () => {
      const { status, headers } = await follow(bob);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-accel-buffering')).toBe('no');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-request-id')).toMatch(/\S/);
      expect(headers.has('access-control-allow-origin')).toBe(false);
    });

    test('to pages of other origins too, without credentials', async () => {
      const { headers } = await follow(bob, {}, { Origin: 'https://elsewhere.example' });
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.has('access-control-allow-credentials')).toBe(false);
      const asked = { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' };
      const answer = await fetch(streamUrl(server().url), { method: 'OPTIONS', headers: asked });
      expect(answer.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('last-event-id');
    });
  });

  describe('tells', () => {
    test('of what happens in the order of the log, to all streams of a user', async () => {
      const [one, two] = [await follow(bob), await follow(bob)];
      const tip = Number(one.opening.id);
      await Promise.all(Array.from({ length: 40 }, (_, i) => say(i % 2 ? ada : bob, chat_id, `${i}`)));
      for (const stream of [one, two]) {
        await stream.untilTold(40);
        expect(parsed(stream.told)).toEqual(await logged(bob, tip));
      }
    });

    test('everything from the beginning after 0, and then live events', async () => {
      const stream = await follow(bob, { after: 0 });
      expect(stream.opening.id).toBe('0');
      await say(ada, chat_id, 'and then');
      await stream.until('it has come to now', ({ contents }) => contents.includes('and then'));
      expect(parsed(stream.told)).toEqual(await logged(bob, 0));
    });

    test('what came after the event that a client names, in the header rather than in the address', async () => {
      const tip = await eventTip(bob);
      for (const content of ['1', '2', '3', '4']) await say(ada, chat_id, content);
      const [first, second, third] = (await logged(bob, tip)).map(({ event_id }) => Number(event_id));
      const asks: [StreamQuery, Record<string, string>, string[]][] = [
        [{ after: Number(first) }, {}, ['2', '3', '4']],
        [{}, { 'Last-Event-ID': String(second) }, ['3', '4']],
        [{ after: 0 }, { 'Last-Event-ID': String(third) }, ['4']],
        [{ after: Number(third) }, { 'Last-Event-ID': String(first) }, ['2', '3', '4']],
        [{ after: Number(second) }, { 'Last-Event-ID': '' }, ['3', '4']],
      ];
      for (const [query, headers, expected] of asks) {
        const stream = await follow(bob, query, headers);
        await stream.untilTold(expected.length);
        expect(stream.contents).toEqual(expected);
      }
    });

    test('of one chat, and of some events', async () => {
      const other = await groupOf(ada, bob);
      const after = await eventTip(bob);
      const wanted: [StreamQuery, string[]][] = [
        [{ chat_id: other }, ['new_message other', 'chat_updated', 'new_message end']],
        [{ events: ['new_message'] }, ['new_message here', 'new_message other', 'new_message end']],
        [{ events: ['chat_updated', 'user_left'] }, ['chat_updated', 'chat_updated']],
        [{ events: ['chat_updated'], chat_id }, ['chat_updated']],
        [{ events: ['message_read'] }, []],
        [{ events: ['message_read', 'chat_updated'], chat_id: other }, ['chat_updated']],
      ];
      const live = await Promise.all(wanted.map(([query]) => follow(bob, query)));
      const whole = await follow(bob);
      await say(ada, chat_id, 'here');
      await ada.ok('chats.update', { chat_id, name: `new ${after}` });
      await say(ada, other, 'other');
      await ada.ok('chats.update', { chat_id: other, name: `new ${after}` });
      await say(ada, other, 'end');
      await whole.until('it is over', ({ contents }) => contents.includes('end'));
      for (const [i, [query, expected]] of wanted.entries()) {
        const resumed = await follow(bob, { ...query, after });
        for (const stream of [live[i], resumed]) {
          await stream?.untilTold(expected.length);
          expect(stream?.lines).toEqual(expected);
        }
      }
    });

    test('every event once and in order to a reader who breaks off and comes back while others write', async () => {
      const { cleo, dan } = await users(server(), 'cleo', 'dan');
      const chats = [await groupOf(cleo, dan), await groupOf(dan, cleo)];
      let reader = await follow(cleo);
      const after = Number(reader.opening.id);
      let writing = true;
      const writers = [cleo, dan, dan].map(async (who, n) => {
        for (let i = 0; writing; i++) {
          const message_id = await say(who, chats[i % 2] ?? 0, `${n} ${i} ${'x'.repeat((i * 97) % 3_000)}`);
          if (i % 5 === 0) await who.ok('messages.edit_message', { message_id, content: 'changed' });
        }
      });
      const read: ReturnType<typeof parsed> = [];
      const breakOff = () => {
        reader.breakOff();
        read.push(...parsed(reader.told));
        return Number(reader.lastEventId);
      };
      for (let resumed = 0; resumed < 20; resumed++) {
        await reader.untilTold(Math.floor(Math.random() * 8));
        const place = breakOff();
        await Bun.sleep(Math.random() * 15);
        reader = resumed % 3 ? await comeBack(cleo, String(place)) : await listen(cleo, { after: place });
      }
      writing = false;
      await Promise.all(writers);
      await say(dan, chats[0] ?? 0, 'the end');
      await reader.until('it has come to the end', ({ contents }) => contents.includes('the end'));
      breakOff();
      expect(read.map(({ event_id }) => event_id)).toEqual((await logged(cleo, after)).map(({ event_id }) => event_id));
      expect(read).toEqual(await logged(cleo, after));
    });

    test('nothing to somebody who is not in the chat', async () => {
      const { stranger } = await users(server(), 'stranger');
      const own = await groupOf(stranger);
      const stream = await follow(stranger);
      await say(ada, chat_id, 'among us');
      await say(stranger, own, 'to myself');
      await stream.untilTold(1);
      expect(stream.contents).toEqual(['to myself']);
    });
  });

  describe('is refused', () => {
    const huge = '9'.repeat(400);
    const asked: [string, { query?: object; headers?: Record<string, string> }, ErrorCode][] = [
      ['Last-Event-ID is no number', { headers: { 'last-event-id': 'abc' } }, 'invalid_request'],
      ['Last-Event-ID is negative', { headers: { 'last-event-id': '-1' } }, 'invalid_request'],
      ['Last-Event-ID is no whole number', { headers: { 'last-event-id': '1.5' } }, 'invalid_request'],
      ['Last-Event-ID is written otherwise', { headers: { 'last-event-id': '1e3' } }, 'invalid_request'],
      ['Last-Event-ID is huge', { headers: { 'last-event-id': huge } }, 'invalid_request'],
      ['Last-Event-ID is no safe number', { headers: { 'last-event-id': '9007199254740993' } }, 'invalid_request'],
      ['Last-Event-ID is beyond the log', { headers: { 'last-event-id': '4000000000' } }, 'cursor_expired'],
      ['after is beyond the log', { query: { after: 4_000_000_000 } }, 'cursor_expired'],
      ['after is negative', { query: { after: -1 } }, 'validation_failed'],
      ['after is no number', { query: { after: 'now' } }, 'validation_failed'],
      ['after is huge', { query: { after: huge } }, 'validation_failed'],
      ['after is given twice', { query: { after: [1, 2] } }, 'validation_failed'],
      ['a field is unknown', { query: { limit: 5 } }, 'validation_failed'],
      ['an event is unknown', { query: { events: ['new_message', 'new_mesage'] } }, 'validation_failed'],
      ['a chat is no chat', { query: { chat_id: 'x' } }, 'validation_failed'],
      ['a chat is not there', { query: { chat_id: 4_000_000_000 } }, 'not_found'],
    ];
    test.each(asked)('where %s', async (_, { query = {}, headers = {} }, code) => {
      const authorization = `Bearer ${bob.token}`;
      expectRefusal(await request(streamUrl(server().url, query), { headers: { authorization, ...headers } }), code);
    });

    test('with the names of the fields that are wrong', async () => {
      const headers = { authorization: `Bearer ${bob.token}` };
      const query = { afer: 1, events: ['new_message', 'new_mesage'], chat_id: 'x' };
      const error = expectRefusal(await request(streamUrl(server().url, query), { headers }), 'validation_failed');
      for (const field of ['afer', 'events[1]', 'chat_id']) expect(complaint(error, field)).toBeString();
    });

    test('of a chat that is hidden as of one that is not there', async () => {
      const { cleo } = await users(server(), 'cleo');
      const refusal = async (id: number) => {
        const headers = { authorization: `Bearer ${cleo.token}` };
        const { request_id, ...rest } = expectRefusal(
          await request(streamUrl(server().url, { chat_id: id }), { headers }),
          'not_found',
        );
        return rest;
      };
      expect(await refusal(chat_id)).toEqual(await refusal(4_000_000_000));
    });

    test('without a token, and with one that may not read messages', async () => {
      const bare = await request(streamUrl(server().url));
      expectRefusal(bare, 'unauthorized');
      expect(bare.headers.get('www-authenticate')).toStartWith('Bearer');
      expectRefusal(
        await request(streamUrl(server().url), { headers: { authorization: 'Bearer pat_nobody' } }),
        'unauthorized',
      );
      // The address is kept by proxies and in histories: a token in it is none.
      expectRefusal(await request(streamUrl(server().url, { access_token: bob.token })), 'unauthorized');
      const { access_token } = await bob.ok('tokens.create', { name: 'writes', scopes: ['messages:write'] });
      const headers = { authorization: `Bearer ${access_token}` };
      expectRefusal(await request(streamUrl(server().url), { headers }), 'insufficient_scope');
    });

    test('with any method but GET', async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'HEAD']) {
        const headers = { authorization: `Bearer ${bob.token}` };
        const answer = await fetch(streamUrl(server().url), { method, headers });
        expect({ method, status: answer.status, allow: answer.headers.get('allow') }).toEqual({
          method,
          status: 405,
          allow: 'GET',
        });
        await answer.body?.cancel();
      }
    });

    test('without taking a place', async () => {
      await streamsOpen(server().url, 0);
    });
  });
});

onAnyEngine('a stream of events past their time', (engine) => {
  const day = 24 * 3_600_000;
  let now = Date.now();
  const settings = { PARLEY_EVENT_DAYS: '1', PARLEY_CONTENT_LIMIT: '1000000' };
  const server = serverFor(engine, settings, { now: () => now, monotonic: () => 0, sweepMs: 20 });
  const drop = async () => {
    await logRead(server().engine);
    now += day + 1_000;
    await dropExpired(server().engine, () => now);
  };

  test('is refused where it would begin among them; 0 begins with what is kept', async () => {
    const { ada } = await users(server(), 'ada');
    const chat_id = await groupOf(ada);
    for (const content of ['old one', 'old two']) await say(ada, chat_id, content);
    const end = await eventTip(ada);
    await drop();
    await say(ada, chat_id, 'new');
    const refusal = async (query: object, headers: Record<string, string>) =>
      request(streamUrl(ada.url, query), { headers: { authorization: `Bearer ${ada.token}`, ...headers } });
    expectRefusal(await refusal({ after: end - 1 }, {}), 'cursor_expired');
    expectRefusal(await refusal({}, { 'last-event-id': String(end - 1) }), 'cursor_expired');
    for (const stream of [await listen(ada, { after: 0 }), await comeBack(ada, String(end))]) {
      await stream.untilTold(1);
      expect(stream.contents).toEqual(['new']);
      stream.breakOff();
    }
  });

  test('ends if events are pruned before they could be sent', async () => {
    const { ada } = await users(server(), 'ada');
    const chat_id = await groupOf(ada);
    const stream = await listen(ada);
    const after = Number(stream.opening.id);
    stream.pause();
    // More than the network takes in for it, and then more than waits in memory.
    for (let i = 0; i < 12; i++) await say(ada, chat_id, 'x'.repeat(1_000_000));
    await Promise.all(Array.from({ length: 320 }, () => say(ada, chat_id, 'y')));
    const all = (await logged(ada, after)).map(({ event_id }) => event_id);
    await drop();
    stream.readOn();
    await stream.untilEnded();
    expect(stream.eventIds.length).toBeWithin(1, all.length);
    expect(stream.eventIds).toEqual(all.slice(0, stream.eventIds.length) as number[]);
    expect(await metric(ada.url, 'parley_streams_ended_total{reason="cursor_expired"}')).toBe(1);
    const headers = { authorization: `Bearer ${ada.token}`, 'last-event-id': stream.lastEventId ?? '' };
    expectRefusal(await request(streamUrl(ada.url), { headers }), 'cursor_expired');
  });
});

onAnyEngine('streams', (engine) => {
  const server = serverFor(engine, { PARLEY_STREAM_LIMIT: '6' });
  const open = (who: Client) => EventReader.open(streamUrl(who.url), { Authorization: `Bearer ${who.token}` });

  test('are limited by the operator, and to those still free for one user; a closed stream makes room', async () => {
    const { ada, bob, cleo, dan } = await users(server(), 'ada', 'bob', 'cleo', 'dan');
    const given = [await listen(ada), await listen(ada), await listen(ada)];
    const headers = (who: Client) => ({ headers: { authorization: `Bearer ${who.token}` } });
    const tooMany = await request(streamUrl(ada.url), headers(ada));
    expectRefusal(tooMany, 'rate_limited');
    expect(Number(tooMany.headers.get('retry-after'))).toBeGreaterThan(0);
    given.push(await listen(bob), await listen(bob), await listen(cleo));
    const full = await request(streamUrl(ada.url), headers(cleo));
    expectRefusal(full, 'unavailable');
    expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0);
    given.shift()?.breakOff();
    await streamsOpen(server().url, 5);
    // The last one is left for somebody who has none.
    expectRefusal(await request(streamUrl(ada.url), headers(cleo)), 'rate_limited');
    given.push(await listen(dan));
    for (const reader of given) reader.breakOff();
    await streamsOpen(server().url, 0);
  });

  test('are no more where many are asked for at once', async () => {
    const { ada } = await users(server(), 'ada');
    const asked = await Promise.all(Array.from({ length: 20 }, () => open(ada)));
    const statuses = asked.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 200, ...Array(17).fill(429)]);
    for (const reader of asked) reader.breakOff();
    await streamsOpen(server().url, 0);
  });

  test('are released even if the client disconnects before the response', async () => {
    const { ada } = await users(server(), 'ada');
    const { hostname, port } = new URL(ada.url);
    for (let i = 0; i < 30; i++) {
      const socket = await Bun.connect({ hostname, port: Number(port), socket: { data() {}, error() {} } });
      const head = `GET /api/events.php?action=stream&after=0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ada.token}`;
      socket.write(`${head}\r\n\r\n`);
      await Bun.sleep(i % 3);
      socket.terminate();
    }
    const stream = await eventually('there is room again', () => listen(ada).catch(() => undefined));
    stream.breakOff();
    await streamsOpen(server().url, 0);
  });

  test('end with the server, which does not wait for a reader who takes nothing in', async () => {
    const env = { ...(await freshEnvironment(engine)), PARLEY_CONTENT_LIMIT: '1000000' };
    const never = 3_600_000;
    const stopping = await startServer(env, { stallMs: never, drainMs: never });
    const { ada, bob } = await users(stopping, 'ada', 'bob');
    const chat_id = await groupOf(ada);
    const stalled = await listen(ada);
    stalled.pause();
    for (let i = 0; i < 12; i++) await say(ada, chat_id, 'x'.repeat(1_000_000));
    const readers = [await listen(ada), await listen(ada, { after: await eventTip(ada) }), await listen(bob)];
    const stopped = stopping.stop();
    for (const reader of readers) expect((await reader.untilEnded()).end).toBe('whole');
    await stopped;
    stalled.breakOff();
  });
});

onAnyEngine('a quiet stream', (engine) => {
  const quietMs = 20;
  let monotonic = 0;
  const server = serverFor(engine, {}, { quietMs, monotonic: () => monotonic });

  test('is written to now and then, with the cursor past what happened elsewhere', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const stream = await listen(bob, { events: ['new_message' satisfies EventName] });
    const chat_id = await groupOf(ada);
    await say(ada, chat_id, 'not for bob');
    const tip = await eventTip(ada);
    expect(tip).toBeGreaterThan(Number(stream.opening.id));
    for (const signs of [1, 2]) {
      expect(stream.frames).toHaveLength(signs);
      monotonic += quietMs;
      await stream.until('a sign of life', ({ frames }) => frames.length > signs);
    }
    expect(stream.frames.slice(1).map(({ text }) => text)).toEqual([`id: ${tip}`, `id: ${tip}`]);
    stream.breakOff();
    const again = await comeBack(bob, stream.lastEventId);
    await ada
      .ok('messages.create_direct', { user_id: bob.userId })
      .then(({ chat }) => say(ada, chat.chat_id, 'for bob'));
    await again.until('both events', ({ told }) => told.length >= 2);
    expect(again.lines).toEqual(['direct_created', 'new_message for bob']);
    again.breakOff();
  });
});
