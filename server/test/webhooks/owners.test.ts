import { expect, test } from 'bun:test';
import { addBot } from '../../auth/administer.ts';
import { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { type Endpoint, Held } from '../support/receiver.ts';
import { serverFor, type TestServer } from '../support/server.ts';
import { clockedServer, Scene, sentinelFor } from '../support/webhook-scene.ts';

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
