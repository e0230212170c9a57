import { describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { readSettings } from '../../config.ts';
import { openAsGuest } from '../../store/engine/open.ts';
import { temporaryFolder } from '../support/cleanup.ts';
import { freshEnvironment, onBothEngines, onPostgres } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { startsInVain, Talking } from '../support/process.ts';
import { attach } from '../support/server.ts';
import { expectRefusal } from '../support/wire.ts';

onBothEngines('a process that is told to stop', (engine) => {
  const started = async () => {
    const env = await freshEnvironment(engine);
    const server = new Talking(env);
    const url = await server.url();
    return { env, server, url, made: await attach(url, env) };
  };

  test('keeps every acknowledged message, and completes every response', async () => {
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
    expect((await server.end()).code).toBe(0);
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

  test('handles SIGINT in the same way, and ignores a second signal that follows at once', async () => {
    const { server, made } = await started();
    await made.stop();
    // The stopped process receives both signals together when it continues.
    server.kill('SIGSTOP');
    server.kill('SIGINT');
    server.kill('SIGTERM');
    server.kill('SIGCONT');
    expect((await server.end()).code).toBe(0);
  });
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

describe('a server that cannot start says why in one plain line and ends with code 1', () => {
  const startsWith = async (extra: Record<string, string>) =>
    startsInVain({ ...(await freshEnvironment('sqlite')), ...extra });

  test('where it cannot listen at HOST', async () => {
    expect(await startsWith({ HOST: 'not an address' })).toContain('not an address');
  });

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
});

onPostgres('a server that cannot start says why in one plain line and ends with code 1', () => {
  test('where PostgreSQL has no such database or user', async () => {
    const env = await freshEnvironment('postgres');
    const startsWith = (before: string | RegExp, after: string) =>
      startsInVain({ ...env, DATABASE_URL: env.DATABASE_URL?.replace(before, after) ?? '' });
    expect(await startsWith(/\w+$/, 'no_such_database')).toContain('no_such_database');
    const stranger = await startsWith('parley@', 'stranger:hunter2@');
    expect(stranger).toContain('stranger');
    expect(stranger).not.toContain('hunter2');
  });
});

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
