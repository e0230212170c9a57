import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freshEnvironment } from '@parley/server/test/support/engines.ts';
import { Forwarder } from '@parley/server/test/support/forwarder.ts';
import { eventsAfter } from '@parley/server/test/support/people.ts';
import { freePort } from '@parley/server/test/support/postgres.ts';
import { serverFor, startServer, type TestServer } from '@parley/server/test/support/server.ts';
import { streamsOpen } from '@parley/server/test/support/streams.ts';
import { Gate } from '../../server/test/support/gate.ts';
import {
  ApiError,
  type Client,
  createClient,
  type EventIterator,
  type StreamedEvent,
  type StreamedSignal,
  TransportError,
} from '../index.ts';
import { eventually } from './eventually.ts';
import { type Fault, FlakyProxy, refusal } from './flaky.ts';
import { TestClock } from './test-clock.ts';

let scenes = 0;

/** Two people in a group, and what one of them says there. */
async function sceneOn(server: TestServer, clock = new TestClock()) {
  const mark = ++scenes;
  const [ada, bob] = [await server.user(`ada${mark}`), await server.user(`bob${mark}`)];
  const { group } = await bob.ok('messages.create_group', { name: 'Launch', participants: [ada.userId] });
  const { chat_id } = group;
  return {
    ada,
    bob,
    chat_id,
    name: `ada${mark}`,
    clientAt: (url: string) => createClient({ url, token: ada.token, clock }),
    client: createClient({ url: server.url, token: ada.token, clock }),
    clock,
    say: async (content: string) =>
      (await bob.ok('messages.send_message', { chat_id, content })).message.message_id as number,
  };
}

/** The texts of so many messages. */
async function texts(stream: EventIterator<{ event: string; data: object }>, count: number): Promise<string[]> {
  const found: string[] = [];
  while (found.length < count) {
    const { value } = await stream.next();
    if (value === undefined) break;
    if ('content' in value.data) found.push(String(value.data.content));
  }
  return found;
}

