import { afterEach, expect, test } from 'bun:test';
import type { Runtime } from '../../compose.ts';
import type { Client } from '../support/client.ts';
import { type EngineName, type Environment, freshEnvironment, onBothEngines, onPostgres } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { type Browser, PushService } from '../support/push-service.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { groupOf } from '../support/streams.ts';

const stopping: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of stopping.splice(0)) await one.stop();
});

async function start(env: Environment, runtime: Partial<Runtime>): Promise<TestServer> {
  const server = await startServer(env, runtime);
  stopping.push(server);
  return server;
}

async function stop(server: TestServer): Promise<void> {
  stopping.splice(stopping.indexOf(server), 1);
  await server.stop();
}

function openService(now = Date.now): PushService {
  const service = new PushService();
  service.now = now;
  stopping.push(service);
  return service;
}

const say = async (by: Client, chat_id: number, content: string) =>
  (await by.ok('messages.send_message', { chat_id, content })).message.message_id;

/** Resolves once so many pushes wait. */
const untilWaiting = (server: TestServer, pushes: number) =>
  eventually(`${pushes} pushes wait`, async () => {
    return (await server.engine.all('SELECT 1 AS one FROM push_pending')).length === pushes || undefined;
  });

const untilSent = (server: TestServer) => untilWaiting(server, 0);

/** A clock that a test moves. */
function movable() {
  let shiftMs = 0;
  return {
    now: () => Date.now() + shiftMs,
    move: (ms: number) => {
      shiftMs += ms;
    },
  };
}

/** The delay of these tests, which they pass by moving the clock. */
const pushDelayMs = 100_000;

onBothEngines('a push that waits', (engine) => {
  test('is dropped if its message is read, deleted or muted meanwhile, and shows an edit', async () => {
    const { now, move } = movable();
    const server = await start(await freshEnvironment(engine), { now, pushDelayMs });
    const service = openService(now);
    const { ada, bob } = await users(server, 'ada', 'bob');
    const browser = await service.subscribe(bob);
    const [read, deleted, muted, edited] = [
      ...[await groupOf(ada, bob), await groupOf(ada, bob)],
      ...[await groupOf(ada, bob), await groupOf(ada, bob)],
    ] as [number, number, number, number];
    await say(ada, read, 'read');
    const message_id = await say(ada, deleted, 'deleted');
    await say(ada, muted, 'muted');
    const changed_id = await say(ada, edited, 'before');
    await untilWaiting(server, 4);
    await bob.ok('messages.mark_read', { chat_id: read });
    await ada.ok('messages.delete_message', { message_id });
    await bob.ok('chats.set_preferences', { chat_id: muted, notify: 'mentions' });
    await ada.ok('messages.edit_message', { message_id: changed_id, content: 'after' });
    expect(browser.requests).toBe(0);
    move(pushDelayMs);
    await untilSent(server);
    expect(browser.texts).toEqual(['after']);
    expect(service.faults).toEqual([]);
  });

  test('tells the newest message of a chat only', async () => {
    const { now, move } = movable();
    const server = await start(await freshEnvironment(engine), { now, pushDelayMs });
    const service = openService(now);
    const { ada, bob } = await users(server, 'ada', 'bob');
    const browser = await service.subscribe(bob);
    const chat_id = await groupOf(ada, bob);
    for (const text of ['one', 'two', 'three']) {
      await say(ada, chat_id, text);
      await eventually('it is dispatched', async () => {
        const [row] = await server.engine.all<{ json: string }>(
          'SELECT m.json FROM push_pending p JOIN messages m ON m.message_id = p.message_id',
        );
        return row?.json.includes(text) || undefined;
      });
    }
    move(pushDelayMs);
    await untilSent(server);
    expect(browser.texts).toEqual(['three']);
  });

  test('survives a restart, and is sent once', async () => {
    const { now, move } = movable();
    const env = await freshEnvironment(engine);
    const first = await start(env, { now, pushDelayMs });
    const service = openService(now);
    const { ada, bob } = await users(first, 'ada', 'bob');
    const browser = await service.subscribe(bob);
    const chat_id = await groupOf(ada, bob);
    await say(ada, chat_id, 'before the restart');
    await untilWaiting(first, 1);
    await stop(first);
    move(pushDelayMs);
    const second = await start(env, { now, pushDelayMs });
    await browser.gets(1);
    await untilSent(second);
    expect(browser.texts).toEqual(['before the restart']);
    expect(service.faults).toEqual([]);
  });

  test('is sent by the next start if the service hung when the server stopped', async () => {
    const env = await freshEnvironment(engine);
    const first = await start(env, { pushDelayMs: 0 });
    const service = openService();
    const { ada, bob } = await users(first, 'ada', 'bob');
    const browser = await service.subscribe(bob);
    browser.responses.push('hang');
    await say(ada, await groupOf(ada, bob), 'in between');
    await eventually('it hangs', async () => browser.requests === 1 || undefined);
    await stop(first);
    await start(env, { pushDelayMs: 0 });
    await browser.gets(1);
    expect(browser.requests).toBe(2);
  });

  test('of more than an hour ago is dropped', async () => {
    const { now, move } = movable();
    const env = await freshEnvironment(engine);
    const first = await start(env, { now, pushDelayMs: 0 });
    const service = openService(now);
    const { ada, bob } = await users(first, 'ada', 'bob');
    const browser = await service.subscribe(bob);
    const chats = [await groupOf(ada, bob), await groupOf(ada, bob)] as const;
    await untilSent(first);
    await stop(first);
    const between = await start(env, { now, pushDelayMs });
    await say(clientAt(ada, between), chats[0], 'old');
    await untilWaiting(between, 1);
    await stop(between);
    move(2 * 3_600_000);
    const second = await start(env, { now, pushDelayMs: 0 });
    await say(clientAt(ada, second), chats[1], 'new');
    await browser.gets(1);
    await untilSent(second);
    expect(browser.texts).toEqual(['new']);
  });
});

