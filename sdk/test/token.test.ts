import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { serverFor } from '@parley/server/test/support/server.ts';
import { ApiError, createClient, type TokenSource } from '../index.ts';
import { uploadFile } from '../uploads.ts';
import { type Fault, FlakyProxy, refusal } from './flaky.ts';
import { TestClock } from './test-clock.ts';

const server = serverFor('sqlite');
let good = '';
let chatId = 0;

beforeAll(async () => {
  const ada = await server().user('ada');
  good = ada.token;
  chatId = (await ada.ok('messages.create_group', { name: 'Launch', participants: [] })).group.chat_id;
});

const proxies: FlakyProxy[] = [];
afterAll(() => {
  for (const proxy of proxies) proxy.stop();
});

/** A client whose requests are counted on their way, and what its function was told each time that it was asked. */
async function asking(
  answer: (refused: string | undefined) => string | Promise<string>,
  faults: readonly Fault[] = [],
) {
  const proxy = new FlakyProxy(server().url, faults);
  proxies.push(proxy);
  const asked: (string | undefined)[] = [];
  const token: TokenSource = (refused) => {
    asked.push(refused);
    return answer(refused);
  };
  return { client: createClient({ url: await proxy.start(), token, clock: new TestClock() }), proxy, asked };
}

const thrownBy = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a function in place of a token', () => {
  test('is asked before every attempt, and may take its time', async () => {
    const { client, asked, proxy } = await asking(async () => good, [refusal(503, 'unavailable')]);
    expect((await client.users.me()).user.name).toBe('ada');
    expect(asked).toEqual([undefined, undefined]);
    expect(proxy.seen).toHaveLength(2);
  });

  test('is told which token was refused, and what was not carried out is made again with another', async () => {
    const { client, asked, proxy } = await asking((refused) => (refused === undefined ? 'oat_spent' : good));
    expect((await client.chats.update({ chat_id: chatId, name: 'Landing' })).chat.name).toBe('Landing');
    expect(asked).toEqual([undefined, 'oat_spent']);
    expect(proxy.seen.map(({ method }) => method)).toEqual(['POST', 'POST']);
  });

  test('that has no other token leaves it at the refusal', async () => {
    const { client, proxy } = await asking(() => 'oat_spent');
    expect(await thrownBy(client.users.me())).toMatchObject({ code: 'unauthorized', status: 401 });
    expect(proxy.seen).toHaveLength(1);
  });

  test('that has only bad tokens is not asked for ever', async () => {
    let count = 0;
    const { client, asked } = await asking(() => `oat_${++count}`);
    expect(await thrownBy(client.users.me())).toBeInstanceOf(ApiError);
    expect(asked).toEqual([undefined, 'oat_1']);
  });

  test('is not asked again for a refusal that has nothing to do with its token', async () => {
    const { client, asked } = await asking(() => good);
    expect(await thrownBy(client.chats.get({ chat_id: 999_999 }))).toMatchObject({ code: 'not_found' });
    expect(asked).toEqual([undefined]);
  });

  test('that throws is what the call fails with, and nothing is sent', async () => {
    const reason = new Error('sign in again');
    const { client, proxy } = await asking(() => {
      throw reason;
    });
    expect(await thrownBy(client.users.me())).toBe(reason);
    expect(proxy.seen).toEqual([]);
  });

  test('may not answer what cannot stand in a header, which is not repeated', async () => {
    const { client, proxy } = await asking(() => 'pat_secret\r\nx: y');
    const error = await thrownBy(client.users.me());
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain('printable ASCII');
    expect(String(error)).not.toContain('secret');
    expect(proxy.seen).toEqual([]);
  });

  test('that never answers does not keep an aborted call', async () => {
    const { client } = await asking(() => new Promise(() => {}));
    const stopping = new AbortController();
    const call = thrownBy(client.users.me({}, { signal: stopping.signal }));
    const reason = new Error('enough');
    stopping.abort(reason);
    expect(await call).toBe(reason);
  });
});

test('a token that is refused is sent once', async () => {
  const proxy = new FlakyProxy(server().url, []);
  proxies.push(proxy);
  const client = createClient({ url: await proxy.start(), token: 'oat_spent' });
  expect(await thrownBy(client.users.me())).toMatchObject({ status: 401 });
  expect(proxy.seen).toHaveLength(1);
});

test('null sends no token, and leaves it to the cookie of the browser', async () => {
  const sent: Headers[] = [];
  const fetch = (url: string, init: RequestInit) => {
    sent.push(new Headers(init.headers));
    return globalThis.fetch(url, init);
  };
  const client = createClient({ url: server().url, token: null, fetch });
  expect(await thrownBy(client.users.me())).toMatchObject({ code: 'unauthorized', status: 401 });
  expect(await thrownBy(uploadFile(client, new Blob(['x'])))).toMatchObject({ code: 'unauthorized' });
  expect(sent.map((headers) => headers.has('authorization'))).toEqual([false, false]);
});
