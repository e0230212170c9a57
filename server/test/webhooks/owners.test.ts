import { expect, test } from 'bun:test';
import { addBot } from '../../auth/administer.ts';
import { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { type Endpoint, Held } from '../support/receiver.ts';
import { serverFor, type TestServer } from '../support/server.ts';
import { clockedServer, Scene, second, sentinelFor } from '../support/webhook-scene.ts';

/** Creates a bot of a person, with a token for all scopes. */
async function botOf(server: TestServer, { userId }: Client): Promise<Client> {
  const owner = await server.engine.get<{ name: string }>('SELECT name FROM users WHERE user_id = $1', [userId]);
  const name = `bot-of-${owner?.name}`;
  const bot = await addBot(server.tools, { name, ownerName: owner?.name ?? '' });
  return new Client(server.url, await server.token(name), bot.user_id);
}

const subscribe = (by: Client, { url }: Endpoint) =>
  by.ok('webhooks.register', { url, events: ['new_message'], secret: 'a secret' });

onAnyEngine('the webhooks of one owner', (engine) => {
  const server = serverFor(engine);

  test('are at most 100 by default, together with those of bots', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const bot = await botOf(server(), ada);
    const input = { url: 'http://127.0.0.1:9/hook', events: ['new_message'], secret: 'a secret' };
    for (let i = 0; i < 50; i++) await Promise.all([ada, bot].map((one) => one.ok('webhooks.register', input)));
    for (const one of [ada, bot]) {
      const { status, error } = await one.call('webhooks.register', input);
      expect([status, error?.code]).toEqual([409, 'conflict']);
      expect(error?.message).toContain('PARLEY_WEBHOOK_LIMIT');
    }
    await bob.ok('webhooks.register', input);
  });
});

onAnyEngine('the slots of one owner', (engine) => {
  // Webhooks use 7/8 of these: 56.
  const { server, receiver } = clockedServer(engine, { BUN_CONFIG_MAX_HTTP_REQUESTS: '64' });
  const sentinel = sentinelFor(server, receiver);

  test('are at most half of all, together with bots, also at endpoints that were quick', async () => {
    const scene = await Scene.set(server(), 25);
    const bot = await botOf(server(), scene.ada);
    for (const chat_id of scene.chats) {
      await scene.ada.ok('chats.add_participants', { chat_id, participants: [bot.userId] });
    }
    const [own, ofBot] = [receiver().endpoint(), receiver().endpoint()];
    await subscribe(scene.ada, own);
    await subscribe(bot, ofBot);
    await scene.sayEverywhere(2, 'quick ');
    await Promise.all([own.arrived(50), ofBot.arrived(50)]);
    const held = new Held();
    own.reply = ofBot.reply = () => held.reply();
    await scene.sayEverywhere(1, 'held ');
    await eventually('half of the slots are taken', async () => held.now >= 28 || undefined);
    await sentinel().passes();
    expect(held.now).toBe(28);
    held.release();
    await Promise.all([own.arrived(75), ofBot.arrived(75)]);
  });
});

onAnyEngine('endpoints of one owner at one host', (engine) => {
  const { clock, server, receiver } = clockedServer(engine);
  const sentinel = sentinelFor(server, receiver);

  test('get 10 requests at once and 20 a second, until they have responded with a 2xx', async () => {
    const scene = await Scene.set(server(), 1);
    const endpoint = receiver().endpoint();
    const webhookIds: number[] = [];
    for (let i = 0; i < 25; i++) webhookIds.push(await scene.hook(endpoint));

    const expectLimits = async (count: number) => {
      const held = new Held();
      endpoint.reply = () => held.reply();
      await scene.say(0, 'for all');
      await endpoint.arrived(count + 10);
      await sentinel().passes();
      expect(held.now).toBe(10);
      held.release();
      await endpoint.arrived(count + 20);
      await sentinel().passes();
      expect(endpoint.arrivals).toHaveLength(count + 20);
      clock.pass(second);
      await endpoint.arrived(count + 25);
    };
    await expectLimits(0);

    const held = new Held();
    endpoint.reply = () => held.reply();
    await scene.say(0, 'for all that have responded');
    await endpoint.arrived(50);
    expect(held.now).toBe(25);
    held.release();
    for (const webhookId of webhookIds) await scene.untilSettled(webhookId);

    for (const webhook_id of webhookIds) {
      await scene.ada.ok('webhooks.update', { webhook_id, url: `${endpoint.url}?${webhook_id}` });
    }
    clock.pass(second);
    await expectLimits(50);
  });

  test('get one request at a time until the first 2xx, however quick their refusals are', async () => {
    const scene = await Scene.set(server(), 5);
    const held = new Held();
    const endpoint = receiver().endpoint(() => 400);
    await scene.hook(endpoint);
    await scene.say(0, 'refused');
    await endpoint.arrived(1);
    endpoint.reply = () => held.reply();
    await Promise.all([1, 2, 3, 4].map((chat) => scene.say(chat, 'held')));
    await endpoint.arrived(2);
    await sentinel().passes();
    expect(held.now).toBe(1);
    held.release();
    await endpoint.arrived(5);
  });

  test('get 20 tests a second at most', async () => {
    const scene = await Scene.set(server(), 0);
    const endpoint = receiver().endpoint(404);
    const webhook_id = await scene.hook(endpoint);
    for (let i = 0; i < 20; i++) await scene.ada.ok('webhooks.test', { webhook_id });
    expect(await scene.ada.refused('webhooks.test', { webhook_id })).toBe('unavailable');
    const unregistered = { url: endpoint.url, secret: 'a secret' };
    expect(await scene.ada.refused('webhooks.test', unregistered)).toBe('unavailable');
    clock.pass(second);
    await scene.ada.ok('webhooks.test', { webhook_id });

    // Those of URLs that no webhook has are fewer, on whatever hosts, and one of them is used up.
    for (let i = 0; i < 9; i++) await scene.ada.ok('webhooks.test', unregistered);
    expect(await scene.ada.refused('webhooks.test', unregistered)).toBe('rate_limited');
    await scene.ada.ok('webhooks.test', { webhook_id });
    clock.pass(6 * second);
    await scene.ada.ok('webhooks.test', unregistered);
  });
});