const thrownBy = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('events as they happen', () => {
  const server = serverFor('sqlite');

  test('are what the list has, from now on', async () => {
    const { client, ada, say } = await sceneOn(server());
    await say('before');
    const stream = client.events();
    expect(stream.cursor).toBeUndefined();
    const begin = await stream.open();
    expect(stream.cursor).toBe(begin);
    await say('one');
    await say('two');
    const items = [(await stream.next()).value, (await stream.next()).value];
    expect(items).toEqual((await eventsAfter(ada, begin)) as never);
    expect(Object.keys(items[0] ?? {})).toEqual(['event_id', 'event', 'timestamp', 'data']);
    expect(stream.cursor).toBe(items[1]?.event_id);
    await stream.return();
  });

  test('begin after a cursor, and the one that is kept goes on from there', async () => {
    const { client, say } = await sceneOn(server());
    for (const text of ['one', 'two', 'three']) await say(text);
    const first = client.events({ after: 0 });
    expect(first.cursor).toBe(0);
    expect(await texts(first, 2)).toEqual(['one', 'two']);
    await first.return();
    const second = client.events({ after: first.cursor });
    expect(await texts(second, 1)).toEqual(['three']);
    await second.return();
  });

  test('have the types of their names', async () => {
    const { client, chat_id, say } = await sceneOn(server());
    const messages = client.events({ after: 0, chat_id, events: ['new_message', 'group_created'] });
    await say('typed');
    for await (const item of messages) {
      const id: number = item.event_id;
      expect(id).toBeGreaterThan(0);
      // @ts-expect-error: a group has no content.
      if (item.event === 'group_created') expect(item.data.content).toBeUndefined();
      if (item.event !== 'new_message') continue;
      const content: string = item.data.content;
      expect(content).toBe('typed');
      break;
    }
    const all = client.events({ after: 0 });
    for await (const item of all) {
      if (item.event === 'group_created') expect(item.data.name.length).toBeGreaterThan(0);
      if (item.event === 'new_message') break;
    }
    // @ts-expect-error: there is no such event.
    const wrong = client.events({ events: ['new_mesage'] });
    expect(await thrownBy(wrong.next())).toMatchObject({ code: 'validation_failed' });
    // @ts-expect-error: a cursor is a number.
    expect(await thrownBy(client.events({ after: 'now' }).next())).toMatchObject({ code: 'validation_failed' });
  });

  test('are only those that were asked for', async () => {
    const { client, bob, chat_id, say } = await sceneOn(server());
    const other = await bob.ok('messages.create_group', { name: 'Elsewhere', participants: [] });
    const message_id = await say('one');
    await bob.ok('messages.edit_message', { message_id, content: 'two' });
    await bob.ok('messages.send_message', { chat_id: other.group.chat_id, content: 'elsewhere' });
    const edits = client.events({ after: 0, chat_id, events: ['message_edited'] });
    expect((await edits.next()).value?.data.previous_content).toBe('one');
    await edits.return();
  });

  test('come with signals only where these are asked for', async () => {
    const { client, bob, chat_id, say } = await sceneOn(server());
    const plain = client.events();
    const both = client.events({ signals: true });
    const named = client.events({ events: ['message_read'] });
    const added = client.events({ events: ['new_message'], signals: true });
    await Promise.all([plain.open(), both.open(), named.open(), added.open()]);
    const message_id = await say('read this');
    await bob.ok('messages.mark_read', { chat_id, message_id });
    await say('and this');
    const read = { event: 'message_read', data: { chat_id, message_id, user_id: bob.userId } } as const;
    const names = async (stream: EventIterator<{ event: string }>, count: number) => {
      const found: string[] = [];
      while (found.length < count) found.push(String((await stream.next()).value?.event));
      return found;
    };
    expect(await names(plain, 2)).toEqual(['new_message', 'new_message']);
    expect(await names(added, 3)).toEqual(['new_message', 'message_read', 'new_message']);
    const signal: StreamedSignal | undefined = (await named.next()).value;
    expect(signal as unknown).toEqual({ ...read, timestamp: expect.any(String) });
    const [first, second] = [(await both.next()).value, (await both.next()).value];
    expect(first?.event_id).toBe(both.cursor as number);
    expect(second as unknown).toEqual({ ...read, timestamp: expect.any(String) });
    expect(second?.event_id).toBeUndefined();
    for (const stream of [plain, both, named, added]) await stream.return();
  });

  test('can be followed beside each other, and asked for before they are there', async () => {
    const { client, say } = await sceneOn(server());
    const stream = client.events();
    const asked = Promise.all([stream.next(), stream.next(), stream.open()]);
    await stream.open();
    await say('one');
    await say('two');
    const [one, two] = await asked;
    expect([one.value, two.value].map((item) => (item as StreamedEvent<'new_message'>).data.content)).toEqual([
      'one',
      'two',
    ]);
    await stream.return();
  });

  test('are also to be had as the server writes them', async () => {
    const { client, chat_id } = await sceneOn(server());
    const response = await client.events.stream({ after: 0, chat_id, events: ['group_created'] });
    expect(response.headers.get('content-type')).toStartWith('text/event-stream');
    let text = '';
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      if (text.includes('group_created')) break;
    }
    expect(text).toMatch(/^retry: \d+\nid: 0\n\nid: \d+\nevent: group_created\ndata: \{/);
    const refused = client.events.stream({ chat_id: 999_999 });
    expect(await thrownBy(refused)).toMatchObject({ code: 'not_found' });
  });
});