const clientAt = (client: Client, { url }: TestServer): Client =>
  Object.assign(Object.create(Object.getPrototypeOf(client)), client, { url });

/** Subscribes a browser for each of many users of a chat with one insert each. */
async function subscribeMany(server: TestServer, service: PushService, by: Client, count: number) {
  const found: Browser[] = [];
  const people: Client[] = [];
  for (let i = 0; i < count; i++) {
    const { reader } = await users(server, 'reader');
    people.push(reader);
    found.push(await service.subscribe(reader));
  }
  return { browsers: found, chat_id: await groupOf(by, ...people) };
}

onBothEngines('a push service that hangs', (engine: EngineName) => {
  test('holds up nobody', async () => {
    const server = await start(await freshEnvironment(engine), { pushDelayMs: 0 });
    const [hanging, working] = [openService(), openService()];
    const { ada } = await users(server, 'ada');
    const { browsers: dead, chat_id } = await subscribeMany(server, hanging, ada, 130);
    for (const browser of dead) browser.responses.push('hang', 'hang');
    const { browsers: live, chat_id: other } = await subscribeMany(server, working, ada, 30);
    await say(ada, chat_id, '@all hang');
    await eventually('a host has all slots that it may have', async () => {
      return dead.filter(({ requests }) => requests > 0).length >= 100 || undefined;
    });
    await say(ada, other, '@all work');
    for (const browser of live) await browser.gets(1);
    // No attempt at the other has ended yet.
    const { made } =
      (await server.engine.get<{ made: number }>('SELECT max(attempts) AS made FROM push_pending')) ?? {};
    expect(made).toBe(0);
  });
});

onPostgres('two servers', () => {
  test('send each push once', async () => {
    const env = await freshEnvironment('postgres');
    const first = await start(env, { pushDelayMs: 0 });
    const second = await start(env, { pushDelayMs: 0 });
    const service = openService();
    const { ada } = await users(first, 'ada');
    const { browsers, chat_id } = await subscribeMany(first, service, ada, 20);
    for (let i = 0; i < 5; i++) {
      await say(i % 2 ? ada : clientAt(ada, second), chat_id, `@all ${i}`);
      for (const browser of browsers) {
        await eventually('the last has arrived', async () => browser.texts.at(-1) === `@all ${i}` || undefined);
      }
    }
    await untilSent(first);
    expect(new Set(browsers.map(({ requests }) => requests))).toEqual(new Set([5]));
    expect(service.faults).toEqual([]);
  });
});
