import { afterAll, expect, test } from 'bun:test';
import { appendOne } from '../../store/log/events.ts';
import { type Environment, freshEnvironment, onBothEngines, onPostgres } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { Held, receiverFor } from '../support/receiver.ts';
import { serverFor, startServer, type TestServer } from '../support/server.ts';
import {
  Absent,
  Clock,
  clockedServer,
  hour,
  numbers,
  Scene,
  Sentinel,
  second,
  sweepMs,
  untilClosed,
  untilLetGo,
} from '../support/webhook-scene.ts';

onBothEngines('a restart', (engine) => {
  const receiver = receiverFor();

  test('in the midst of a backlog loses nothing, repeats nothing where it is graceful, and keeps the order', async () => {
    const env = await freshEnvironment(engine);
    const server = await startServer(env, { sweepMs });
    const scene = await Scene.set(server, 6);
    const held = new Held();
    const endpoint = receiver().endpoint(() => (endpoint.arrivals.length > 60 ? held.reply() : 200));
    const webhookId = await scene.hook(endpoint);
    await scene.setStatus(webhookId, 'paused');
    await scene.sayEverywhere(30);
    await scene.setStatus(webhookId, 'active');
    await endpoint.arrived(61);
    const stopped = server.stop();
    await untilClosed(server);
    held.release();
    await stopped;
    expect(endpoint.arrivals.length).toBeLessThan(180);

    const next = await startServer(env, { sweepMs });
    await scene.at(next).untilSettled(webhookId);
    scene.expectAllOnce(endpoint, numbers(30));
    await next.stop();
  });

  test('keeps what is known of an endpoint that is down, and of an event that is refused', async () => {
    const clock = new Clock();
    const runtime = { now: clock.now, monotonic: clock.monotonic, sweepMs };
    const env = await freshEnvironment(engine);
    const server = await startServer(env, runtime);
    const scene = await Scene.set(server, 1);
    const away = await Absent.make();
    const refusing = receiver().endpoint(500);
    const awayId = await scene.hook(away);
    const refusingId = await scene.hook(refusing);
    await scene.say(0, 'tried before');
    await scene.untilAttempts(awayId, 1);
    await scene.untilAttempts(refusingId, 1);
    clock.pass(5 * second);
    await scene.untilAttempts(awayId, 2);
    const webhook = await scene.webhook(awayId);
    const [refused] = await scene.deliveries(refusingId);
    await server.stop();

    const next = await startServer(env, runtime);
    const again = scene.at(next);
    expect(await again.webhook(awayId)).toMatchObject({
      down_since: webhook.down_since,
      next_attempt_at: webhook.next_attempt_at,
    });
    await (await Sentinel.post(next, receiver())).passes();
    expect(await again.attempts(awayId)).toBe(2);
    clock.moveTo(webhook.next_attempt_at);
    away.open();
    await again.untilSettled(awayId);
    expect(away.arrivals.map(({ attempt }) => attempt)).toEqual([3]);
    const attempts = refused?.attempt_count ?? 0;
    // Its own time is up to a fifth later than planned.
    clock.pass(10 * second);
    await again.untilAttempts(refusingId, attempts + 1);
    const numbered = refusing.arrivals.map(({ attempt }) => attempt);
    expect(numbered.length).toBeGreaterThan(attempts);
    expect(numbered).toEqual(Array.from(numbered, (_, i) => i + 1));
    await next.stop();
    await away.close();
  });
});

