import { expect, test } from 'bun:test';
import { logTip, readCursor } from '../../store/log/events.ts';
import { lockWebhooks, noteRegistryChange } from '../../store/webhooks/webhooks.ts';
import { onAnyEngine, onBothEngines } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { Held, receiverFor } from '../support/receiver.ts';
import { dropExpired, logRead } from '../support/retention.ts';
import { serverFor } from '../support/server.ts';
import {
  Absent,
  clockedServer,
  day,
  hour,
  minute,
  numbers,
  openRows,
  Scene,
  second,
  sentinelFor,
  sweepMs,
  untilBacklogged,
  untilLetGo,
} from '../support/webhook-scene.ts';

onBothEngines('a backlog', (engine) => {
  const { clock, server, receiver } = clockedServer(engine);
  const sentinel = sentinelFor(server, receiver);
  /** Made out of the log at a time, once fewer than half as many wait. */
  const refill = 1_024;

  test('of a webhook that was paused arrives once and in order, out of few rows at a time', async () => {
    const scene = await Scene.set(server(), 10);
    const first = new Held();
    const later = new Held();
    const endpoint = receiver().endpoint(() => first.reply());
    const webhookId = await scene.hook(endpoint);
    await scene.setStatus(webhookId, 'paused');
    await scene.sayEverywhere(180);
    await sentinel().passes();
    expect(await openRows(server(), webhookId)).toBe(0);
    expect(endpoint.arrivals).toEqual([]);

    await scene.setStatus(webhookId, 'active');
    await endpoint.arrived(1);
    await sentinel().passes();
    expect(await openRows(server(), webhookId)).toBe(refill);
    endpoint.reply = () => (endpoint.arrivals.length > 700 ? later.reply() : 200);
    first.release();
    await eventually('the rest is rows', async () => (await openRows(server(), webhookId)) === 1_100 || undefined);
    endpoint.reply = () => 200;
    later.release();
    await scene.untilSettled(webhookId);
    scene.expectAllOnce(endpoint, numbers(180));
  });

  test('stays in order with messages that are sent while it is delivered', async () => {
    const scene = await Scene.set(server(), 4);
    const held = new Held();
    const endpoint = receiver().endpoint(() => (endpoint.arrivals.length > 20 ? held.reply() : 200));
    const webhookId = await scene.hook(endpoint);
    await scene.setStatus(webhookId, 'paused');
    await scene.sayEverywhere(30, 'old ');
    await scene.setStatus(webhookId, 'active');
    await endpoint.arrived(21);
    const sending = scene.sayEverywhere(30, 'new ');
    await scene.say(0, 'in between');
    endpoint.reply = () => 200;
    held.release();
    await sending;
    await endpoint.arrived(241);
    await scene.untilSettled(webhookId);
    const inBetween = endpoint.arrivals.findIndex(({ data }) => data.content === 'in between');
    expect(endpoint.arrivals.splice(inBetween, 1)).toHaveLength(1);
    scene.expectAllOnce(endpoint, [...numbers(30, 'old '), ...numbers(30, 'new ')]);
  });

  test('of an endpoint that is down takes few rows, and arrives in order when it is back', async () => {
    const scene = await Scene.set(server(), 20);
    const endpoint = await Absent.make();
    const webhookId = await scene.hook(endpoint);
    await scene.sayEverywhere(55, 'early ');
    await untilBacklogged(server(), webhookId);
    const rows = await openRows(server(), webhookId);
    expect(rows).toBeGreaterThan(1_000);
    await scene.sayEverywhere(15, 'late ');
    await sentinel().passes();
    expect(await openRows(server(), webhookId)).toBe(rows);
    endpoint.open();
    clock.pass(5 * minute);
    await scene.untilSettled(webhookId);
    for (const chatId of scene.chats) {
      expect(endpoint.in(chatId)).toEqual([...numbers(55, 'early '), ...numbers(15, 'late ')]);
    }
    await endpoint.close();
  });

  test('of one chat that is stuck stops no other, and goes out in order once its first is skipped', async () => {
    const scene = await Scene.set(server(), 2);
    const [stuck, moving] = [scene.chat(0), scene.chat(1)];
    const endpoint = receiver().endpoint(({ data }) => (data.content === 'poison' ? 400 : 200));
    const webhookId = await scene.hook(endpoint);
    const inChat = (chatId: number) =>
      endpoint.arrivals.filter(({ data }) => data.chat_id === chatId).map(({ data }) => data.content);
    await scene.say(0, 'poison');
    await scene.untilAttempts(webhookId, 1);
    await scene.say(0, ...numbers(120));
    await untilBacklogged(server(), webhookId, stuck);
    const rows = await openRows(server(), webhookId);
    await scene.say(1, ...numbers(20));
    await eventually('the other chat is through', async () => inChat(moving).length === 20 || undefined);
    expect(inChat(moving)).toEqual(numbers(20));
    expect(inChat(stuck)).toEqual(['poison']);
    await scene.say(0, ...numbers(60, 'later '));
    await sentinel().passes();
    expect(await openRows(server(), webhookId)).toBe(rows);
    const [first] = await scene.deliveries(webhookId, 'retrying');
    await scene.ada.ok('webhooks.skip', { delivery_id: first?.delivery_id ?? 0 });
    await scene.untilSettled(webhookId);
    expect(inChat(stuck)).toEqual(['poison', ...numbers(120), ...numbers(60, 'later ')]);
    const [skipped] = await scene.deliveries(webhookId, 'skipped');
    expect(skipped).toMatchObject({ delivery_id: first?.delivery_id, state: 'skipped', reason: 'by_owner' });
  });

  test('loses nothing of a chat that gets stuck while it is worked off', async () => {
    const scene = await Scene.set(server(), 3);
    let refuses = true;
    const endpoint = receiver().endpoint(({ data }) =>
      refuses && data.chat_id === scene.chat(0) && data.content === '10' ? 400 : 200,
    );
    const webhookId = await scene.hook(endpoint);
    await scene.setStatus(webhookId, 'paused');
    await scene.sayEverywhere(400);
    await scene.setStatus(webhookId, 'active');
    await endpoint.arrived(811);
    await sentinel().passes();
    expect(endpoint.arrivals).toHaveLength(811);
    refuses = false;
    clock.pass(6 * second);
    await endpoint.arrived(1_201);
    await scene.untilSettled(webhookId);
    const inStuck = endpoint.arrivals.filter(({ data }) => data.chat_id === scene.chat(0));
    expect(inStuck.map(({ data }) => data.content)).toEqual([
      ...numbers(11),
      ...Array.from({ length: 390 }, (_, i) => String(i + 10)),
    ]);
  });

  test('is complete, however often a webhook is paused and made active in the midst of messages', async () => {
    const scene = await Scene.set(server(), 6);
    const flip = async (chat: number) => {
      const endpoint = receiver().endpoint();
      const { webhook } = await scene.ada.ok('webhooks.register', {
        url: endpoint.url,
        events: ['new_message'],
        secret: 's',
        chat_id: scene.chat(chat),
      });
      for (let i = 0; i < 9; i++) {
        await scene.setStatus(webhook.webhook_id, 'paused');
        await scene.say(chat, String(i));
        await scene.setStatus(webhook.webhook_id, 'active');
        // At times it has caught up before it is paused again.
        if (i % 3 === 0) await endpoint.arrived(i + 1);
      }
      await endpoint.arrived(9);
      await scene.untilSettled(webhook.webhook_id);
      expect(endpoint.contents).toEqual(numbers(9));
    };
    await Promise.all(scene.chats.map((_, chat) => flip(chat)));
  });
});

