import { afterAll, expect, test } from 'bun:test';
import type { ClientOutput } from '@parley/contract';
import { dropExpired } from '../events/retention.ts';
import { pruneDeliveries } from '../store/deliveries.ts';
import { appendOne, logTip, readCursor } from '../store/events.ts';
import { lockWebhooks, noteRegistryChange } from '../store/webhooks.ts';
import { expireDeliveries } from '../webhooks/expiry.ts';
import { retryPolicy } from '../webhooks/retry-policy.ts';
import { Client } from './support/client.ts';
import { deliveryFaults, sayFaults } from './support/delivery-check.ts';
import { freshEnvironment, onBothEngines, onPostgres } from './support/engines.ts';
import { freePort } from './support/postgres.ts';
import { type Endpoint, Receiver, type Reply, receiverFor } from './support/receiver.ts';
import { attach, serverFor, spawnServer, startServer, type TestServer } from './support/server.ts';
import { eventsAfter, eventually, users } from './support/world.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Soon enough for a server that was not woken to notice. */
const sweepMs = 20;

/** The clock of a server: it stands still until it is moved, which the next sweep notices. */
class Clock {
  at = Date.now();
  readonly now = () => this.at;

  pass(ms: number): void {
    this.at += ms;
  }

  /** To a time as the API tells it. */
  moveTo(time: string | null, plusMs = 0): void {
    if (time === null) throw new Error('there is no such time');
    this.at = Date.parse(time) + plusMs;
  }
}

/** Long enough for several sweeps: what was going to happen has happened. */
const afterSweeps = () => Bun.sleep(5 * sweepMs);

type Webhook = ClientOutput<'webhooks.get'>['webhook'];
type Delivery = ClientOutput<'webhooks.deliveries'>['deliveries'][number];

/** A user with chats of their own and a webhook that is told of the messages in them. */
class Scene {
  readonly ada: Client;
  readonly chats: readonly number[];

  constructor(ada: Client, chats: readonly number[]) {
    this.ada = ada;
    this.chats = chats;
  }

  static async set(server: TestServer, chatCount: number): Promise<Scene> {
    const { ada } = await users(server, 'ada');
    const create = async (i: number) =>
      (await ada.ok('messages.create_group', { name: `chat ${i}`, participants: [] })).group.chat_id;
    return new Scene(ada, await Promise.all(Array.from({ length: chatCount }, (_, i) => create(i))));
  }

  chat(index: number): number {
    const chatId = this.chats[index];
    if (chatId === undefined) throw new Error(`there is no chat ${index}`);
    return chatId;
  }

  async hook({ url }: { url: string }, events = ['new_message']): Promise<number> {
    const { webhook } = await this.ada.ok('webhooks.register', { url, events, secret: 'a secret' });
    return webhook.webhook_id;
  }

  async say(chat: number, ...contents: string[]): Promise<void> {
    for (const content of contents) await this.ada.ok('messages.send_message', { chat_id: this.chat(chat), content });
  }

  /** So many messages to every chat, the chats side by side. */
  async sayEverywhere(count: number, prefix = ''): Promise<void> {
    const numbered = Array.from({ length: count }, (_, i) => `${prefix}${i}`);
    await Promise.all(this.chats.map((_, chat) => this.say(chat, ...numbered)));
  }

  async webhook(webhookId: number): Promise<Webhook> {
    return (await this.ada.ok('webhooks.get', { webhook_id: webhookId })).webhook;
  }

  async setStatus(webhookId: number, status: 'active' | 'paused'): Promise<void> {
    await this.ada.ok('webhooks.update', { webhook_id: webhookId, status });
  }

  /** The first deliveries, oldest first. */
  async deliveries(webhookId: number, state?: Delivery['state']): Promise<Delivery[]> {
    const filter = state === undefined ? {} : { state };
    const { deliveries } = await this.ada.ok('webhooks.deliveries', { webhook_id: webhookId, limit: 200, ...filter });
    return deliveries.toReversed();
  }

  /** Attempts at all of them. */
  async attempts(webhookId: number): Promise<number> {
    return (await this.deliveries(webhookId)).reduce((sum, { attempt_count }) => sum + attempt_count, 0);
  }

  async untilAttempts(webhookId: number, count: number): Promise<void> {
    await eventually(`${count} attempts`, async () => ((await this.attempts(webhookId)) >= count ? true : undefined));
  }

  async untilSettled(webhookId: number): Promise<void> {
    await eventually('everything is settled', async () => {
      const { oldest_undelivered_age } = await this.webhook(webhookId);
      return oldest_undelivered_age === null || undefined;
    });
  }

  /** Checks that an endpoint got what was said to every chat, once and in order. */
  expectAllOnce({ arrivals }: Endpoint, expected: readonly string[]): void {
    const told = Map.groupBy(arrivals, ({ data }) => data.chat_id);
    for (const chatId of this.chats) {
      const contents = (told.get(chatId) ?? []).map(({ data }) => data.content);
      expect(contents).toEqual([...expected]);
    }
  }
}

