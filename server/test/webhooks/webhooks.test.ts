import { beforeAll, describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ClientInput, eventExamples, type OperationName, type Scope } from '@parley/contract';
import { verifyWebhook } from '@parley-chat/sdk/webhook';
import type { Runtime } from '../../compose.ts';
import { logTip, readCursor } from '../../store/log/events.ts';
import { temporaryFolder } from '../support/cleanup.ts';
import { Client } from '../support/client.ts';
import { type EngineName, type Environment, freshEnvironment, onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { eventTip, users } from '../support/people.ts';
import { Talking } from '../support/process.ts';
import { type Endpoint, Held, receiverFor } from '../support/receiver.ts';
import { serverFor, startServer, type TestServer } from '../support/server.ts';
import { sentinelFor } from '../support/webhook-scene.ts';
import { complaint, encodings, expectRefusal, request } from '../support/wire.ts';

/** An address on loopback where nobody listens. */
const nobody = 'http://127.0.0.1:9/hook';
const secret = 'a secret of Ada’s ✓';
const absent = Number.MAX_SAFE_INTEGER;
const hour = 3_600_000;

type Registration = ClientInput<'webhooks.register'>;
const plain: Registration = { url: nobody, events: ['*'], secret };

const register = async (by: Client, to: Endpoint | string, more: Partial<Registration> = {}) =>
  (await by.ok('webhooks.register', { ...plain, url: typeof to === 'string' ? to : to.url, ...more })).webhook;

const newGroup = async (by: Client, ...others: Client[]) =>
  (await by.ok('messages.create_group', { name: 'g', participants: others.map((c) => c.userId) })).group.chat_id;

const say = (by: Client, chat_id: number, ...contents: string[]) =>
  contents.reduce<Promise<unknown>>(
    (before, content) => before.then(() => by.ok('messages.send_message', { chat_id, content })),
    Promise.resolve(),
  );

/** Every event so far has become deliveries, where it was to. */
const dispatched = ({ engine }: TestServer) =>
  eventually(
    'the dispatcher has reached the end of the log',
    async () => (await readCursor(engine, 'webhooks')) === (await logTip(engine)) || undefined,
  );

/** Does something with a server of its own. */
async function withServer<T>(
  env: Environment,
  work: (server: TestServer) => Promise<T>,
  runtime: Partial<Runtime> = {},
) {
  const server = await startServer(env, runtime);
  return work(server).finally(() => server.stop());
}

const hex = (key: string, text: string | Buffer) => createHmac('sha256', key).update(text).digest('hex');

onAnyEngine('a webhook', (engine) => {
  const receiver = receiverFor();
  const server = serverFor(engine, {}, { sweepMs: 20 });
  const sentinel = sentinelFor(server, receiver);
  let ada: Client;
  let bob: Client;
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
  });

  describe('is registered', () => {
    test('as what was asked for, and is shown in full but for its secret', async () => {
      const { ada } = await users(server(), 'ada');
      const events = ['new_message', 'user_joined'];
      const before = Date.now();
      const { webhook } = await ada.ok('webhooks.register', { url: nobody, events, secret });
      expect(webhook).toEqual({
        webhook_id: webhook.webhook_id,
        user_id: ada.userId,
        url: nobody,
        events,
        unknown_events: [],
        chat_id: null,
        service_wide: false,
        include_direct: false,
        status: 'active',
        disabled_reason: null,
        down_since: null,
        next_attempt_at: null,
        oldest_undelivered_age: null,
        expired_count: 0,
        previous_secret_until: null,
        created_at: webhook.created_at,
      });
      expect(Date.parse(webhook.created_at)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(webhook.created_at)).toBeLessThanOrEqual(Date.now());
      expect((await ada.ok('webhooks.get', { webhook_id: webhook.webhook_id })).webhook).toEqual(webhook);
      expect(await ada.ok('webhooks.list', {})).toMatchObject({ webhooks: [webhook], has_more: false });
    });

    test.each(Object.entries(encodings))('by %s', async (_, encode) => {
      const chat_id = await newGroup(ada);
      const { body, headers } = encode({ url: nobody, events: ['new_message', 'user_left'], secret, chat_id });
      const answer = await request(`${server().url}/api/webhooks.php?action=register`, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${ada.token}`, ...headers },
      });
      expect(answer.status).toBe(200);
      expect(answer.body.webhook).toMatchObject({ events: ['new_message', 'user_left'], chat_id });
    });

    const bad: [string, object, field: string, ...says: (string | RegExp)[]][] = [
      ['what is no URL', { url: 'nonsense' }, 'url', 'URL'],
      ['an empty URL', { url: '' }, 'url', 'URL'],
      ['another scheme', { url: 'ftp://example.com/hook' }, 'url', 'https://', 'http://'],
      ['credentials in the URL', { url: 'https://ada:pw@example.com/' }, 'url', 'credentials'],
      ['a URL that is too long', { url: `https://example.com/${'x'.repeat(2_048)}` }, 'url', '2048'],
      ['a private address', { url: 'http://10.0.0.1/' }, 'url', '10.0.0.1', 'PARLEY_WEBHOOK_NETWORKS'],
      ['a private address in disguise', { url: 'http://0xa000001/' }, 'url', '10.0.0.1', 'PARLEY_WEBHOOK_NETWORKS'],
      ['an address of metadata', { url: 'http://169.254.169.254/latest' }, 'url', '169.254.169.254'],
      ['an IPv6 address of our own network', { url: 'http://[fd00::1]/' }, 'url', 'fd00::1', 'PARLEY_WEBHOOK_NETWORKS'],
      ['no URL', { url: undefined }, 'url'],
      ['no events', { events: [] }, 'events', 'at least'],
      ['events left out', { events: undefined }, 'events'],
      ['an empty name of an event', { events: ['new_message', ''] }, 'events[1]'],
      ['a name of two words', { events: ['new message'] }, 'events[0]', 'spaces'],
      ['a name that is too long', { events: ['x'.repeat(65)] }, 'events[0]', '64'],
      ['a name with a slash', { events: ['new_message', 'message/edited'] }, 'events[1]', 'name of an event'],
      ['a star within a name', { events: ['message_*'] }, 'events[0]', 'name of an event'],
      ['a name in another script', { events: ['сообщение'] }, 'events[0]', 'name of an event'],
      ['too many names', { events: Array.from({ length: 101 }, (_, i) => `e${i}`) }, 'events', '100'],
      ['an empty secret', { secret: '' }, 'secret'],
      ['a blank secret', { secret: ' \t' }, 'secret', 'blank'],
      ['a secret over 256 bytes', { secret: 'é'.repeat(129) }, 'secret', '256'],
      ['a secret of another kind', { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }, 'secret', 'whsec_'],
      ['no secret', { secret: undefined }, 'secret'],
      ['what is no chat', { chat_id: 0 }, 'chat_id'],
      ['a field that is none', { evnts: ['*'] }, 'evnts', 'events'],
      ['direct chats without the service', { include_direct: true }, 'include_direct', 'service_wide'],
    ];
    test.each(bad)('not with %s', async (_, input, field, ...says) => {
      const { mallory } = await users(server(), 'mallory');
      const answer = await mallory.call('webhooks.register', { ...plain, ...input } as Registration);
      const message = complaint(expectRefusal(answer, 'validation_failed'), field);
      expect(message).toBeDefined();
      for (const part of says) expect(message).toMatch(part);
      const given = (input as { secret?: string }).secret ?? '';
      if (given.trim() !== '') expect(JSON.stringify(answer.body)).not.toContain(given);
      expect((await mallory.ok('webhooks.list', {})).webhooks).toEqual([]);
    });

    test('not to lead back to the server itself', async () => {
      const { port } = new URL(server().url);
      for (const host of ['127.0.0.1', 'localhost', '127.1']) {
        const answer = await ada.call('webhooks.register', { ...plain, url: `http://${host}:${port}/api/x` });
        expect(complaint(expectRefusal(answer, 'validation_failed'), 'url')).toContain('Parley itself');
      }
    });

    test('with a secret of 256 bytes, signed with all of them', async () => {
      const long = 'é'.repeat(128);
      const endpoint = receiver().endpoint();
      const { webhook_id } = await register(ada, endpoint, { secret: long });
      await ada.ok('webhooks.test', { webhook_id });
      const [arrival] = await endpoint.arrived(1);
      expect(arrival?.headers.get('x-webhook-signature')).toBe(`sha256=${hex(long, arrival?.bytes ?? '')}`);
    });

    test('with names that Parley does not have, which it keeps and tells', async () => {
      const events = ['typing', 'new_message', 'call.started'];
      const webhook = await register(ada, nobody, { events });
      expect(webhook).toMatchObject({ events, unknown_events: ['typing', 'call.started'] });
      const { webhook_id } = webhook;
      expect((await ada.ok('webhooks.get', { webhook_id })).webhook.unknown_events).toEqual(['typing', 'call.started']);
    });

    const misspelt: [string, string | undefined][] = [
      ['new_mesage', 'new_message'],
      ['newMessage', 'new_message'],
      ['message.edited', 'message_edited'],
      ['USER_LEFT', 'user_left'],
      ['call.started', undefined],
    ];
    test.each(misspelt)('as %s with a warning that suggests %s', async (name, meant) => {
      const events = ['new_message', name];
      const { webhook, warnings } = await ada.ok('webhooks.register', { ...plain, events });
      expect(webhook).toMatchObject({ events, unknown_events: [name] });
      expect(warnings).toEqual([{ field: 'events[1]', message: expect.stringContaining(`${name} is not an event`) }]);
      const suggestion = /did you mean (\w+)\?/.exec(warnings[0]?.message ?? '')?.[1];
      expect(suggestion).toBe(meant);
      const { webhook_id } = webhook;
      expect((await ada.ok('webhooks.update', { webhook_id, events })).warnings).toEqual(warnings);
      expect((await ada.ok('webhooks.update', { webhook_id, events: ['*'] })).warnings).toEqual([]);
    });

    test('for a signal with a warning that only streams receive it', async () => {
      const { warnings } = await ada.ok('webhooks.register', { ...plain, events: ['message_read'] });
      expect(warnings).toEqual([{ field: 'events[0]', message: expect.stringContaining('streams') }]);
    });

    test('with a short secret and a warning, which a secret of 16 characters does not get', async () => {
      const { webhook, warnings } = await ada.ok('webhooks.register', { ...plain, secret: 'fifteen letters' });
      expect(warnings).toEqual([{ field: 'secret', message: expect.stringContaining('16 characters') }]);
      const { webhook_id } = webhook;
      expect((await ada.ok('webhooks.rotate_secret', { webhook_id, secret: 'short' })).warnings).toEqual(warnings);
      expect((await ada.ok('webhooks.rotate_secret', { webhook_id, secret: 'é'.repeat(16) })).warnings).toEqual([]);
      expect((await ada.ok('webhooks.register', { ...plain, secret: 'x'.repeat(16) })).warnings).toEqual([]);
    });

    test('for all events by a star, which is no unknown name', async () => {
      expect(await register(ada, nobody, { events: ['*', 'x'] })).toMatchObject({
        events: ['*', 'x'],
        unknown_events: ['x'],
      });
    });

    test('with repeated names counted once', async () => {
      const webhook = await register(ada, nobody, { events: ['x', 'new_message', 'x', 'new_message'] });
      expect(webhook).toMatchObject({ events: ['x', 'new_message'], unknown_events: ['x'] });
    });

    test('with the index of an unknown name in the list as it was given', async () => {
      const events = ['new_message', 'new_message', 'x', 'new_message', 'x', 'y'];
      const { webhook, warnings } = await ada.ok('webhooks.register', { ...plain, events });
      expect(warnings.map(({ field }) => field)).toEqual(['events[2]', 'events[5]']);
      const { webhook_id } = webhook;
      const changed = await ada.ok('webhooks.update', { webhook_id, events });
      expect(changed.webhook.events).toEqual(['new_message', 'x', 'y']);
      expect(changed.warnings).toEqual(warnings);
    });

    test('as often as it is asked for, even to the same address', async () => {
      const [one, two] = [await register(ada, nobody), await register(ada, nobody)];
      expect(two.webhook_id).toBeGreaterThan(one.webhook_id);
    });

    test('for one chat by those who are in it', async () => {
      const chat_id = await newGroup(ada, bob);
      const { channel } = await ada.ok('messages.create_channel', { name: 'open' });
      expect(await register(bob, nobody, { chat_id })).toMatchObject({ chat_id });
      await bob.ok('chats.leave', { chat_id });
      expect(await bob.refused('webhooks.register', { ...plain, chat_id })).toBe('not_found');
      expect(await bob.refused('webhooks.register', { ...plain, chat_id: absent })).toBe('not_found');
      expect(await bob.refused('webhooks.register', { ...plain, chat_id: channel.chat_id })).toBe('forbidden');
    });

    test('once under an Idempotency-Key, with the same response; another input is refused', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const key = { 'idempotency-key': 'hook-1' };
      const first = await ada.ok('webhooks.register', plain, key);
      expect(await ada.ok('webhooks.register', plain, key)).toEqual(first);
      const other = await ada.call('webhooks.register', { ...plain, events: ['user_left'] }, key);
      expectRefusal(other, 'idempotency_conflict');
      expect((await ada.ok('webhooks.list', {})).webhooks).toHaveLength(1);
      const { webhook } = await bob.ok('webhooks.register', plain, key);
      expect(webhook.webhook_id).not.toBe(first.webhook.webhook_id);
    });

    test('once where a key is used ten times at the same moment', async () => {
      const { ada } = await users(server(), 'ada');
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => ada.ok('webhooks.register', plain, { 'idempotency-key': 'at-once' })),
      );
      expect(new Set(answers.map(({ webhook }) => webhook.webhook_id)).size).toBe(1);
      expect((await ada.ok('webhooks.list', {})).webhooks).toHaveLength(1);
    });

    test('under an Idempotency-Key that keeps nothing from which a secret could be guessed quickly', async () => {
      const input = { events: ['*'], secret: 'guess me', url: nobody };
      await ada.ok('webhooks.register', input, { 'idempotency-key': 'careful-1' });
      const kept = JSON.stringify(await server().engine.all<object>('SELECT * FROM idempotency'));
      expect(kept).not.toContain('guess me');
      const asKept = { events: ['*'], include_direct: false, secret: 'guess me', service_wide: false, url: nobody };
      for (const text of [input, asKept].map((tried) => JSON.stringify(tried))) {
        for (const encoding of ['hex', 'base64', 'base64url'] as const) {
          expect(kept).not.toContain(new Bun.CryptoHasher('sha256').update(text).digest(encoding));
        }
      }
    });
  });

  describe('needs the right scopes', () => {
    const calls: [OperationName, readonly Scope[]][] = [
      ['webhooks.register', ['webhooks', 'messages:read']],
      ['webhooks.update', ['webhooks', 'messages:read']],
      ['webhooks.test', ['webhooks', 'messages:read']],
      ['webhooks.delivery', ['webhooks', 'messages:read']],
      ['webhooks.redeliver', ['webhooks', 'messages:read']],
      ['webhooks.replay', ['webhooks', 'messages:read']],
      ['webhooks.preview_replay', ['webhooks', 'messages:read']],
      ['webhooks.list', ['webhooks']],
      ['webhooks.get', ['webhooks']],
      ['webhooks.health', ['webhooks']],
      ['webhooks.cancel_replay', ['webhooks']],
      ['webhooks.rotate_secret', ['webhooks']],
      ['webhooks.deliveries', ['webhooks']],
      ['webhooks.skip', ['webhooks']],
      ['webhooks.replays', ['webhooks']],
      ['webhooks.delete', ['webhooks']],
    ];
    const inputs: Partial<Record<OperationName, object>> = {
      'webhooks.register': plain,
      'webhooks.list': {},
      'webhooks.rotate_secret': { webhook_id: absent, secret },
      'webhooks.replay': { webhook_id: absent, from_event_id: 1 },
      'webhooks.preview_replay': { webhook_id: absent, from_event_id: 1 },
      'webhooks.cancel_replay': { replay_id: absent },
    };
    for (const name of ['delivery', 'redeliver', 'skip'] as const) inputs[`webhooks.${name}`] = { delivery_id: absent };

    test.each(calls)('%s: %j', async (name, needed) => {
      const owner = `scoped${name.replace(/\W/g, '-')}`;
      const { userId } = await server().user(owner);
      const ask = async (scopes: readonly Scope[]) => {
        const client = new Client(server().url, await server().token(owner, scopes), userId);
        const { error } = await client.call(name, (inputs[name] ?? { webhook_id: absent }) as never);
        return error?.code;
      };
      for (const missing of needed) {
        const others = (['webhooks', 'messages:read', 'messages:write', 'chats:read'] as const).filter(
          (scope) => scope !== missing,
        );
        expect(await ask(others)).toBe('insufficient_scope');
      }
      expect(await ask(needed)).not.toBe('insufficient_scope');
    });
  });

  describe('belongs to one user', () => {
    const byWebhook = [
      ...(['get', 'health', 'update', 'rotate_secret', 'test', 'deliveries'] as const),
      ...(['replay', 'preview_replay', 'replays', 'delete'] as const),
    ];
    const byDelivery = ['delivery', 'redeliver', 'skip'] as const;
    const more: Partial<Record<string, object>> = {
      update: { status: 'paused' },
      rotate_secret: { secret: 'stolen' },
      replay: { from_event_id: 1 },
      preview_replay: { from_event_id: 1 },
    };
    let webhook_id: number;
    let delivery_id: number;
    beforeAll(async () => {
      const { owner } = await users(server(), 'owner');
      ({ webhook_id } = await register(owner, nobody));
      await newGroup(owner);
      delivery_id = await eventually('a delivery is there', async () => {
        const { deliveries } = await owner.ok('webhooks.deliveries', { webhook_id });
        return deliveries[0]?.delivery_id;
      });
    });

    const told = async (by: Client, action: string, input: object) => {
      const { status, error } = await by.call(`webhooks.${action}` as 'webhooks.get', input as never);
      return { status, code: error?.code, message: error?.message, details: error?.details };
    };
    test.each([...byWebhook])('%s finds neither the webhook of another nor one that is not', async (action) => {
      const none = await told(bob, action, { webhook_id: absent, ...more[action] });
      expect(none).toMatchObject({ status: 404, code: 'not_found' });
      expect(await told(bob, action, { webhook_id, ...more[action] })).toEqual(none);
    });
    test.each([...byDelivery])('%s finds neither the delivery of another nor one that is not', async (action) => {
      const none = await told(bob, action, { delivery_id: absent });
      expect(none).toMatchObject({ status: 404, code: 'not_found' });
      expect(await told(bob, action, { delivery_id })).toEqual(none);
    });

    test('and a delivery of another is no place to go on from', async () => {
      const own = await register(bob, nobody);
      const input = { webhook_id: own.webhook_id, before_id: delivery_id };
      expect(await bob.refused('webhooks.deliveries', input)).toBe('not_found');
    });

    test('through one app: another app of the same user does not see it', async () => {
      const owner = await server().user('owner-of-two');
      const { webhook_id } = await register(owner, nobody);
      const app = new Client(server().url, await server().token('owner-of-two'), owner.userId);
      await server().engine.write((tx) =>
        tx.run('UPDATE tokens SET app_id = 7 WHERE token_id = (SELECT max(token_id) FROM tokens)'),
      );
      expect((await app.ok('webhooks.list', {})).webhooks).toEqual([]);
      expect(await app.refused('webhooks.get', { webhook_id })).toBe('not_found');
      expect(await app.refused('webhooks.deliveries', { webhook_id })).toBe('not_found');
      expect((await register(app, nobody)).webhook_id).toBeGreaterThan(webhook_id);
      expect((await owner.ok('webhooks.list', {})).webhooks.map((w) => w.webhook_id as number)).toEqual([webhook_id]);
    });

    test('who lists it, page by page and nobody else’s among them', async () => {
      const { cleo, dan } = await users(server(), 'cleo', 'dan');
      const own: number[] = [];
      for (let i = 0; i < 5; i++) {
        own.push((await register(cleo, `${nobody}/${i}`)).webhook_id);
        await register(dan, nobody);
      }
      const pages: number[][] = [];
      for (let after_id = 0, has_more = true; has_more; ) {
        const page = await cleo.ok('webhooks.list', { limit: 2, after_id });
        pages.push(page.webhooks.map((w) => w.webhook_id));
        after_id = page.webhooks.at(-1)?.webhook_id ?? 0;
        ({ has_more } = page);
      }
      expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
      expect(pages.flat()).toEqual(own);
      expect((await cleo.ok('webhooks.list', { limit: 5 })).has_more).toBe(false);
    });

    test('who can list them while they are deleted', async () => {
      const { eve } = await users(server(), 'eve');
      const own = await Promise.all(Array.from({ length: 30 }, () => register(eve, nobody)));
      const deleting = own.map(({ webhook_id }) => eve.ok('webhooks.delete', { webhook_id }));
      const listing = Array.from({ length: 10 }, () => eve.call('webhooks.list', {}));
      await Promise.all(deleting);
      expect((await Promise.all(listing)).map(({ status }) => status)).toEqual(Array(10).fill(200));
    });
  });

  describe('is changed', () => {
    test('in what it asks for, from then on', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = receiver().endpoint();
      const chat_id = await newGroup(ada);
      const { webhook_id } = await register(ada, endpoint, { events: ['chat_updated'] });
      await say(ada, chat_id, 'unheard');
      await dispatched(server());
      const { webhook } = await ada.ok('webhooks.update', { webhook_id, events: ['new_message', 'novelty'] });
      expect(webhook).toMatchObject({
        events: ['new_message', 'novelty'],
        unknown_events: ['novelty'],
        url: endpoint.url,
      });
      await ada.ok('chats.update', { chat_id, name: 'unheard' });
      await say(ada, chat_id, 'heard');
      await endpoint.arrived(1);
      await dispatched(server());
      expect(endpoint.arrivals.map(({ event, data }) => [event, data.content])).toEqual([['new_message', 'heard']]);
    });

    test('in its address, at once', async () => {
      const { ada } = await users(server(), 'ada');
      const [before, after] = [receiver().endpoint(), receiver().endpoint()];
      const chat_id = await newGroup(ada);
      const { webhook_id } = await register(ada, before);
      await say(ada, chat_id, 'one');
      await before.arrived(1);
      const { webhook } = await ada.ok('webhooks.update', { webhook_id, url: after.url });
      expect(webhook.url).toBe(after.url);
      await say(ada, chat_id, 'two', 'three');
      await after.arrived(2);
      expect([before.contents, after.contents]).toEqual([['one'], ['two', 'three']]);
    });

    const bad: [object, field: string, says: string][] = [
      [{ url: 'http://10.0.0.1/' }, 'url', 'PARLEY_WEBHOOK_NETWORKS'],
      [{ url: 'gopher://x/' }, 'url', 'http'],
      [{ events: [] }, 'events', 'at least'],
      [{ status: 'disabled' }, 'status', 'paused'],
      [{ secret: 'x' }, 'secret', ''],
      [{ chat_id: 1 }, 'chat_id', ''],
    ];
    test.each(bad)('not by %j', async (input, field, says) => {
      const { webhook_id } = await register(ada, nobody);
      const before = await ada.ok('webhooks.get', { webhook_id });
      const answer = await ada.call('webhooks.update', { webhook_id, events: ['x'], ...input } as never);
      expect(complaint(expectRefusal(answer, 'validation_failed'), field)).toContain(says);
      expect(await ada.ok('webhooks.get', { webhook_id })).toEqual(before);
    });

    test('into what it was by an update of nothing', async () => {
      const { webhook_id } = await register(ada, nobody);
      const before = await ada.ok('webhooks.get', { webhook_id });
      expect(await ada.ok('webhooks.update', { webhook_id })).toEqual({ ...before, warnings: [] });
    });
  });

  describe('that is paused', () => {
    test('is sent nothing, and gets everything in order once it is active', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const endpoint = receiver().endpoint();
      const [one, two] = [await newGroup(ada, bob), await newGroup(ada, bob)];
      const { webhook_id } = await register(ada, endpoint);
      await say(ada, one, 'before');
      await endpoint.arrived(1);
      expect((await ada.ok('webhooks.update', { webhook_id, status: 'paused' })).webhook.status).toBe('paused');
      await say(bob, one, '1', '2');
      await say(bob, two, 'a', 'b');
      await say(ada, one, '3');
      await sentinel().passes();
      expect(endpoint.contents).toEqual(['before']);
      const { webhook } = await ada.ok('webhooks.get', { webhook_id });
      expect(webhook).toMatchObject({ status: 'paused', oldest_undelivered_age: expect.any(Number) });

      await ada.ok('webhooks.update', { webhook_id, status: 'active' });
      await say(ada, one, '4');
      await endpoint.arrived(7);
      const of = (chat_id: number) =>
        endpoint.arrivals.filter(({ data }) => data.chat_id === chat_id).map(({ data }) => data.content);
      expect(of(one)).toEqual(['before', '1', '2', '3', '4']);
      expect(of(two)).toEqual(['a', 'b']);
      await eventually('nothing waits any more', async () => {
        const { webhook } = await ada.ok('webhooks.get', { webhook_id });
        return webhook.oldest_undelivered_age === null || undefined;
      });
      expect(endpoint.arrivals).toHaveLength(7);
    });

    test('resumes at once when it is active again, without a new event', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = receiver().endpoint();
      const chat_id = await newGroup(ada);
      const { webhook_id } = await register(ada, endpoint);
      await say(ada, chat_id, 'first');
      await endpoint.arrived(1);
      await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
      await say(ada, chat_id, 'second');
      await dispatched(server());
      await ada.ok('webhooks.update', { webhook_id, status: 'active' });
      await endpoint.arrived(2);
      expect(endpoint.contents).toEqual(['first', 'second']);
    });

    test('stops in the midst of what waits, and takes up from there', async () => {
      const { ada } = await users(server(), 'ada');
      const held = new Held();
      const endpoint = receiver().endpoint(() => (endpoint.arrivals.length > 5 ? held.reply() : 200));
      const chat_id = await newGroup(ada);
      const { webhook_id } = await register(ada, endpoint, { events: ['new_message'] });
      const contents = Array.from({ length: 40 }, (_, i) => `${i}`);
      await Promise.all(contents.map((content) => say(ada, chat_id, content)));
      await endpoint.arrived(6);
      await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
      endpoint.reply = () => 200;
      held.release();
      await sentinel().passes();
      expect(endpoint.arrivals).toHaveLength(6);
      await ada.ok('webhooks.update', { webhook_id, status: 'active' });
      await eventually('all have come', async () => new Set(endpoint.eventIds).size === 40 || undefined);
      const firsts = [...new Set(endpoint.eventIds)];
      expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
    });
  });

  describe('that is deleted', () => {
    test('is gone, what it had not delivered is skipped, and its deliveries stay readable', async () => {
      const { ada } = await users(server(), 'ada');
      const endpoint = receiver().endpoint(({ data }) => (data.content === 'fine' ? 200 : 500));
      const chat_id = await newGroup(ada);
      const { webhook_id } = await register(ada, endpoint);
      await say(ada, chat_id, 'fine', 'bad', 'behind', 'behind');
      const states = async () => {
        const { deliveries } = await ada.ok('webhooks.deliveries', { webhook_id });
        return deliveries.map(({ state, reason }) => ({ state, reason })).reverse();
      };
      const as = (...states: string[]) => states.map((state) => ({ state, reason: null as string | null }));
      await eventually('the second was refused', async () => (await states())[1]?.state === 'retrying' || undefined);
      await dispatched(server());
      expect(await states()).toEqual(as('delivered', 'retrying', 'pending', 'pending') as never);

      expect(await ada.ok('webhooks.delete', { webhook_id })).toMatchObject({ webhook_id });
      const skipped = { state: 'skipped' as const, reason: 'webhook_deleted' as const };
      const [delivered] = as('delivered') as never[];
      expect(await states()).toEqual([delivered as never, skipped, skipped, skipped]);
      const { deliveries } = await ada.ok('webhooks.deliveries', { webhook_id, state: 'skipped', limit: 1 });
      const { delivery } = await ada.ok('webhooks.delivery', { delivery_id: deliveries[0]?.delivery_id ?? 0 });
      expect(delivery.body).toContain('behind');

      for (const action of ['get', 'test', 'delete', 'update'] as const) {
        expect(await ada.refused(`webhooks.${action}`, { webhook_id })).toBe('not_found');
      }
      expect(await ada.refused('webhooks.rotate_secret', { webhook_id, secret })).toBe('not_found');
      expect(await ada.refused('webhooks.replay', { webhook_id, from_event_id: 1 })).toBe('not_found');
      expect((await ada.ok('webhooks.list', {})).webhooks).toEqual([]);
      endpoint.reply = () => 200;
      const sofar = endpoint.arrivals.length;
      await say(ada, chat_id, 'unheard');
      await sentinel().passes();
      expect(endpoint.arrivals).toHaveLength(sofar);
      expect(await states()).toHaveLength(4);
    });

    test('leaves nothing of its secret', async () => {
      const { webhook_id } = await register(ada, nobody);
      await ada.ok('webhooks.rotate_secret', { webhook_id, secret: 'another' });
      await ada.ok('webhooks.delete', { webhook_id });
      const row = await server().engine.get<object>(
        'SELECT secret, previous_secret FROM webhooks WHERE webhook_id = $1',
        [webhook_id],
      );
      expect(row).toEqual({ secret: '', previous_secret: null });
    });
  });

  describe('that is tested', () => {
    test('sends a sample with valid signatures, and returns the response', async () => {
      const endpoint = receiver().endpoint({ status: 202, body: 'thank you' });
      const { webhook_id } = await register(ada, endpoint);
      const tip = await eventTip(ada);
      const { delivered, attempt, body } = await ada.ok('webhooks.test', { webhook_id });
      expect(delivered).toBe(true);
      expect(attempt).toMatchObject({ number: 1, status: 202, error: null, answer: 'thank you' });
      expect(attempt.duration_ms).toBeGreaterThanOrEqual(0);
      expect(endpoint.arrivals).toHaveLength(1);
      const [arrival] = await endpoint.arrived(1);
      if (!arrival) throw new Error('it did not come');
      expect(arrival.body).toBe(body);
      const verified = await verifyWebhook(arrival.bytes, arrival.headers, secret);
      expect(verified).toMatchObject({ event: 'test' as never, data: { webhook_id } });
      expect(verified.id).toMatch(/^test-/);
      expect(arrival.headers.get('x-webhook-event')).toBe('test');
      expect(arrival.headers.get('x-webhook-registration')).toBe(String(webhook_id));
      expect(arrival.headers.get('content-type')).toBe('application/json');
      await expect(verifyWebhook(arrival.bytes, arrival.headers, 'another')).rejects.toThrow('does not match');
      expect(await eventTip(ada)).toBe(tip);
      expect((await ada.ok('webhooks.deliveries', { webhook_id })).deliveries).toEqual([]);
    });

    test('sends a test to a URL that is not registered, and records only that', async () => {
      const { carol } = await users(server(), 'carol');
      const endpoint = receiver().endpoint({ status: 401, body: 'who are you?' });
      const url = `${endpoint.url}?key=1`;
      const { delivered, attempt, body } = await carol.ok('webhooks.test', { url, secret });
      expect(delivered).toBe(false);
      expect(attempt).toMatchObject({ number: 1, status: 401, cause: 'status', answer: 'who are you?' });
      const [arrival] = await endpoint.arrived(1);
      if (!arrival) throw new Error('it did not come');
      expect(arrival.body).toBe(body);
      const verified = await verifyWebhook(arrival.bytes, arrival.headers, secret);
      expect(verified).toMatchObject({ event: 'test' as never, data: { webhook_id: null } });
      expect(arrival.headers.has('x-webhook-registration')).toBe(false);
      endpoint.reply = () => 200;
      const example = await carol.ok('webhooks.test', { url, secret, event: 'new_message' });
      expect(example.delivered).toBe(true);
      expect((await carol.ok('webhooks.list', {})).webhooks).toEqual([]);

      const blocked = await carol.call('webhooks.test', { url: 'http://10.0.0.1/hook', secret });
      expect([blocked.status, blocked.error?.details?.[0]?.field]).toEqual([422, 'url']);
      const { webhook_id } = await register(carol, endpoint);
      for (const input of [
        {},
        { url },
        { secret },
        { webhook_id, url, secret },
        { webhook_id, secret },
        { webhook_id, url, event_id: 1 },
        { url, secret, event_id: 1 },
      ])
        expect([input, await carol.refused('webhooks.test', input)]).toEqual([input, 'validation_failed']);

      // Another URL of a webhook is signed with its secret.
      await carol.ok('webhooks.test', { webhook_id, url });
      const other = endpoint.arrivals.at(-1);
      expect(other && (await verifyWebhook(other.bytes, other.headers, secret)).data).toMatchObject({ webhook_id });
      const root = await server().user(`root-${engine}`, { admin: true });
      const { entries } = await root.ok('service.audit', { act: 'webhook_url_tested', user_id: carol.userId });
      expect(entries.map(({ details }) => details)).toEqual(Array(3).fill({ url: `${endpoint.url}?…` }));
    });

    test('sends an example of any event, marked as a test by its id', async () => {
      // Not by Ada: a person may try an unknown host only so often.
      const endpoint = receiver().endpoint();
      const { webhook_id } = await register(bob, endpoint);
      for (const event of ['new_message', 'webhook_disabled'] as const) {
        const { body } = await bob.ok('webhooks.test', { webhook_id, event });
        const arrival = endpoint.arrivals.at(-1);
        if (!arrival) throw new Error('it did not come');
        expect(arrival.body).toBe(body);
        const verified = await verifyWebhook(arrival.bytes, arrival.headers, secret);
        expect(verified).toMatchObject({ id: expect.stringMatching(/^test-/), event });
        expect(arrival.headers.get('x-webhook-event')).toBe(event);
        expect(verified.data).toEqual(eventExamples[event] as never);
      }
      expect((await bob.ok('webhooks.deliveries', { webhook_id })).deliveries).toEqual([]);
    });

    test('sends the exact body of a past event, but only of one that it may receive', async () => {
      const { carol } = await users(server(), 'carol');
      const [chat_id, elsewhere, ofOther] = [await newGroup(bob), await newGroup(bob), await newGroup(carol)];
      await say(bob, chat_id, 'Hello');
      const { events } = await bob.ok('events.list', { chat_id, after: 0 });
      const newestBody = events.at(-1);
      if (!newestBody) throw new Error('there is no event');
      const { event_id, ...body } = newestBody;
      const endpoint = receiver().endpoint();
      const { webhook_id } = await register(bob, endpoint, { chat_id, events: ['message_edited'] });
      const sent = await bob.ok('webhooks.test', { webhook_id, event_id });
      expect(JSON.parse(sent.body)).toEqual(body);
      expect(endpoint.arrivals.map((arrival) => arrival.body)).toEqual([sent.body]);

      await say(bob, elsewhere, 'Hello');
      await say(carol, ofOther, 'Hello');
      const newest = async (user: Client, chat: number) =>
        (await user.ok('events.list', { chat_id: chat, after: 0 })).events.at(-1)?.event_id;
      for (const hidden of [await newest(bob, elsewhere), await newest(carol, ofOther), 999_999_999]) {
        expect(await bob.refused('webhooks.test', { webhook_id, event_id: hidden as number })).toBe('not_found');
      }
      const both = { webhook_id, event_id, event: 'new_message' } as const;
      expect(await bob.refused('webhooks.test', both)).toBe('validation_failed');
      expect(endpoint.arrivals).toHaveLength(1);
    });

    test('reports an endpoint that fails, with the start of its response', async () => {
      const endpoint = receiver().endpoint({ status: 500, body: `out of order ${'x'.repeat(9_000)}` });
      const { webhook_id } = await register(ada, endpoint);
      const { delivered, attempt } = await ada.ok('webhooks.test', { webhook_id });
      expect(delivered).toBe(false);
      expect(attempt).toMatchObject({ status: 500, error: 'the endpoint responded with 500' });
      expect(attempt.answer).toStartWith('out of order x');
      expect(attempt.answer).toHaveLength(4_096);
      expect((await ada.ok('webhooks.get', { webhook_id })).webhook).toMatchObject({
        status: 'active',
        down_since: null,
      });
    });

    test('does not follow a redirect', async () => {
      const target = receiver().endpoint();
      const endpoint = receiver().endpoint({ status: 307, headers: { location: target.url } });
      const { webhook_id } = await register(ada, endpoint);
      const { delivered, attempt } = await ada.ok('webhooks.test', { webhook_id });
      expect({ delivered, status: attempt.status }).toEqual({ delivered: false, status: 307 });
      expect(target.arrivals).toEqual([]);
    });

    test('tells of an address where nobody listens', async () => {
      const { webhook_id } = await register(ada, nobody);
      const { delivered, attempt } = await ada.ok('webhooks.test', { webhook_id });
      expect(delivered).toBe(false);
      expect(attempt).toMatchObject({ status: null, error: 'connection refused', answer: null });
    });

    test('is sent it also while it is paused', async () => {
      const endpoint = receiver().endpoint();
      const { webhook_id } = await register(ada, endpoint);
      await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
      expect((await ada.ok('webhooks.test', { webhook_id })).delivered).toBe(true);
      expect((await ada.ok('webhooks.get', { webhook_id })).webhook.status).toBe('paused');
    });
  });
});