onAnyEngine('a webhook that is set active soon after it was paused', (engine) => {
  const server = serverFor(engine, {}, { sweepMs });
  const receiver = receiverFor();

  for (const when of ['before', 'after']) {
    test(`goes on, with nothing sent twice, while others are busy: ${when} it was let go`, async () => {
      const scene = await Scene.set(server(), 1);
      const [othersHeld, held] = [new Held(), new Held()];
      const busy = receiver().endpoint(() => othersHeld.reply());
      const endpoint = receiver().endpoint(() => held.reply());
      await scene.hook(busy);
      const webhookId = await scene.hook(endpoint);
      await scene.say(0, '0');
      await endpoint.arrived(1);
      await busy.arrived(1);
      await scene.setStatus(webhookId, 'paused');
      await scene.say(0, '1');
      endpoint.reply = () => 200;
      held.release();
      if (when === 'after') await untilLetGo(server(), webhookId);
      await scene.setStatus(webhookId, 'active');
      await scene.say(0, '2');
      await endpoint.arrived(3);
      await scene.untilSettled(webhookId);
      expect(endpoint.contents).toEqual(numbers(3));
      othersHeld.release();
    });
  }
});

onAnyEngine('an event that matched no webhook at first', (engine) => {
  // Without sweeps nobody writes down that the messages were passed over.
  const server = serverFor(engine, {}, { sweepMs: hour });
  const receiver = receiverFor();

  test('reaches webhooks that are set active a moment later, as many as they are', async () => {
    const scene = await Scene.set(server(), 1);
    const endpoints = Array.from({ length: 30 }, () => receiver().endpoint());
    for (const endpoint of endpoints) await scene.setStatus(await scene.hook(endpoint), 'paused');
    const db = server().engine;
    await scene.say(0, ...numbers(3));
    expect(await readCursor(db, 'webhooks')).toBeLessThan(await logTip(db));
    // All at once, as other servers do it.
    await db.write(async (tx) => {
      await lockWebhooks(tx);
      await tx.run(`UPDATE webhooks SET status = 'active'`);
      await tx.run('UPDATE endpoint_state SET due_at = 0, revision = revision + 1');
      await noteRegistryChange(tx);
    });
    // The server looks when somebody changes a webhook, or sends a message.
    const another = await scene.hook(receiver().endpoint());
    await scene.setStatus(another, 'active');
    await scene.say(0, '3');
    for (const endpoint of endpoints) {
      await endpoint.arrived(4);
      expect(endpoint.contents).toEqual(numbers(4));
    }
  });
});