describe('an end', () => {
  const server = serverFor('sqlite');

  test('by leaving the loop closes the connection', async () => {
    const { client, say } = await sceneOn(server());
    const stream = client.events({ after: 0 });
    await say('hello');
    for await (const item of stream) if (item.event === 'new_message') break;
    await streamsOpen(server().url, 0);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect((await thrownBy(stream.open())) as Error).toMatchObject({ name: 'AbortError' });
  });

  test('closes the connection also where the fetch that was given knows no signals', async () => {
    const { ada } = await sceneOn(server());
    const plainFetch = (url: string, { signal: _, ...init }: RequestInit) => fetch(url, init);
    const stream = createClient({ url: server().url, token: ada.token, fetch: plainFetch }).events();
    await stream.open();
    await streamsOpen(server().url, 1);
    await stream.return();
    await streamsOpen(server().url, 0);
  });

  test('by return() does not wait for what is asked for, nor throws', async () => {
    const { client } = await sceneOn(server());
    const stream = client.events();
    await stream.open();
    const waiting = stream.next();
    expect(await stream.return()).toEqual({ done: true, value: undefined });
    expect(await waiting).toEqual({ done: true, value: undefined });
    await streamsOpen(server().url, 0);
  });

  test('by a signal throws its reason at once, and closes the connection', async () => {
    const { client, say } = await sceneOn(server());
    const stopping = new AbortController();
    const reason = new Error('enough');
    const streams = [0, 1].map(() => client.events({ after: 0, signal: stopping.signal }));
    const [waiting, idle] = streams as [(typeof streams)[0], (typeof streams)[0]];
    await say('hello');
    await texts(waiting, 1);
    await idle.open();
    const asked = thrownBy(waiting.next());
    stopping.abort(reason);
    expect(await asked).toBe(reason);
    // Items that arrived before are dropped.
    expect(await thrownBy(idle.next())).toBe(reason);
    expect(await idle.next()).toEqual({ done: true, value: undefined });
    await streamsOpen(server().url, 0);
    const late = client.events({ signal: stopping.signal });
    expect(await thrownBy(late.next())).toBe(reason);
  });

  test('by a signal does not wait for a server that is away', async () => {
    const client = createClient({ url: `http://127.0.0.1:${await freePort()}`, token: 'pat_x' });
    const stopping = new AbortController();
    const reason = new Error('enough');
    const broke = Promise.withResolvers<void>();
    const stream = client.events({ signal: stopping.signal, onBreak: () => broke.resolve() });
    const asked = thrownBy(stream.next());
    await broke.promise;
    stopping.abort(reason);
    expect(await asked).toBe(reason);
  });

  test.each([
    ['a token that is not known', { token: 'pat_unknown' }, {}, { code: 'unauthorized', status: 401 }],
    ['a chat that is not there', {}, { chat_id: 999_999 }, { code: 'not_found', status: 404 }],
    ['a cursor that is not of this log', {}, { after: 1_000_000 }, { code: 'cursor_expired', status: 410 }],
    ['a cursor that is none', {}, { after: -1 }, { code: 'validation_failed', status: 422 }],
  ])('comes at once with %s', async (_, access, input, refused) => {
    const { ada } = await sceneOn(server());
    const client = createClient({ url: server().url, token: ada.token, ...access });
    const broken: unknown[] = [];
    const stream = client.events({ ...input, onBreak: (error) => broken.push(error) });
    const error = await thrownBy(stream.next());
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject(refused);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(broken).toEqual([]);
  });

  test('comes with a token that may not read', async () => {
    const { name } = await sceneOn(server());
    const client = createClient({ url: server().url, token: await server().token(name, ['chats:read']) });
    const stream = client.events();
    expect(await thrownBy(stream.open())).toMatchObject({ code: 'insufficient_scope' });
    expect(await thrownBy(stream.next())).toMatchObject({ code: 'insufficient_scope' });
  });

  test('comes with an address where something else answers', async () => {
    await using other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('<h1>Hello</h1>') });
    const client = createClient({ url: other.url.href, token: 'pat_x' });
    const error = await thrownBy(client.events().next());
    expect(error).toBeInstanceOf(TransportError);
    expect(String(error)).toContain('not from Parley');
  });

  test('comes when the token is revoked, and does not where there is another', async () => {
    const { ada, clock, name, say } = await sceneOn(server());
    const [first, second] = [await server().token(name), await server().token(name)];
    const asked: (string | undefined)[] = [];
    const renewing = createClient({
      url: server().url,
      clock,
      token: (refused) => {
        asked.push(refused);
        return refused === undefined ? first : second;
      },
    });
    const [plain, renewed] = [createClient({ url: server().url, token: first, clock }).events(), renewing.events()];
    await Promise.all([plain.open(), renewed.open()]);
    const { tokens } = await ada.ok('tokens.list', {});
    const [, { token_id } = { token_id: 0 }] = tokens.toSorted((a, b) => a.token_id - b.token_id);
    await ada.ok('tokens.revoke', { token_id });
    expect(await thrownBy(plain.next())).toMatchObject({ code: 'unauthorized', status: 401 });
    await say('meanwhile');
    expect(await texts(renewed, 1)).toEqual(['meanwhile']);
    expect(asked).toEqual([undefined, undefined, first]);
    await renewed.return();
  });
});