onBothEngines('a process that has lost its lease', (engine) => {
  const sweeping = serverFor(engine, {}, { sweepMs });
  const asleep = serverFor(engine, {}, { sweepMs: hour });
  const receiver = receiverFor();
  const takeOver = ({ engine }: TestServer, webhookId: number) =>
    engine.run(
      `UPDATE endpoint_state SET owner = 'somebody else', lease_number = lease_number + 1,
         lease_expires_at = ${engine.dialect.now} + ${hour} WHERE webhook_id = $1`,
      [webhookId],
    );
  const expectUntouched = async (scene: Scene, webhookId: number) => {
    for (const { state, attempt_count } of await scene.deliveries(webhookId)) {
      expect({ state, attempt_count }).toEqual({ state: 'pending', attempt_count: 0 });
    }
  };

  for (const [when, hasNoticed] of Object.entries({ 'it has noticed': true, 'it has not noticed yet': false })) {
    test(`writes down nothing of a request that was under way, when ${when}`, async () => {
      const server = hasNoticed ? sweeping() : asleep();
      const sentinel = await Sentinel.post(server, receiver());
      const scene = await Scene.set(server, 1);
      const held = new Held();
      const endpoint = receiver().endpoint(() => held.reply());
      const webhookId = await scene.hook(endpoint);
      await scene.say(0, 'first');
      await endpoint.arrived(1);
      await takeOver(server, webhookId);
      if (hasNoticed) await sentinel.passes();
      held.release();
      await sentinel.isTold();
      await expectUntouched(scene, webhookId);
    });
  }

  test('sends nothing more, and the next owner of the lease continues there', async () => {
    const server = sweeping();
    const sentinel = await Sentinel.post(server, receiver());
    const scene = await Scene.set(server, 2);
    const held = new Held();
    const endpoint = receiver().endpoint(() => held.reply());
    const webhookId = await scene.hook(endpoint);
    await scene.say(0, 'first', 'second');
    await endpoint.arrived(1);
    await takeOver(server, webhookId);
    await sentinel.passes();
    held.release();
    await scene.say(0, 'third');
    await scene.say(1, 'elsewhere');
    await sentinel.passes();
    expect(endpoint.contents).toEqual(['first']);
    await expectUntouched(scene, webhookId);
    await server.engine.run('UPDATE endpoint_state SET lease_expires_at = 0 WHERE webhook_id = $1', [webhookId]);
    await scene.untilSettled(webhookId);
    const inFirst = endpoint.arrivals.filter(({ data }) => data.chat_id === scene.chat(0));
    expect(inFirst.map(({ data, attempt }) => [data.content, attempt])).toEqual([
      ['first', 1],
      ['first', 1],
      ['second', 1],
      ['third', 1],
    ]);
  });

  test('finds by itself what it was not woken for', async () => {
    const scene = await Scene.set(sweeping(), 1);
    const endpoint = receiver().endpoint();
    await scene.hook(endpoint, ['chat_updated']);
    const chat_id = scene.chat(0);
    const told = { event: 'chat_updated', data: { chat_id, actor_id: scene.ada.userId, name: 'renamed' } };
    // Past the server: nobody tells it.
    const eventId = await sweeping().engine.write((tx) => appendOne(tx, told as never, Date.now()));
    const [arrival] = await endpoint.arrived(1);
    expect(arrival).toMatchObject({ eventId, event: 'chat_updated', data: { name: 'renamed' } });
  });
});

onBothEngines('webhooks without traffic', (engine) => {
  const { clock, server, receiver } = clockedServer(engine);
  /** Changes whenever anybody writes. */
  const version = async () => {
    const { engine } = server();
    const row =
      engine.dialect.name === 'sqlite'
        ? await engine.get<{ version: number }>('SELECT data_version AS version FROM pragma_data_version')
        : await engine.get<{ version: string }>(
            'SELECT CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS version',
          );
    return String(row?.version);
  };

  test('write nothing to the database', async () => {
    const scene = await Scene.set(server(), 2);
    const endpoints = Array.from({ length: 5 }, () => receiver().endpoint());
    const webhookIds: number[] = [];
    for (const endpoint of endpoints) webhookIds.push(await scene.hook(endpoint));
    await scene.sayEverywhere(1);
    for (const endpoint of endpoints) await endpoint.arrived(2);
    const before = await version();
    await scene.say(0, 'seen by the one who looks');
    expect(await version()).not.toBe(before);
    for (const endpoint of endpoints) await endpoint.arrived(3);
    for (const webhookId of webhookIds) await scene.untilSettled(webhookId);
    clock.pass(4 * second);
    for (const webhookId of webhookIds) await untilLetGo(server(), webhookId);
    await eventually('several sweeps without a write', async () => {
      const earlier = await version();
      await Bun.sleep(10 * sweepMs);
      return (await version()) === earlier || undefined;
    });
  });
});