onBothEngines('deliveries past their time', (engine) => {
  const { clock, server, receiver } = clockedServer(engine, { PARLEY_EVENT_DAYS: '1' });
  const pass = async (ms: number) => {
    await logRead(server().engine);
    clock.pass(ms);
  };
  const drop = () => dropExpired(server().engine, clock.now);
  const rowsOf = async (table: string, where: string, id: number) => {
    const row = await server().engine.get<{ found: number }>(
      `SELECT count(*) AS found FROM ${table} WHERE ${where} = $1`,
      [id],
    );
    return Number(row?.found);
  };

  test('are skipped as expired and counted, whether they were rows or still in the log', async () => {
    const scene = await Scene.set(server(), 2);
    const away = await Absent.make();
    const paused = receiver().endpoint();
    const awayId = await scene.hook(away);
    const pausedId = await scene.hook(paused);
    await scene.setStatus(pausedId, 'paused');
    await scene.sayEverywhere(2, 'old ');
    await scene.untilAttempts(awayId, 1);
    await pass(day - hour);
    await scene.sayEverywhere(1, 'newer ');
    await pass(2 * hour);
    await drop();
    for (const webhookId of [awayId, pausedId]) {
      const skipped = await scene.deliveries(webhookId, 'skipped');
      expect(skipped.map(({ reason }) => reason)).toEqual(Array(4).fill('expired'));
      expect((await scene.webhook(webhookId)).expired_count).toBe(4);
    }
    away.open();
    // An attempt that is under way may still find the endpoint away, and set a later retry.
    await eventually('the endpoint gets what it missed', async () => {
      // A lease that expires before the result is written would repeat the delivery.
      if (away.arrivals.length < 2) clock.pass(minute);
      return (await scene.webhook(awayId)).oldest_undelivered_age === null || undefined;
    });
    await scene.setStatus(pausedId, 'active');
    await scene.untilSettled(pausedId);
    expect(away.arrivals.map(({ content }) => content)).toEqual(['newer 0', 'newer 0']);
    expect(paused.contents).toEqual(['newer 0', 'newer 0']);
    const { delivery } = await scene.ada.ok('webhooks.delivery', {
      delivery_id: (await scene.deliveries(awayId, 'skipped'))[0]?.delivery_id ?? 0,
    });
    expect(delivery).toMatchObject({ state: 'skipped', reason: 'expired', body: null });
    await away.close();
  });

  test('are dropped with their attempts when they are settled, and not before', async () => {
    const scene = await Scene.set(server(), 1);
    let refuses = true;
    const endpoint = receiver().endpoint(() => (refuses ? 500 : 200));
    const webhookId = await scene.hook(endpoint);
    await scene.say(0, 'refused once');
    await scene.untilAttempts(webhookId, 1);
    refuses = false;
    clock.pass(6 * second);
    await scene.untilSettled(webhookId);
    const [delivery] = await scene.deliveries(webhookId);
    const id = delivery?.delivery_id ?? 0;
    await pass(day - minute);
    await drop();
    expect(await rowsOf('attempts', 'delivery_id', id)).toBe(2);
    clock.pass(2 * minute);
    await drop();
    expect(await rowsOf('deliveries', 'webhook_id', webhookId)).toBe(0);
    expect(await rowsOf('attempts', 'delivery_id', id)).toBe(0);
    expect(await scene.ada.refused('webhooks.delivery', { delivery_id: id })).toBe('not_found');
  });

  test('do not keep what came after them in the log from going out', async () => {
    const scene = await Scene.set(server(), 12);
    const away = await Absent.make();
    const webhookId = await scene.hook(away);
    await scene.sayEverywhere(95, 'old ');
    await eventually('it is found to be down', async () => (await scene.webhook(webhookId)).down_since ?? undefined);
    await untilBacklogged(server(), webhookId);
    await pass(day - hour);
    await scene.sayEverywhere(2, 'newer ');
    await pass(2 * hour);
    await drop();
    expect((await scene.webhook(webhookId)).expired_count).toBe(1_140);
    await eventually('its lease is released', async () => {
      clock.pass(4 * second);
      return (await rowsOf('endpoint_state', 'owner IS NULL AND webhook_id', webhookId)) === 1 || undefined;
    });
    away.open();
    clock.pass(10 * minute);
    await eventually('the newer ones arrive', async () => away.arrivals.length >= 24 || undefined);
    for (const chatId of scene.chats) expect(away.in(chatId)).toEqual(numbers(2, 'newer '));
    await away.close();
  });

  test('are dropped although older ones of another webhook had to wait', async () => {
    const scene = await Scene.set(server(), 8);
    const away = await Absent.make();
    const endpoint = receiver().endpoint();
    const awayId = await scene.hook(away);
    const webhookId = await scene.hook(endpoint, ['message_edited']);
    await scene.sayEverywhere(65);
    await eventually('they wait', async () => (await openRows(server(), awayId)) > 500 || undefined);
    const { message } = await scene.ada.ok('messages.send_message', { chat_id: scene.chat(0), content: 'one' });
    await scene.ada.ok('messages.edit_message', { message_id: message.message_id, content: 'two' });
    await endpoint.arrived(1);
    await scene.untilSettled(webhookId);
    await pass(day + minute);
    await drop();
    expect(await rowsOf('deliveries', 'webhook_id', webhookId)).toBe(0);
  });
});