const numbers = (count: number, prefix = '') => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

/** Open deliveries, as many rows as they take. */
async function openRows(server: TestServer, webhookId: number): Promise<number> {
  const row = await server.engine.get<{ open: number }>(
    `SELECT count(*) AS open FROM deliveries WHERE webhook_id = $1 AND state IN ('pending', 'retrying')`,
    webhookId,
  );
  return Number(row?.open);
}

/** No process drives it any more. */
async function untilLetGo({ engine }: TestServer, webhookId: number): Promise<void> {
  const isFree = async () => {
    const drive = await engine.get<{ owner: string | null }>(
      'SELECT owner FROM drives WHERE webhook_id = $1',
      webhookId,
    );
    return drive?.owner === null || undefined;
  };
  await eventually('it is let go', isFree);
}

/** The most of a number that is looked at again and again until the work is done. */
async function peakDuring(look: () => Promise<number>, work: Promise<unknown>): Promise<number> {
  let peak = 0;
  let done = false;
  const finished = work.finally(() => {
    done = true;
  });
  while (!done) {
    peak = Math.max(peak, await look());
    await Bun.sleep(2);
  }
  await finished;
  return peak;
}

/** Answers late, and knows how many requests it had at once. */
class Crowd {
  now = 0;
  peak = 0;
  /** How many there were at each arrival, itself included. */
  readonly seen: number[] = [];

  answer(delayMs: number, status = 200): Reply {
    this.now++;
    this.seen.push(this.now);
    this.peak = Math.max(this.peak, this.now);
    const after = Bun.sleep(delayMs).then(() => {
      this.now--;
    });
    return { status, after };
  }
}

/** An address at which nobody is, until somebody comes. */
class Absent {
  readonly url: string;
  readonly arrivals: { content: unknown; chatId: unknown; eventId: number; attempt: number }[] = [];
  readonly #port: number;
  #server: Bun.Server<undefined> | undefined;

  private constructor(port: number) {
    this.#port = port;
    this.url = `http://127.0.0.1:${port}/hook`;
    afterAll(() => this.close());
  }

  static async make(): Promise<Absent> {
    return new Absent(await freePort());
  }

  open(): void {
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: this.#port,
      fetch: async (request) => {
        const { data } = (await request.json()) as { data: Record<string, unknown> };
        const eventId = Number(request.headers.get('x-webhook-id'));
        const attempt = Number(request.headers.get('x-webhook-attempt'));
        this.arrivals.push({ content: data.content, chatId: data.chat_id, eventId, attempt });
        return new Response('');
      },
    });
  }

  async close(): Promise<void> {
    await this.#server?.stop(true);
    this.#server = undefined;
  }

  in(chatId: number): unknown[] {
    return this.arrivals.filter((arrival) => arrival.chatId === chatId).map(({ content }) => content);
  }
}

onBothEngines('lanes', (engine) => {
  const server = serverFor(engine, {}, { sweepMs });
  const receiver = receiverFor();

  test('keep the order of each chat, one request at a time, and run beside each other', async () => {
    const scene = await Scene.set(server(), 12);
    const perChat = new Map<unknown, number>();
    const crowd = new Crowd();
    const endpoint = receiver().endpoint(({ data }) => {
      const delayMs = Math.random() * 10;
      perChat.set(data.chat_id, (perChat.get(data.chat_id) ?? 0) + 1);
      expect(perChat.get(data.chat_id)).toBe(1);
      const reply = crowd.answer(delayMs) as { after: Promise<unknown> };
      return {
        after: reply.after.then(() => {
          perChat.set(data.chat_id, 0);
        }),
      };
    });
    const webhookId = await scene.hook(endpoint);
    await scene.sayEverywhere(25);
    await endpoint.arrived(12 * 25, 15_000);
    await scene.untilSettled(webhookId);
    scene.expectAllOnce(endpoint, numbers(25));
    expect(crowd.peak).toBeGreaterThan(1);
    expect(new Set(endpoint.arrivals.map(({ attempt }) => attempt))).toEqual(new Set([1]));
  });

  test('have at most 64 requests under way at one endpoint', async () => {
    const scene = await Scene.set(server(), 80);
    const crowd = new Crowd();
    const endpoint = receiver().endpoint(() => crowd.answer(100));
    await scene.hook(endpoint);
    await scene.sayEverywhere(5);
    await endpoint.arrived(400, 15_000);
    scene.expectAllOnce(endpoint, numbers(5));
    expect(crowd.peak).toBeLessThanOrEqual(64);
    expect(crowd.peak).toBeGreaterThan(20);
  });

  const lapses: Record<string, () => Reply> = {
    failed: () => 500,
    'took more than a second': () => ({ delayMs: 1_100 }),
  };
  for (const [what, lapse] of Object.entries(lapses)) {
    test(`send one request at a time to an endpoint whose last attempt ${what}`, async () => {
      const scene = await Scene.set(server(), 12);
      const endpoint = receiver().endpoint();
      const webhookId = await scene.hook(endpoint);
      await scene.sayEverywhere(2, 'warm ');
      await endpoint.arrived(24);

      const before = new Crowd();
      endpoint.reply = () => before.answer(150);
      await scene.sayEverywhere(1, 'quick ');
      await endpoint.arrived(36);
      expect(before.peak).toBeGreaterThan(1);
      await eventually('they are answered', async () => before.now === 0 || undefined);

      endpoint.reply = lapse;
      await scene.say(0, 'bad');
      await scene.untilAttempts(webhookId, 37);
      const after = new Crowd();
      endpoint.reply = () => after.answer(150);
      await Promise.all(scene.chats.slice(1, 9).map((_, i) => scene.say(i + 1, 'late')));
      await endpoint.arrived(45);
      // The first of them comes after the bad one, and alone.
      expect(after.seen.slice(0, 2)).toEqual([1, 1]);
    });
  }
});

