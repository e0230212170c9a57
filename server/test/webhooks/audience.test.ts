import { beforeAll, describe, expect, test } from 'bun:test';
import type { ClientInput, LoggedEvent, Scope } from '@parley/contract';
import fc from 'fast-check';
import { changePasswordOf, withdrawToken } from '../../auth/administer.ts';
import { logTip, readCursor } from '../../store/log/events.ts';
import { endWithoutAccess } from '../../store/webhooks/webhook-ends.ts';
import { goodPassword } from '../support/browser-like.ts';
import { Client } from '../support/client.ts';
import { onAnyEngine, onBothEngines } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { eventsAfter, eventTip, users } from '../support/people.ts';
import { type Endpoint, receiverFor } from '../support/receiver.ts';
import { serverFor, type TestServer } from '../support/server.ts';
import { inSession } from '../support/visitor.ts';
import { sentinelFor } from '../support/webhook-scene.ts';
import { expectRefusal } from '../support/wire.ts';

const secret = 'a secret';
const absent = Number.MAX_SAFE_INTEGER;

type Registration = ClientInput<'webhooks.register'>;

const register = async (by: Client, { url }: Endpoint, more: Partial<Registration> = {}) =>
  (await by.ok('webhooks.register', { url, events: ['*'], secret, ...more })).webhook.webhook_id;

const newGroup = async (by: Client, ...others: Client[]) =>
  (await by.ok('messages.create_group', { name: 'g', participants: others.map((c) => c.userId) })).group.chat_id;

const say = (by: Client, chat_id: number, content: string) => by.ok('messages.send_message', { chat_id, content });

const isDispatched = async ({ engine }: TestServer) =>
  (await readCursor(engine, 'webhooks')) === (await logTip(engine));

const dispatched = (server: TestServer) =>
  eventually('the dispatcher has reached the end of the log', async () => (await isDispatched(server)) || undefined);

/** All that a webhook is to be told of so far has been delivered. */
const settled = (server: TestServer, by: Client, webhook_id: number) =>
  eventually('everything is delivered', async () => {
    if (!(await isDispatched(server))) return undefined;
    const { webhook } = await by.ok('webhooks.get', { webhook_id });
    return webhook.oldest_undelivered_age === null || undefined;
  });

/** Returns the arrivals at an endpoint, as event and text. */
const told = ({ arrivals }: Endpoint) =>
  arrivals.map(({ event, data }) => (data.content === undefined ? event : `${event} ${data.content}`));

const asBody = ({ event, timestamp, data }: LoggedEvent) => JSON.stringify({ event, timestamp, data });

/** The deliveries of a webhook whose owner can no longer ask, the oldest first. */
const rowsOf = (server: TestServer, webhook_id: number) =>
  server.engine.all<{ state: string; reason: string | null }>(
    'SELECT state, reason FROM deliveries WHERE webhook_id = $1 ORDER BY event_id',
    [webhook_id],
  );

const statusOf = (server: TestServer, webhook_id: number) =>
  server.engine.get<object>('SELECT status, disabled_reason FROM webhooks WHERE webhook_id = $1', [webhook_id]);

