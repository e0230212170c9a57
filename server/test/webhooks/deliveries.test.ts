import { beforeAll, describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import type { ClientInput, ClientOutput } from '@parley/contract';
import { retryPolicy } from '../../webhooks/retry-policy.ts';
import type { Client } from '../support/client.ts';
import { onBothEngines } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { type Arrival, type Endpoint, receiverFor } from '../support/receiver.ts';
import { dropExpired, logRead } from '../support/retention.ts';
import { serverFor } from '../support/server.ts';
import { sentinelFor } from '../support/webhook-scene.ts';
import { complaint, expectRefusal } from '../support/wire.ts';

const secret = 'a secret';
const day = 24 * 3_600_000;

type Delivery = ClientOutput<'webhooks.deliveries'>['deliveries'][number];

const register = async (by: Client, { url }: Pick<Endpoint, 'url'>, events: string[] = ['*']) =>
  (await by.ok('webhooks.register', { url, events, secret })).webhook.webhook_id;

const newGroup = async (by: Client) =>
  (await by.ok('messages.create_group', { name: 'g', participants: [] })).group.chat_id;

const say = async (by: Client, chat_id: number, ...contents: string[]) => {
  for (const content of contents) await by.ok('messages.send_message', { chat_id, content });
};

type Filter = Omit<ClientInput<'webhooks.deliveries'>, 'webhook_id'>;

/** The newest first, as they are listed. */
const list = async (by: Client, webhook_id: number, filter: Filter = {}) =>
  (await by.ok('webhooks.deliveries', { webhook_id, ...filter })).deliveries;

/** The deliveries of a webhook once there are so many and all are in these states, the oldest first. */
const deliveriesIn = (by: Client, webhook_id: number, ...states: string[]): Promise<Delivery[]> =>
  eventually(`the deliveries are ${states}`, async () => {
    const found = (await list(by, webhook_id)).reverse();
    return found.map(({ state }) => state).join() === states.join() ? found : undefined;
  });

const first = <T>([found]: readonly T[]): T => {
  if (found === undefined) throw new Error('there is none');
  return found;
};

const same = (a: Arrival | undefined, b: Arrival | undefined) =>
  a !== undefined && b !== undefined && a.eventId === b.eventId && a.bytes.equals(b.bytes);

onBothEngines('deliveries', (engine) => {
  let now = Date.now();
  const receiver = receiverFor();
  const server = serverFor(engine, {}, { sweepMs: 20, now: () => now });
  const sentinel = sentinelFor(server, receiver);
  /** Refuses until it is told to take what comes; the clock stands still meanwhile, so nothing is tried by itself. */
  const refusing = (status = 500) => receiver().endpoint({ status, body: 'not now' });

  describe('are listed', () => {
    let ada: Client;
    let webhook_id: number;
    let one: number;
    let two: number;
    let start: number;
    let ids: number[];
    const idsOf = (deliveries: readonly Delivery[]) => deliveries.map(({ event_id }) => event_id as number);
    beforeAll(async () => {
      ({ ada } = await users(server(), 'ada'));
      const endpoint = receiver().endpoint(({ data }) => (data.content === 'bad' ? 500 : 200));
      [one, two] = [await newGroup(ada), await newGroup(ada)];
      webhook_id = await register(ada, endpoint);
      const tip = await eventTip(ada);
      start = now;
      await say(ada, one, 'a');
      await deliveriesIn(ada, webhook_id, 'delivered');
      now += 1_000;
      await say(ada, two, 'b');
      await ada.ok('chats.update', { chat_id: two, name: 'two' });
      await deliveriesIn(ada, webhook_id, 'delivered', 'delivered', 'delivered');
      now += 1_000;
      await say(ada, one, 'bad', 'behind');
      await say(ada, two, 'c');
      ids = (await eventsAfter(ada, tip)).map(({ event_id }) => event_id as number);
      await deliveriesIn(ada, webhook_id, 'delivered', 'delivered', 'delivered', 'retrying', 'pending', 'delivered');
    });
    const at = (...places: number[]) => places.map((place) => ids[place] ?? 0);
    const time = (ms: number) => new Date(start + ms).toISOString();

    test('with those of the newest events first, each with what became of it', async () => {
      const found = await list(ada, webhook_id);
      expect(idsOf(found)).toEqual(at(5, 4, 3, 2, 1, 0));
      expect(found[5]).toEqual({
        delivery_id: found[5]?.delivery_id ?? 0,
        webhook_id,
        event_id: ids[0] ?? 0,
        event: 'new_message',
        chat_id: one,
        replay_id: null,
        state: 'delivered',
        reason: null,
        attempt_count: 1,
        next_attempt_at: null,
        last_attempt_at: time(0),
        last_status: 200,
        last_error: null,
        last_cause: null,
        duration_ms: expect.any(Number) as unknown as number,
      });
      expect(found[2]).toMatchObject({
        state: 'retrying',
        attempt_count: 1,
        last_status: 500,
        last_error: 'the endpoint responded with 500',
      });
      const wait = Date.parse(found[2]?.next_attempt_at ?? '') - now;
      expect(wait).toBeGreaterThanOrEqual(4_000);
      expect(wait).toBeLessThanOrEqual(6_000);
      expect(found[1]).toMatchObject({ state: 'pending', attempt_count: 0, last_attempt_at: null, duration_ms: null });
    });

    test('by state', async () => {
      const by = async (state: Delivery['state']) => idsOf(await list(ada, webhook_id, { state }));
      expect(await by('delivered')).toEqual(at(5, 2, 1, 0));
      expect(await by('retrying')).toEqual(at(3));
      expect(await by('pending')).toEqual(at(4));
      expect(await by('failed')).toEqual([]);
      expect(await by('skipped')).toEqual([]);
    });

    test('by event, chat, and several of these at once', async () => {
      const by = async (filter: Filter) => idsOf(await list(ada, webhook_id, filter));
      expect(await by({ event: 'chat_updated' })).toEqual(at(2));
      expect(await by({ event: 'user_left' })).toEqual([]);
      expect(await by({ chat_id: one })).toEqual(at(4, 3, 0));
      expect(await by({ chat_id: two, event: 'new_message' })).toEqual(at(5, 1));
      expect(await by({ chat_id: one, state: 'delivered' })).toEqual(at(0));
      expect(await by({ chat_id: two, state: 'retrying' })).toEqual([]);
    });

    test('by the time of the event: from one on, and before another', async () => {
      const by = async (filter: Filter) => idsOf(await list(ada, webhook_id, filter));
      expect(await by({ since: time(0) })).toEqual(at(5, 4, 3, 2, 1, 0));
      expect(await by({ since: time(1) })).toEqual(at(5, 4, 3, 2, 1));
      expect(await by({ since: time(1_000), until: time(2_000) })).toEqual(at(2, 1));
      expect(await by({ until: time(1_000) })).toEqual(at(0));
      expect(await by({ until: time(0) })).toEqual([]);
      expect(await by({ since: time(2_001) })).toEqual([]);
      const elsewhere = time(1_000).replace('Z', '+00:00');
      expect(await by({ until: elsewhere })).toEqual(at(0));
    });

    test('by replay', async () => {
      const { replay } = await ada.ok('webhooks.replay', { webhook_id, from_event_id: ids[5] ?? 0 });
      const { replay_id } = replay;
      const found = await eventually('it was replayed', async () => {
        const found = await list(ada, webhook_id, { replay_id });
        return found[0]?.state === 'delivered' ? found : undefined;
      });
      expect(idsOf(found)).toEqual(at(5));
      expect(found[0]?.replay_id).toBe(replay_id);
      expect(await list(ada, webhook_id, { replay_id: replay_id + 1 })).toEqual([]);
    });

    test('page by page, each once, whatever the filter', async () => {
      for (const filter of [{}, { state: 'delivered' as const }, { chat_id: one }, { event: 'new_message' }]) {
        const all = await list(ada, webhook_id, filter);
        for (const limit of [1, 2, all.length]) {
          const pages: Delivery[][] = [];
          for (let before_id: number | undefined, more = true; more; ) {
            const input = { webhook_id, ...filter, limit, ...(before_id !== undefined && { before_id }) };
            const page = await ada.ok('webhooks.deliveries', input);
            expect(page.has_more).toBe(page.next !== null);
            pages.push(page.deliveries);
            before_id = page.next ?? undefined;
            more = page.has_more;
          }
          expect(pages.flat()).toEqual(all);
          for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit);
        }
      }
    });

    const bad: [object, field: string][] = [
      [{ state: 'lost' }, 'state'],
      [{ since: 'yesterday' }, 'since'],
      [{ until: '2026-01-01' }, 'until'],
      [{ limit: 0 }, 'limit'],
      [{ before_id: 'x' }, 'before_id'],
      [{ status: 'delivered' }, 'status'],
    ];
    test.each(bad)('not by %j', async (filter, field) => {
      const answer = await ada.call('webhooks.deliveries', { webhook_id, ...filter } as never);
      expect(complaint(expectRefusal(answer, 'validation_failed'), field)).toBeDefined();
    });
  });

  describe('are shown in full', () => {
    /** Returns the headers of a request that have these names. */
    const sentOf = (arrival: Arrival | undefined, names: Readonly<Record<string, string>> | null) =>
      Object.fromEntries(Object.keys(names ?? {}).map((name) => [name, arrival?.headers.get(name) ?? '']));
    const inFull = async (by: Client, { delivery_id }: Delivery) =>
      (await by.ok('webhooks.delivery', { delivery_id })).delivery;

    test('with the exact body and exactly what was signed', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = receiver().endpoint();
      const webhook_id = await register(ada, endpoint);
      const chat_id = await newGroup(ada);
      await ada.ok('chats.update', { chat_id, name: 'Ñandú "quoted" \\ 🦤' });
      const [, found] = await deliveriesIn(ada, webhook_id, 'delivered', 'delivered');
      if (!found) throw new Error('there is none');
      const delivery = await inFull(ada, found);
      const arrival = endpoint.arrivals[1];
      const { attempts, body, signed_content, headers, ...rest } = delivery;
      expect(rest).toEqual(found);
      expect(body).toBe(arrival?.body ?? '');
      expect(attempts).toEqual([
        {
          number: 1,
          at: new Date(now).toISOString(),
          status: 200,
          error: null,
          cause: null,
          duration_ms: found.duration_ms ?? -1,
          answer: null,
        },
      ]);
      const hmac = (text: string) => createHmac('sha256', secret).update(text);
      expect(arrival?.headers.get('webhook-signature')).toBe(`v1,${hmac(signed_content ?? '').digest('base64')}`);
      expect(arrival?.headers.get('x-webhook-signature')).toBe(`sha256=${hmac(body ?? '').digest('hex')}`);
      expect(sentOf(arrival, headers)).toEqual(headers ?? {});
      expect(signed_content).toBe(`${found.event_id}.${Math.floor(now / 1_000)}.${body}`);
    });

    test('with the time, the status and the start of the response of every attempt', async () => {
      const { ada } = await users(server(), 'ada');
      const replies = [
        { status: 500, body: 'first' },
        { status: 302, body: '' },
        { status: 201, body: 'at last' },
      ];
      const endpoint = receiver().endpoint(({ attempt }) => replies[attempt - 1] ?? 200);
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, endpoint);
      await say(ada, chat_id, 'x');
      const times: number[] = [];
      for (const count of [1, 2, 3]) {
        await endpoint.arrived(count);
        times.push(now);
        const { next_attempt_at } = await eventually('it is written down', async () => {
          const [found] = await list(ada, webhook_id);
          return found?.attempt_count === count ? found : undefined;
        });
        if (next_attempt_at) now = Date.parse(next_attempt_at);
      }
      const { attempts, ...delivery } = await inFull(ada, first(await list(ada, webhook_id)));
      expect(delivery).toMatchObject({ state: 'delivered', attempt_count: 3, last_status: 201, last_error: null });
      expect(attempts.map(({ duration_ms: _, ...attempt }) => attempt)).toEqual([
        {
          number: 1,
          at: new Date(times[0] ?? 0).toISOString(),
          status: 500,
          error: 'the endpoint responded with 500',
          cause: 'status',
          answer: 'first',
        },
        {
          number: 2,
          at: new Date(times[1] ?? 0).toISOString(),
          status: 302,
          error: 'the endpoint responded with 302',
          cause: 'redirect',
          answer: '',
        },
        {
          number: 3,
          at: new Date(times[2] ?? 0).toISOString(),
          status: 201,
          error: null,
          cause: null,
          answer: 'at last',
        },
      ]);
      expect(endpoint.arrivals.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
      expect(endpoint.arrivals.every((arrival) => same(arrival, endpoint.arrivals[0]))).toBe(true);
      const last = endpoint.arrivals[2];
      const signature = createHmac('sha256', secret)
        .update(delivery.signed_content ?? '')
        .digest('base64');
      expect(last?.headers.get('webhook-signature')).toBe(`v1,${signature}`);
      expect(sentOf(last, delivery.headers)).toEqual(delivery.headers ?? {});
    });

    test('with the signatures as they were sent, as long as the secret is known', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = receiver().endpoint();
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, endpoint);
      const rotate = (to: string) => ada.ok('webhooks.rotate_secret', { webhook_id, secret: to });
      /** Whether the signatures of each delivery are shown. Those that are have to be right, as all other headers. */
      const signed = async () => {
        const found = (await list(ada, webhook_id)).toReversed();
        const shown = await Promise.all(found.map((one) => inFull(ada, one)));
        return shown.map(({ headers }, i) => {
          expect(sentOf(endpoint.arrivals[i], headers)).toEqual(headers ?? {});
          expect(headers).toMatchObject({ 'X-Webhook-Attempt': '1', 'webhook-timestamp': expect.any(String) });
          return headers?.['webhook-signature']?.split(' ').length ?? 0;
        });
      };
      const sayNext = async (content: string, count: number) => {
        await say(ada, chat_id, content);
        await deliveriesIn(ada, webhook_id, ...Array.from({ length: count }, () => 'delivered' as const));
      };
      await sayNext('with the first', 1);
      await rotate('the second secret of this webhook');
      await sayNext('with both', 2);
      expect(await signed()).toEqual([1, 2]);
      now += 24 * 3_600_000;
      await sayNext('with the second', 3);
      expect(await signed()).toEqual([1, 2, 1]);
      await rotate('the third secret of this webhook');
      await sayNext('with the second and third', 4);
      // The first secret is gone.
      expect(await signed()).toEqual([0, 0, 1, 2]);
      await ada.ok('webhooks.delete', { webhook_id });
      expect(await signed()).toEqual([0, 0, 0, 0]);
    });

    test('before the first attempt with the body and nothing signed', async () => {
      const { ada } = await users(server(), 'ada');
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, refusing());
      await say(ada, chat_id, 'refused', 'waiting');
      const [, waiting] = await deliveriesIn(ada, webhook_id, 'retrying', 'pending');
      if (!waiting) throw new Error('there is none');
      const delivery = await inFull(ada, waiting);
      expect(delivery).toMatchObject({ attempts: [], signed_content: null, headers: null });
      expect(delivery.body).toContain('waiting');
    });
  });

  describe('are tried at once by redeliver', () => {
    test('where they wait to be tried again', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = refusing();
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, endpoint);
      await say(ada, chat_id, 'one', 'two');
      const [refused] = await deliveriesIn(ada, webhook_id, 'retrying', 'pending');
      endpoint.reply = () => 200;
      const { delivery } = await ada.ok('webhooks.redeliver', { delivery_id: refused?.delivery_id ?? 0 });
      expect(delivery).toMatchObject({ state: 'retrying', next_attempt_at: null });
      await deliveriesIn(ada, webhook_id, 'delivered', 'delivered');
      expect(endpoint.arrivals.map(({ attempt, data }) => [data.content, attempt])).toEqual([
        ['one', 1],
        ['one', 2],
        ['two', 1],
      ]);
    });

    test('where nobody listened and the whole endpoint is left alone', async () => {
      const { ada } = await users(server(), 'ada');
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, { url: 'http://127.0.0.1:9/' });
      await say(ada, chat_id, 'one');
      const [refused] = await deliveriesIn(ada, webhook_id, 'retrying');
      expect((await ada.ok('webhooks.get', { webhook_id })).webhook.down_since).not.toBeNull();
      await ada.ok('webhooks.redeliver', { delivery_id: refused?.delivery_id ?? 0 });
      await eventually('it was tried again', async () => {
        const [found] = await list(ada, webhook_id);
        return (found?.attempt_count === 2 && found.last_error === 'connection refused') || undefined;
      });
    });

    test('in their turn, and not before those that come first', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = refusing();
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, endpoint);
      await say(ada, chat_id, 'one', 'two');
      const [, waiting] = await deliveriesIn(ada, webhook_id, 'retrying', 'pending');
      const { delivery } = await ada.ok('webhooks.redeliver', { delivery_id: waiting?.delivery_id ?? 0 });
      expect(delivery.state).toBe('pending');
      await sentinel().passes();
      expect(endpoint.contents).not.toContain('two');
    });

    test('but not while their webhook is paused', async () => {
      const { ada } = await users(server(), 'ada');
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, refusing());
      await say(ada, chat_id, 'one');
      const [refused] = await deliveriesIn(ada, webhook_id, 'retrying');
      await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
      const answer = await ada.call('webhooks.redeliver', { delivery_id: refused?.delivery_id ?? 0 });
      expect(expectRefusal(answer, 'conflict').message).toContain('paused');
    });
  });

  describe('are sent once more by redeliver', () => {
    test('where they were delivered: the same id and bytes, counted as the second attempt', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = receiver().endpoint();
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, endpoint);
      await say(ada, chat_id, 'x');
      const { delivery_id } = first(await deliveriesIn(ada, webhook_id, 'delivered'));
      now += 1_000;
      endpoint.reply = () => ({ status: 202, body: 'again' });
      const { delivery } = await ada.ok('webhooks.redeliver', { delivery_id });
      expect(delivery).toMatchObject({ state: 'delivered', attempt_count: 2, last_status: 202 });
      expect(endpoint.arrivals.map(({ attempt }) => attempt)).toEqual([1, 2]);
      expect(same(endpoint.arrivals[0], endpoint.arrivals[1])).toBe(true);
      expect(endpoint.arrivals[1]?.headers.get('x-webhook-replay')).toBeNull();
      const { attempts } = (await ada.ok('webhooks.delivery', { delivery_id })).delivery;
      expect(attempts.map(({ number, status, answer, at }) => ({ number, status, answer, at }))).toEqual([
        { number: 1, status: 200, answer: null, at: new Date(now - 1_000).toISOString() },
        { number: 2, status: 202, answer: 'again', at: new Date(now).toISOString() },
      ]);
    });

    test('and stay delivered if the second attempt is refused, which is reported', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = receiver().endpoint();
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, endpoint);
      await say(ada, chat_id, 'x');
      const { delivery_id } = first(await deliveriesIn(ada, webhook_id, 'delivered'));
      endpoint.reply = () => 500;
      const { delivery } = await ada.ok('webhooks.redeliver', { delivery_id });
      expect(delivery).toMatchObject({
        state: 'delivered',
        attempt_count: 2,
        last_status: 500,
        last_error: 'the endpoint responded with 500',
        next_attempt_at: null,
      });
      endpoint.reply = () => 200;
      await say(ada, chat_id, 'y');
      await deliveriesIn(ada, webhook_id, 'delivered', 'delivered');
    });

    test('also while their webhook is paused', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = receiver().endpoint();
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, endpoint);
      await say(ada, chat_id, 'x');
      const { delivery_id } = first(await deliveriesIn(ada, webhook_id, 'delivered'));
      await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
      expect((await ada.ok('webhooks.redeliver', { delivery_id })).delivery.attempt_count).toBe(2);
    });

    test('where they had failed, and are delivered if that succeeds', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = refusing();
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, endpoint);
      await say(ada, chat_id, 'unwanted');
      const tries = retryPolicy.refused.length + 1;
      const failed = await eventually('it has failed', async () => {
        const [found] = await list(ada, webhook_id);
        if (found?.next_attempt_at) now = Math.max(now, Date.parse(found.next_attempt_at));
        return found?.state === 'failed' ? found : undefined;
      });
      expect(failed).toMatchObject({ attempt_count: tries, next_attempt_at: null, reason: null, last_status: 500 });
      await say(ada, chat_id, 'next');
      await endpoint.arrived(tries + 1);
      const again = await ada.ok('webhooks.redeliver', { delivery_id: failed.delivery_id });
      expect(again.delivery).toMatchObject({ state: 'failed', attempt_count: tries + 1 });
      endpoint.reply = () => 204;
      const { delivery } = await ada.ok('webhooks.redeliver', { delivery_id: failed.delivery_id });
      expect(delivery).toMatchObject({
        state: 'delivered',
        attempt_count: tries + 2,
        last_status: 204,
        last_error: null,
      });
      expect(endpoint.arrivals.at(-1)?.attempt).toBe(tries + 2);
      expect(await list(ada, webhook_id, { state: 'failed' })).toEqual([]);
      const { attempts } = (await ada.ok('webhooks.delivery', { delivery_id: failed.delivery_id })).delivery;
      expect(attempts.map(({ number }) => number)).toEqual(Array.from({ length: tries + 2 }, (_, i) => i + 1));
    });

    test('where they were skipped, and then are not any more', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = refusing();
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, endpoint);
      await say(ada, chat_id, 'one', 'two');
      const [, waiting] = await deliveriesIn(ada, webhook_id, 'retrying', 'pending');
      const delivery_id = waiting?.delivery_id ?? 0;
      await ada.ok('webhooks.skip', { delivery_id });
      endpoint.reply = () => 200;
      const { delivery } = await ada.ok('webhooks.redeliver', { delivery_id });
      expect(delivery).toMatchObject({ state: 'delivered', reason: null, attempt_count: 1 });
      const { attempts } = (await ada.ok('webhooks.delivery', { delivery_id })).delivery;
      expect(attempts.map(({ number, status }) => ({ number, status }))).toEqual([{ number: 1, status: 200 }]);
    });

    test('but not of a webhook that is deleted', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = receiver().endpoint(({ data }) => (data.content === 'x' ? 200 : 500));
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, endpoint);
      await say(ada, chat_id, 'x', 'y');
      const deliveries = await deliveriesIn(ada, webhook_id, 'delivered', 'retrying');
      await ada.ok('webhooks.delete', { webhook_id });
      for (const { delivery_id } of deliveries) {
        expect(await ada.refused('webhooks.redeliver', { delivery_id })).toBe('conflict');
      }
      expect(endpoint.arrivals).toHaveLength(2);
    });
  });

  describe('are given up by skip', () => {
    test('so that the next one of the chat goes out at once', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = receiver().endpoint(({ data }) => (data.content === 'bad' ? 500 : 200));
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, endpoint);
      await say(ada, chat_id, 'bad', 'two', 'three');
      const { delivery_id } = first(await deliveriesIn(ada, webhook_id, 'retrying', 'pending', 'pending'));
      const { delivery } = await ada.ok('webhooks.skip', { delivery_id });
      expect(delivery).toMatchObject({ state: 'skipped', reason: 'by_owner', next_attempt_at: null, attempt_count: 1 });
      await deliveriesIn(ada, webhook_id, 'skipped', 'delivered', 'delivered');
      expect(endpoint.contents).toEqual(['bad', 'two', 'three']);
    });

    test('and never sent where they had not been', async () => {
      const { ada } = await users(server(), 'ada');
      const gate = Promise.withResolvers<void>();
      const endpoint = receiver().endpoint({ after: gate.promise });
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, endpoint);
      await say(ada, chat_id, 'one', 'two', 'three');
      await endpoint.arrived(1);
      const [, waiting] = await deliveriesIn(ada, webhook_id, 'pending', 'pending', 'pending');
      await ada.ok('webhooks.skip', { delivery_id: waiting?.delivery_id ?? 0 });
      gate.resolve();
      await deliveriesIn(ada, webhook_id, 'delivered', 'skipped', 'delivered');
      expect(endpoint.contents).toEqual(['one', 'three']);
    });

    test('for good, also where a request for them is under way', async () => {
      const { ada } = await users(server(), 'ada');
      const gate = Promise.withResolvers<void>();
      const endpoint = receiver().endpoint({ status: 500, after: gate.promise });
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, endpoint);
      await say(ada, chat_id, 'one', 'two');
      await endpoint.arrived(1);
      const { delivery_id } = first(await deliveriesIn(ada, webhook_id, 'pending', 'pending'));
      await ada.ok('webhooks.skip', { delivery_id });
      endpoint.reply = () => 200;
      gate.resolve();
      await deliveriesIn(ada, webhook_id, 'skipped', 'delivered');
      expect(endpoint.contents).toEqual(['one', 'two']);
    });

    test('also while their webhook is paused', async () => {
      const { ada } = await users(server(), 'ada');
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, refusing());
      await say(ada, chat_id, 'one');
      const { delivery_id } = first(await deliveriesIn(ada, webhook_id, 'retrying'));
      await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
      expect((await ada.ok('webhooks.skip', { delivery_id })).delivery.state).toBe('skipped');
    });

    test('unless they are settled', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = receiver().endpoint(({ data }) => (data.content === 'bad' ? 500 : 200));
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, endpoint);
      await say(ada, chat_id, 'good', 'bad');
      const [delivered, refused] = await deliveriesIn(ada, webhook_id, 'delivered', 'retrying');
      const skip = (delivery?: Delivery) => ada.call('webhooks.skip', { delivery_id: delivery?.delivery_id ?? 0 });
      expect(expectRefusal(await skip(delivered), 'conflict').message).toContain('delivered');
      expect((await skip(refused)).status).toBe(200);
      expect(expectRefusal(await skip(refused), 'conflict').message).toContain('skipped');
    });
  });
});

