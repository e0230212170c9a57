import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { freePort } from '@parley/server/test/support/postgres.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { type Clock, systemClock } from '../clock.ts';
import { ApiError, type Client, createClient, TransportError } from '../index.ts';
import { parseRetryAfter } from '../response.ts';
import { eventually } from './eventually.ts';
import { type Fault, FlakyProxy, refusal } from './flaky.ts';
import { TestClock } from './test-clock.ts';

const server = serverFor('sqlite');
let token = '';
let chatId = 0;

beforeAll(async () => {
  const ada = await server().user('ada');
  token = ada.token;
  chatId = (await ada.ok('messages.create_group', { name: 'Launch', participants: [] })).group.chat_id;
});

const proxies: FlakyProxy[] = [];
afterAll(() => {
  for (const proxy of proxies) proxy.stop();
});

async function behind(faults: readonly Fault[], options: { retries?: number; clock?: Clock } = {}) {
  const proxy = new FlakyProxy(server().url, faults);
  proxies.push(proxy);
  const url = await proxy.start();
  const clock = new TestClock();
  return { proxy, clock, client: createClient({ url, token, clock, ...options }) };
}

const unavailable = refusal(503, 'unavailable');

async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error('the call succeeded');
    },
    (error: unknown) => error,
  );
}

describe('a GET', () => {
  test.each([
    ['a broken connection', 'drop'],
    ['an answer that was lost on the way', 'lose the answer'],
    ['a 429', refusal(429, 'rate_limited', { 'retry-after': '0' })],
    ['a 503', unavailable],
    ['a 502 of a proxy', { status: 502, body: '<h1>Bad Gateway</h1>' }],
  ] as const)('is made again after %s', async (_, fault) => {
    const { client, proxy } = await behind([fault]);
    expect((await client.users.me()).user.name).toBe('ada');
    expect(proxy.seen).toHaveLength(2);
  });

  test('fails with the last error after two retries', async () => {
    const { client, proxy } = await behind(['drop', unavailable, unavailable, unavailable]);
    const error = await thrownBy(client.users.me());
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'unavailable', status: 503, requestId: 'r-1' });
    expect(proxy.seen).toHaveLength(3);
  });

  test('is not retried if retries are off', async () => {
    const { client, proxy } = await behind([unavailable], { retries: 0 });
    expect(await thrownBy(client.users.me())).toMatchObject({ code: 'unavailable' });
    expect(proxy.seen).toHaveLength(1);
  });

  test('is not retried after a permanent error', async () => {
    const { client, proxy } = await behind([]);
    expect(await thrownBy(client.chats.get({ chat_id: 999_999 }))).toMatchObject({ code: 'not_found' });
    expect(proxy.seen).toHaveLength(1);
  });
});

describe('a POST that honours an idempotency key', () => {
  test('takes effect once although its response was lost and it was sent again', async () => {
    const { client, proxy } = await behind(['lose the answer', 'drop']);
    const { message } = await client.messages.send_message({ chat_id: chatId, content: 'sent three times' });
    const { messages } = await client.messages.get_messages({ chat_id: chatId });
    expect(messages.filter((m) => m.content === 'sent three times')).toEqual([message]);
    const keys = proxy.seen.filter((r) => r.method === 'POST').map((r) => r.key);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0], keys[0]]);
  });

  test('keeps a given key, and gets a new one otherwise', async () => {
    const { client, proxy } = await behind(['drop']);
    const input = { chat_id: chatId, content: 'keys' };
    await client.messages.send_message(input, { idempotencyKey: 'mine' });
    await client.messages.send_message(input);
    await client.messages.send_message(input);
    expect(proxy.seen.slice(0, 2).map((r) => r.key)).toEqual(['mine', 'mine']);
    expect(new Set(proxy.seen.map((r) => r.key)).size).toBe(3);
  });
});

describe('a POST without an idempotency key', () => {
  const rename = (client: Client) => client.chats.update({ chat_id: chatId, name: 'Lift-off' });

  test('is retried after a 429, which says that nothing was done', async () => {
    const { client, proxy } = await behind([refusal(429, 'rate_limited', { 'retry-after': '0' })]);
    expect((await rename(client)).chat.name).toBe('Lift-off');
    expect(proxy.seen.map((r) => r.key)).toEqual([undefined, undefined]);
  });

  test.each([
    ['a broken connection', 'drop', TransportError],
    ['an answer that was lost on the way', 'lose the answer', TransportError],
    ['a 503', unavailable, ApiError],
    ['a 504 of a proxy', { status: 504 }, TransportError],
  ] as const)('is never made again after %s', async (_, fault, kind) => {
    const { client, proxy } = await behind([fault]);
    expect(await thrownBy(rename(client))).toBeInstanceOf(kind);
    expect(proxy.seen).toHaveLength(1);
  });
});