onBothEngines('a webhook receives', (engine) => {
  const receiver = receiverFor();
  const server = serverFor(engine, {}, { sweepMs: 20 });
  const sentinel = sentinelFor(server, receiver);

  test('of what happens in the chats of its user and nowhere else, in the bytes of the log', async () => {
    const { ada, bob, cleo } = await users(server(), 'ada', 'bob', 'cleo');
    const endpoint = receiver().endpoint();
    const webhook_id = await register(ada, endpoint);
    const tip = await eventTip(ada);
    const shared = await newGroup(ada, bob);
    const theirs = await newGroup(bob, cleo);
    const direct = (await bob.ok('messages.create_direct', { user_id: ada.userId })).chat.chat_id;
    const private_ = (await bob.ok('messages.create_direct', { user_id: cleo.userId })).chat.chat_id;
    for (const chat_id of [shared, theirs, direct, private_]) await say(bob, chat_id, `in ${chat_id}`);
    await bob.ok('messages.create_channel', { name: 'open to all' });
    await ada.ok('chats.update', { chat_id: shared, name: 'renamed' });
    await settled(server(), ada, webhook_id);
    const expected = await eventsAfter(ada, tip);
    expect(expected).toHaveLength(5);
    const came = endpoint.arrivals.toSorted((a, b) => a.eventId - b.eventId);
    expect(came.map(({ eventId, body }) => [eventId, body])).toEqual(
      expected.map((event) => [event.event_id, asBody(event)]),
    );
    for (const { headers, event } of came) expect(headers.get('x-webhook-event')).toBe(event);
  });

  test('of nothing from before it was registered', async () => {
    const { ada } = await users(server(), 'ada');
    const endpoint = receiver().endpoint();
    const chat_id = await newGroup(ada);
    await say(ada, chat_id, 'before');
    const webhook_id = await register(ada, endpoint);
    await say(ada, chat_id, 'after');
    await settled(server(), ada, webhook_id);
    expect(endpoint.contents).toEqual(['after']);
    expect((await ada.ok('webhooks.deliveries', { webhook_id })).deliveries).toHaveLength(1);
  });

  test('from the joining of its user to the leaving, both included', async () => {
    const { ada, cleo } = await users(server(), 'ada', 'cleo');
    const endpoint = receiver().endpoint();
    const webhook_id = await register(cleo, endpoint);
    const chat_id = await newGroup(ada);
    const participants = [cleo.userId];
    await say(ada, chat_id, 'before');
    await ada.ok('chats.add_participants', { chat_id, participants });
    await say(ada, chat_id, 'during');
    await cleo.ok('chats.leave', { chat_id });
    await say(ada, chat_id, 'between');
    await ada.ok('chats.add_participants', { chat_id, participants });
    await say(ada, chat_id, 'again');
    await ada.ok('chats.remove_participant', { chat_id, user_id: cleo.userId });
    await say(ada, chat_id, 'after');
    await settled(server(), cleo, webhook_id);
    expect(told(endpoint)).toEqual([
      'user_joined',
      'new_message during',
      'user_left',
      'user_joined',
      'new_message again',
      'user_left',
    ]);
  });

  test('of what happened before its user left, even if that goes out later', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const gate = Promise.withResolvers<void>();
    const endpoint = receiver().endpoint({ after: gate.promise });
    const chat_id = await newGroup(ada, bob);
    const webhook_id = await register(bob, endpoint);
    for (const content of ['one', 'two', 'three']) await say(ada, chat_id, content);
    await endpoint.arrived(1);
    await bob.ok('chats.leave', { chat_id });
    await say(ada, chat_id, 'after');
    gate.resolve();
    await settled(server(), bob, webhook_id);
    expect(told(endpoint)).toEqual(['new_message one', 'new_message two', 'new_message three', 'user_left']);
  });

  test('of what happened while it was paused and before its user left', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const endpoint = receiver().endpoint();
    const chat_id = await newGroup(ada, bob);
    const webhook_id = await register(bob, endpoint);
    await bob.ok('webhooks.update', { webhook_id, status: 'paused' });
    await say(ada, chat_id, 'one');
    await say(ada, chat_id, 'two');
    await bob.ok('chats.leave', { chat_id });
    await say(ada, chat_id, 'after');
    await bob.ok('webhooks.update', { webhook_id, status: 'active' });
    await settled(server(), bob, webhook_id);
    expect(told(endpoint)).toEqual(['new_message one', 'new_message two', 'user_left']);
    expect((await bob.ok('webhooks.deliveries', { webhook_id, state: 'skipped' })).deliveries).toEqual([]);
  });

  test('of the events that it asks for', async () => {
    const { ada } = await users(server(), 'ada');
    const endpoint = receiver().endpoint();
    const webhook_id = await register(ada, endpoint, { events: ['message_edited', 'chat_updated', 'novelty'] });
    const chat_id = await newGroup(ada);
    const { message } = await say(ada, chat_id, 'one');
    await ada.ok('messages.edit_message', { message_id: message.message_id, content: 'two' });
    await ada.ok('messages.delete_message', { message_id: message.message_id });
    await ada.ok('chats.update', { chat_id, name: 'new' });
    await settled(server(), ada, webhook_id);
    expect(told(endpoint)).toEqual(['message_edited two', 'chat_updated']);
  });

  test('of the one chat that it asks for, while its user is in it', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const endpoint = receiver().endpoint();
    const [one, two] = [await newGroup(ada, bob), await newGroup(ada, bob)];
    const webhook_id = await register(bob, endpoint, { chat_id: one });
    await say(ada, one, 'one');
    await say(ada, two, 'two');
    await bob.ok('chats.leave', { chat_id: one });
    await say(ada, one, 'away');
    await ada.ok('chats.add_participants', { chat_id: one, participants: [bob.userId] });
    await say(ada, one, 'back');
    await newGroup(bob);
    await settled(server(), bob, webhook_id);
    expect(told(endpoint)).toEqual(['new_message one', 'user_left', 'user_joined', 'new_message back']);
  });

  test('beside those of others, each signed with its own secret', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const [first, second, third] = [receiver().endpoint(), receiver().endpoint(), receiver().endpoint()];
    const chat_id = await newGroup(ada, bob);
    const hooks = [
      { by: ada, endpoint: first, webhook_id: await register(ada, first, { secret: 'first' }) },
      { by: bob, endpoint: second, webhook_id: await register(bob, second, { secret: 'second' }) },
      { by: ada, endpoint: third, webhook_id: await register(ada, third, { secret: 'third' }) },
    ];
    await say(ada, chat_id, 'to all');
    for (const { by, webhook_id } of hooks) await settled(server(), by, webhook_id);
    const came = hooks.map(({ endpoint, webhook_id }) => {
      expect(endpoint.contents).toEqual(['to all']);
      const [arrival] = endpoint.arrivals;
      expect(arrival?.headers.get('x-webhook-registration')).toBe(String(webhook_id));
      return arrival;
    });
    expect(new Set(came.map((arrival) => arrival?.eventId)).size).toBe(1);
    expect(new Set(came.map((arrival) => arrival?.body)).size).toBe(1);
    expect(new Set(came.map((arrival) => arrival?.headers.get('x-webhook-signature'))).size).toBe(3);
  });

  describe('of the whole service', () => {
    let root: Client;
    let number = 0;
    beforeAll(async () => {
      root = await inSession(server(), await server().user('root', { admin: true }));
    });
    const wide = { service_wide: true } as const;

    test('only for administrators with the scope for it', async () => {
      const { ada } = await users(server(), 'ada');
      const input = { url: receiver().endpoint().url, events: ['*'], secret, ...wide };
      expect(await ada.refused('webhooks.register', input)).toBe('insufficient_scope');
      const scopes: Scope[] = ['webhooks', 'messages:read'];
      const modest = new Client(server().url, await server().token('root', scopes), root.userId);
      expect(await modest.refused('webhooks.register', input)).toBe('insufficient_scope');
      const former = await server().user('former', { admin: true });
      await server().engine.write((tx) => tx.run('UPDATE users SET is_admin = 0 WHERE user_id = $1', [former.userId]));
      expect(await former.refused('webhooks.register', input)).toBe('forbidden');
    });

    test('receives events of all chats, and of direct chats only with include_direct', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const [without, including] = [receiver().endpoint(), receiver().endpoint()];
      const hooks = [
        await register(root, without, wide),
        await register(root, including, { ...wide, include_direct: true }),
      ];
      expect((await root.ok('webhooks.get', { webhook_id: hooks[1] ?? 0 })).webhook).toMatchObject({
        service_wide: true,
        include_direct: true,
      });
      const chat_id = await newGroup(ada, bob);
      await say(ada, chat_id, 'in a group');
      const direct = (await ada.ok('messages.create_direct', { user_id: bob.userId })).chat.chat_id;
      await say(bob, direct, 'in private');
      const own = (await root.ok('messages.create_direct', { user_id: bob.userId })).chat.chat_id;
      await say(root, own, 'in private with root');
      for (const webhook_id of hooks) await settled(server(), root, webhook_id);
      expect(told(without)).toEqual(['group_created', 'new_message in a group']);
      expect(told(including).toSorted()).toEqual([
        'direct_created',
        'direct_created',
        'group_created',
        'new_message in a group',
        'new_message in private',
        'new_message in private with root',
      ]);
    });

    test('receives the same events after a pause', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const endpoint = receiver().endpoint();
      const webhook_id = await register(root, endpoint, wide);
      await root.ok('webhooks.update', { webhook_id, status: 'paused' });
      const direct = (await ada.ok('messages.create_direct', { user_id: bob.userId })).chat.chat_id;
      await say(bob, direct, 'in private');
      const chat_id = await newGroup(ada, bob);
      await say(ada, chat_id, 'in a group');
      await root.ok('webhooks.update', { webhook_id, status: 'active' });
      await settled(server(), root, webhook_id);
      expect(told(endpoint)).toEqual(['group_created', 'new_message in a group']);
    });

    test('receives events of one chat if it names one', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = receiver().endpoint();
      const [one, two] = [await newGroup(ada), await newGroup(ada)];
      const webhook_id = await register(root, endpoint, { ...wide, chat_id: one });
      await say(ada, one, 'one');
      await say(ada, two, 'two');
      await settled(server(), root, webhook_id);
      expect(endpoint.contents).toEqual(['one']);
      const input = { url: endpoint.url, events: ['*'], secret, ...wide, chat_id: absent };
      expect(await root.refused('webhooks.register', input)).toBe('not_found');
    });

    const acts: [string, (by: Client, webhook_id: number, delivery_id: number, url: string) => Promise<unknown>][] = [
      ['led elsewhere', (by, webhook_id, _, url) => by.refused('webhooks.update', { webhook_id, url })],
      ['read', (by, _, delivery_id) => by.refused('webhooks.delivery', { delivery_id })],
      ['sent again', (by, _, delivery_id) => by.refused('webhooks.redeliver', { delivery_id })],
      ['replayed', (by, webhook_id) => by.refused('webhooks.replay', { webhook_id, from_event_id: 1 })],
    ];
    test.each(acts)('cannot be %s by a token that may not administer', async (_, act) => {
      const name = `admin${++number}`;
      const admin = await inSession(server(), await server().user(name, { admin: true }));
      const { ada } = await users(server(), 'ada');
      const [endpoint, elsewhere] = [receiver().endpoint(), receiver().endpoint()];
      const webhook_id = await register(admin, endpoint, wide);
      await say(ada, await newGroup(ada), 'not for everybody');
      await settled(server(), admin, webhook_id);
      const { deliveries } = await admin.ok('webhooks.deliveries', { webhook_id });
      const scopes: Scope[] = ['webhooks', 'messages:read'];
      const modest = new Client(server().url, await server().token(name, scopes), admin.userId);
      const refusal = await act(modest, webhook_id, deliveries[0]?.delivery_id ?? 0, elsewhere.url);
      expect(refusal).toBe('insufficient_scope');
    });

    test('cannot be revived by a token that may not administer', async () => {
      const name = `admin${++number}`;
      const admin = await inSession(server(), await server().user(name, { admin: true }));
      const webhook_id = await register(admin, receiver().endpoint(), wide);
      await changePasswordOf(server().tools, { userName: name, password: goodPassword });
      const scopes: Scope[] = ['webhooks', 'messages:read'];
      const modest = new Client(server().url, await server().token(name, scopes), admin.userId);
      expect(await modest.refused('webhooks.update', { webhook_id, status: 'active' })).toBe('insufficient_scope');
    });
  });

  describe('nothing more once its access has ended', () => {
    /** A webhook with one delivered, one refused and one waiting delivery. */
    const busyHook = async (owner: Client) => {
      const endpoint = receiver().endpoint(({ data }) => (data.content === 'fine' ? 200 : 500));
      const chat_id = await newGroup(owner);
      const webhook_id = await register(owner, endpoint);
      for (const content of ['fine', 'refused', 'waiting']) await say(owner, chat_id, content);
      await eventually('one is delivered, one refused, one waits', async () => {
        const states = (await rowsOf(server(), webhook_id)).map(({ state }) => state);
        return states.join() === 'delivered,retrying,pending' || undefined;
      });
      endpoint.reply = () => 200;
      return { endpoint, chat_id, webhook_id };
    };
    const ended = (reason: string) => [
      { state: 'delivered', reason: null },
      { state: 'skipped', reason },
      { state: 'skipped', reason },
    ];
    /** Expects that the act sends no delivery and queues none. */
    const expectSilence = async (
      { endpoint, webhook_id }: { endpoint: Endpoint; webhook_id: number },
      act: () => Promise<unknown>,
    ) => {
      const before = await rowsOf(server(), webhook_id);
      const sofar = endpoint.arrivals.length;
      await act();
      await dispatched(server());
      await sentinel().passes();
      expect(endpoint.arrivals).toHaveLength(sofar);
      expect(await rowsOf(server(), webhook_id)).toEqual(before);
    };
    const secondToken = async (owner: Client) => {
      const { access_token } = await owner.ok('tokens.create', { name: 'second' });
      return new Client(server().url, access_token, owner.userId);
    };

    test('because its user was disabled', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const root = await server().user('disabler', { admin: true });
      const hook = await busyHook(ada);
      await ada.ok('chats.add_participants', { chat_id: hook.chat_id, participants: [bob.userId] });
      await dispatched(server());
      await root.ok('users.disable', { user_id: ada.userId });
      const skipped = { state: 'skipped', reason: 'user_disabled' };
      expect(await rowsOf(server(), hook.webhook_id)).toEqual([...ended('user_disabled'), skipped]);
      expect(await statusOf(server(), hook.webhook_id)).toEqual({
        status: 'disabled',
        disabled_reason: 'user_disabled',
      });
      await expectSilence(hook, () => say(bob, hook.chat_id, 'unheard'));
    });

    test('because the token that registered it was revoked', async () => {
      const { ada } = await users(server(), 'ada');
      const other = await secondToken(ada);
      const hook = await busyHook(other);
      const untouched = receiver().endpoint();
      const kept = await register(ada, untouched);
      const { tokens } = await ada.ok('tokens.list', {});
      await ada.ok('tokens.revoke', { token_id: tokens.find((t) => t.name === 'second')?.token_id ?? 0 });
      expect(await rowsOf(server(), hook.webhook_id)).toEqual(ended('access_revoked'));
      const { webhook } = await ada.ok('webhooks.get', { webhook_id: hook.webhook_id });
      expect(webhook).toMatchObject({
        status: 'disabled',
        disabled_reason: 'access_revoked',
        oldest_undelivered_age: null,
      });
      await expectSilence(hook, () => say(ada, hook.chat_id, 'unheard'));
      await settled(server(), ada, kept);
      expect(untouched.contents).toEqual(['unheard']);
    });

    test('because the token that made its token was revoked', async () => {
      const { ada } = await users(server(), 'ada');
      const child = await secondToken(ada);
      const hook = await busyHook(child);
      const [first] = (await ada.ok('tokens.list', {})).tokens;
      await ada.ok('tokens.revoke', { token_id: first?.token_id ?? 0 });
      expect(await rowsOf(server(), hook.webhook_id)).toEqual(ended('access_revoked'));
      expect(await statusOf(server(), hook.webhook_id)).toMatchObject({ disabled_reason: 'access_revoked' });
    });

    test('because an operator withdrew its token beside the running server', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const hook = await busyHook(ada);
      await ada.ok('chats.add_participants', { chat_id: hook.chat_id, participants: [bob.userId] });
      await dispatched(server());
      const [token] = (await ada.ok('tokens.list', {})).tokens;
      if (!token) throw new Error('there is no token');
      await withdrawToken(server().tools, token.token_id as Parameters<typeof withdrawToken>[1]);
      expect((await rowsOf(server(), hook.webhook_id)).slice(0, 3)).toEqual(ended('access_revoked'));
      expect(await statusOf(server(), hook.webhook_id)).toEqual({
        status: 'disabled',
        disabled_reason: 'access_revoked',
      });
      await expectSilence(hook, () => say(bob, hook.chat_id, 'unheard'));
    });

    test('until it is activated with another token, and then starts from there', async () => {
      const { ada } = await users(server(), 'ada');
      const other = await secondToken(ada);
      const { endpoint, chat_id, webhook_id } = await busyHook(other);
      const { tokens } = await ada.ok('tokens.list', {});
      await ada.ok('tokens.revoke', { token_id: tokens.find((t) => t.name === 'second')?.token_id ?? 0 });
      await say(ada, chat_id, 'missed');
      expectRefusal(await ada.call('webhooks.replay', { webhook_id, from_event_id: 1 }), 'conflict');
      const sofar = endpoint.arrivals.length;
      const { webhook } = await ada.ok('webhooks.update', { webhook_id, status: 'active' });
      expect(webhook).toMatchObject({ status: 'active', disabled_reason: null, oldest_undelivered_age: null });
      await say(ada, chat_id, 'new');
      await settled(server(), ada, webhook_id);
      expect(endpoint.contents.slice(sofar)).toEqual(['new']);
      expect((await rowsOf(server(), webhook_id)).slice(0, 3)).toEqual(ended('access_revoked'));

      const [token] = (await ada.ok('tokens.list', {})).tokens;
      await ada.ok('tokens.revoke', { token_id: token?.token_id ?? 0 });
      expect(await statusOf(server(), webhook_id)).toEqual({ status: 'disabled', disabled_reason: 'access_revoked' });
    });

    test('also where it was paused or gone before', async () => {
      const { ada } = await users(server(), 'ada');
      const other = await secondToken(ada);
      const chat_id = await newGroup(other);
      const [paused, gone] = [receiver().endpoint(), receiver().endpoint(410)];
      const hooks = [await register(other, paused), await register(other, gone)];
      await ada.ok('webhooks.update', { webhook_id: hooks[0] ?? 0, status: 'paused' });
      await say(ada, chat_id, 'x');
      await eventually('the second is disabled', async () => {
        const { webhook } = await ada.ok('webhooks.get', { webhook_id: hooks[1] ?? 0 });
        return webhook.disabled_reason === 'gone' || undefined;
      });
      const { tokens } = await ada.ok('tokens.list', {});
      await ada.ok('tokens.revoke', { token_id: tokens.find((t) => t.name === 'second')?.token_id ?? 0 });
      for (const webhook_id of hooks) {
        const { webhook } = await ada.ok('webhooks.get', { webhook_id });
        expect(webhook).toMatchObject({
          status: 'disabled',
          disabled_reason: 'access_revoked',
          oldest_undelivered_age: null,
        });
      }
    });

    test('not even where a token is revoked in the moment that registers with it', async () => {
      const { ada } = await users(server(), 'ada');
      for (let i = 0; i < 5; i++) {
        const other = await secondToken(ada);
        const { tokens } = await ada.ok('tokens.list', {});
        const token_id = tokens.find((t) => t.name === 'second')?.token_id ?? 0;
        const { url } = receiver().endpoint();
        await Promise.all([
          other.call('webhooks.register', { url, events: ['*'], secret }),
          ada.ok('tokens.revoke', { token_id }),
          other.call('webhooks.register', { url, events: ['*'], secret }),
        ]);
      }
      const { webhooks } = await ada.ok('webhooks.list', {});
      expect(webhooks.filter(({ status }) => status === 'active')).toEqual([]);
    });
  });

  describe('that another was disabled', () => {
    test('where it belongs to the same user; nobody else is, and never the disabled one itself', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const root = await inSession(server(), await server().user('watcher', { admin: true }));
      const gone = receiver().endpoint(410);
      const [other, rare, ofChat, bobs, wide] = Array.from({ length: 5 }, () => receiver().endpoint());
      if (!other || !rare || !ofChat || !bobs || !wide) throw new Error('unreachable');
      const chat_id = await newGroup(ada, bob);
      const webhook_id = await register(ada, gone);
      const others: [Client, number][] = [
        [ada, await register(ada, other)],
        [ada, await register(ada, rare, { events: ['webhook_disabled'] })],
        [ada, await register(ada, ofChat, { chat_id })],
        [bob, await register(bob, bobs)],
        [root, await register(root, wide, { service_wide: true, include_direct: true })],
      ];
      const tip = await eventTip(ada);
      await say(bob, chat_id, 'x');
      const isDisabled = async () => {
        const { webhook } = await ada.ok('webhooks.get', { webhook_id });
        return webhook.status === 'disabled' ? webhook : undefined;
      };
      expect(await eventually('it is disabled', isDisabled)).toMatchObject({ disabled_reason: 'gone' });
      for (const [by, id] of others) await settled(server(), by, id);

      const seen = (await eventsAfter(ada, tip)).filter(({ event }) => event === 'webhook_disabled');
      expect(seen.map(({ data }) => data)).toEqual([
        { webhook_id, user_id: ada.userId, url: gone.url, reason: 'gone' },
      ] as never);
      for (const by of [bob, root]) {
        const events = (await eventsAfter(by, tip)).map(({ event }) => event as string);
        expect(events).not.toContain('webhook_disabled');
      }
      expect([other, rare, ofChat, bobs, wide].map(told)).toEqual([
        ['new_message x', 'webhook_disabled'],
        ['webhook_disabled'],
        ['new_message x'],
        ['new_message x'],
        ['new_message x'],
      ]);
      expect(rare.arrivals[0]?.body).toBe(seen[0] ? asBody(seen[0]) : '');
      const [delivery] = (await ada.ok('webhooks.deliveries', { webhook_id: others[1]?.[1] ?? 0 })).deliveries;
      expect(delivery).toMatchObject({ event: 'webhook_disabled', chat_id: null, state: 'delivered' });

      gone.reply = () => 200;
      await say(bob, chat_id, 'y');
      await ada.ok('webhooks.update', { webhook_id, status: 'active' });
      await settled(server(), ada, webhook_id);
      expect(told(gone)).toEqual(['new_message x', 'new_message x', 'new_message y']);
    });
  });
});