describe('a break', () => {
  const server = serverFor('sqlite');

  /** A client whose first requests meet these faults. */
  async function behind(faults: readonly Fault[]) {
    const proxy = new FlakyProxy(server().url, faults);
    const url = await proxy.start();
    return { url, proxy, [Symbol.dispose]: () => proxy.stop() };
  }

  test('is retried until it succeeds, whatever the failure', async () => {
    const { clientAt, say } = await sceneOn(server());
    using flaky = await behind(['drop', refusal(503, 'unavailable'), { status: 502, body: '<h1>Bad Gateway</h1>' }]);
    await say('hello');
    const broken: unknown[] = [];
    let opened = 0;
    const stream = clientAt(flaky.url).events({
      after: 0,
      onBreak: (error) => broken.push(error.status),
      onOpen: () => opened++,
    });
    expect(await texts(stream, 1)).toEqual(['hello']);
    expect(broken).toEqual([undefined, 503, 502]);
    expect(opened).toBe(1);
    expect(flaky.proxy.seen).toHaveLength(4);
    await stream.return();
  });

  test('lasts as long as the server asks', async () => {
    const { clientAt, clock } = await sceneOn(server());
    using flaky = await behind([refusal(429, 'rate_limited', { 'retry-after': '2' })]);
    const told: number[] = [];
    const stream = clientAt(flaky.url).events({ onBreak: (_, pauseMs) => told.push(pauseMs) });
    await stream.open();
    expect(clock.pauses).toEqual([expect.any(Number)]);
    expect(clock.pauses[0]).toBeWithin(2_000, 3_001);
    expect(told).toEqual(clock.pauses);
    await stream.return();
  });

  test('loses nothing while the server restarts, nor before anything has happened', async () => {
    const env = { ...(await freshEnvironment('sqlite')), PORT: String(await freePort()) };
    const before = await startServer(env);
    const scene = await sceneOn(before);
    const [busy, quiet] = [scene.client.events({ after: 0 }), scene.client.events()];
    await quiet.open();
    await scene.say('one');
    expect(await texts(busy, 1)).toEqual(['one']);
    await scene.say('two');
    scene.clock.hold();
    await before.stop();
    const after = await startServer(env);
    scene.clock.release();
    try {
      await scene.say('three');
      expect(await texts(busy, 2)).toEqual(['two', 'three']);
      expect(await texts(quiet, 3)).toEqual(['one', 'two', 'three']);
    } finally {
      await Promise.all([busy.return(), quiet.return()]);
      await after.stop();
    }
  });

  test('ends with the error of the server once it is back', async () => {
    const env = { ...(await freshEnvironment('sqlite')), PORT: String(await freePort()) };
    const before = await startServer(env);
    const { client, clock, say } = await sceneOn(before);
    const stream = client.events({ after: 0 });
    await say('one');
    await texts(stream, 1);
    clock.hold();
    await before.stop();
    // Another log, where nobody of before is known.
    const after = await startServer({ ...(await freshEnvironment('sqlite')), PORT: env.PORT });
    clock.release();
    expect(await thrownBy(stream.next())).toMatchObject({ code: 'unauthorized' });
    await after.stop();
  });

  test('is noticed on a silent connection', async () => {
    const { clientAt, clock, say } = await sceneOn(server());
    using gate = await Gate.before(server().url);
    const broken: string[] = [];
    const stream = clientAt(gate.url).events({
      after: 0,
      silenceMs: 500,
      onBreak: ({ message }) => void broken.push(message),
    });
    await say('one');
    expect(await texts(stream, 1)).toEqual(['one']);
    gate.holdAfter('down', 0);
    await say('two');
    const two = texts(stream, 1);
    // The second connection has not even been answered.
    for (const breaks of [1, 2]) {
      await eventually('it waits', () => clock.timeouts.length > 0);
      clock.expire();
      await eventually('it gives up', () => broken.length === breaks);
    }
    gate.open();
    expect(await two).toEqual(['two']);
    expect(broken).toEqual(Array(2).fill('The server was silent for 0.5 s.'));
    await stream.return();
  });

  const body = '{"event":"new_message","timestamp":"2026-01-01T12:00:00.000Z","data":{"content":"good"}}';
  const opening = 'retry: 1\nid: 4\n\n';
  const whole = `id: 5\nevent: new_message\ndata: ${body}\n\n`;
  const noText = new Uint8Array([...new TextEncoder().encode(`${opening}id: 5\ndata: `), 0xff, 0x0a, 0x0a]);

  test.each([
    ['without its opening', whole, null],
    ['with an opening that has no place', 'retry: 1\n\n', null],
    ['with data that is no JSON', `${opening}id: 5\ndata: {"event":\n\n`, '4'],
    ['with data that is no event', `${opening}id: 5\ndata: []\n\n`, '4'],
    ['with an id that is none', `${opening}id: five\ndata: ${body}\n\n`, '4'],
    ['with bytes that are no text', noText, null],
    ['that ends before an event is whole', `${opening}${whole.slice(0, -1)}`, '4'],
    ['that ends', opening, '4'],
    ['that ends after a place without an event', `${opening}id: 6\n\n`, '6'],
  ])('is a stream %s: it is asked for again from the last place', async (_, broken, place) => {
    const asked: (string | null)[] = [];
    await using faulty = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: ({ url }) => {
        asked.push(new URL(url).searchParams.get('after'));
        const text = asked.length === 1 ? broken : `${opening}id: 7\nevent: new_message\ndata: ${body}\n\n`;
        return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
      },
    });
    const complaints: unknown[] = [];
    const client = createClient({ url: faulty.url.href, token: 'pat_x', clock: new TestClock() });
    const stream = client.events({ onBreak: (error) => complaints.push(error) });
    expect((await stream.next()).value).toMatchObject({ event_id: 7, data: { content: 'good' } });
    expect(complaints).toEqual([expect.any(TransportError)]);
    expect(asked).toEqual([null, place]);
    await stream.return();
  });
});

