import { beforeAll, describe, expect, test } from 'bun:test';
import { connect as dial } from 'node:net';
import { join } from 'node:path';
import { readSettings, SettingError } from '../../config.ts';
import { endWithUs } from '../support/cleanup.ts';
import type { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { Connection, headOf, underWay, uploading } from '../support/files.ts';
import { startsInVain, Talking } from '../support/process.ts';
import { requireProgram, testUnless } from '../support/requirements.ts';
import { startServer } from '../support/server.ts';
import { overSocket, postHead, request } from '../support/wire.ts';

function thrownBy(act: () => unknown): Error | undefined {
  try {
    act();
  } catch (error) {
    return error as Error;
  }
}

describe('a server that cannot start says why in one plain line and ends with code 1', () => {
  const startsWith = async (extra: Record<string, string>) =>
    startsInVain({ ...(await freshEnvironment('sqlite')), ...extra });

  test('where the port is taken', async () => {
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('taken') });
    const said = await startsWith({ PORT: String(other.port) });
    expect(said).toContain(String(other.port));
    expect(said).toContain('taken');
    await other.stop(true);
  });

  const bad: Record<string, string[]> = {
    PORT: ['abc', '-1', '65536', '80.5', '1e3', ' '],
    LOG_LEVEL: ['verbose'],
    LOG_FORMAT: ['xml'],
    PARLEY_RATE_LIMIT: ['50', '0/10', 'on'],
    PARLEY_OWNER_RATE_LIMIT: ['50', '0/10', 'on'],
    PARLEY_BODY_LIMIT: ['0', '1MB'],
    PARLEY_CONTENT_LIMIT: ['0'],
    PARLEY_PARTICIPANT_LIMIT: ['many'],
    PARLEY_PAGE_LIMIT: ['1'],
    PARLEY_EVENT_DAYS: ['0', '1.5'],
    PARLEY_DATABASE_CONNECTIONS: ['1'],
    DATABASE_URL: ['mysql://root:hunter2@127.0.0.1/x', 'postgres:hunter2', 'hunter2'],
  };
  for (const [name, values] of Object.entries(bad)) {
    test(`where ${name} is wrong`, () => {
      for (const value of values) {
        const fault = thrownBy(() => readSettings({ [name]: value }));
        expect(fault).toBeInstanceOf(SettingError);
        expect(fault?.message).toContain(name);
        expect(fault?.message).not.toMatch(/\n|hunter2/);
      }
    });
  }

  test('where a setting is invalid, and shows no value that may contain a password', async () => {
    const said = await startsWith({ DATABASE_URL: 'mysql://root:hunter2@127.0.0.1/x' });
    expect(said).toContain('DATABASE_URL');
    expect(said).not.toContain('hunter2');
  });
});

onAnyEngine('a server that is told to stop', (engine) => {
  const never = 3_600_000;
  /** One whose stop comes to an end only if it waits for nobody. */
  const started = async () => startServer(await freshEnvironment(engine), { drainMs: never });

  test('completes the requests that it has started', async () => {
    const server = await started();
    const ada = await server.user('ada');
    const { url } = server;
    const connection = await Connection.to(url);
    await connection.write(headOf(ada, uploading, 10, 'text/plain'));
    await connection.write('begun');
    await underWay(server);
    const stopped = server.stop();
    await eventually('it takes no more connections', async () =>
      fetch(`${url}/healthz`, { keepalive: false }).then(
        () => undefined,
        () => true,
      ),
    );
    await connection.write('ended');
    expect((await connection.answer()).status).toBe(200);
    await stopped;
  });

  test('does not wait for unread bodies', async () => {
    const server = await started();
    const { token } = await server.user('ada');
    const body = 'x'.repeat(2_000_000);
    for (const [path, authorization] of [
      ['messages.php?action=send_message', `Bearer ${token}`],
      ['messages.php?action=send_message', 'Bearer unknown'],
      ['messages.php?action=nonsense', `Bearer ${token}`],
      ['users.php?action=create', `Bearer ${token}`],
    ] as const) {
      const reply = await request(`${server.url}/api/${path}`, { method: 'POST', body, headers: { authorization } });
      expect(reply.status).toBeGreaterThanOrEqual(400);
    }
    await server.stop();
  });

  test('does not wait for idle connections', async () => {
    const server = await started();
    const { hostname, port } = new URL(server.url);
    const idle = dial(Number(port), hostname);
    idle.on('error', () => {});
    await new Promise((done) => idle.once('connect', done));
    const kept = dial(Number(port), hostname);
    kept.on('error', () => {});
    kept.write(`GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
    await new Promise((done) => kept.once('data', done));
    await server.stop();
    idle.destroy();
    kept.destroy();
  });
});

onAnyEngine('for operators', (engine) => {
  test('health, readiness and metrics need no token', async () => {
    const server = await startServer(await freshEnvironment(engine));
    try {
      const ada = await server.user('ada');
      await ada.ok('users.me', {});
      await ada.with('resource/action').ok('users.me', {});
      await ada.refused('chats.get', { chat_id: 1 });
      const ask = async (path: string) => {
        const response = await fetch(`${server.url}${path}`);
        return { status: response.status, text: await response.text() };
      };
      expect(await ask('/healthz')).toEqual({ status: 200, text: 'ok\n' });
      expect(await ask('/readyz')).toEqual({ status: 200, text: 'ready\n' });
      const { status, text } = await ask('/metrics');
      expect(status).toBe(200);
      expect(text).toMatch(/^parley_request_duration_seconds_count\{operation="users\.me",status="200"\} 2$/m);
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
      await raw('messages/dolphins?query=dolphins', { headers });
      await raw('dolphins/dolphins', { headers });
      await server.stop();
      lines = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((line) => line.event === 'request');
    });

    test('has one JSON line per request, with caller, operation and status', () => {
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

    test('contains no token, content, query, password, or other input', () => {
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
  expect(stderr).toContain(`Open this link to become one:\n${url}/setup/`);
  expect(stderr).toContain('Only this machine can reach it. To let others in, set HOST');
});

testUnless(
  requireProgram('script'),
  'a terminal shows the start in a frame, without colours, with the link on its own line',
  async () => {
    const env = { ...(await freshEnvironment('sqlite')), PATH: process.env.PATH ?? '' };
    const main = join(import.meta.dir, '../../main.ts');
    // `script` runs the server on a terminal of its own.
    const child = Bun.spawn(['script', '-qec', `stty cols 90; exec ${process.execPath} ${main}`, '/dev/null'], {
      env,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
    });
    endWithUs(child);
    const decoder = new TextDecoder();
    let shown = '';
    for await (const part of child.stdout) {
      shown += decoder.decode(part, { stream: true });
      if (/setup.*─\r\n/s.test(shown)) break;
    }
    child.kill();
    const lines = shown.split('\r\n');
    expect(lines[0]).toMatch(/^─+$/);
    expect(lines.findIndex((line) => /^ http:\/\/127\.0\.0\.1:\d+\/setup\/\S+$/.test(line))).toBeGreaterThan(2);
    expect(shown).not.toContain('\x1b');
  },
);

test('a request that is not HTTP is rejected, and the server keeps running', async () => {
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