onBothEngines('an event that is refused while others pass', (engine) => {
  const clock = new Clock();
  const server = serverFor(engine, {}, { now: clock.now, sweepMs });
  const receiver = receiverFor();

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
      expect(delivery).toMatchObject({ state: 'retrying', last_status: 500, last_error: 'the endpoint answered 500' });
      expect(delivery.last_attempt_at).toBe(new Date(clock.at).toISOString());
      attemptsAt.push(clock.at);
      const waits = Date.parse(delivery.next_attempt_at ?? '') - clock.at;
      expect(waits).toBeGreaterThanOrEqual(wait * 0.8);
      expect(waits).toBeLessThanOrEqual(wait * 1.2);

      clock.moveTo(delivery.next_attempt_at, -1);
      await afterSweeps();
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
        error: 'the endpoint answered 500',
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

onBothEngines('an endpoint that is down', (engine) => {
  const clock = new Clock();
  const server = serverFor(engine, {}, { now: clock.now, sweepMs });
  const receiver = receiverFor();
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
      await afterSweeps();
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
    await afterSweeps();
    expect(endpoint.arrivals).toHaveLength(5);
    expect(await scene.webhook(webhookId)).toMatchObject({ down_since: after(0), next_attempt_at: after(5 * second) });

    for (const [i, wait] of [5, 30, 120, 300, 300].entries()) {
      clock.pass(wait * second);
      await endpoint.arrived(6 + i);
      await afterSweeps();
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

  test('is disabled after five days, of which its owner is told elsewhere; active again, it gets all in order', async () => {
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
    await afterSweeps();
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

onBothEngines('an endpoint that answers 410', (engine) => {
  const clock = new Clock();
  const server = serverFor(engine, {}, { now: clock.now, sweepMs });
  const receiver = receiverFor();

  test('is disabled at once and told as gone; what waits goes out in order when it is active again', async () => {
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
    await afterSweeps();
    expect(endpoint.contents).toEqual(['first']);
    const [first, ...rest] = await scene.deliveries(webhookId);
    expect(first).toMatchObject({ state: 'retrying', last_status: 410, last_error: 'the endpoint answered 410' });
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

onBothEngines('Retry-After', (engine) => {
  const clock = new Clock();
  const server = serverFor(engine, {}, { now: clock.now, sweepMs });
  const receiver = receiverFor();
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
      await afterSweeps();
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

onBothEngines('endpoints that hang', (engine) => {
  const server = serverFor(engine, {}, { sweepMs });
  const receiver = receiverFor();
  const hanging = 150;
  /** Each of them hangs for 15 s, and there are more than may hang at once. */
  const promptMs = 5_000;

  const crowdOf = async (owner: Client, url: string) => {
    for (let i = 0; i < hanging; i++) {
      await owner.ok('webhooks.register', { url, events: ['new_message'], secret: 'a secret' });
    }
  };

  test('do not delay one that answers', async () => {
    const scene = await Scene.set(server(), 3);
    const answered = Promise.withResolvers<void>();
    const silent = receiver().endpoint({ status: 503, after: answered.promise });
    const good = receiver().endpoint();
    await scene.hook(good);
    await scene.sayEverywhere(3, 'before ');
    await good.arrived(9);
    await crowdOf(scene.ada, silent.url);
    for (let round = 1; round <= 5; round++) {
      await scene.sayEverywhere(1, `round ${round} `);
      await good.arrived(9 + 3 * round, promptMs);
    }
    expect(silent.arrivals.length).toBeGreaterThan(50);
    expect(silent.arrivals.length).toBeLessThanOrEqual(112);
    answered.resolve();
  });

  test("do not delay another user's that is new, or had nothing to do for a while", async () => {
    const scene = await Scene.set(server(), 3);
    const answered = Promise.withResolvers<void>();
    const silent = receiver().endpoint({ status: 503, after: answered.promise });
    const rested = receiver().endpoint();
    const restedId = await scene.hook(rested);
    await scene.sayEverywhere(3, 'before ');
    await rested.arrived(9);
    await untilLetGo(server(), restedId);
    const { eve } = await users(server(), 'eve');
    await scene.ada.ok('chats.add_participants', { chat_id: scene.chat(0), participants: [eve.userId] });
    await crowdOf(eve, silent.url);
    await scene.say(0, 'for all');
    await eventually('many hang', async () => silent.arrivals.length > 50 || undefined);
    const fresh = receiver().endpoint();
    await scene.hook(fresh);
    await scene.sayEverywhere(2, 'late ');
    try {
      await rested.arrived(16, promptMs);
      await fresh.arrived(6, promptMs);
    } finally {
      answered.resolve();
    }
  });
});

onBothEngines('a backlog', (engine) => {
  const clock = new Clock();
  const server = serverFor(engine, {}, { now: clock.now, sweepMs });
  const receiver = receiverFor();
  /** A thousand wait as rows, and a step of the dispatcher or a stretch of the log may come on top. */
  const mostRows = 2_200;

  test('of a webhook that was paused arrives once and in order, out of few rows at a time', async () => {
    const scene = await Scene.set(server(), 10);
    const endpoint = receiver().endpoint();
    const webhookId = await scene.hook(endpoint);
    await scene.setStatus(webhookId, 'paused');
    await scene.sayEverywhere(500);
    await afterSweeps();
    expect(await openRows(server(), webhookId)).toBe(0);
    expect(endpoint.arrivals).toEqual([]);
    await scene.setStatus(webhookId, 'active');
    const peak = await peakDuring(() => openRows(server(), webhookId), endpoint.arrived(5_000, 20_000));
    // Of 5,000. What has arrived counts until that is written down.
    expect(peak).toBeLessThan(mostRows + 1_024);
    await scene.untilSettled(webhookId);
    scene.expectAllOnce(endpoint, numbers(500));
  });

  test('goes on in order with what is sent while it is worked off', async () => {
    const scene = await Scene.set(server(), 4);
    const endpoint = receiver().endpoint(() => ({ delayMs: 2 }));
    const webhookId = await scene.hook(endpoint);
    await scene.setStatus(webhookId, 'paused');
    await scene.sayEverywhere(100, 'old ');
    await scene.setStatus(webhookId, 'active');
    await scene.sayEverywhere(100, 'new ');
    await endpoint.arrived(800, 15_000);
    await scene.untilSettled(webhookId);
    scene.expectAllOnce(endpoint, [...numbers(100, 'old '), ...numbers(100, 'new ')]);
  });

  test('of an endpoint that is down takes few rows, and arrives in order when it is back', async () => {
    const scene = await Scene.set(server(), 10);
    const endpoint = await Absent.make();
    const webhookId = await scene.hook(endpoint);
    const peak = await peakDuring(() => openRows(server(), webhookId), scene.sayEverywhere(400));
    // Of 4,000. The dispatcher may make one more step while it is told to leave the webhook out.
    expect(peak).toBeLessThan(mostRows + 1_024);
    expect(peak).toBeGreaterThan(0);
    await afterSweeps();
    expect(await openRows(server(), webhookId)).toBeLessThan(mostRows + 1_024);
    endpoint.open();
    clock.pass(5 * minute);
    await eventually('all have arrived', async () => endpoint.arrivals.length >= 4_000 || undefined);
    await scene.untilSettled(webhookId);
    for (const chatId of scene.chats) expect(endpoint.in(chatId)).toEqual(numbers(400));
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
    await scene.say(0, ...numbers(250));
    await scene.say(1, ...numbers(50));
    await eventually('the other chat is through', async () => inChat(moving).length === 50 || undefined);
    expect(inChat(moving)).toEqual(numbers(50));
    expect(inChat(stuck)).toEqual(['poison']);
    await scene.say(0, ...numbers(100, 'later '));
    await afterSweeps();
    expect(await openRows(server(), webhookId)).toBeLessThan(250);
    const [first] = await scene.deliveries(webhookId, 'retrying');
    await scene.ada.ok('webhooks.skip', { delivery_id: first?.delivery_id ?? 0 });
    await scene.untilSettled(webhookId);
    expect(inChat(stuck)).toEqual(['poison', ...numbers(250), ...numbers(100, 'later ')]);
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
    await scene.sayEverywhere(800);
    await scene.setStatus(webhookId, 'active');
    await endpoint.arrived(1_611, 15_000);
    await afterSweeps();
    expect(endpoint.arrivals).toHaveLength(1_611);
    refuses = false;
    clock.pass(6 * second);
    await endpoint.arrived(2_401, 15_000);
    await scene.untilSettled(webhookId);
    const inStuck = endpoint.arrivals.filter(({ data }) => data.chat_id === scene.chat(0));
    expect(inStuck.map(({ data }) => data.content)).toEqual([
      ...numbers(11),
      ...Array.from({ length: 790 }, (_, i) => String(i + 10)),
    ]);
  });

  test('is complete, however often a webhook is paused and made active in the midst of messages', async () => {
    const scene = await Scene.set(server(), 8);
    const flip = async (chat: number) => {
      const endpoint = receiver().endpoint();
      const { webhook } = await scene.ada.ok('webhooks.register', {
        url: endpoint.url,
        events: ['new_message'],
        secret: 's',
        chat_id: scene.chat(chat),
      });
      for (let i = 0; i < 12; i++) {
        await scene.setStatus(webhook.webhook_id, 'paused');
        await scene.say(chat, String(i));
        await scene.setStatus(webhook.webhook_id, 'active');
        if (i % 3 === 0) await Bun.sleep(Math.random() * 10);
      }
      await endpoint.arrived(12, 8_000);
      await scene.untilSettled(webhook.webhook_id);
      expect(endpoint.contents).toEqual(numbers(12));
    };
    await Promise.all(scene.chats.map((_, chat) => flip(chat)));
  });
});

onBothEngines('a webhook that is set active soon after it was paused', (engine) => {
  const server = serverFor(engine, {}, { sweepMs });
  const receiver = receiverFor();

  test('goes on at once, with nothing sent twice, while others are busy', async () => {
    const scene = await Scene.set(server(), 2);
    const busy = receiver().endpoint(() => ({ delayMs: 20 }));
    const endpoint = receiver().endpoint(() => ({ delayMs: 100 }));
    await scene.hook(busy);
    const webhookId = await scene.hook(endpoint);
    await scene.say(0, '0');
    await endpoint.arrived(1);
    await scene.setStatus(webhookId, 'paused');
    await scene.say(0, '1');
    await Bun.sleep(200);
    await scene.setStatus(webhookId, 'active');
    await scene.say(0, '2');
    await endpoint.arrived(3, 3_000);
    await scene.untilSettled(webhookId);
    expect(endpoint.contents).toEqual(numbers(3));
  });
});

onBothEngines('what nobody was to be told of at first', (engine) => {
  // Seldom enough for a message to be passed over, and for webhooks to be set active, in between.
  const server = serverFor(engine, {}, { sweepMs: 500 });
  const receiver = receiverFor();

  test('reaches webhooks that are set active a moment later, as many as they are', async () => {
    const scene = await Scene.set(server(), 1);
    const endpoints = Array.from({ length: 30 }, () => receiver().endpoint());
    for (const endpoint of endpoints) await scene.setStatus(await scene.hook(endpoint), 'paused');
    const db = server().engine;
    for (let sent = 1, isBehind = false; !isBehind; sent++) {
      await scene.say(0, String(sent));
      await Bun.sleep(30);
      isBehind = (await readCursor(db, 'webhooks')) < (await logTip(db));
      if (sent > 20) throw new Error('the cursor is never behind');
    }
    // All at once, as other servers do it.
    await db.write(async (tx) => {
      await lockWebhooks(tx);
      await tx.run(`UPDATE webhooks SET status = 'active'`);
      await tx.run('UPDATE drives SET due_at = 0, revision = revision + 1');
      await noteRegistryChange(tx);
    });
    const { messages } = await scene.ada.ok('messages.get_messages', { chat_id: scene.chat(0) });
    for (const endpoint of endpoints) {
      await endpoint.arrived(messages.length, 8_000);
      expect(endpoint.contents).toEqual(messages.map(({ content }) => content));
    }
  });
});

onBothEngines('a restart', (engine) => {
  test('in the midst of a backlog loses nothing, repeats nothing where it is graceful, and keeps the order', async () => {
    const env = await freshEnvironment(engine);
    const receiver = new Receiver();
    let server = await startServer(env, { sweepMs });
    const scene = await Scene.set(server, 6);
    const endpoint = receiver.endpoint(() => ({ delayMs: 3 }));
    const webhookId = await scene.hook(endpoint);
    await scene.setStatus(webhookId, 'paused');
    await scene.sayEverywhere(200);
    await scene.setStatus(webhookId, 'active');
    await endpoint.arrived(300, 10_000);
    await server.stop();
    const before = endpoint.arrivals.length;
    expect(before).toBeLessThan(1_200);
    await Bun.sleep(100);
    expect(endpoint.arrivals).toHaveLength(before);

    server = await startServer(env, { sweepMs });
    await endpoint.arrived(1_200, 15_000);
    const again = new Scene(new Client(server.url, scene.ada.token, scene.ada.userId), scene.chats);
    await again.untilSettled(webhookId);
    again.expectAllOnce(endpoint, numbers(200));
    await server.stop();
    await receiver.stop();
  });

  test('keeps what is known of an endpoint that is down, and of an event that is refused', async () => {
    const clock = new Clock();
    const env = await freshEnvironment(engine);
    const receiver = new Receiver();
    let server = await startServer(env, { sweepMs, now: clock.now });
    const scene = await Scene.set(server, 1);
    const away = await Absent.make();
    const refusing = receiver.endpoint(500);
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

    server = await startServer(env, { sweepMs, now: clock.now });
    const again = new Scene(new Client(server.url, scene.ada.token, scene.ada.userId), scene.chats);
    expect(await again.webhook(awayId)).toMatchObject({
      down_since: webhook.down_since,
      next_attempt_at: webhook.next_attempt_at,
    });
    await afterSweeps();
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
    await server.stop();
    await receiver.stop();
    await away.close();
  });
});

onPostgres('two servers on one database', () => {
  const receiver = receiverFor();
  const there: { stop(): Promise<void> }[] = [];
  afterAll(async () => {
    for (const server of there) await server.stop();
  });
  const join = async (env: Awaited<ReturnType<typeof freshEnvironment>>) => {
    const server = await startServer(env, { sweepMs });
    there.push(server);
    return server;
  };
  const leave = async (server: TestServer) => {
    there.splice(there.indexOf(server), 1);
    await server.stop();
  };
  const through = (server: TestServer, { ada, chats }: Scene) =>
    new Scene(new Client(server.url, ada.token, ada.userId), chats);
  const owners = async ({ engine }: TestServer) =>
    (await engine.all<{ owner: string }>('SELECT DISTINCT owner FROM drives WHERE owner IS NOT NULL')).map(
      ({ owner }) => owner,
    );

  test('share the webhooks and send nothing twice', async () => {
    const env = await freshEnvironment('postgres');
    const [one, two] = [await join(env), await join(env)];
    const scene = await Scene.set(one, 5);
    const endpoints = Array.from({ length: 6 }, () => receiver().endpoint(() => ({ delayMs: Math.random() * 5 })));
    for (const endpoint of endpoints) await scene.hook(endpoint);
    const other = through(two, scene);
    for (let i = 0; i < 30; i++) await (i % 2 === 0 ? scene : other).sayEverywhere(1, `${i} `);
    for (const endpoint of endpoints) {
      await endpoint.arrived(150, 10_000);
    }
    await Bun.sleep(300);
    for (const endpoint of endpoints) {
      scene.expectAllOnce(
        endpoint,
        numbers(30).map((i) => `${i} 0`),
      );
    }
    await leave(one);
    await leave(two);
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
    await through(two, scene).say(0, 'there');
    await endpoint.arrived(2);
    expect(await owners(one)).toEqual(holders);
    expect(endpoint.contents).toEqual(['here', 'there']);
    await leave(one);
    await leave(two);
  });

  test('take over at once from one that stops', async () => {
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
    await through(two, scene).say(0, 'second');
    // A lease that was not given back would take 5 s to run out.
    await endpoint.arrived(2, 3_000);
    await through(two, scene).untilSettled(webhookId);
    expect(endpoint.contents).toEqual(['first', 'second']);
    await leave(two);
  });

  test('take over within 10 s from one that is killed, in order', async () => {
    const env = await freshEnvironment('postgres');
    const running = await spawnServer(env);
    const setUp = await attach(running.url, env);
    const scene = await Scene.set(setUp, 4);
    const endpoints = [receiver().endpoint(() => ({ delayMs: 10 })), receiver().endpoint(() => ({ delayMs: 30 }))];
    const webhookIds: number[] = [];
    for (const endpoint of endpoints) webhookIds.push(await scene.hook(endpoint));
    await setUp.stop();
    const two = await join(env);
    const sent = scene.sayEverywhere(30);
    await endpoints[0]?.arrived(20, 10_000);
    await sent;
    const killedAt = performance.now();
    await running.kill('SIGKILL');
    const rest = through(two, scene);
    await rest.sayEverywhere(10, 'later ');
    for (const endpoint of endpoints) {
      await eventually('all is there', async () => new Set(endpoint.eventIds).size === 160 || undefined);
    }
    expect(performance.now() - killedAt).toBeLessThan(15_000);
    const acknowledged = (await Promise.all(scene.chats.map((chat_id) => messagesOf(rest.ada, chat_id)))).flat();
    const received = endpoints.flatMap(({ arrivals }) =>
      arrivals.map(({ headers, eventId, body }) => ({
        webhookId: Number(headers.get('x-webhook-registration')),
        eventId,
        body,
        accepted: true,
      })),
    );
    expect(sayFaults(deliveryFaults(webhookIds, acknowledged, received))).toBe('');
    await leave(two);
  });
});

async function messagesOf(client: Client, chat_id: number) {
  const { messages } = await client.ok('messages.get_messages', { chat_id, limit: 200 });
  return messages.map(({ message_id, content }) => ({ chatId: chat_id, messageId: message_id, content }));
}

onBothEngines('a process that has lost its lease', (engine) => {
  const receiver = receiverFor();
  const takeOver = ({ engine }: TestServer, webhookId: number) =>
    engine.run(
      `UPDATE drives SET owner = 'somebody else', lease_number = lease_number + 1,
         lease_until = ${engine.dialect.now} + 60000 WHERE webhook_id = $1`,
      webhookId,
    );
  const expectUntouched = async (scene: Scene, webhookId: number) => {
    for (const { state, attempt_count } of await scene.deliveries(webhookId)) {
      expect({ state, attempt_count }).toEqual({ state: 'pending', attempt_count: 0 });
    }
  };

  for (const [when, ms] of Object.entries({ 'it has noticed': sweepMs, 'it has not noticed yet': minute })) {
    test(`writes down nothing of a request that was under way, when ${when}`, async () => {
      const server = await startServer(await freshEnvironment(engine), { sweepMs: ms });
      const scene = await Scene.set(server, 1);
      const answered = Promise.withResolvers<void>();
      const endpoint = receiver().endpoint({ after: answered.promise });
      const webhookId = await scene.hook(endpoint);
      await scene.say(0, 'first');
      await endpoint.arrived(1);
      await takeOver(server, webhookId);
      await afterSweeps();
      answered.resolve();
      await afterSweeps();
      await expectUntouched(scene, webhookId);
      await server.stop();
    });
  }

  test('sends nothing more; whoever gets the lease begins where it was', async () => {
    const server = await startServer(await freshEnvironment(engine), { sweepMs });
    const scene = await Scene.set(server, 2);
    const answered = Promise.withResolvers<void>();
    const endpoint = receiver().endpoint({ after: answered.promise });
    const webhookId = await scene.hook(endpoint);
    await scene.say(0, 'first', 'second');
    await endpoint.arrived(1);
    await takeOver(server, webhookId);
    await afterSweeps();
    answered.resolve();
    await scene.say(0, 'third');
    await scene.say(1, 'elsewhere');
    await Bun.sleep(300);
    expect(endpoint.contents).toEqual(['first']);
    await expectUntouched(scene, webhookId);
    await server.engine.run('UPDATE drives SET lease_until = 0 WHERE webhook_id = $1', webhookId);
    await scene.untilSettled(webhookId);
    const inFirst = endpoint.arrivals.filter(({ data }) => data.chat_id === scene.chat(0));
    expect(inFirst.map(({ data, attempt }) => [data.content, attempt])).toEqual([
      ['first', 1],
      ['first', 1],
      ['second', 1],
      ['third', 1],
    ]);
    await server.stop();
  });
});

onBothEngines('a wake-up that is lost', (engine) => {
  const server = serverFor(engine, {}, { sweepMs });
  const receiver = receiverFor();

  test('only delays: the next sweep finds the event', async () => {
    const scene = await Scene.set(server(), 1);
    const endpoint = receiver().endpoint();
    await scene.hook(endpoint, ['chat_updated']);
    const chat_id = scene.chat(0);
    const told = { event: 'chat_updated', data: { chat_id, actor_id: scene.ada.userId, name: 'renamed' } };
    // Past the server: nobody tells it.
    const eventId = await server().engine.write((tx) => appendOne(tx, told as never, Date.now()));
    const [arrival] = await endpoint.arrived(1);
    expect(arrival).toMatchObject({ eventId, event: 'chat_updated', data: { name: 'renamed' } });
  });
});

onPostgres('a database that fails for a moment', () => {
  const server = serverFor('postgres', {}, { sweepMs });
  const receiver = receiverFor();

  test('only delays a webhook that was being taken up', async () => {
    const scene = await Scene.set(server(), 2);
    const answered = Promise.withResolvers<void>();
    const busy = receiver().endpoint({ after: answered.promise });
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
      await db.run(`UPDATE webhooks SET status = 'active' WHERE webhook_id = $1`, webhookId);
      await db.run('UPDATE drives SET due_at = 0, revision = revision + 1 WHERE webhook_id = $1', webhookId);
      await Bun.sleep(200);
    } finally {
      await db.run('ALTER TABLE backlogs_hidden RENAME TO backlogs');
    }
    try {
      await endpoint.arrived(1, 9_000);
    } finally {
      answered.resolve();
    }
  });
});

onBothEngines('deliveries past their time', (engine) => {
  const clock = new Clock();
  const server = serverFor(engine, { PARLEY_EVENT_DAYS: '1' }, { now: clock.now, sweepMs });
  const receiver = receiverFor();
  const deliveries = { dropping: expireDeliveries, prune: pruneDeliveries };
  const drop = async () => {
    await eventually('everybody has read the log', async () => {
      const { engine } = server();
      const tip = await logTip(engine);
      const cursors = await Promise.all([readCursor(engine, 'webhooks'), readCursor(engine, 'search')]);
      return cursors.every((cursor) => cursor === tip) || undefined;
    });
    while (await dropExpired(server().engine, { deliveries, eventDays: 1, now: clock.now, counted: () => {} }));
  };
  const rowsOf = async (table: string, where: string, id: number) => {
    const row = await server().engine.get<{ found: number }>(
      `SELECT count(*) AS found FROM ${table} WHERE ${where} = $1`,
      id,
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
    clock.pass(day - hour);
    await scene.sayEverywhere(1, 'newer ');
    clock.pass(2 * hour);
    await drop();
    for (const webhookId of [awayId, pausedId]) {
      const skipped = await scene.deliveries(webhookId, 'skipped');
      expect(skipped.map(({ reason }) => reason)).toEqual(Array(4).fill('expired'));
      expect((await scene.webhook(webhookId)).expired_count).toBe(4);
    }
    away.open();
    clock.pass(10 * minute);
    await scene.setStatus(pausedId, 'active');
    await scene.untilSettled(awayId);
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
    clock.pass(day - minute);
    await drop();
    expect(await rowsOf('attempts', 'delivery_id', id)).toBe(2);
    clock.pass(2 * minute);
    await drop();
    expect(await rowsOf('deliveries', 'webhook_id', webhookId)).toBe(0);
    expect(await rowsOf('attempts', 'delivery_id', id)).toBe(0);
    expect(await scene.ada.refused('webhooks.delivery', { delivery_id: id })).toBe('not_found');
  });

  test('do not keep what came after them in the log from going out', async () => {
    const scene = await Scene.set(server(), 4);
    const away = await Absent.make();
    const webhookId = await scene.hook(away);
    await scene.sayEverywhere(350, 'old ');
    await eventually('it is found to be down', async () => (await scene.webhook(webhookId)).down_since ?? undefined);
    clock.pass(day - hour);
    await scene.sayEverywhere(5, 'newer ');
    clock.pass(2 * hour);
    await drop();
    expect((await scene.webhook(webhookId)).expired_count).toBe(1_400);
    // Long enough to be let go of.
    await Bun.sleep(3_500);
    away.open();
    clock.pass(10 * minute);
    await eventually('the newer ones arrive', async () => away.arrivals.length >= 20 || undefined);
    for (const chatId of scene.chats) expect(away.in(chatId)).toEqual(numbers(5, 'newer '));
    await away.close();
  });

  test('are dropped although older ones of another webhook had to wait', async () => {
    const scene = await Scene.set(server(), 8);
    const away = await Absent.make();
    const endpoint = receiver().endpoint();
    const awayId = await scene.hook(away);
    const { webhook } = await scene.ada.ok('webhooks.register', {
      url: endpoint.url,
      events: ['message_edited'],
      secret: 's',
    });
    await scene.sayEverywhere(80);
    expect(await openRows(server(), awayId)).toBeGreaterThan(500);
    const { message } = await scene.ada.ok('messages.send_message', { chat_id: scene.chat(0), content: 'one' });
    await scene.ada.ok('messages.edit_message', { message_id: message.message_id, content: 'two' });
    await endpoint.arrived(1);
    await scene.untilSettled(webhook.webhook_id);
    clock.pass(day + minute);
    await drop();
    expect(await rowsOf('deliveries', 'webhook_id', webhook.webhook_id)).toBe(0);
  });
});

onBothEngines('the metrics', (engine) => {
  const server = serverFor(engine, {}, { sweepMs });
  const receiver = receiverFor();
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
        found.get('parley_webhook_lanes') === 4;
      return isThere ? found : undefined;
    });
    expect(shown.get('parley_webhook_lag_seconds_count')).toBe(6);
    expect(shown.get('parley_webhook_lag_seconds_bucket{le="+Inf"}')).toBe(6);
    expect(shown.get('parley_webhook_lag_seconds_sum')).toBeGreaterThanOrEqual(0);
  });
});

onBothEngines('webhooks without traffic', (engine) => {
  const server = serverFor(engine, {}, { sweepMs });
  const receiver = receiverFor();
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
    for (const webhookId of webhookIds) await untilLetGo(server(), webhookId);
    const before = await version();
    await scene.say(0, 'seen by the one who looks');
    expect(await version()).not.toBe(before);
    for (const endpoint of endpoints) await endpoint.arrived(3);
    for (const webhookId of webhookIds) await untilLetGo(server(), webhookId);
    await eventually('a second without a write', async () => {
      const earlier = await version();
      await Bun.sleep(1_000);
      return (await version()) === earlier || undefined;
    });
  });
});
