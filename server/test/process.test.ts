import { beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { readSettings } from '../config.ts';
import { openAsGuest } from '../store/open.ts';
import { temporaryFolder } from './support/cleanup.ts';
import type { Client } from './support/client.ts';
import { freshEnvironment, onAnyEngine, onPostgres } from './support/engines.ts';
import { Talking } from './support/process.ts';
import { attach, startServer } from './support/server.ts';
import { expectRefusal, overSocket, postHead, request } from './support/wire.ts';
import { eventually } from './support/world.ts';

describe('a server that cannot start says why in one plain line and ends with code 1', () => {
  const startsWith = async (extra: Record<string, string>) => {
    const env = await freshEnvironment('sqlite');
    const { code, stdout, stderr } = await new Talking({ ...env, ...extra }).end();
    expect({ code, stdout, lines: stderr.trimEnd().split('\n').length, stderr }).toEqual({
      code: 1,
      stdout: '',
      lines: 1,
      stderr,
    });
    expect(stderr).not.toMatch(/^\s+at |\.ts:\d+/m);
    return stderr;
  };

  test('where the port is taken', async () => {
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('taken') });
    const said = await startsWith({ PORT: String(other.port) });
    expect(said).toContain(String(other.port));
    expect(said).toContain('taken');
    await other.stop(true);
  });

  const bad: Record<string, string[]> = {
    PORT: ['abc', '-1', '65536', '80.5', '1e3', ' '],
    HOST: ['not an address'],
    LOG_LEVEL: ['verbose'],
    LOG_FORMAT: ['xml'],
    PARLEY_RATE_LIMIT: ['50', '0/10', 'on'],
    PARLEY_BODY_LIMIT: ['0', '1MB'],
    PARLEY_CONTENT_LIMIT: ['0'],
    PARLEY_PARTICIPANT_LIMIT: ['many'],
    PARLEY_PAGE_LIMIT: ['1'],
    PARLEY_EVENT_DAYS: ['0', '1.5'],
    PARLEY_DATABASE_CONNECTIONS: ['1'],
    DATABASE_URL: ['mysql://root:hunter2@127.0.0.1/x', 'postgres:hunter2', 'hunter2'],
  };
  for (const [name, values] of Object.entries(bad)) {
    test(`where ${name} is wrong`, async () => {
      const all = await Promise.all(values.map((value) => startsWith({ [name]: value })));
      for (const said of all) {
        expect(said).toContain(name === 'HOST' ? 'not an address' : name);
        expect(said).not.toContain('hunter2');
      }
    });
  }

  test('where the data folder cannot be made, is no folder, or holds no database', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'file');
    writeFileSync(file, 'not a folder');
    expect(await startsWith({ PARLEY_DATA: join(file, 'data') })).toContain(file);
    expect(await startsWith({ PARLEY_DATA: file })).toContain(file);
    const broken = join(folder, 'broken');
    mkdirSync(broken);
    writeFileSync(
      join(broken, 'parley.sqlite'),
      'this is no SQLite database, but long enough to be looked at'.repeat(50),
    );
    expect(await startsWith({ PARLEY_DATA: broken })).toContain(broken);
  });

  onPostgres('on a server that is there', () => {
    test('where PostgreSQL has no such database or user', async () => {
      const { DATABASE_URL = '' } = await freshEnvironment('postgres');
      const absent = await startsWith({ DATABASE_URL: DATABASE_URL.replace(/\w+$/, 'no_such_database') });
      expect(absent).toContain('no_such_database');
      const stranger = await startsWith({ DATABASE_URL: DATABASE_URL.replace('parley@', 'stranger:hunter2@') });
      expect(stranger).toContain('stranger');
      expect(stranger).not.toContain('hunter2');
    });
  });
});

