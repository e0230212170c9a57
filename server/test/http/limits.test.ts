import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import type { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { eventTip, users } from '../support/people.ts';
import { attach, type ServerProcess, serverFor, spawnServer, type TestServer } from '../support/server.ts';
import { expectRefusal, overSocket, postHead, type Reply, request } from '../support/wire.ts';

const mebibyte = 1_048_576;
const sendPath = 'messages.php?action=send_message';
const isTooLarge = (answer: string) => {
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toContain('"code":"payload_too_large"');
};

onAnyEngine('the size of a body', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  let chat_id: number;
  beforeAll(async () => {
    ada = await server().user('ada');
    chat_id = (await ada.ok('messages.create_group', { name: 'g', participants: [] })).group.chat_id;
  });

  const post = (body: BodyInit) =>
    request(`${server().url}/api/${sendPath}`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
    });
  /** A valid send of exactly this many bytes: JSON takes blanks anywhere. */
  const padded = (bytes: number) => {
    const body = JSON.stringify({ chat_id, content: 'just fits' });
    return body.slice(0, -1) + ' '.repeat(bytes - body.length) + body.slice(-1);
  };
  const inParts = (text: string) =>
    new ReadableStream({
      start(controller) {
        for (let i = 0; i < text.length; i += 65_536) controller.enqueue(Buffer.from(text.slice(i, i + 65_536)));
        controller.close();
      },
    });

  test('is at most 1 MiB', async () => {
    expect((await post(padded(mebibyte))).status).toBe(200);
    expect(expectRefusal(await post(padded(mebibyte + 1)), 'payload_too_large').message).toContain('1048576');
  });

  test('is limited also without Content-Length', async () => {
    expect((await post(inParts(padded(mebibyte)))).status).toBe(200);
    expectRefusal(await post(inParts(padded(mebibyte + 1))), 'payload_too_large');
  });

  test('is limited for forms too', async () => {
    const data = new FormData();
    data.append('chat_id', String(chat_id));
    data.append('content', 'x'.repeat(mebibyte));
    for (const body of [data, new URLSearchParams({ content: 'x'.repeat(mebibyte) })]) {
      const reply = await request(`${server().url}/api/${sendPath}`, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${ada.token}` },
      });
      expectRefusal(reply, 'payload_too_large');
    }
  });

  test('is checked after authentication', async () => {
    const reply = await request(`${server().url}/api/${sendPath}`, { method: 'POST', body: padded(mebibyte + 1) });
    expectRefusal(reply, 'unauthorized');
  });

  test('a Content-Length above the limit is rejected before the body arrives', async () => {
    isTooLarge(await overSocket(server().url, [postHead(server().url, sendPath, ada.token, 2 ** 39)]));
  });

  test('a client that disconnects within its body leaves nothing behind', async () => {
    const tip = await eventTip(ada);
    const body = JSON.stringify({ chat_id, content: 'never finished' });
    for (const length of [body.length + 10, 'chunked'] as const) {
      for (let i = 0; i < 10; i++) {
        await new Promise<void>((done) => {
          const { hostname, port } = new URL(server().url);
          const socket = connect(Number(port), hostname, () => {
            const part = length === 'chunked' ? `${body.length.toString(16)}\r\n${body}\r\n` : body;
            socket.write(postHead(server().url, sendPath, ada.token, length) + part, () =>
              setTimeout(() => socket.destroy(), 5),
            );
          });
          socket.on('close', () => done());
        });
      }
    }
    await ada.ok('messages.send_message', { chat_id, content: 'still here' });
    const { events } = await ada.ok('events.list', { after: tip });
    expect(events).toMatchObject([{ event: 'new_message', data: { content: 'still here' } }]);
  });

  test('a slow client gets a response, and delays nobody', async () => {
    const body = JSON.stringify({ chat_id, content: 'slowly' });
    let others = 0;
    async function* drops() {
      yield postHead(server().url, sendPath, ada.token, body.length);
      for (const letter of body) {
        if ((await ada.call('users.me', {})).status === 200) others++;
        yield letter;
      }
    }
    expect(await overSocket(server().url, drops())).toContain('"content":"slowly"');
    expect(others).toBe(body.length);
  });
});

onAnyEngine('an expensive body', (engine) => {
  const server = serverFor(engine);
  let ada: Client;
  beforeAll(async () => {
    ada = await server().user('ada');
  });

  const many = (part: (i: number) => string, between: string) => {
    const parts: string[] = [];
    for (let size = 0, i = 0; size < mebibyte - 2_000; i++) {
      const one = part(i);
      size += one.length + between.length;
      parts.push(one);
    }
    return parts.join(between);
  };
  const form = 'application/x-www-form-urlencoded';
  const json = 'application/json';
  const bodies: [string, string, string, string][] = [
    ['a list of many elements in a form', 'messages.php?action=create_group', form, many(() => 'participants=1', '&')],
    [
      'a list of many wrong elements',
      'tokens.php?action=create',
      json,
      `{"name":"x","scopes":[${many(() => '""', ',')}]}`,
    ],
    [
      'a list of many ids',
      'messages.php?action=create_group',
      json,
      `{"name":"x","participants":[${many(() => '1', ',')}]}`,
    ],
    ['many unknown fields', sendPath, json, `{${many((i) => `"k${i}":1`, ',')}}`],
    ['many unknown fields in a form', sendPath, form, many((i) => `k${i}`, '&')],
    ['a field with a very long name', sendPath, json, `{"${'k'.repeat(mebibyte - 100)}":1}`],
    [
      'a name that is a megabyte long',
      'messages.php?action=create_group',
      json,
      `{"name":"${'é'.repeat(500_000)}","participants":[]}`,
    ],
    [
      'an emoji that is a megabyte long',
      'messages.php?action=add_reaction',
      json,
      `{"message_id":1,"emoji":"${'x'.repeat(1_000_000)}"}`,
    ],
    ['blanks only', sendPath, json, `{"chat_id":1,"content":"${' '.repeat(1_000_000)}"}`],
  ];
  test.each(bodies)('is rejected cheaply, with a short response: %s', async (_, path, type, body) => {
    const before = process.cpuUsage();
    const response = await fetch(`${server().url}/api/${path}`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${ada.token}`, 'content-type': type },
    });
    const text = await response.text();
    expect(response.status).toBe(422);
    const { user, system } = process.cpuUsage(before);
    // Processor time, to which a busy machine adds little. What grows with the square of the body would take minutes.
    expect((user + system) / 1_000).toBeLessThan(10_000);
    expect(text.length).toBeLessThan(16_384);
  });
});

