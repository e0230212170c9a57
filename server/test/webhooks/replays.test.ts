import { beforeAll, describe, expect, test } from 'bun:test';
import type { ClientInput, ClientOutput } from '@parley/contract';
import { logTip, readCursor } from '../../store/log/events.ts';
import { Client } from '../support/client.ts';
import { freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { type Arrival, type Endpoint, Held, receiverFor } from '../support/receiver.ts';
import { dropExpired, logRead } from '../support/retention.ts';
import { serverFor, startServer, type TestServer } from '../support/server.ts';
import { sentinelFor, untilClosed } from '../support/webhook-scene.ts';
import { complaint, expectRefusal } from '../support/wire.ts';

const secret = 'a secret';
const day = 24 * 3_600_000;

type Replay = ClientOutput<'webhooks.replays'>['replays'][number];

const register = async (by: Client, { url }: Endpoint, events: string[] = ['*']) =>
  (await by.ok('webhooks.register', { url, events, secret })).webhook.webhook_id;

const newGroup = async (by: Client, ...others: Client[]) =>
  (await by.ok('messages.create_group', { name: 'g', participants: others.map((c) => c.userId) })).group.chat_id;

const say = async (by: Client, chat_id: number, ...contents: string[]) => {
  for (const content of contents) await by.ok('messages.send_message', { chat_id, content });
};

const settled = (server: TestServer, by: Client, webhook_id: number) =>
  eventually('everything is delivered', async () => {
    if ((await readCursor(server.engine, 'webhooks')) !== (await logTip(server.engine))) return undefined;
    const { webhook } = await by.ok('webhooks.get', { webhook_id });
    return webhook.oldest_undelivered_age === null || undefined;
  });

const replay = async (by: Client, input: ClientInput<'webhooks.replay'>) =>
  (await by.ok('webhooks.replay', input)).replay;

const find = async (by: Client, { webhook_id, replay_id }: Pick<Replay, 'webhook_id' | 'replay_id'>) => {
  const { replays } = await by.ok('webhooks.replays', { webhook_id });
  const found = replays.find((one) => one.replay_id === replay_id);
  if (!found) throw new Error(`there is no replay ${replay_id}`);
  return found;
};

const done = (by: Client, started: Pick<Replay, 'webhook_id' | 'replay_id'>) =>
  eventually('the replay is done', async () => {
    const found = await find(by, started);
    return found.status === 'done' ? found : undefined;
  });

const isReplayed = ({ headers }: Arrival) => headers.has('x-webhook-replay');
const texts = (arrivals: readonly Arrival[]) => arrivals.map(({ data }) => data.content);
const replayedTo = ({ arrivals }: Endpoint) => arrivals.filter(isReplayed);

onAnyEngine('a replay', (engine) => {
  let now = Date.now();
  const receiver = receiverFor();
  const server = serverFor(engine, {}, { sweepMs: 20, now: () => now });
  const sentinel = sentinelFor(server, receiver);

  /** A webhook to which two chats have told of three messages each, in turn; the clock moves on between them. */
  const toldHook = async () => {
    const { ada } = await users(server(), 'ada');
    const endpoint = receiver().endpoint();
    const [one, two] = [await newGroup(ada), await newGroup(ada)];
    const webhook_id = await register(ada, endpoint);
    const tip = await eventTip(ada);
    const start = now;
    for (const number of [1, 2, 3]) {
      await say(ada, one, `a${number}`);
      await say(ada, two, `b${number}`);
      now += 1_000;
    }
    await settled(server(), ada, webhook_id);
    const ids = (await eventsAfter(ada, tip)).map(({ event_id }) => event_id as number);
    return { ada, endpoint, webhook_id, one, two, ids, start };
  };
  const ofChat = (arrivals: readonly Arrival[], chat_id: number) =>
    texts(arrivals.filter(({ data }) => data.chat_id === chat_id));

  describe('sends again', () => {
    test('what happened from an event on: marked, with the same ids and bytes, in order for each chat', async () => {
      const { ada, endpoint, webhook_id, one, two, ids } = await toldHook();
      const live = new Map(endpoint.arrivals.map((arrival) => [arrival.eventId, arrival]));
      const started = await replay(ada, { webhook_id, from_event_id: ids[2] ?? 0 });
      expect(started).toEqual({
        replay_id: started.replay_id,
        webhook_id,
        status: 'running',
        only: null,
        from_event_id: ids[2] ?? 0,
        to_event_id: ids[5] ?? 0,
        reached_event_id: (ids[2] ?? 0) - 1,
        open_count: 0,
        delivered_count: 0,
        failed_count: 0,
        skipped_count: 0,
        created_at: new Date(now).toISOString(),
        finished_at: null,
      });
      expect(await done(ada, started)).toEqual({
        ...started,
        status: 'done',
        reached_event_id: ids[5] ?? 0,
        delivered_count: 4,
        finished_at: new Date(now).toISOString(),
      });
      const again = replayedTo(endpoint);
      expect(ofChat(again, one)).toEqual(['a2', 'a3']);
      expect(ofChat(again, two)).toEqual(['b2', 'b3']);
      for (const { eventId, bytes, headers, attempt } of again) {
        expect(headers.get('x-webhook-replay')).toBe(String(started.replay_id));
        expect(headers.get('webhook-id')).toBe(String(eventId));
        expect(attempt).toBe(1);
        expect(live.get(eventId)?.bytes.equals(bytes)).toBe(true);
      }
      expect(endpoint.arrivals).toHaveLength(10);
      expect([...live.values()].some(isReplayed)).toBe(false);
      const { replay_id } = started;
      const { deliveries } = await ada.ok('webhooks.deliveries', { webhook_id, replay_id });
      expect(deliveries.map((d) => [d.event_id as number, d.state, d.replay_id])).toEqual(
        ids
          .slice(2)
          .reverse()
          .map((id) => [id, 'delivered', replay_id]),
      );
    });

    test('what happened from a time on', async () => {
      const { ada, endpoint, webhook_id, ids, start } = await toldHook();
      const since = new Date(start + 1_000).toISOString();
      const started = await replay(ada, { webhook_id, since });
      expect(started.from_event_id as number).toBe(ids[2] ?? 0);
      expect(await done(ada, started)).toMatchObject({ delivered_count: 4 });
      expect(texts(replayedTo(endpoint)).toSorted()).toEqual(['a2', 'a3', 'b2', 'b3']);
      const later = await replay(ada, { webhook_id, since: new Date(start + 1_001).toISOString() });
      expect(await done(ada, later)).toMatchObject({ from_event_id: ids[4] ?? 0, delivered_count: 2 });
    });

    test('what the webhook asks for and its user saw, even from before it was registered', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const endpoint = receiver().endpoint();
      const chat_id = await newGroup(ada);
      const tip = await eventTip(ada);
      await say(ada, chat_id, 'unseen');
      await ada.ok('chats.add_participants', { chat_id, participants: [bob.userId] });
      await say(ada, chat_id, 'seen');
      const webhook_id = await register(bob, endpoint, ['new_message', 'user_left']);
      await bob.ok('chats.leave', { chat_id });
      await say(ada, chat_id, 'unseen again');
      await settled(server(), bob, webhook_id);
      const started = await replay(bob, { webhook_id, from_event_id: tip + 1 });
      expect(await done(bob, started)).toMatchObject({ delivered_count: 2 });
      expect(replayedTo(endpoint).map(({ event, data }) => [event, data.content])).toEqual([
        ['new_message', 'seen'],
        ['user_left', undefined],
      ]);
    });

    test('only what has failed, or was skipped, where that is asked', async () => {
      const { ada } = await users(server(), 'ada');
      let isUp = false;
      const endpoint = receiver().endpoint(({ data }) => (isUp || data.content === 'good' ? 200 : 500));
      const chat_id = await newGroup(ada);
      const webhook_id = await register(ada, endpoint);
      const tip = await eventTip(ada);
      const settle = async (content: string, state: string, act: (delivery_id: number) => Promise<unknown>) => {
        await say(ada, chat_id, content);
        await eventually(`${content} is ${state}`, async () => {
          const [found] = (await ada.ok('webhooks.deliveries', { webhook_id })).deliveries;
          if (found?.state === state) return true;
          if (found?.state === 'retrying') await act(found.delivery_id);
          if (found?.next_attempt_at) now = Math.max(now, Date.parse(found.next_attempt_at));
          return undefined;
        });
      };
      await settle('good', 'delivered', async () => {});
      await settle('failed', 'failed', async () => {});
      await settle('skipped', 'skipped', (delivery_id) => ada.ok('webhooks.skip', { delivery_id }));
      await settle('good', 'delivered', async () => {});
      isUp = true;
      const sent: unknown[] = [];
      for (const only of [['failed'], ['skipped'], ['failed', 'skipped']] as ('failed' | 'skipped')[][]) {
        const sofar = endpoint.arrivals.length;
        const started = await replay(ada, { webhook_id, from_event_id: tip + 1, only });
        expect(started.only).toEqual(only);
        expect(await done(ada, started)).toMatchObject({ delivered_count: only.length });
        sent.push(texts(endpoint.arrivals.slice(sofar)));
      }
      expect(sent).toEqual([['failed'], ['skipped'], ['failed', 'skipped']]);
    });

    test('nothing where nothing has happened since, and is done with that', async () => {
      const { ada, endpoint, webhook_id, ids } = await toldHook();
      const nothing = [
        { since: new Date(now).toISOString() },
        { from_event_id: (ids[5] ?? 0) + 1 },
        { from_event_id: ids[0] ?? 0, only: ['failed' as const] },
      ];
      for (const input of nothing) {
        const started = await replay(ada, { webhook_id, ...input });
        expect(await done(ada, started)).toMatchObject({ delivered_count: 0, open_count: 0 });
      }
      expect(replayedTo(endpoint)).toEqual([]);
    });

    test('as often as it is asked, each with its own mark', async () => {
      const { ada, endpoint, webhook_id, ids } = await toldHook();
      const started = [];
      for (let i = 0; i < 3; i++) started.push(await replay(ada, { webhook_id, from_event_id: ids[4] ?? 0 }));
      for (const one of started) expect(await done(ada, one)).toMatchObject({ delivered_count: 2 });
      const marks = Map.groupBy(replayedTo(endpoint), ({ headers }) => headers.get('x-webhook-replay'));
      expect([...marks.keys()].toSorted()).toEqual(started.map((r) => String(r.replay_id)).toSorted());
      for (const arrivals of marks.values()) expect(texts(arrivals).toSorted()).toEqual(['a3', 'b3']);
    });
  });

  describe('runs beside the live deliveries', () => {
    test('which continue while the replay is refused, and the other way round', async () => {
      const { ada, endpoint, webhook_id, one, two, ids } = await toldHook();
      endpoint.reply = (arrival) => (isReplayed(arrival) && arrival.data.chat_id === one ? 500 : 200);
      const first = await replay(ada, { webhook_id, from_event_id: ids[0] ?? 0 });
      await eventually('it is refused', async () => {
        const input = { webhook_id, replay_id: first.replay_id, state: 'retrying' as const };
        return (await ada.ok('webhooks.deliveries', input)).deliveries.length > 0 || undefined;
      });
      await say(ada, one, 'a4');
      await settled(server(), ada, webhook_id);
      expect(endpoint.arrivals.filter((a) => !isReplayed(a)).at(-1)?.data.content).toBe('a4');
      await eventually('the other chat is through', async () => (await find(ada, first)).open_count === 3 || undefined);
      expect(await find(ada, first)).toMatchObject({ status: 'running', delivered_count: 3, finished_at: null });
      expect(ofChat(replayedTo(endpoint), two)).toEqual(['b1', 'b2', 'b3']);

      endpoint.reply = (arrival) => (isReplayed(arrival) ? 200 : 500);
      await say(ada, two, 'b4');
      await eventually('a live one is refused', async () => {
        const { deliveries } = await ada.ok('webhooks.deliveries', { webhook_id, state: 'retrying', chat_id: two });
        return deliveries.length > 0 || undefined;
      });
      const second = await replay(ada, { webhook_id, from_event_id: ids[5] ?? 0 });
      expect(await done(ada, second)).toMatchObject({ delivered_count: 3 });
    });

    test('and waits while its webhook is paused', async () => {
      const { ada, endpoint, webhook_id, ids } = await toldHook();
      await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
      const started = await replay(ada, { webhook_id, from_event_id: ids[0] ?? 0 });
      await sentinel().passes();
      expect(replayedTo(endpoint)).toEqual([]);
      expect((await find(ada, started)).status).toBe('running');
      await ada.ok('webhooks.update', { webhook_id, status: 'active' });
      expect(await done(ada, started)).toMatchObject({ delivered_count: 6 });
    });

    test('of an unreachable endpoint, and its deliveries can be skipped one by one', async () => {
      const { ada, endpoint, webhook_id, ids } = await toldHook();
      endpoint.reply = () => 500;
      const started = await replay(ada, { webhook_id, from_event_id: ids[4] ?? 0 });
      const { replay_id } = started;
      await eventually('both wait', async () => (await find(ada, started)).open_count === 2 || undefined);
      const { deliveries } = await ada.ok('webhooks.deliveries', { webhook_id, replay_id });
      for (const { delivery_id } of deliveries) await ada.ok('webhooks.skip', { delivery_id });
      expect(await done(ada, started)).toMatchObject({ skipped_count: 2, delivered_count: 0, open_count: 0 });
    });

    test('and counts each delivery once, also one that is skipped while it is being sent', async () => {
      const { ada, endpoint, webhook_id, ids, one, two } = await toldHook();
      const gates = new Map([one, two].map((chat_id) => [chat_id as unknown, Promise.withResolvers<void>()]));
      endpoint.reply = ({ data }) => ({ after: gates.get(data.chat_id)?.promise ?? Promise.resolve() });
      const sofar = endpoint.arrivals.length;
      const started = await replay(ada, { webhook_id, from_event_id: ids[4] ?? 0 });
      const { replay_id } = started;
      await endpoint.arrived(sofar + 2);
      const input = { webhook_id, replay_id, chat_id: one };
      const [underWay] = (await ada.ok('webhooks.deliveries', input)).deliveries;
      await ada.ok('webhooks.skip', { delivery_id: underWay?.delivery_id ?? 0 });
      gates.get(one)?.resolve();
      await sentinel().passes();
      expect(await find(ada, started)).toMatchObject({
        status: 'running',
        skipped_count: 1,
        delivered_count: 0,
        open_count: 1,
      });
      gates.get(two)?.resolve();
      expect(await done(ada, started)).toMatchObject({ skipped_count: 1, delivered_count: 1, open_count: 0 });
    });

    test('shows how far it has come', async () => {
      const { ada, endpoint, webhook_id, ids, one } = await toldHook();
      const gate = Promise.withResolvers<void>();
      endpoint.reply = ({ data }) => ({ ...(data.content === 'a2' && { after: gate.promise }) });
      const started = await replay(ada, { webhook_id, from_event_id: ids[0] ?? 0 });
      const midway = await eventually('all but what waits is through', async () => {
        const found = await find(ada, started);
        return found.delivered_count === 4 ? found : undefined;
      });
      expect(midway).toMatchObject({ status: 'running', open_count: 2, reached_event_id: ids[5] ?? 0 });
      gate.resolve();
      expect(await done(ada, started)).toMatchObject({ delivered_count: 6, open_count: 0 });
      expect(ofChat(replayedTo(endpoint), one)).toEqual(['a1', 'a2', 'a3']);
    });
  });

  describe('is previewed', () => {
    const preview = (by: Client, input: ClientInput<'webhooks.preview_replay'>) =>
      by.ok('webhooks.preview_replay', input);

    test('with the number of events that it then sends, of all or of those that were skipped', async () => {
      const { ada, endpoint, webhook_id, ids, start } = await toldHook();
      const [first, last] = [ids[0] ?? 0, ids[5] ?? 0];
      const all = { event_count: 6, is_exact: true, from_event_id: first, to_event_id: last };
      expect(await preview(ada, { webhook_id, from_event_id: first })).toMatchObject(all);
      expect(await preview(ada, { webhook_id, from_event_id: ids[2] ?? 0 })).toMatchObject({ event_count: 4 });
      expect(await preview(ada, { webhook_id, since: new Date(start + 2_000).toISOString() })).toMatchObject({
        event_count: 2,
      });
      expect(await preview(ada, { webhook_id, from_event_id: last + 1 })).toMatchObject({ event_count: 0 });
      await server().engine.run(
        `UPDATE deliveries SET state = 'skipped' WHERE webhook_id = $1 AND event_id IN ($2, $3)`,
        [webhook_id, first, last],
      );
      const only = { webhook_id, from_event_id: first, only: ['failed', 'skipped'] as ('failed' | 'skipped')[] };
      expect(await preview(ada, only)).toMatchObject({ event_count: 2 });
      expect(replayedTo(endpoint)).toEqual([]);
      expect(await done(ada, await replay(ada, only))).toMatchObject({ delivered_count: 2 });
    });

    test('only with one beginning, and only by its owner', async () => {
      const { ada, webhook_id, ids } = await toldHook();
      const { bob } = await users(server(), 'bob');
      expect(await ada.refused('webhooks.preview_replay', { webhook_id })).toBe('validation_failed');
      expect(await bob.refused('webhooks.preview_replay', { webhook_id, from_event_id: ids[0] ?? 0 })).toBe(
        'not_found',
      );
    });
  });

  describe('is asked for', () => {
    let hook: Awaited<ReturnType<typeof toldHook>>;
    beforeAll(async () => {
      hook = await toldHook();
    });
    const bad: [string, object, string][] = [
      ['nowhere to begin', {}, 'from_event_id'],
      ['two places to begin', { from_event_id: 1, since: '2026-01-01T00:00:00Z' }, 'from_event_id'],
      ['a time that is none', { since: 'monday' }, 'since'],
      ['an event that is none', { from_event_id: 0 }, 'from_event_id'],
      ['states that it cannot be limited to', { from_event_id: 1, only: ['delivered'] }, 'only[0]'],
      ['no states', { from_event_id: 1, only: [] }, 'only'],
    ];
    test.each(bad)('not with %s', async (_, input, field) => {
      const { ada, webhook_id } = hook;
      const answer = await ada.call('webhooks.replay', { webhook_id, ...input } as never);
      expect(complaint(expectRefusal(answer, 'validation_failed'), field)).toBeDefined();
      expect((await ada.ok('webhooks.replays', { webhook_id })).replays).toEqual([]);
    });

    test('once under an Idempotency-Key', async () => {
      const { ada, endpoint, webhook_id, ids } = await toldHook();
      const input = { webhook_id, from_event_id: ids[4] ?? 0 };
      const key = { 'idempotency-key': 'replay-1' };
      const { replay: started } = await ada.ok('webhooks.replay', input, key);
      await done(ada, started);
      expect((await ada.ok('webhooks.replay', input, key)).replay).toEqual(started);
      const other = await ada.call('webhooks.replay', { ...input, from_event_id: ids[3] ?? 0 }, key);
      expectRefusal(other, 'idempotency_conflict');
      expect((await ada.ok('webhooks.replays', { webhook_id })).replays).toHaveLength(1);
      await sentinel().passes();
      expect(replayedTo(endpoint)).toHaveLength(2);
    });

    test('up to ten times while none is done', async () => {
      const { ada, endpoint, webhook_id, ids } = await toldHook();
      endpoint.reply = () => 500;
      const input = { webhook_id, from_event_id: ids[5] ?? 0 };
      for (let i = 0; i < 10; i++) await replay(ada, input);
      expect(expectRefusal(await ada.call('webhooks.replay', input), 'conflict').message).toContain('10');
    });

    test('and listed with the newest first, page by page', async () => {
      const { ada, webhook_id, ids } = await toldHook();
      const started: number[] = [];
      for (let i = 0; i < 5; i++)
        started.push((await replay(ada, { webhook_id, from_event_id: ids[5] ?? 0 })).replay_id);
      const pages: number[][] = [];
      for (let before_id: number | undefined, more = true; more; ) {
        const page = await ada.ok('webhooks.replays', { webhook_id, limit: 2, ...(before_id && { before_id }) });
        pages.push(page.replays.map(({ replay_id }) => replay_id));
        before_id = pages.at(-1)?.at(-1);
        more = page.has_more;
      }
      expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
      expect(pages.flat()).toEqual(started.reverse());
    });
  });

  describe('stops', () => {
    /** A replay of six deliveries, of which two are refused and four wait behind them. */
    const stuckReplay = async () => {
      const hook = await toldHook();
      hook.endpoint.reply = () => 500;
      const { ada, webhook_id, ids } = hook;
      const started = await replay(ada, { webhook_id, from_event_id: ids[0] ?? 0 });
      await eventually('it is refused', async () => {
        const { deliveries } = await ada.ok('webhooks.deliveries', { webhook_id, state: 'retrying' });
        return deliveries.length === 2 || undefined;
      });
      return { ...hook, started };
    };
    const expectStopped = async (by: Client, started: Replay, reason: string, status = 'stopped') => {
      const { webhook_id, replay_id } = started;
      expect(await find(by, started)).toMatchObject({
        status,
        finished_at: new Date(now).toISOString(),
        delivered_count: 0,
        skipped_count: 6,
        open_count: 0,
      });
      const { deliveries } = await by.ok('webhooks.deliveries', { webhook_id, replay_id });
      expect(deliveries.map((d) => [d.state, d.reason] as string[])).toEqual(Array(6).fill(['skipped', reason]));
    };

    test('when it is cancelled, as often as that is asked; live deliveries go on', async () => {
      const { ada, webhook_id, endpoint, one, started } = await stuckReplay();
      const { replay_id } = started;
      const { bob } = await users(server(), 'bob');
      expect(await bob.refused('webhooks.cancel_replay', { replay_id })).toBe('not_found');
      const cancelled = (await ada.ok('webhooks.cancel_replay', { replay_id })).replay;
      await expectStopped(ada, started, 'by_owner', 'cancelled');
      expect((await ada.ok('webhooks.cancel_replay', { replay_id })).replay).toEqual(cancelled);
      endpoint.reply = () => 200;
      const sofar = endpoint.arrivals.length;
      await say(ada, one, 'a4');
      await ada.ok('webhooks.update', { webhook_id, status: 'active' });
      await endpoint.arrived(sofar + 1);
      await sentinel().passes();
      expect(texts(endpoint.arrivals.slice(sofar))).toEqual(['a4']);
      expect(await find(ada, started)).toEqual(cancelled);
    });

    test('before it has begun, and one that is done stays done', async () => {
      const { ada, endpoint, webhook_id, ids } = await toldHook();
      const from_event_id = ids[0] ?? 0;
      const ended = await done(ada, await replay(ada, { webhook_id, from_event_id }));
      expect((await ada.ok('webhooks.cancel_replay', { replay_id: ended.replay_id })).replay).toEqual(ended);
      await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
      const held = await replay(ada, { webhook_id, from_event_id });
      const { replay_id } = held;
      expect((await ada.ok('webhooks.cancel_replay', { replay_id })).replay).toMatchObject({ status: 'cancelled' });
      const sofar = endpoint.arrivals.length;
      await ada.ok('webhooks.update', { webhook_id, status: 'active' });
      await sentinel().passes();
      expect(endpoint.arrivals).toHaveLength(sofar);
    });

    test('with the deletion of its webhook, and can still be seen', async () => {
      const { ada, webhook_id, endpoint, started } = await stuckReplay();
      await ada.ok('webhooks.delete', { webhook_id });
      const sofar = endpoint.arrivals.length;
      await expectStopped(ada, started, 'webhook_deleted');
      await sentinel().passes();
      expect(endpoint.arrivals).toHaveLength(sofar);
    });

    test('with the access of its webhook, and does not go on when that is active again', async () => {
      const { ada, webhook_id, endpoint, started } = await stuckReplay();
      const { access_token } = await ada.ok('tokens.create', { name: 'second' });
      const other = new Client(server().url, access_token, ada.userId);
      await other.ok('tokens.list', {});
      const [token] = (await ada.ok('tokens.list', {})).tokens;
      // A token of its own family would be revoked with it.
      await server().engine.write((tx) =>
        tx.run('UPDATE tokens SET parent_id = NULL WHERE user_id = $1', [ada.userId]),
      );
      await other.ok('tokens.revoke', { token_id: token?.token_id ?? 0 });
      await expectStopped(other, started, 'access_revoked');
      endpoint.reply = () => 200;
      const sofar = endpoint.arrivals.length;
      await other.ok('webhooks.update', { webhook_id, status: 'active' });
      await sentinel().passes();
      expect(endpoint.arrivals).toHaveLength(sofar);
      expect((await find(other, started)).status).toBe('stopped');
    });
  });
});

