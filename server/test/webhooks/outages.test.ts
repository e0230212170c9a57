import { expect, test } from 'bun:test';
import { retryPolicy } from '../../webhooks/retry-policy.ts';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { eventsAfter, users } from '../support/people.ts';
import {
  Absent,
  clockedServer,
  day,
  hour,
  minute,
  numbers,
  Scene,
  second,
  sentinelFor,
} from '../support/webhook-scene.ts';

onAnyEngine('an event that is refused while others pass', (engine) => {
  const { clock, server, receiver } = clockedServer(engine);
  const sentinel = sentinelFor(server, receiver);

  test('is tried again ten times at the times of the policy, then has failed, and its chat moves on', async () => {
    const scene = await Scene.set(server(), 2);
    const endpoint = receiver().endpoint(({ data }) =>
      data.content === 'poison' ? { status: 500, body: 'no such thing' } : 200,
    );
    const webhookId = await scene.hook(endpoint);
    await scene.say(0, 'poison', 'behind it');
    await scene.say(1, 'elsewhere');
    await endpoint.arrived(2);

    const attemptsAt: number[] = [];
    const tried = () => endpoint.arrivals.filter(({ data }) => data.content === 'poison').length;
    for (const [i, wait] of retryPolicy.refused.entries()) {
      const delivery = await eventually(`attempt ${i + 1} is written down`, async () => {
        const [first] = await scene.deliveries(webhookId);
        return first?.attempt_count === i + 1 ? first : undefined;
      });
      expect(delivery).toMatchObject({
        state: 'retrying',
        last_status: 500,
        last_error: 'the endpoint responded with 500',
      });
      expect(delivery.last_attempt_at).toBe(new Date(clock.at).toISOString());
      attemptsAt.push(clock.at);
      const waits = Date.parse(delivery.next_attempt_at ?? '') - clock.at;
      expect(waits).toBeGreaterThanOrEqual(wait * 0.8);
      expect(waits).toBeLessThanOrEqual(wait * 1.2);

      clock.moveTo(delivery.next_attempt_at, -1);
      await sentinel().passes();
      expect(tried()).toBe(i + 1);
      clock.pass(1);
      await eventually(`attempt ${i + 2}`, async () => tried() === i + 2 || undefined);
    }
    attemptsAt.push(clock.at);

    await eventually('the chat moves on', async () => endpoint.contents.includes('behind it') || undefined);
    await scene.untilSettled(webhookId);
    const [failed, ...others] = await scene.deliveries(webhookId);
    expect(failed).toMatchObject({ state: 'failed', reason: null, attempt_count: 11, next_attempt_at: null });
    expect(others.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
    const { delivery } = await scene.ada.ok('webhooks.delivery', { delivery_id: failed?.delivery_id ?? 0 });
    expect(delivery.attempts.map(({ duration_ms: _, ...attempt }) => attempt)).toEqual(
      attemptsAt.map((at, i) => ({
        number: i + 1,
        at: new Date(at).toISOString(),
        status: 500,
        error: 'the endpoint responded with 500',
        cause: 'status',
        answer: 'no such thing',
      })),
    );
    expect(delivery.body).toBe(endpoint.arrivals[0]?.body ?? '');
    const poison = endpoint.arrivals.filter(({ data }) => data.content === 'poison');
    expect(poison.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 11 }, (_, i) => i + 1));
    expect(new Set(poison.map(({ eventId }) => eventId)).size).toBe(1);
    expect(new Set(poison.map(({ body }) => body)).size).toBe(1);
  });

  test('delays neither other chats nor other webhooks', async () => {
    const scene = await Scene.set(server(), 4);
    const endpoint = receiver().endpoint(({ data }) => (data.chat_id === scene.chat(0) ? 400 : 200));
    const other = receiver().endpoint();
    const webhookId = await scene.hook(endpoint);
    await scene.hook(other);
    await scene.sayEverywhere(10);
    await other.arrived(40);
    await endpoint.arrived(31);
    scene.expectAllOnce(other, numbers(10));
    const passed = endpoint.arrivals.filter(({ data }) => data.chat_id !== scene.chat(0));
    expect(passed).toHaveLength(30);
    expect(endpoint.arrivals).toHaveLength(31);
    await scene.untilAttempts(webhookId, 31);
    expect((await scene.webhook(webhookId)).down_since).toBeNull();
    expect(await scene.deliveries(webhookId, 'pending')).toHaveLength(9);
  });

  test('is no sign of an outage, however often it is refused in its one chat', async () => {
    const scene = await Scene.set(server(), 1);
    const endpoint = receiver().endpoint(500);
    const webhookId = await scene.hook(endpoint);
    await scene.say(0, 'refused');
    for (let attempts = 1; attempts <= 7; attempts++) {
      await scene.untilAttempts(webhookId, attempts);
      expect(await scene.webhook(webhookId)).toMatchObject({ down_since: null, next_attempt_at: null });
      clock.moveTo((await scene.deliveries(webhookId))[0]?.next_attempt_at ?? null);
    }
  });
});