describe('a flood of bodies', () => {
  let child: ServerProcess;
  let server: TestServer;
  let ada: Client;
  beforeAll(async () => {
    const env = await freshEnvironment('sqlite');
    child = await spawnServer(env);
    server = await attach(child.url, env);
    ada = await server.user('ada');
  });
  afterAll(async () => {
    await server.stop();
    await child.kill('SIGKILL');
  });

  const memory = async () => {
    const text = await (await fetch(`${child.url}/metrics`)).text();
    return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]) / mebibyte;
  };
  const block = Buffer.alloc(65_536, ' ');
  function* announced(size: number) {
    yield postHead(child.url, sendPath, ada.token, size);
    for (let sent = 0; sent < size; sent += block.length) yield block;
  }
  function* chunked(size: number) {
    yield postHead(child.url, sendPath, ada.token, 'chunked');
    for (let sent = 0; sent < size; sent += block.length) {
      yield `${block.length.toString(16)}\r\n`;
      yield block;
      yield '\r\n';
    }
  }

  test('is rejected early, takes no memory, and the server keeps running', async () => {
    await ada.ok('users.me', {});
    const before = await memory();
    for (const flood of [announced, chunked]) {
      const answers = await Promise.all(Array.from({ length: 8 }, () => overSocket(child.url, flood(200 * mebibyte))));
      for (const answer of answers) isTooLarge(answer);
      expect((await ada.call('users.me', {})).status).toBe(200);
    }
    // Kept in memory, one flood alone would be 1,600 MiB.
    expect((await memory()) - before).toBeLessThan(400);
  });
});