describe('10,000 events', () => {
  const server = serverFor('sqlite');

  test('come once and in order, through connections that are cut', async () => {
    const { ada, clientAt, say } = await sceneOn(server());
    const forwarder = await Forwarder.before(Number(new URL(server().url).port));
    const sayMany = async (from: number, to: number) => {
      for (let i = from; i < to; i += 100) {
        await Promise.all(Array.from({ length: 100 }, (_, j) => say(`message ${i + j}`)));
      }
    };
    await sayMany(0, 5_000);
    forwarder.cutAnswers(3, 300_000);
    let breaks = 0;
    const stream = clientAt(`http://127.0.0.1:${forwarder.port}`).events({ after: 0, onBreak: () => breaks++ });
    const ids: number[] = [];
    const live = sayMany(5_000, 10_000);
    for await (const { event_id } of stream) {
      ids.push(event_id);
      if (ids.length === 10_001) break;
    }
    await live;
    forwarder.stop();
    expect(ids).toEqual((await eventsAfter(ada, 0)).map(({ event_id }) => event_id as number));
    expect(breaks).toBe(3);
  });
});

describe('a program that is slow', () => {
  let sent = 0;
  const endless = createServer((_, response) => {
    const body = JSON.stringify({ event: 'new_message', timestamp: '', data: { content: 'x'.repeat(10_000) } });
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('retry: 1000\nid: 0\n\n');
    const more = () => {
      while (!response.destroyed) if (!response.write(`id: ${++sent}\ndata: ${body}\n\n`)) break;
    };
    response.on('drain', more);
    more();
  });
  let client: Client;
  beforeAll(async () => {
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
    client = createClient({ url: `http://127.0.0.1:${(endless.address() as AddressInfo).port}`, token: 'pat_x' });
  });
  afterAll(() => {
    endless.closeAllConnections();
    endless.close();
  });

  test('leaves with the server what it does not take', async () => {
    const stream = client.events();
    await stream.next();
    let before = 0;
    while (sent > before) {
      before = sent;
      await Bun.sleep(500);
    }
    // The stream has stalled: the buffers of both sockets are full.
    expect(before * 10_000).toBeLessThan(64_000_000);
    for (let i = 2; i <= before + 1_000; i++) {
      const { value } = await stream.next();
      if (value?.event_id !== i) throw new Error(`event ${value?.event_id} in place of ${i}`);
    }
    expect(sent).toBeGreaterThan(before);
    await stream.return();
  });
});