onAnyEngine('a server that is told to stop', (engine) => {
  const started = async () => {
    const env = await freshEnvironment(engine);
    const server = new Talking(env);
    const url = await server.url();
    return { env, server, url, made: await attach(url, env) };
  };
  /** Within what an impatient operator waits; the time to cut off clients that hang is longer. */
  const endsSoon = async (server: Talking) => {
    const asked = performance.now();
    expect((await server.end()).code).toBe(0);
    expect(performance.now() - asked).toBeLessThan(3_000);
  };

  test('keeps every message that it answered for, and breaks no answer off', async () => {
    const { env, server, url, made } = await started();
    const ada = await made.user('ada');
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'g', participants: [] })).group;
    await made.stop();
    const answered: number[] = [];
    const broken: unknown[] = [];
    let sending = true;
    const sender = async () => {
      while (sending) {
        const response = await fetch(`${url}/api/messages.php?action=send_message`, {
          method: 'POST',
          headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ chat_id, content: 'to be kept' }),
        }).catch(() => undefined);
        // A connection that the server no longer takes is no broken answer.
        if (!response) return;
        const text = await response.text().catch((error: unknown) => `broken off: ${error}`);
        try {
          if (response.status === 200)
            answered.push((JSON.parse(text) as { message: { message_id: number } }).message.message_id);
          else broken.push([response.status, text]);
        } catch {
          broken.push(text);
        }
      }
    };
    const senders = Array.from({ length: 32 }, sender);
    await eventually('sends are under way', async () => answered.length > 100 || undefined);
    server.kill('SIGTERM');
    await endsSoon(server);
    sending = false;
    await Promise.all(senders);
    expect(broken).toEqual([]);
    const store = await openAsGuest(readSettings(env));
    const kept = await store.all<{ message_id: number }>('SELECT message_id FROM messages');
    const told = await store.all<{ n: number }>(`SELECT count(*) AS n FROM events WHERE event = 'new_message'`);
    await store.close();
    const missing = new Set(answered);
    for (const { message_id } of kept) missing.delete(message_id);
    expect([...missing]).toEqual([]);
    expect(told).toEqual([{ n: kept.length }]);
  });

  test('answers what it has begun', async () => {
    const { server, made } = await started();
    const root = await made.user('root', { admin: true });
    await root.ok('users.me', {});
    // Passwords take long on purpose, so these are on their way when the signal comes.
    const creating = ['one', 'two', 'three'].map((name) =>
      root.call('users.create', { name, password: 'correct horse' }),
    );
    await Bun.sleep(30);
    server.kill('SIGTERM');
    const answers = await Promise.all(creating);
    expect(answers.map((a) => a.status)).toEqual([200, 200, 200]);
    await made.stop();
    await endsSoon(server);
  });

  test('does not wait for bodies that nobody will read', async () => {
    const { server, url, made } = await started();
    const { token } = await made.user('ada');
    await made.stop();
    const body = 'x'.repeat(2_000_000);
    for (const [path, authorization] of [
      ['messages.php?action=send_message', `Bearer ${token}`],
      ['messages.php?action=send_message', 'Bearer unknown'],
      ['messages.php?action=nonsense', `Bearer ${token}`],
      ['users.php?action=create', `Bearer ${token}`],
    ] as const) {
      const reply = await request(`${url}/api/${path}`, { method: 'POST', body, headers: { authorization } });
      expect(reply.status).toBeGreaterThanOrEqual(400);
    }
    server.kill('SIGTERM');
    await endsSoon(server);
  });

  test('does not wait for clients that keep a connection and say nothing', async () => {
    const { server, url, made } = await started();
    await made.stop();
    const { hostname, port } = new URL(url);
    const idle = dial(Number(port), hostname);
    idle.on('error', () => {});
    await new Promise((done) => idle.once('connect', done));
    const kept = dial(Number(port), hostname);
    kept.on('error', () => {});
    kept.write(`GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
    await new Promise((done) => kept.once('data', done));
    server.kill('SIGTERM');
    await endsSoon(server);
    idle.destroy();
    kept.destroy();
  });

  test('takes SIGINT for the same, and a second signal for no more', async () => {
    const { server, made } = await started();
    await made.stop();
    server.kill('SIGINT');
    server.kill('SIGTERM');
    await endsSoon(server);
  });
});

onAnyEngine('for operators', (engine) => {
  test('health, readiness and numbers can be asked for without a token', async () => {
    const server = await startServer(await freshEnvironment(engine));
    try {
      const ada = await server.user('ada');
      await ada.ok('users.me', {});
      await ada.refused('chats.get', { chat_id: 1 });
      const ask = async (path: string) => {
        const response = await fetch(`${server.url}${path}`);
        return { status: response.status, text: await response.text() };
      };
      expect(await ask('/healthz')).toEqual({ status: 200, text: 'ok\n' });
      expect(await ask('/readyz')).toEqual({ status: 200, text: 'ready\n' });
      const { status, text } = await ask('/metrics');
      expect(status).toBe(200);
      expect(text).toMatch(/^parley_request_duration_seconds_count\{operation="users\.me",status="200"\} 1$/m);
      expect(text).toMatch(/^parley_request_duration_seconds_count\{operation="chats\.get",status="404"\} 1$/m);
      expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
      const line = /^(|# (HELP|TYPE) \w+ .+|\w+(\{[^}]*\})? \S+)$/;
      expect(text.split('\n').filter((one) => !line.test(one))).toEqual([]);
    } finally {
      await server.stop();
    }
  });

  describe('the log', () => {
    let lines: Record<string, unknown>[];
    let text: string;
    const secrets = ['Zaphod', 'Beeblebrox', 'Trillian', 'Slartibartfast', 'Magrathea', 'heart-of-gold', 'dolphins'];
    let ada: Client;
    let requests = 0;

    beforeAll(async () => {
      text = '';
      const print = (more: string) => {
        text += more;
      };
      const env = { ...(await freshEnvironment(engine)), LOG_LEVEL: 'info', LOG_FORMAT: 'json' };
      const server = await startServer(env, { print });
      ada = await server.user('ada', { admin: true });
      const call = async (...[name, input]: Parameters<Client['call']>) => {
        requests++;
        return ada.call(name, input as never);
      };
      const raw = async (path: string, init: RequestInit) => {
        requests++;
        return request(`${server.url}/api/${path}`, init);
      };
      const headers = { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' };
      const created = await call('messages.create_group', { name: 'Zaphod', participants: [] } as never);
      const { chat_id } = (created.body as never as { group: { chat_id: number } }).group;
      await call('messages.send_message', { chat_id, content: 'Beeblebrox' } as never);
      await call('messages.search_messages', { query: 'Trillian' } as never);
      await call('users.create', { name: 'arthur', password: 'Slartibartfast' } as never);
      await call('users.create', { name: 'arthur', display_name: 'Magrathea' } as never);
      await call('tokens.create', { name: 'heart-of-gold' } as never);
      await call('chats.update', { chat_id, description: 'Magrathea', nonsense: 'dolphins' } as never);
      const send = 'messages.php?action=send_message';
      await raw(send, { method: 'POST', headers, body: '{"chat_id": 1, "content": Beeblebrox}' });
      await raw(send, { method: 'POST', headers, body: '{"content": "Beeblebrox' });
      await raw(send, { method: 'POST', headers, body: Buffer.from('{"content": "Beeblebrox\xff"}', 'latin1') });
      await raw(send, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'multipart/form-data' },
        body: 'Beeblebrox',
      });
      await raw(send, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'text/Magrathea' },
        body: 'Beeblebrox',
      });
      await raw('messages.php?action=dolphins', { headers });
      await raw(`users.php?action=me&access_token=${ada.token}`, {});
      await raw('users.php?action=me', { headers: { authorization: 'Bearer pat_heart-of-gold' } });
      await raw('dolphins.php?action=list', { headers });
      await server.stop();
      lines = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((line) => line.event === 'request');
    });

    test('has one line of JSON for each request, with who, what and how it ended', () => {
      expect(lines).toHaveLength(requests);
      for (const line of lines) {
        expect(String(line.time)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(line).toMatchObject({ level: 'info', request_id: expect.any(String), operation: expect.any(String) });
        expect(line.ms).toBeGreaterThanOrEqual(0);
      }
      expect(lines[1]).toMatchObject({
        method: 'POST',
        operation: 'messages.send_message',
        status: 200,
        user_id: ada.userId,
      });
      expect(lines[4]).toMatchObject({ operation: 'users.create', status: 409, code: 'conflict' });
      expect(new Set(lines.map((l) => l.request_id)).size).toBe(requests);
    });

    test('has no token, no content, no query, no password, and nothing else that was sent', () => {
      expect(text).not.toContain(ada.token);
      expect(text).not.toContain('pat_');
      expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    });
  });
});

test('the log goes to standard output, and all else to standard error', async () => {
  const env = { ...(await freshEnvironment('sqlite')), LOG_LEVEL: 'info', LOG_FORMAT: 'auto' };
  const server = new Talking(env);
  const url = await server.url();
  await fetch(`${url}/api/users.php?action=me`);
  await eventually('the line is written', async () => server.stdout.includes('\n') || undefined);
  server.kill('SIGTERM');
  const { code, stdout, stderr } = await server.end();
  expect(code).toBe(0);
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).status as number),
  ).toEqual([401]);
  expect(stderr).toContain(url);
  expect(stderr).toContain(`Open this link to become one: ${url}/setup/`);
});

/** A way to the database that can be closed and opened again. */
class Gate {
  readonly #target: { port: number; host: string };
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  port = 0;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#target = { host: hostname, port: Number(port) };
  }

  async open(): Promise<void> {
    const server = createServer((near) => {
      const far = dial(this.#target.port, this.#target.host);
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => [near, far].map((end) => end.destroy()));
      }
    });
    await new Promise<void>((listening) => void server.listen(this.port, '127.0.0.1', listening));
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  close(): void {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }
}

onPostgres('a server whose database goes away', () => {
  test('says so, stays up, and goes on when it is back', async () => {
    const env = await freshEnvironment('postgres');
    const gate = new Gate(env.DATABASE_URL ?? '');
    await gate.open();
    const through = (env.DATABASE_URL ?? '').replace(/:\d+\//, `:${gate.port}/`);
    const server = new Talking({ ...env, DATABASE_URL: through });
    const url = await server.url();
    const made = await attach(url, env);
    const ada = await made.user('ada');
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'g', participants: [] })).group;
    const ready = async () => (await fetch(`${url}/readyz`)).status;
    expect(await ready()).toBe(200);

    gate.close();
    expect(await ready()).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    for (const answer of [
      await ada.call('messages.send_message', { chat_id, content: 'lost?' }),
      await ada.call('messages.get_messages', { chat_id }),
      await ada.call('messages.create_group', { name: 'x', participants: [] }),
    ]) {
      expectRefusal(answer, 'unavailable');
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }

    await gate.open();
    await eventually('the server is ready again', async () => ((await ready()) === 200 ? true : undefined));
    await ada.ok('messages.send_message', { chat_id, content: 'back' });
    const { messages } = await ada.ok('messages.get_messages', { chat_id });
    expect(messages.map((m) => m.content)).toEqual(['back']);
    await made.stop();
    server.kill('SIGTERM');
    expect((await server.end()).code).toBe(0);
    gate.close();
  });
});

test('a request that is no HTTP is refused, and the server stays', async () => {
  const server = await startServer(await freshEnvironment('sqlite'));
  try {
    for (const bytes of [
      'nonsense\r\n\r\n',
      'GET /healthz HTTP/9.9\r\n\r\n',
      `GET /${'x'.repeat(100_000)} HTTP/1.1\r\n\r\n`,
    ]) {
      const answer = await overSocket(server.url, [bytes]).catch(() => '');
      expect(answer).not.toContain('200 OK');
    }
    const twice = postHead(server.url, 'users.php?action=me', 'x', 5).replace(
      'Connection: close',
      'Transfer-Encoding: chunked',
    );
    expect(await overSocket(server.url, [twice, '0\r\n\r\n']).catch(() => '')).not.toContain('200 OK');
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  } finally {
    await server.stop();
  }
});
