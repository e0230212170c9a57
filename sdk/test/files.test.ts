import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { sha256, someBytes } from '@parley/server/test/support/files.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { ApiError, type Client, createClient, TransportError } from '../index.ts';
import { type Fault, FlakyProxy, refusal } from './flaky.ts';
import { TestClock } from './test-clock.ts';

const server = serverFor('sqlite', { PARLEY_FILE_LIMIT: '3000000' });
const people: { ada?: { client: Client; token: string }; bob?: { client: Client; token: string } } = {};
let chatId = 0;

const ada = () => people.ada?.client as Client;
const bob = () => people.bob?.client as Client;

beforeAll(async () => {
  const [one, other] = [await server().user('ada'), await server().user('bob')];
  for (const [name, { token }] of [['ada', one] as const, ['bob', other] as const]) {
    people[name] = { token, client: createClient({ url: server().url, token }) };
  }
  const created = await ada().messages.create_group({ name: 'Launch', participants: [other.userId] });
  chatId = created.group.chat_id;
});

const proxies: FlakyProxy[] = [];
afterAll(() => {
  for (const proxy of proxies) proxy.stop();
});

/** Ada behind a proxy where requests meet these faults. */
async function behind(...faults: Fault[]): Promise<{ client: Client; proxy: FlakyProxy }> {
  const proxy = new FlakyProxy(server().url, faults);
  proxies.push(proxy);
  return {
    proxy,
    client: createClient({ url: await proxy.start(), token: people.ada?.token ?? '', clock: new TestClock() }),
  };
}

const thrownBy = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('sending a file', () => {
  test('brings it with its text to whoever is in the chat, byte for byte', async () => {
    const bytes = someBytes(1_500_000);
    const file = new File([bytes], 'דוח 报告.bin');
    const { message } = await ada().messages.send_message({ chat_id: chatId, content: 'שלום 👋🏽', file });
    expect(message).toMatchObject({
      content: 'שלום 👋🏽',
      file: { name: 'דוח 报告.bin', size: bytes.length, sha256: sha256(bytes) },
    });
    const response = await bob().files.download({ file_id: message.file?.file_id ?? 0 });
    expect(await response.bytes()).toEqual(bytes);
  });

  test('takes a reply, and needs no text', async () => {
    const { message: first } = await ada().messages.send_message({ chat_id: chatId, content: 'send me something' });
    const { message } = await bob().messages.send_message({
      chat_id: chatId,
      file: new File(['here'], 'something.txt'),
      reply_to: first.message_id,
    });
    expect(message).toMatchObject({ content: '', reply_to: first.message_id, file: { name: 'something.txt' } });
  });

  test('counts once though its answer was lost and it was sent again', async () => {
    const { client, proxy } = await behind('lose the answer', 'drop');
    const bytes = someBytes(100_000);
    const file = new File([bytes], 'three-times.bin');
    const { message } = await client.messages.send_message({ chat_id: chatId, file });
    const { messages } = await ada().messages.get_messages({ chat_id: chatId });
    expect(messages.filter((m) => m.file?.name === 'three-times.bin')).toEqual([message]);
    expect(message.file?.sha256).toBe(sha256(bytes));
    const keys = proxy.seen.map((request) => request.key);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0], keys[0]]);
  });

  test('is refused with the words of the server', async () => {
    const file = new File(['x'], 'x.txt');
    const refusals = await Promise.all([
      thrownBy(ada().messages.send_message({ chat_id: 999_999, file })),
      thrownBy(ada().messages.send_message({ chat_id: chatId, file: new File([], 'empty.txt') })),
      thrownBy(ada().messages.send_message({ chat_id: chatId, file: new File([someBytes(3_000_001)], 'large') })),
      thrownBy(ada().messages.send_message({ chat_id: chatId, file, file_id: 1 })),
    ]);
    expect(refusals.map((error) => error instanceof ApiError && [error.code, error.message])).toEqual([
      ['not_found', 'There is no such chat, or you may not see it.'],
      ['validation_failed', 'file: is empty'],
      ['payload_too_large', 'A file may have at most 3000000 bytes.'],
      ['validation_failed', 'file_id: cannot be given beside file'],
    ]);
  });

  test('is text and nothing else where no file is given', async () => {
    // @ts-expect-error: a file is no text.
    const call = ada().messages.send_message({ chat_id: chatId, file: 'x.txt' });
    expect(await thrownBy(call)).toMatchObject({ code: 'validation_failed', details: [{ field: 'file' }] });
  });
});