onAnyEngine('a webhook, as time passes', (engine) => {
  let now = Date.now();
  const receiver = receiverFor();
  const server = serverFor(engine, {}, { sweepMs: 20, now: () => now });

  test('is signed with a new secret at once, and with the one before beside it for 24 hours', async () => {
    const { ada } = await users(server(), 'ada');
    const endpoint = receiver().endpoint();
    const chat_id = await newGroup(ada);
    const { webhook_id } = await register(ada, endpoint, { secret: 'old' });
    const next = async (content: string) => {
      const sofar = endpoint.arrivals.length;
      await say(ada, chat_id, content);
      const arrival = (await endpoint.arrived(sofar + 1)).at(-1);
      if (!arrival) throw new Error('it did not come');
      const holds = (key: string | string[]) =>
        verifyWebhook(arrival.bytes, arrival.headers, key, { now: () => now }).then(
          () => true,
          () => false,
        );
      return {
        plain: arrival.headers.get('x-webhook-signature'),
        body: arrival.bytes,
        signatures: (arrival.headers.get('webhook-signature') ?? '').split(' ').length,
        old: await holds('old'),
        new: await holds('new'),
      };
    };
    const first = await next('one');
    expect(first).toMatchObject({ signatures: 1, old: true, new: false });
    expect(first.plain).toBe(`sha256=${hex('old', first.body)}`);

    const { webhook } = await ada.ok('webhooks.rotate_secret', { webhook_id, secret: 'new' });
    expect(Date.parse(webhook.previous_secret_until ?? '')).toBe(now + 24 * hour);
    expect(JSON.stringify(webhook)).not.toContain('"new"');
    const second = await next('two');
    expect(second).toMatchObject({ signatures: 2, old: true, new: true });
    expect(second.plain).toBe(`sha256=${hex('new', second.body)}`);

    now += 24 * hour - 1;
    expect(await next('three')).toMatchObject({ signatures: 2, old: true, new: true });
    now += 1;
    const last = await next('four');
    expect(last).toMatchObject({ signatures: 1, old: false, new: true });
    expect(last.plain).toBe(`sha256=${hex('new', last.body)}`);
    expect((await ada.ok('webhooks.get', { webhook_id })).webhook.previous_secret_until).toBeNull();
  });

  test('whose secret is changed twice is signed with the last two', async () => {
    const { ada } = await users(server(), 'ada');
    const endpoint = receiver().endpoint();
    const { webhook_id } = await register(ada, endpoint, { secret: 'first' });
    for (const secret of ['second', 'third']) await ada.ok('webhooks.rotate_secret', { webhook_id, secret });
    await ada.ok('webhooks.test', { webhook_id });
    const [arrival] = await endpoint.arrived(1);
    const holds = (key: string) =>
      verifyWebhook(arrival?.bytes ?? '', arrival?.headers ?? {}, key, { now: () => now }).then(
        () => true,
        () => false,
      );
    expect(await Promise.all(['first', 'second', 'third'].map(holds))).toEqual([false, true, true]);
  });

  test.each([{ secret: '' }, { secret: 'x'.repeat(257) }, { secret: 'whsec_x' }])(
    'is not signed with %j',
    async (input) => {
      const { ada } = await users(server(), 'ada');
      const { webhook_id } = await register(ada, nobody);
      const answer = await ada.call('webhooks.rotate_secret', { webhook_id, ...input });
      expect(complaint(expectRefusal(answer, 'validation_failed'), 'secret')).toBeDefined();
      expect((await ada.ok('webhooks.get', { webhook_id })).webhook.previous_secret_until).toBeNull();
    },
  );

  test('tells the age of the oldest event that it has not delivered', async () => {
    const { ada } = await users(server(), 'ada');
    const chat_id = await newGroup(ada);
    const { webhook_id } = await register(ada, receiver().endpoint());
    const age = async () => (await ada.ok('webhooks.get', { webhook_id })).webhook.oldest_undelivered_age;
    await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
    expect(await age()).toBeNull();
    await say(ada, chat_id, 'one');
    now += 90_000;
    await say(ada, chat_id, 'two');
    now += 10_000;
    expect(await age()).toBe(100);
  });

  test('is tried at a new address at once, also with what the old one did not take', async () => {
    const { ada } = await users(server(), 'ada');
    const good = receiver().endpoint();
    const chat_id = await newGroup(ada);
    const { webhook_id } = await register(ada, nobody);
    await say(ada, chat_id, 'one');
    await eventually('it was tried', async () => {
      const { webhook } = await ada.ok('webhooks.get', { webhook_id });
      return webhook.down_since ?? undefined;
    });
    await say(ada, chat_id, 'two');
    const { webhook } = await ada.ok('webhooks.update', { webhook_id, url: good.url });
    expect(webhook).toMatchObject({ down_since: null, next_attempt_at: null });
    // The clock stands still, so nothing comes by waiting for the next attempt.
    await good.arrived(2);
    expect(good.contents).toEqual(['one', 'two']);
  });

  test('that was paused while its endpoint was down is tried at once when it is active', async () => {
    const { ada } = await users(server(), 'ada');
    let isUp = false;
    const endpoint = receiver().endpoint(() => (isUp ? 200 : { status: 503, headers: { 'retry-after': '600' } }));
    const chat_id = await newGroup(ada);
    const { webhook_id } = await register(ada, endpoint);
    await say(ada, chat_id, 'one');
    await eventually('the endpoint is left alone', async () => {
      const { webhook } = await ada.ok('webhooks.get', { webhook_id });
      return webhook.next_attempt_at ?? undefined;
    });
    await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
    isUp = true;
    await ada.ok('webhooks.update', { webhook_id, status: 'active' });
    await say(ada, chat_id, 'two');
    await endpoint.arrived(3);
    expect(endpoint.contents).toEqual(['one', 'one', 'two']);
  });
});