onAnyEngine('a replay of events past their time', (engine) => {
  let now = Date.now();
  const receiver = receiverFor();
  const server = serverFor(engine, { PARLEY_EVENT_DAYS: '1' }, { sweepMs: 20, now: () => now });

  test('is refused; from the oldest that is kept, or a time before it, it sends what is kept', async () => {
    const { ada } = await users(server(), 'ada');
    const endpoint = receiver().endpoint();
    const chat_id = await newGroup(ada);
    const webhook_id = await register(ada, endpoint);
    const long = new Date(now - day).toISOString();
    await say(ada, chat_id, 'old');
    await settled(server(), ada, webhook_id);
    const old = await eventTip(ada);
    await logRead(server().engine);
    now += 2 * day;
    await say(ada, chat_id, 'new');
    await settled(server(), ada, webhook_id);
    await dropExpired(server().engine, () => now);

    const answer = await ada.call('webhooks.replay', { webhook_id, from_event_id: old });
    expectRefusal(answer, 'cursor_expired');
    for (const input of [{ from_event_id: old + 1 }, { since: long }]) {
      const started = await replay(ada, { webhook_id, ...input });
      expect(await done(ada, started)).toMatchObject({ delivered_count: 1 });
    }
    expect(texts(replayedTo(endpoint))).toEqual(['new', 'new']);
  });
});