onAnyEngine('a webhook whose token expires', (engine) => {
  let now = Date.now();
  const receiver = receiverFor();
  const server = serverFor(engine, {}, { sweepMs: 20, now: () => now });
  const sentinel = sentinelFor(server, receiver);

  test('is sent nothing from then on, and is found disabled with what waited skipped', async () => {
    const { ada } = await users(server(), 'ada');
    const { access_token } = await ada.ok('tokens.create', { name: 'brief', expires_in: 3_600 });
    const brief = new Client(server().url, access_token, ada.userId);
    const endpoint = receiver().endpoint();
    const chat_id = await newGroup(ada);
    const webhook_id = await register(brief, endpoint);
    await say(ada, chat_id, 'in time');
    await endpoint.arrived(1);
    now += 3_600_000 - 1;
    await say(ada, chat_id, 'just in time');
    await endpoint.arrived(2);
    now += 1;
    await say(ada, chat_id, 'too late');
    await sentinel().passes();
    expect(endpoint.contents).toEqual(['in time', 'just in time']);

    // The housekeeping does this once a minute.
    await server().engine.write((tx) => endWithoutAccess(tx, now));
    const { webhook } = await ada.ok('webhooks.get', { webhook_id });
    expect(webhook).toMatchObject({ status: 'disabled', disabled_reason: 'access_revoked' });
    const [newest] = (await ada.ok('webhooks.deliveries', { webhook_id })).deliveries;
    expect(newest).toMatchObject({ state: 'skipped', reason: 'access_revoked' });
    await say(ada, chat_id, 'later still');
    await sentinel().passes();
    expect(endpoint.arrivals).toHaveLength(2);
    expect((await ada.ok('webhooks.deliveries', { webhook_id })).deliveries).toHaveLength(3);
  });

  test('is sent nothing after that by a replay or a retry either', async () => {
    const { ada } = await users(server(), 'ada');
    const { access_token } = await ada.ok('tokens.create', { name: 'brief', expires_in: 3_600 });
    const brief = new Client(server().url, access_token, ada.userId);
    const endpoint = receiver().endpoint(500);
    const chat_id = await newGroup(ada);
    const webhook_id = await register(brief, endpoint);
    await say(ada, chat_id, 'refused');
    await eventually('it was refused', async () => {
      const { deliveries } = await ada.ok('webhooks.deliveries', { webhook_id, state: 'retrying' });
      return deliveries.length > 0 || undefined;
    });
    const sofar = endpoint.arrivals.length;
    now += 3_600_000;
    await ada.ok('webhooks.replay', { webhook_id, from_event_id: 1 });
    await sentinel().passes();
    expect(endpoint.arrivals).toHaveLength(sofar);
  });
});

