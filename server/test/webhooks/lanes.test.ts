import { expect, test } from 'bun:test';
import type { Client } from '../support/client.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { Held } from '../support/receiver.ts';
import { Absent, clockedServer, numbers, Scene, second, sentinelFor, untilLetGo } from '../support/webhook-scene.ts';

onAnyEngine('lanes', (engine) => {
  const { clock, server, receiver } = clockedServer(engine);
  const sentinel = sentinelFor(server, receiver);

  test('keep the order of each chat, one request at a time, and run beside each other', async () => {
    const scene = await Scene.set(server(), 12);
    const underWay = new Map<unknown, number>();
    let mostInOneChat = 0;
    const endpoint = receiver().endpoint(({ data }) => {
      const inChat = (underWay.get(data.chat_id) ?? 0) + 1;
      underWay.set(data.chat_id, inChat);
      mostInOneChat = Math.max(mostInOneChat, inChat);
      const after = Bun.sleep(Math.random() * 5).then(() => underWay.set(data.chat_id, inChat - 1));
      return { after };
    });
    const webhookId = await scene.hook(endpoint);
    await scene.sayEverywhere(10);
    await endpoint.arrived(120);
    const held = new Held();
    const withoutDelay = endpoint.reply;
    endpoint.reply = () => held.reply();
    await scene.sayEverywhere(2, 'held ');
    await eventually('all chats are under way', async () => held.now === 12 || undefined);
    await sentinel().passes();
    expect(endpoint.arrivals).toHaveLength(132);
    endpoint.reply = withoutDelay;
    held.release();
    await scene.untilSettled(webhookId);
    scene.expectAllOnce(endpoint, [...numbers(10), ...numbers(2, 'held ')]);
    expect(mostInOneChat).toBe(1);
    expect(new Set(endpoint.arrivals.map(({ attempt }) => attempt))).toEqual(new Set([1]));
  });

  test('have at most 64 requests under way at one endpoint', async () => {
    const scene = await Scene.set(server(), 70);
    const endpoint = receiver().endpoint();
    const webhookId = await scene.hook(endpoint);
    await scene.sayEverywhere(1, 'warm ');
    await endpoint.arrived(70);
    await scene.untilSettled(webhookId);
    const held = new Held();
    endpoint.reply = () => held.reply();
    await scene.sayEverywhere(1, 'held ');
    await endpoint.arrived(70 + 64);
    await sentinel().passes();
    expect(held.now).toBe(64);
    held.release();
    await scene.untilSettled(webhookId);
    scene.expectAllOnce(endpoint, ['warm 0', 'held 0']);
  });

  const lapses = { failed: { status: 500, ms: 0 }, 'took more than a second': { status: 200, ms: second + 1 } };
  for (const [what, { status, ms }] of Object.entries(lapses)) {
    test(`send one request at a time to an endpoint whose last attempt ${what}`, async () => {
      const scene = await Scene.set(server(), 9);
      const endpoint = receiver().endpoint();
      const webhookId = await scene.hook(endpoint);
      await scene.sayEverywhere(2, 'warm ');
      await endpoint.arrived(18);

      const before = new Held();
      endpoint.reply = () => before.reply();
      await scene.sayEverywhere(1, 'quick ');
      await endpoint.arrived(27);
      before.release();
      await scene.untilSettled(webhookId);

      const lapse = new Held();
      endpoint.reply = () => lapse.reply(status);
      await scene.say(0, 'bad');
      await endpoint.arrived(28);
      clock.pass(ms);
      lapse.release();
      await scene.untilAttempts(webhookId, 28);

      const after = new Held();
      endpoint.reply = () => after.reply();
      await Promise.all(scene.chats.slice(1).map((_, i) => scene.say(i + 1, 'late')));
      await endpoint.arrived(29);
      await sentinel().passes();
      expect(endpoint.arrivals).toHaveLength(29);
      endpoint.reply = () => 200;
      after.release();
      await endpoint.arrived(36);
    });
  }
});