onAnyEngine('a replay in the midst of which the server stops', (engine) => {
  const receiver = receiverFor();

  test('resumes after the restart, and repeats only the attempts in flight', async () => {
    const env = await freshEnvironment(engine);
    let server = await startServer(env, { sweepMs: 20 });
    try {
      const { ada } = await users(server, 'ada');
      const endpoint = receiver().endpoint();
      const chats = [await newGroup(ada), await newGroup(ada)];
      const webhook_id = await register(ada, endpoint);
      const from_event_id = (await eventTip(ada)) + 1;
      for (let i = 0; i < 60; i++) await say(ada, chats[i % 2] ?? 0, `${i}`);
      await settled(server, ada, webhook_id);
      const live = endpoint.arrivals.length;
      expect(live).toBe(60);
      const held = new Held();
      endpoint.reply = () => (replayedTo(endpoint).length > 20 ? held.reply() : 200);
      const started = await replay(ada, { webhook_id, from_event_id });
      await endpoint.arrived(live + 21);
      const stopped = server.stop();
      await untilClosed(server);
      held.release();
      await stopped;
      const before = replayedTo(endpoint).length;
      expect(before).toBeLessThan(60);

      server = await startServer(env, { sweepMs: 20 });
      const again = new Client(server.url, ada.token, ada.userId);
      expect(await done(again, started)).toMatchObject({
        delivered_count: 60,
        open_count: 0,
        reached_event_id: started.to_event_id,
      });
      const replayed = replayedTo(endpoint);
      // One request for each of the two chats can be under way.
      expect(replayed.length).toBeLessThanOrEqual(62);
      for (const chat_id of chats) {
        const ids = replayed.filter(({ data }) => data.chat_id === chat_id).map(({ eventId }) => eventId);
        const firsts = [...new Set(ids)];
        expect(firsts).toHaveLength(30);
        expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
      }
    } finally {
      await server.stop();
    }
  });
});