onAnyEngine('an endpoint that is down', (engine) => {
  const { clock, server, receiver } = clockedServer(engine);
  const sentinel = sentinelFor(server, receiver);
  const after = (ms: number) => new Date(clock.at + ms).toISOString();

  test('gets a single probe after 5 s, 30 s, 2 min and every 5 min; nothing fails; back again, it gets all in order', async () => {
    const scene = await Scene.set(server(), 3);
    const endpoint = await Absent.make();
    const webhookId = await scene.hook(endpoint);
    const since = after(0);
    await scene.sayEverywhere(2);
    for (const [i, wait] of [5, 30, 120, 300, 300, 300].entries()) {
      await scene.untilAttempts(webhookId, i + 1);
      expect(await scene.webhook(webhookId)).toMatchObject({
        status: 'active',
        down_since: since,
        next_attempt_at: after(wait * second),
      });
      clock.pass(wait * second - 1);
      await sentinel().passes();
      expect(await scene.attempts(webhookId)).toBe(i + 1);
      clock.pass(1);
    }
    await scene.untilAttempts(webhookId, 7);
    for (let days = 1; days < 5; days++) {
      clock.pass(day);
      await scene.untilAttempts(webhookId, 7 + days);
    }
    const tried = (await scene.deliveries(webhookId)).filter(({ attempt_count }) => attempt_count > 0);
    expect(tried.length).toBeGreaterThan(1);
    for (const { state, last_error } of tried) {
      expect({ state, last_error }).toEqual({ state: 'retrying', last_error: 'connection refused' });
    }
    expect(await scene.deliveries(webhookId, 'failed')).toEqual([]);

    endpoint.open();
    clock.pass(5 * minute);
    await scene.untilSettled(webhookId);
    for (const chatId of scene.chats) expect(endpoint.in(chatId)).toEqual(['0', '1']);
    expect(await scene.webhook(webhookId)).toMatchObject({ down_since: null, next_attempt_at: null });
    const { attempts } = (await scene.ada.ok('webhooks.delivery', { delivery_id: tried[0]?.delivery_id ?? 0 }))
      .delivery;
    expect(attempts.at(-1)).toMatchObject({ status: 200, error: null });
    expect(attempts[0]).toMatchObject({ number: 1, status: null, error: 'connection refused', answer: null });
  });

  test('is known by five refusals in a row over two chats or more, which then count against no event', async () => {
    const scene = await Scene.set(server(), 8);
    const endpoint = receiver().endpoint(500);
    const webhookId = await scene.hook(endpoint);
    for (let chat = 0; chat < 8; chat++) await scene.say(chat, 'refused');
    await endpoint.arrived(5);
    await sentinel().passes();
    expect(endpoint.arrivals).toHaveLength(5);
    expect(await scene.webhook(webhookId)).toMatchObject({ down_since: after(0), next_attempt_at: after(5 * second) });

    for (const [i, wait] of [5, 30, 120, 300, 300].entries()) {
      clock.pass(wait * second);
      await endpoint.arrived(6 + i);
      await sentinel().passes();
      expect(endpoint.arrivals).toHaveLength(6 + i);
    }
    expect(await scene.deliveries(webhookId, 'failed')).toEqual([]);
    endpoint.reply = () => 200;
    clock.pass(5 * minute);
    await scene.untilSettled(webhookId);
    expect((await scene.deliveries(webhookId)).map(({ state }) => state)).toEqual(Array(8).fill('delivered'));
  });

  test('is probed after 5 s, however many requests were under way when it went down', async () => {
    const scene = await Scene.set(server(), 10);
    const endpoint = receiver().endpoint();
    const webhookId = await scene.hook(endpoint);
    await scene.sayEverywhere(3, 'warm ');
    await endpoint.arrived(30);
    const allThere = Promise.withResolvers<void>();
    endpoint.reply = () => ({ status: 500, after: allThere.promise });
    await scene.sayEverywhere(1, 'cut off ');
    await endpoint.arrived(40);
    allThere.resolve();
    await scene.untilAttempts(webhookId, 40);
    expect(await scene.webhook(webhookId)).toMatchObject({ down_since: after(0), next_attempt_at: after(5 * second) });
    endpoint.reply = () => 200;
    clock.pass(6 * second);
    await scene.untilSettled(webhookId);
  });

  test('is disabled after five days with an event for its owner; active again, it gets all in order', async () => {
    const scene = await Scene.set(server(), 2);
    const { bob } = await users(server(), 'bob');
    await scene.ada.ok('chats.add_participants', { chat_id: scene.chat(0), participants: [bob.userId] });
    const endpoint = await Absent.make();
    const other = receiver().endpoint();
    const bobs = receiver().endpoint();
    const webhookId = await scene.hook(endpoint, ['*']);
    await scene.hook(other, ['webhook_disabled']);
    await bob.ok('webhooks.register', { url: bobs.url, events: ['webhook_disabled'], secret: 's' });
    await scene.sayEverywhere(2, 'before ');
    await scene.untilAttempts(webhookId, 1);
    clock.pass(5 * day - 1);
    await scene.untilAttempts(webhookId, 2);
    expect((await scene.webhook(webhookId)).status).toBe('active');
    clock.pass(5 * minute);
    const data = { webhook_id: webhookId, user_id: scene.ada.userId, url: endpoint.url, reason: 'unreachable' };
    const [told] = await other.arrived(1);
    expect(told).toMatchObject({ event: 'webhook_disabled', data });
    const events = await eventsAfter(scene.ada, 0);
    expect(events.filter(({ event }) => event === 'webhook_disabled').map((e) => e.data)).toEqual([data]);
    expect(await scene.webhook(webhookId)).toMatchObject({ status: 'disabled', disabled_reason: 'unreachable' });

    await scene.sayEverywhere(2, 'after ');
    const attempts = await scene.attempts(webhookId);
    clock.pass(hour);
    await sentinel().passes();
    expect(await scene.attempts(webhookId)).toBe(attempts);
    expect(await scene.deliveries(webhookId, 'failed')).toEqual([]);

    endpoint.open();
    await scene.setStatus(webhookId, 'active');
    await scene.untilSettled(webhookId);
    for (const chatId of scene.chats)
      expect(endpoint.in(chatId)).toEqual(['before 0', 'before 1', 'after 0', 'after 1']);
    expect(endpoint.arrivals).toHaveLength(8);
    expect(bobs.arrivals).toEqual([]);
    expect(await scene.webhook(webhookId)).toMatchObject({ status: 'active', disabled_reason: null });
  });
});