/** One random act. Which user and chat it meets is decided by the numbers; many are refused, as in life. */
interface Act {
  readonly kind: keyof typeof performing;
  readonly who: number;
  readonly whom: number;
  readonly where: number;
}

interface Stage {
  readonly people: readonly Client[];
  readonly hooks: readonly number[];
  readonly chats: number[];
}

const at = <T>(list: readonly T[], index: number): T => {
  const found = list[index % list.length];
  if (found === undefined) throw new Error('an empty list');
  return found;
};

const performing = {
  send: ({ chats }: Stage, who: Client, _: number, where: number) =>
    who.call('messages.send_message', { chat_id: at(chats, where), content: `m${where}` }),
  join: ({ chats }: Stage, who: Client, _: number, where: number) =>
    who.call('chats.join', { chat_id: at(chats, where) }),
  leave: ({ chats }: Stage, who: Client, _: number, where: number) =>
    who.call('chats.leave', { chat_id: at(chats, where) }),
  add: ({ chats, people }: Stage, who: Client, whom: number, where: number) =>
    who.call('chats.add_participants', { chat_id: at(chats, where), participants: [at(people, whom).userId] }),
  remove: ({ chats, people }: Stage, who: Client, whom: number, where: number) =>
    who.call('chats.remove_participant', { chat_id: at(chats, where), user_id: at(people, whom).userId }),
  direct: async ({ chats, people }: Stage, who: Client, whom: number) => {
    const { body } = await who.call('messages.create_direct', { user_id: at(people, whom).userId });
    if (body.success && !chats.includes(body.chat.chat_id)) chats.push(body.chat.chat_id);
  },
  pause: ({ hooks }: Stage, who: Client, _: number, where: number) =>
    who.call('webhooks.update', { webhook_id: at(hooks, where), status: 'paused' }),
  resume: ({ hooks }: Stage, who: Client, _: number, where: number) =>
    who.call('webhooks.update', { webhook_id: at(hooks, where), status: 'active' }),
} as const;