describe('uploading a file', () => {
  test('gives an id to send it by, more than once', async () => {
    const { file } = await ada().files.upload({ file: new File(['Hello'], 'hello.txt') });
    expect(file).toMatchObject({ name: 'hello.txt', size: 5 });
    const input = { chat_id: chatId, file_id: file.file_id };
    const sent = [await ada().messages.send_message(input), await ada().messages.send_message(input)];
    expect(sent.map(({ message }) => message.file)).toEqual([file, file]);
    expect(sent[0]?.message.message_id).not.toBe(sent[1]?.message.message_id);
  });

  test('takes another name, and names what has none', async () => {
    const blob = new Blob(['Hello']);
    const path = join(temporaryFolder(), 'on disk.txt');
    await Bun.write(path, 'Hello');
    const files = [
      await ada().files.upload({ file: blob }),
      await ada().files.upload({ file: blob, name: 'ثلاثة "x" 100%.txt' }),
      await ada().files.upload({ file: Bun.file(path) }),
    ];
    expect(files.map(({ file }) => file.name)).toEqual(['file', 'ثلاثة "x" 100%.txt', 'on disk.txt']);
  });

  test('takes no JSON for a file', async () => {
    expect(await thrownBy(ada().files.upload({}))).toMatchObject({ message: 'file: is required' });
    expect(await thrownBy(ada().files.upload({ name: 'x.txt' }))).toMatchObject({ message: 'file: is required' });
  });

  test('is tried again with another token after a 401', async () => {
    const asked: (string | undefined)[] = [];
    const client = createClient({
      url: server().url,
      token: (refused) => {
        asked.push(refused);
        return refused === undefined ? 'oat_spent' : (people.ada?.token ?? '');
      },
    });
    const { file } = await client.files.upload({ file: new File(['again'], 'again.txt') });
    expect(file).toMatchObject({ name: 'again.txt', size: 5 });
    expect(asked).toEqual([undefined, 'oat_spent']);
  });
});

describe('downloading a file', () => {
  const bytes = someBytes(300_000);
  let file_id = 0;
  let etag = '';

  beforeAll(async () => {
    const { file } = await ada().files.upload({ file: new File([bytes], 'numbers.bin') });
    file_id = file.file_id;
    etag = `"${file.sha256}"`;
  });

  test('answers with its headers and its bytes', async () => {
    const response = await ada().files.download({ file_id });
    expect(response).toBeInstanceOf(Response);
    expect(response.status).toBe(200);
    expect(response.headers.get('etag')).toBe(etag);
    expect(response.bodyUsed).toBeFalse();
    expect(await response.bytes()).toEqual(bytes);
  });

  test('takes headers, and answers what they lead to', async () => {
    const asked = (headers: Record<string, string>) => ada().files.download({ file_id }, { headers });
    const part = await asked({ range: 'bytes=100-199', 'if-range': etag });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 100-199/300000']);
    expect(await part.bytes()).toEqual(bytes.subarray(100, 200));
    const others = [
      await asked({ 'if-none-match': etag }),
      await asked({ 'if-match': '"another"' }),
      await asked({ range: 'bytes=300000-' }),
    ];
    expect(others.map(({ status }) => status)).toEqual([304, 412, 416]);
  });

  test('is refused as any other call is', async () => {
    const stranger = createClient({ url: server().url, token: 'pat_unknown' });
    const refusals = await Promise.all([
      thrownBy(bob().files.download({ file_id })),
      thrownBy(ada().files.download({ file_id: 999_999 })),
      thrownBy(stranger.files.download({ file_id })),
    ]);
    expect(refusals.map((error) => error instanceof ApiError && [error.status, error.code])).toEqual([
      [404, 'not_found'],
      [404, 'not_found'],
      [401, 'unauthorized'],
    ]);
  });

  test('is tried again until it is answered', async () => {
    const { client, proxy } = await behind('drop', refusal(503, 'unavailable'));
    expect((await client.files.download({ file_id })).status).toBe(200);
    expect(proxy.seen).toHaveLength(3);
  });

  test('tells what is not Parley’s', async () => {
    const { client } = await behind({ status: 403, body: '<h1>Blocked</h1>' });
    const error = await thrownBy(client.files.download({ file_id }));
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ status: 403, message: expect.stringContaining('Blocked') });
  });

  test('ends when it is aborted, also while the bytes come', async () => {
    const reason = new Error('enough');
    const { client } = await behind('hang');
    const waiting = new AbortController();
    const call = thrownBy(client.files.download({ file_id }, { signal: waiting.signal }));
    waiting.abort(reason);
    expect(await call).toBe(reason);
    // One that begins to answer, and never ends.
    const dripping = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(new ReadableStream({ start: (stream) => stream.enqueue(bytes) })),
    });
    try {
      const reading = new AbortController();
      const slow = createClient({ url: dripping.url.href, token: 'pat_x' });
      const response = await slow.files.download({ file_id }, { signal: reading.signal });
      reading.abort(reason);
      expect(await thrownBy(response.bytes())).toBe(reason);
    } finally {
      await dripping.stop(true);
    }
  });
});