onAnyEngine('an endpoint that responds with 410', (engine) => {
  const { clock, server, receiver } = clockedServer(engine);
  const sentinel = sentinelFor(server, receiver);

  test('is disabled at once with the reason gone; active again, it gets the waiting events in order', async () => {
    const scene = await Scene.set(server(), 2);
    const endpoint = receiver().endpoint(410);
    const other = receiver().endpoint();
    const webhookId = await scene.hook(endpoint);
    await scene.hook(other, ['webhook_disabled']);
    await scene.say(0, 'first', 'second');
    const [told] = await other.arrived(1);
    expect(told?.data).toMatchObject({ webhook_id: webhookId, reason: 'gone' });
    expect(await scene.webhook(webhookId)).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
    await scene.say(0, 'third');
    await scene.say(1, 'elsewhere');
    clock.pass(day);
    await sentinel().passes();
    expect(endpoint.contents).toEqual(['first']);
    const [first, ...rest] = await scene.deliveries(webhookId);
    expect(first).toMatchObject({ state: 'retrying', last_status: 410, last_error: 'the endpoint responded with 410' });
    for (const { state, attempt_count } of rest)
      expect({ state, attempt_count }).toEqual({ state: 'pending', attempt_count: 0 });
    expect((await scene.webhook(webhookId)).oldest_undelivered_age).toBe(day / second);

    endpoint.reply = () => 200;
    await scene.setStatus(webhookId, 'active');
    await scene.untilSettled(webhookId);
    const inFirst = endpoint.arrivals.filter(({ data }) => data.chat_id === scene.chat(0));
    expect(inFirst.map(({ data, attempt }) => [data.content, attempt])).toEqual([
      ['first', 1],
      ['first', 2],
      ['second', 1],
      ['third', 1],
    ]);
    expect(endpoint.contents).toContain('elsewhere');
  });
});