onBothEngines('deliveries of events past their time', (engine) => {
  let now = Date.now();
  const receiver = receiverFor();
  const server = serverFor(engine, { PARLEY_EVENT_DAYS: '1' }, { sweepMs: 20, now: () => now });
  const drop = () => dropExpired(server().engine, () => now);

  test('are skipped, counted on their webhook, shown without a body and not sent again', async () => {
    const { ada } = await users(server(), 'ada');
    const chat_id = await newGroup(ada);
    const [stuck, paused] = [await register(ada, receiver().endpoint(500)), await register(ada, receiver().endpoint())];
    await ada.ok('webhooks.update', { webhook_id: paused, status: 'paused' });
    await say(ada, chat_id, 'one', 'two');
    await deliveriesIn(ada, stuck, 'retrying', 'pending');
    await logRead(server().engine);
    now += 2 * day;
    await drop();
    for (const webhook_id of [stuck, paused]) {
      const found = await list(ada, webhook_id);
      expect(found.map(({ state, reason }) => ({ state, reason }))).toEqual(
        Array(2).fill({ state: 'skipped', reason: 'expired' }),
      );
      const { webhook } = await ada.ok('webhooks.get', { webhook_id });
      expect(webhook).toMatchObject({ expired_count: 2, oldest_undelivered_age: null });
      const { delivery_id } = first(found);
      const { delivery } = await ada.ok('webhooks.delivery', { delivery_id });
      expect(delivery).toMatchObject({ body: null, signed_content: null });
      expect(await ada.refused('webhooks.redeliver', { delivery_id })).toBe('conflict');
    }
  });

  test('are dropped themselves once they have been settled for as long', async () => {
    const { ada } = await users(server(), 'ada');
    const chat_id = await newGroup(ada);
    const webhook_id = await register(ada, receiver().endpoint());
    await say(ada, chat_id, 'one');
    await deliveriesIn(ada, webhook_id, 'delivered');
    await logRead(server().engine);
    now += day - 1_000;
    await drop();
    expect(await list(ada, webhook_id)).toHaveLength(1);
    now += 2_000;
    await drop();
    expect(await list(ada, webhook_id)).toEqual([]);
  });
});