onAnyEngine('the rate limit', (engine) => {
  let now = Date.now();
  const server = serverFor(engine, { PARLEY_RATE_LIMIT: '5/10' }, { now: () => now });
  const wait = (ms: number) => {
    now += ms;
  };
  const allowance = ({ headers }: Pick<Reply, 'headers'>) => ({
    limit: headers.get('ratelimit-limit'),
    remaining: headers.get('ratelimit-remaining'),
    reset: headers.get('ratelimit-reset'),
  });

  test('allows the burst, reports the remaining requests, and then Retry-After', async () => {
    const { ada } = await users(server(), 'ada');
    for (let left = 9; left >= 0; left--) {
      const answer = await ada.call('users.me', {});
      expect(answer.status).toBe(200);
      expect(allowance(answer)).toEqual({
        limit: '10',
        remaining: String(left),
        reset: String(Math.ceil((10 - left) / 5)),
      });
    }
    const refused = await ada.call('users.me', {});
    expectRefusal(refused, 'rate_limited');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(allowance(refused)).toEqual({ limit: '10', remaining: '0', reset: '2' });
  });

  test('ends after Retry-After, at the configured rate', async () => {
    const { ada } = await users(server(), 'ada');
    const burst = async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, () => ada.call('users.me', {})));
      return answers.filter((a) => a.status === 200).length;
    };
    expect(await burst()).toBe(10);
    expect(await burst()).toBe(0);
    wait(1_000);
    expect(await burst()).toBe(5);
    wait(199);
    expect(await burst()).toBe(0);
    wait(1);
    expect(await burst()).toBe(1);
    wait(60_000);
    expect(await burst()).toBe(10);
  });

  test('counts each token separately', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    for (let i = 0; i < 12; i++) await ada.call('users.me', {});
    expect(await ada.refused('users.me', {})).toBe('rate_limited');
    expect((await bob.call('users.me', {})).status).toBe(200);
  });

  test('counts requests without a token by IP, and does not limit authenticated ones', async () => {
    const { ada } = await users(server(), 'ada');
    await ada.ok('users.me', {});
    wait(60_000);
    const unknown = () =>
      request(`${server().url}/api/users.php?action=me`, { headers: { authorization: 'Bearer x' } });
    for (let i = 0; i < 10; i++) expectRefusal(await unknown(), 'unauthorized');
    const refused = await unknown();
    expectRefusal(refused, 'rate_limited');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await ada.call('users.me', {})).status).toBe(200);
    wait(60_000);
    expectRefusal(await unknown(), 'unauthorized');
  });

  test('a rejected call has no effect', async () => {
    const { ada } = await users(server(), 'ada');
    const { group } = await ada.ok('messages.create_group', { name: 'g', participants: [] });
    const send = () => ada.call('messages.send_message', { chat_id: group.chat_id, content: 'x' });
    const sent = (await Promise.all(Array.from({ length: 20 }, send))).filter((a) => a.status === 200).length;
    expect(sent).toBe(9);
    wait(60_000);
    expect((await ada.ok('messages.get_messages', { chat_id: group.chat_id })).messages.length).toBe(9);
  });

  const replies: [string, string, RequestInit][] = [
    ['a success', 'users.php?action=me', {}],
    ['a missing token', 'users.php?action=me', { headers: { authorization: '' } }],
    ['a missing scope', 'users.php?action=create', { method: 'POST' }],
    ['an absent chat', 'chats.php?action=get&chat_id=999999', {}],
    ['a wrong input', 'chats.php?action=get', {}],
    ['an unknown action', 'chats.php?action=nonsense', {}],
    ['an unknown resource', 'nonsense.php?action=list', {}],
    ['a wrong method', 'chats.php?action=get', { method: 'POST' }],
    ['a wrong type', sendPath, { method: 'POST', body: 'x' }],
    ['a large body', sendPath, { method: 'POST', body: 'x'.repeat(mebibyte + 1) }],
  ];
  test.each(replies)('is in the headers of every response: %s', async (_, path, init) => {
    const { ada } = await users(server(), 'ada');
    wait(60_000);
    const headers = { authorization: `Bearer ${ada.token}`, ...(init.headers as Record<string, string>) };
    expect(allowance(await request(`${server().url}/api/${path}`, { ...init, headers }))).toEqual({
      limit: '10',
      remaining: '9',
      reset: '1',
    });
  });
});