onAnyEngine('endpoints that hang', (engine) => {
  const { clock, server, receiver } = clockedServer(engine);
  /** One owner may have 10 requests under way at a host that has never answered. */
  const hanging = 12;
  const mostHanging = 10;

  const crowdOf = async (owner: Client, url: string) => {
    for (let i = 0; i < hanging; i++) {
      await owner.ok('webhooks.register', { url, events: ['new_message'], secret: 'a secret' });
    }
  };

  test('do not delay one that responds', async () => {
    const scene = await Scene.set(server(), 3);
    const held = new Held();
    const silent = receiver().endpoint(() => held.reply(503));
    const good = receiver().endpoint();
    await scene.hook(good);
    await scene.sayEverywhere(3, 'before ');
    await good.arrived(9);
    await crowdOf(scene.ada, silent.url);
    await scene.say(0, 'for all');
    await eventually('as many hang as may', async () => held.now === mostHanging || undefined);
    for (let round = 1; round <= 5; round++) {
      await scene.sayEverywhere(1, `round ${round} `);
      await good.arrived(10 + 3 * round);
    }
    expect(held.now).toBe(mostHanging);
    held.release();
  });

  test("do not delay another user's that is new, or had nothing to do for a while", async () => {
    const scene = await Scene.set(server(), 3);
    const held = new Held();
    const silent = receiver().endpoint(() => held.reply(503));
    const rested = receiver().endpoint();
    const restedId = await scene.hook(rested);
    await scene.sayEverywhere(3, 'before ');
    await rested.arrived(9);
    await scene.untilSettled(restedId);
    clock.pass(4 * second);
    await untilLetGo(server(), restedId);
    const { eve } = await users(server(), 'eve');
    await scene.ada.ok('chats.add_participants', { chat_id: scene.chat(0), participants: [eve.userId] });
    await crowdOf(eve, silent.url);
    await scene.say(0, 'for all');
    await eventually('as many hang as may', async () => held.now === mostHanging || undefined);
    const fresh = receiver().endpoint();
    await scene.hook(fresh);
    await scene.sayEverywhere(2, 'late ');
    await rested.arrived(16);
    await fresh.arrived(6);
    expect(held.now).toBe(mostHanging);
    held.release();
  });
});

onAnyEngine('the metrics', (engine) => {
  const { server, receiver } = clockedServer(engine);
  const metrics = async () => {
    const text = await (await fetch(`${server().url}/metrics`)).text();
    return new Map(
      text
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line): [string, number] => {
          const space = line.lastIndexOf(' ');
          return [line.slice(0, space), Number(line.slice(space + 1))];
        }),
    );
  };

  test('count deliveries by what became of them, attempts by outcome, the lag, and the lanes that are open', async () => {
    const scene = await Scene.set(server(), 3);
    const away = await Absent.make();
    const endpoint = receiver().endpoint(({ data }) => (data.chat_id === scene.chat(0) ? 500 : 200));
    await scene.hook(endpoint);
    await scene.hook(away);
    await scene.sayEverywhere(2);
    await endpoint.arrived(5);
    const shown = await eventually('the metrics tell of it', async () => {
      const found = await metrics();
      const attempts = (outcome: string) => found.get(`parley_webhook_attempt_seconds_count{outcome="${outcome}"}`);
      const isThere =
        found.get('parley_deliveries_total{state="delivered"}') === 4 &&
        attempts('delivered') === 4 &&
        attempts('5xx') === 1 &&
        attempts('refused') === 1 &&
        found.get('parley_webhook_chat_queues') === 4;
      return isThere ? found : undefined;
    });
    expect(shown.get('parley_webhook_lag_seconds_count')).toBe(6);
    expect(shown.get('parley_webhook_lag_seconds_bucket{le="+Inf"}')).toBe(6);
    expect(shown.get('parley_webhook_lag_seconds_sum')).toBeGreaterThanOrEqual(0);
  });
});