const histories = (...kinds: Act['kind'][]): fc.Arbitrary<Act[]> =>
  fc.array(fc.record({ kind: fc.constantFrom(...kinds), who: fc.nat(2), whom: fc.nat(2), where: fc.nat(5) }), {
    minLength: 5,
    maxLength: 40,
  });

onAnyEngine('for every user and every history', (engine) => {
  const receiver = receiverFor();
  const server = serverFor(engine, {}, { sweepMs: 20 });

  const holds = async (acts: readonly Act[]) => {
    const people = Object.values(await users(server(), 'x', 'y', 'z'));
    const tip = await eventTip(at(people, 0));
    const endpoints = people.map(() => receiver().endpoint());
    const hooks: number[] = [];
    for (const [i, person] of people.entries()) hooks.push(await register(person, at(endpoints, i)));
    const chats = [await newGroup(at(people, 0), at(people, 1))];
    chats.push((await at(people, 1).ok('messages.create_channel', { name: 'c' })).channel.chat_id);
    const stage: Stage = { people, hooks, chats };
    for (const { kind, who, whom, where } of acts) await performing[kind](stage, at(people, who), whom, where);
    for (const [i, person] of people.entries()) {
      const webhook_id = at(hooks, i);
      await person.ok('webhooks.update', { webhook_id, status: 'active' });
      await settled(server(), person, webhook_id);
      const seen = await eventsAfter(person, tip);
      // A pause may come between a request and its answer, and then the request is made again.
      const first = new Map(
        at(endpoints, i)
          .arrivals.toReversed()
          .map((arrival) => [arrival.eventId, arrival]),
      );
      const came = [...first.values()].reverse();
      const sorted = came.toSorted((a, b) => a.eventId - b.eventId);
      expect(sorted.map(({ eventId, body }) => `${eventId} ${body}`)).toEqual(
        seen.map((event) => `${event.event_id} ${asBody(event)}`),
      );
      for (const ofChat of Map.groupBy(came, ({ data }) => data.chat_id).values()) {
        const ids = ofChat.map(({ eventId }) => eventId);
        expect(ids).toEqual(ids.toSorted((a, b) => a - b));
      }
    }
  };

  test('a webhook gets what its user sees of the log, in the order of each chat', async () => {
    const history = histories('send', 'send', 'send', 'join', 'leave', 'add', 'remove', 'direct');
    await fc.assert(fc.asyncProperty(history, holds), { numRuns: 10, endOnFailure: true });
  });

  test('a webhook gets the same where it is paused again and again', async () => {
    const history = histories('send', 'send', 'join', 'leave', 'add', 'remove', 'pause', 'resume');
    await fc.assert(fc.asyncProperty(history, holds), { numRuns: 6, endOnFailure: true });
  });
});