onAnyEngine('a webhook, without any sweep', (engine) => {
  const receiver = receiverFor();
  const server = serverFor(engine, {}, { sweepMs: 600_000 });

  // The dispatcher passes what nobody is told of, and has no reason to write down how far it is.
  const passed = () => Bun.sleep(30);

  test('gets what happened during a short pause', async () => {
    const { ada } = await users(server(), 'ada');
    const endpoint = receiver().endpoint();
    const chat_id = await newGroup(ada);
    const { webhook_id } = await register(ada, endpoint);
    const rounds = [1, 2, 3];
    for (const round of rounds) {
      await say(ada, chat_id, `before ${round}`);
      await endpoint.arrived(2 * round - 1);
      await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
      await say(ada, chat_id, `meanwhile ${round}`);
      await passed();
      await ada.ok('webhooks.update', { webhook_id, status: 'active' });
      await endpoint.arrived(2 * round);
    }
    expect(endpoint.contents).toEqual(rounds.flatMap((round) => [`before ${round}`, `meanwhile ${round}`]));
  });

  test('gets what happened during a short pause before anything else', async () => {
    for (let round = 1; round <= 5; round++) {
      const { ada } = await users(server(), 'ada');
      const endpoint = receiver().endpoint();
      const chat_id = await newGroup(ada);
      const { webhook_id } = await register(ada, endpoint);
      await ada.ok('webhooks.update', { webhook_id, status: 'paused' });
      await say(ada, chat_id, `meanwhile ${round}`);
      await passed();
      await ada.ok('webhooks.update', { webhook_id, status: 'active' });
      await endpoint.arrived(1);
    }
  });
});