describe('a connection that was used before', () => {
  test('fails without a retry of a POST that must not be repeated', async () => {
    const { client, proxy } = await behind(['none', 'drop']);
    await client.users.me();
    expect(await thrownBy(client.chats.update({ chat_id: chatId, name: 'Again' }))).toBeInstanceOf(TransportError);
    expect(proxy.seen.map((r) => r.method)).toEqual(['GET', 'POST']);
  });
});

describe('the pause before a retry', () => {
  test('is as long as the server asks', async () => {
    const { client, clock } = await behind([refusal(503, 'unavailable', { 'retry-after': '1' })]);
    await client.users.me();
    expect(clock.pauses).toEqual([expect.any(Number)]);
    expect(clock.pauses[0]).toBeWithin(1_000, 1_100);
  });

  test('is short if the server asks for none', async () => {
    const { client, clock } = await behind([unavailable, unavailable]);
    await client.users.me();
    const [first, second, ...others] = clock.pauses;
    expect(first).toBeWithin(100, 300);
    expect(second).toBeWithin(200, 600);
    expect(others).toEqual([]);
  });

  test('does not start if the server asks for minutes: the error says how many', async () => {
    const { client, proxy } = await behind([refusal(429, 'rate_limited', { 'retry-after': '3600' })]);
    expect(await thrownBy(client.users.me())).toMatchObject({ status: 429, retryAfter: 3_600 });
    expect(proxy.seen).toHaveLength(1);
  });

  test('ends at once when the call is aborted', async () => {
    const stopping = new AbortController();
    const reason = new Error('enough');
    const pausing = Promise.withResolvers<void>();
    // The pause of the platform's timers, which would last for half a minute.
    const sleep: Clock['sleep'] = (ms, signal) => {
      pausing.resolve();
      return systemClock.sleep(ms, signal);
    };
    const faults = [refusal(503, 'unavailable', { 'retry-after': '30' })];
    const { client, proxy } = await behind(faults, { clock: { ...systemClock, sleep } });
    const call = thrownBy(client.users.me({}, { signal: stopping.signal }));
    await pausing.promise;
    stopping.abort(reason);
    expect(await call).toBe(reason);
    expect(proxy.seen).toHaveLength(1);
  });
});

describe('an aborted call', () => {
  test('ends while the server is silent, and is not retried', async () => {
    const { client, proxy } = await behind(['hang']);
    const stopping = new AbortController();
    const reason = new Error('enough');
    const call = thrownBy(client.users.me({}, { signal: stopping.signal }));
    await eventually('the request', () => proxy.seen.length > 0);
    stopping.abort(reason);
    expect(await call).toBe(reason);
    expect(proxy.seen).toHaveLength(1);
  });

  test('does not start if the signal is aborted already', async () => {
    const { client, proxy } = await behind([]);
    const error = await thrownBy(client.users.me({}, { signal: AbortSignal.abort() }));
    expect((error as Error).name).toBe('AbortError');
    expect(proxy.seen).toHaveLength(0);
  });
});

describe('an answer that is not Parley’s', () => {
  test('is described with its status, its type and its start', async () => {
    const html = { status: 403, headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<h1>\nBlocked</h1>' };
    const { client } = await behind([html]);
    const error = await thrownBy(client.users.me());
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({
      status: 403,
      message: `The response is not from Parley: HTTP 403, text/html, starting with "<h1> Blocked</h1>".`,
    });
  });

  test.each(['<html></html>', '{"status": "ok"}', '"text"', 'null', '{"success": false}'])(
    'is not taken for a success: 200 with %p',
    async (body) => {
      const { client } = await behind([{ status: 200, body }]);
      expect(await thrownBy(client.users.me())).toBeInstanceOf(TransportError);
    },
  );

  test('is described as a redirect, which is not followed', async () => {
    const { client, proxy } = await behind([{ status: 301, headers: { location: 'https://chat.example/' } }]);
    const call = client.messages.send_message({ chat_id: chatId, content: 'moved' });
    expect(await thrownBy(call)).toMatchObject({
      status: 301,
      message: expect.stringContaining('https://chat.example/'),
    });
    expect(proxy.seen).toHaveLength(1);
  });
});

test('the error names the URL of a server that cannot be reached', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const error = await thrownBy(createClient({ url, token, retries: 0 }).users.me());
  expect(error).toBeInstanceOf(TransportError);
  expect((error as TransportError).message).toStartWith(`Cannot reach Parley at ${url}: `);
  expect((error as TransportError).status).toBeUndefined();
});

test('Retry-After is read as seconds and as a date', () => {
  const now = Date.parse('2026-01-01T12:00:00Z');
  expect(parseRetryAfter('7', now)).toBe(7);
  expect(parseRetryAfter('Thu, 01 Jan 2026 12:01:30 GMT', now)).toBe(90);
  expect(parseRetryAfter('Thu, 01 Jan 2026 11:00:00 GMT', now)).toBe(0);
  expect(parseRetryAfter('soon', now)).toBeUndefined();
  expect(parseRetryAfter(null, now)).toBeUndefined();
});