onPostgres('a database that fails for a moment', () => {
  let printed = '';
  const print = (text: string) => {
    printed += text;
  };
  const server = serverFor('postgres', { LOG_LEVEL: 'warn' }, { sweepMs, print });
  const receiver = receiverFor();

  test('only delays a webhook that was being taken up', async () => {
    const scene = await Scene.set(server(), 2);
    const held = new Held();
    const busy = receiver().endpoint(() => held.reply());
    await scene.ada.ok('webhooks.register', {
      url: busy.url,
      events: ['new_message'],
      secret: 's',
      chat_id: scene.chat(1),
    });
    await scene.say(1, 'keeps it busy');
    await busy.arrived(1);
    const endpoint = receiver().endpoint();
    const webhookId = await scene.hook(endpoint);
    await scene.setStatus(webhookId, 'paused');
    await scene.say(0, 'waits');
    const db = server().engine;
    await db.run('ALTER TABLE backlogs RENAME TO backlogs_hidden');
    try {
      await db.run(`UPDATE webhooks SET status = 'active' WHERE webhook_id = $1`, [webhookId]);
      await db.run('UPDATE endpoint_state SET due_at = 0, revision = revision + 1 WHERE webhook_id = $1', [webhookId]);
      await eventually('it cannot be read', async () => printed.includes('webhook_not_loaded') || undefined);
    } finally {
      await db.run('ALTER TABLE backlogs_hidden RENAME TO backlogs');
    }
    await endpoint.arrived(1);
    held.release();
  });
});

onPostgres('two servers on one database', () => {
  const receiver = receiverFor();
  const there: { stop(): Promise<void> }[] = [];
  afterAll(async () => {
    for (const server of there) await server.stop();
  });
  const join = async (env: Environment) => {
    const server = await startServer(env, { sweepMs });
    there.push(server);
    return server;
  };
  const leave = async (server: TestServer) => {
    there.splice(there.indexOf(server), 1);
    await server.stop();
  };
  const owners = async ({ engine }: TestServer) =>
    (await engine.all<{ owner: string }>('SELECT DISTINCT owner FROM endpoint_state WHERE owner IS NOT NULL')).map(
      ({ owner }) => owner,
    );

  test('share the webhooks and send nothing twice', async () => {
    const env = await freshEnvironment('postgres');
    const [one, two] = [await join(env), await join(env)];
    const scene = await Scene.set(one, 5);
    const endpoints = Array.from({ length: 6 }, () => receiver().endpoint(() => ({ delayMs: Math.random() * 5 })));
    const webhookIds: number[] = [];
    for (const endpoint of endpoints) webhookIds.push(await scene.hook(endpoint));
    const other = scene.at(two);
    for (let i = 0; i < 12; i++) await (i % 2 === 0 ? scene : other).sayEverywhere(1, `${i} `);
    for (const endpoint of endpoints) await endpoint.arrived(60);
    for (const webhookId of webhookIds) await scene.untilSettled(webhookId);
    await leave(one);
    await leave(two);
    for (const endpoint of endpoints) {
      scene.expectAllOnce(
        endpoint,
        numbers(12).map((i) => `${i} 0`),
      );
    }
  });

  test('need no wake-up: what comes in at one is delivered by the other that holds the webhook', async () => {
    const env = await freshEnvironment('postgres');
    const one = await join(env);
    const scene = await Scene.set(one, 1);
    const endpoint = receiver().endpoint();
    await scene.hook(endpoint);
    await scene.say(0, 'here');
    await endpoint.arrived(1);
    const holders = await owners(one);
    expect(holders).toHaveLength(1);
    const two = await join(env);
    await scene.at(two).say(0, 'there');
    await endpoint.arrived(2);
    expect(await owners(one)).toEqual(holders);
    expect(endpoint.contents).toEqual(['here', 'there']);
    await leave(one);
    await leave(two);
  });

  test('take over from one that stops, which gives its leases back', async () => {
    const env = await freshEnvironment('postgres');
    const one = await join(env);
    const scene = await Scene.set(one, 2);
    const endpoint = receiver().endpoint();
    const webhookId = await scene.hook(endpoint);
    await scene.say(0, 'first');
    await endpoint.arrived(1);
    const [holder = ''] = await owners(one);
    const two = await join(env);
    await leave(one);
    expect(await owners(two)).not.toContain(holder);
    await scene.at(two).say(0, 'second');
    await endpoint.arrived(2);
    await scene.at(two).untilSettled(webhookId);
    expect(endpoint.contents).toEqual(['first', 'second']);
    await leave(two);
  });
});