onAnyEngine('webhooks', (engine) => {
  const server = serverFor(engine, { PARLEY_WEBHOOK_LIMIT: '3' }, { sweepMs: 20 });

  test('are as many for each user as the setting allows', async () => {
    const { ada, bob } = await users(server(), 'ada', 'bob');
    const answers = await Promise.all(Array.from({ length: 6 }, () => ada.call('webhooks.register', plain)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.error?.message).toContain('3');
    await register(bob, nobody);
    const { webhooks } = await ada.ok('webhooks.list', {});
    expect(webhooks).toHaveLength(3);
    await ada.ok('webhooks.delete', { webhook_id: webhooks[1]?.webhook_id ?? 0 });
    await register(ada, nobody);
    expect(await ada.refused('webhooks.register', plain)).toBe('conflict');
  });
});

onAnyEngine('where webhooks may be sent', (engine) => {
  const refusal = async (extra: Record<string, string>, url: string) =>
    withServer({ ...(await freshEnvironment(engine)), ...extra }, async (server) => {
      const ada = await server.user('ada');
      const { error } = await ada.call('webhooks.register', { ...plain, url });
      return error && complaint(error, 'url');
    });

  test('is not loopback while Parley is served to the world, unless the setting opens it', async () => {
    const isPublic = { PUBLIC_URL: 'https://chat.example.com' };
    const said = await refusal(isPublic, nobody);
    expect(said).toContain('127.0.0.1');
    expect(said).toContain('PARLEY_WEBHOOK_NETWORKS');
    expect(await refusal({ ...isPublic, PARLEY_WEBHOOK_NETWORKS: '127.0.0.0/8' }, nobody)).toBeUndefined();
  });

  test('is not loopback while Parley trusts proxies, unless the setting opens it', async () => {
    const behindProxy = { TRUST_PROXY: '1' };
    expect(await refusal(behindProxy, nobody)).toContain('PARLEY_WEBHOOK_NETWORKS');
    expect(await refusal({ ...behindProxy, PARLEY_WEBHOOK_NETWORKS: '127.0.0.0/8' }, nobody)).toBeUndefined();
  });

  test('is a private network where the setting opens it', async () => {
    expect(await refusal({ PARLEY_WEBHOOK_NETWORKS: '10.0.0.0/8' }, 'http://10.0.0.1/')).toBeUndefined();
  });
});

onAnyEngine('a request that came through a proxy', (engine) => {
  const lines: string[] = [];
  const log = { LOG_LEVEL: 'warn', LOG_FORMAT: 'json' };
  const server = serverFor(engine, log, { print: (text) => void lines.push(text) });
  const receiver = receiverFor();

  test('reaches no loopback address: not when it registers, changes, tests or sends again', async () => {
    const { ada } = await users(server(), 'ada');
    const endpoint = receiver().endpoint();
    const { webhook_id } = await register(ada, endpoint, { events: ['new_message'] });
    await ada.ok('messages.send_message', { chat_id: await newGroup(ada), content: 'hello' });
    await endpoint.arrived(1);
    const delivery_id = await eventually('it is delivered', async () => {
      const { deliveries } = await ada.ok('webhooks.deliveries', { webhook_id, state: 'delivered' });
      return deliveries[0]?.delivery_id;
    });
    const marks: Record<string, string>[] = [
      { 'x-forwarded-for': '203.0.113.7' },
      { 'x-forwarded-host': 'chat.example.com' },
      { 'x-real-ip': '203.0.113.7' },
      { forwarded: 'for=203.0.113.7' },
      { host: 'chat.example.com' },
    ];
    for (const headers of marks) {
      const registered = await ada.call('webhooks.register', plain, headers);
      expect(registered.error && complaint(registered.error, 'url')).toContain('proxy');
      const changed = await ada.call('webhooks.update', { webhook_id, url: `${endpoint.url}?other` }, headers);
      expect(changed.error?.code).toBe('validation_failed');
      expect(await ada.ok('webhooks.test', { webhook_id }, headers)).toMatchObject({
        delivered: false,
        attempt: { status: null, error: expect.stringContaining('proxy') },
      });
      await ada.ok('webhooks.redeliver', { delivery_id }, headers);
    }
    expect(endpoint.arrivals).toHaveLength(1);
    expect((await ada.ok('webhooks.test', { webhook_id })).delivered).toBe(true);
    const refusals = () => lines.join('').split('loopback_webhook_refused').length - 1;
    await eventually('it is logged', async () => refusals() > 0 || undefined);
    expect(refusals()).toBe(1);
  });
});

onAnyEngine('a name that a request from elsewhere registered', (engine) => {
  let addresses: readonly string[] = [];
  const server = serverFor(engine, {}, { resolveName: async () => addresses });
  const receiver = receiverFor();

  test('does not reach loopback in deliveries, even if it leads there later', async () => {
    const { ada } = await users(server(), 'ada');
    const endpoint = receiver().endpoint();
    const url = endpoint.url.replace('127.0.0.1', 'hooks.example.com');
    const elsewhere = { 'x-forwarded-for': '203.0.113.7' };
    const { webhook } = await ada.ok('webhooks.register', { ...plain, url, events: ['new_message'] }, elsewhere);
    addresses = ['127.0.0.1'];
    await ada.ok('messages.send_message', { chat_id: await newGroup(ada), content: 'hello' });
    const failed = await eventually('it was tried', async () => {
      const { deliveries } = await ada.ok('webhooks.deliveries', { webhook_id: webhook.webhook_id });
      return deliveries.find(({ attempt_count }) => attempt_count > 0);
    });
    expect(failed).toMatchObject({ last_error: expect.stringContaining('a loopback address') });
    expect(endpoint.arrivals).toEqual([]);
  });
});

/** All that a server keeps, as bytes: its files, and its tables where they are elsewhere. */
async function everythingKept(name: EngineName, server: TestServer): Promise<string> {
  const folder = server.env.PARLEY_DATA ?? '';
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
  if (name === 'sqlite') return files.join('\n');
  const tables = await server.engine.all<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  for (const table of tables) {
    files.push(JSON.stringify(await server.engine.all<object>(`SELECT * FROM "${table.name}"`)));
  }
  return files.join('\n');
}

onAnyEngine('the secret of a webhook', (engine) => {
  const receiver = receiverFor();

  const marked = 'SECRET-one-SECRET';
  const rotated = 'SECRET-two-SECRET';

  /** Calls every operation on a webhook, and tells what was answered and what is kept. */
  async function useAll(server: TestServer) {
    const { ada } = await users(server, 'ada');
    const endpoint = receiver().endpoint(({ attempt, data }) => (attempt < 2 && data.content === 'x' ? 500 : 200));
    const chat_id = await newGroup(ada);
    const answers: unknown[] = [];
    const call = async <N extends OperationName>(name: N, input: ClientInput<N>) => {
      const { body } = await ada.call(name, input, { 'idempotency-key': `key-${answers.length}` });
      answers.push(body);
      return body;
    };
    const { webhook } = await call('webhooks.register', { ...plain, url: endpoint.url, secret: marked });
    const { webhook_id } = webhook;
    await say(ada, chat_id, 'x');
    const delivery_id = await eventually('it is refused', async () => {
      const { deliveries } = await ada.ok('webhooks.deliveries', { webhook_id, state: 'retrying' });
      return deliveries[0]?.delivery_id;
    });
    await call('webhooks.rotate_secret', { webhook_id, secret: rotated });
    for (const action of ['get', 'update', 'test', 'deliveries', 'replays'] as const) {
      await call(`webhooks.${action}`, { webhook_id });
    }
    await call('webhooks.list', {});
    for (const action of ['delivery', 'redeliver', 'skip'] as const) await call(`webhooks.${action}`, { delivery_id });
    await call('webhooks.replay', { webhook_id, from_event_id: 1 });
    for (const secret of [`whsec_${marked}`, marked.repeat(20), [marked] as never]) {
      await call('webhooks.register', { ...plain, secret });
    }
    await call('webhooks.register', { ...plain, secret: marked, surplus: 1 } as never);
    await ada.ok('chats.update', { chat_id, name: 'more' });
    await dispatched(server);
    const kept = await everythingKept(engine, server);
    expect(kept).toContain(endpoint.url);
    await call('webhooks.delete', { webhook_id });
    return [JSON.stringify(answers), kept];
  }

  test('is in no response, no log line and no file', async () => {
    const printed: string[] = [];
    const env = { ...(await freshEnvironment(engine)), LOG_LEVEL: 'debug' };
    // The clock stands still, so what was refused is not tried again by itself.
    const now = Date.now();
    const runtime = { sweepMs: 20, now: () => now, print: (text: string) => printed.push(text) };
    const found = await withServer(env, useAll, runtime);
    // The last lines of the log are written when it stops.
    const log = printed.join('');
    expect(log).toContain('"webhook_id"');
    for (const text of [...found, log]) {
      for (const encoding of ['utf8', 'base64', 'hex'] as const) {
        expect(text).not.toContain(Buffer.from(marked).toString(encoding));
        expect(text).not.toContain(Buffer.from(rotated).toString(encoding));
      }
    }
  });
});

onAnyEngine('the key that seals secrets', (engine) => {
  const keyFile = (env: Record<string, string>) => join(env.PARLEY_DATA ?? '', 'secret.key');
  const given = Buffer.from(crypto.getRandomValues(new Uint8Array(32)));

  /** Expects that the second server can open secrets that the first one sealed. */
  const expectOpened = async (first: Environment, second: Environment, between: () => void) => {
    const sealed = await withServer(first, async (server) => {
      const ada = await server.user('ada');
      return { ada, webhook_id: (await register(ada, nobody)).webhook_id };
    });
    between();
    await withServer(second, async ({ url }) => {
      const ada = new Client(url, sealed.ada.token, sealed.ada.userId);
      const { attempt } = await ada.ok('webhooks.test', { webhook_id: sealed.webhook_id });
      expect(attempt.error).toBe('connection refused');
    });
  };

  test('is made once, for its owner alone, and opens what it sealed after a restart', async () => {
    const env = await freshEnvironment(engine);
    let key = '';
    await expectOpened(env, env, () => {
      key = readFileSync(keyFile(env), 'utf8');
      expect(Buffer.from(key, 'base64')).toHaveLength(32);
      expect(statSync(keyFile(env)).mode & 0o777).toBe(0o600);
      const files = readdirSync(env.PARLEY_DATA ?? '').filter((name) => name.includes('secret.key'));
      expect(files).toEqual(['secret.key']);
    });
    expect(readFileSync(keyFile(env), 'utf8')).toBe(key);
  });

  test('is that of the setting where it is set, in base64 or hex, and is then not written down', async () => {
    const env: Environment = { ...(await freshEnvironment(engine)), PARLEY_SECRET_KEY: given.toString('base64') };
    await expectOpened(env, { ...env, PARLEY_SECRET_KEY: given.toString('hex') }, () =>
      expect(readdirSync(env.PARLEY_DATA ?? '')).not.toContain('secret.key'),
    );
  });

  test('must be the one that sealed: with another the server reports it in one line and does not start', async () => {
    const env = await freshEnvironment(engine);
    await withServer(env, async () => {});
    const another = given.toString('base64');
    const { code, stderr } = await new Talking({ ...env, PARLEY_SECRET_KEY: another }).end();
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain('another key');
    expect(stderr).toContain(keyFile(env));
    expect(stderr).not.toContain(another);

    rmSync(keyFile(env));
    await expect(startServer(env)).rejects.toThrow('another key');
    writeFileSync(keyFile(env), 'no key at all\n');
    await expect(startServer(env)).rejects.toThrow(keyFile(env));
  });
});

test('the key that seals secrets must be 32 bytes; what was set instead is not repeated', async () => {
  const wrong = 'c2hvcnQtYnV0LXNlY3JldA==';
  const env: Environment = {
    ...(await freshEnvironment('sqlite')),
    PARLEY_DATA: temporaryFolder(),
    PARLEY_SECRET_KEY: wrong,
  };
  const { code, stderr } = await new Talking(env).end();
  expect(code).toBe(1);
  expect(stderr).toContain('PARLEY_SECRET_KEY must be 32');
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).not.toContain(wrong);
});