onAnyEngine('Retry-After', (engine) => {
  const { clock, server, receiver } = clockedServer(engine);
  const sentinel = sentinelFor(server, receiver);
  const asDate = (ms: number) => new Date(clock.at + ms).toUTCString();

  const pleas: [status: number, how: string, value: () => string, heldFor: number][] = [
    [429, 'in seconds', () => '120', 2 * minute],
    [503, 'in seconds', () => '40', 40 * second],
    [429, 'as a date', () => asDate(10 * minute), 10 * minute],
    [503, 'as a date', () => asDate(2 * minute), 2 * minute],
    [503, 'that is longer than an hour', () => '86400', hour],
  ];
  for (const [status, how, value, heldFor] of pleas) {
    test(`${how} on ${status} holds the whole endpoint, other chats too`, async () => {
      clock.at = Math.ceil(clock.at / second) * second;
      const scene = await Scene.set(server(), 3);
      const endpoint = receiver().endpoint(() => ({ status, headers: { 'Retry-After': value() } }));
      const webhookId = await scene.hook(endpoint);
      await scene.say(0, 'put off');
      await scene.untilAttempts(webhookId, 1);
      const until = new Date(clock.at + heldFor).toISOString();
      expect(await scene.webhook(webhookId)).toMatchObject({ next_attempt_at: until, down_since: null });
      await scene.say(1, 'waits too');
      await scene.say(2, 'as well');
      clock.pass(heldFor - 1);
      await sentinel().passes();
      expect(endpoint.contents).toEqual(['put off']);
      endpoint.reply = () => 200;
      clock.pass(1);
      await scene.untilSettled(webhookId);
      expect(endpoint.arrivals).toHaveLength(4);
    });
  }

  test('means nothing on other statuses', async () => {
    const scene = await Scene.set(server(), 2);
    const endpoint = receiver().endpoint({ status: 500, headers: { 'Retry-After': '600' } });
    const webhookId = await scene.hook(endpoint);
    await scene.say(0, 'refused');
    await scene.untilAttempts(webhookId, 1);
    expect((await scene.webhook(webhookId)).next_attempt_at).toBeNull();
    endpoint.reply = () => 200;
    await scene.say(1, 'passes');
    await endpoint.arrived(2);
    clock.pass(6 * second);
    await scene.untilSettled(webhookId);
  });
});
