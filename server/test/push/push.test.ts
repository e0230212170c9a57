import { afterEach, describe, expect, test } from 'bun:test';
import type { Notify } from '@parley/contract';
import { BrowserLike, goodPassword, person } from '../support/browser-like.ts';
import { Client, SessionClient } from '../support/client.ts';
import { onBothEngines } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import { type Browser, pushServiceFor } from '../support/push-service.ts';
import { serverFor } from '../support/server.ts';
import { type EventReader, groupOf, listen } from '../support/streams.ts';
import { inSession } from '../support/visitor.ts';

onBothEngines('push notifications', (engine) => {
  const service = pushServiceFor();
  /** Added to the clock of the server. */
  let shiftMs = 0;
  const now = () => Date.now() + shiftMs;
  service.now = now;
  const server = serverFor(engine, {}, { now, pushDelayMs: 0 });
  const say = async (by: Client, chat_id: number, content: string) =>
    (await by.ok('messages.send_message', { chat_id, content })).message.message_id;
  /** A chat of its own, whose message arrives after all pushes before it. */
  const untilNow = async (reader: Client, browser: Browser, text = crypto.randomUUID()) => {
    const { writer } = await users(server(), 'writer');
    await say(writer, await groupOf(writer, reader), text);
    await eventually('the last push has arrived', async () => browser.texts.includes(text) || undefined);
    return browser.texts.filter((found) => found !== text);
  };
  afterEach(() => expect(service.faults).toEqual([]));

  describe('the content', () => {
    test('names the chat, the author and the text, encrypted and signed', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const chat_id = (await ada.ok('messages.create_group', { name: 'Launch', participants: [bob.userId] })).group
        .chat_id;
      const browser = await service.subscribe(bob);
      const message_id = await say(ada, chat_id, 'The launch is on **Friday** 🚀');
      const [push] = await browser.gets(1);
      const author_name = (await ada.ok('users.me', {})).user.display_name;
      expect(push?.notification).toMatchObject({
        ...{ kind: 'message', chat_id, chat_name: 'Launch', message_id, author_name, is_mention: false, badge: 1 },
        text: 'The launch is on **Friday** 🚀',
      });
      expect(push?.headers.get('urgency')).toBe('normal');
      expect(push?.headers.get('topic')).toBe(`chat-${chat_id}`);
      expect(Number(push?.headers.get('ttl'))).toBeGreaterThan(0);
    });

    test('a direct chat has no name, and is urgent; so is a mention', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const browser = await service.subscribe(bob);
      const { chat } = await ada.ok('messages.create_direct', { user_id: bob.userId });
      await say(ada, chat.chat_id, 'psst');
      const [direct] = await browser.gets(1);
      expect(direct?.notification.chat_name).toBeUndefined();
      expect(direct?.headers.get('urgency')).toBe('high');
      const group = await groupOf(ada, bob);
      await say(ada, group, '@all lunch');
      const [, mention] = await browser.gets(2);
      expect(mention?.headers.get('urgency')).toBe('high');
      expect(mention?.notification).toMatchObject({ is_mention: true, badge: 2 });
    });

    test('has no text and no file name if the subscription wants none', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const browser = await service.subscribe(bob, { with_text: false });
      const chat_id = await groupOf(ada, bob);
      const file = new File(['secret'], 'secret-plan.txt');
      await ada.ok('messages.send_message', { chat_id, content: 'a secret', file });
      const [push] = await browser.gets(1);
      expect(JSON.stringify(push?.notification)).not.toContain('secret');
      expect(push?.notification.author_name).toBeTruthy();
    });

    test('of any length and script fits, and all short texts have one length', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const browser = await service.subscribe(bob);
      for (const text of ['x', 'x'.repeat(40)]) {
        await say(ada, await groupOf(ada, bob), text);
        await browser.gets(browser.received.length + 1);
      }
      expect(new Set(browser.received.map(({ bytes }) => bytes)).size).toBe(1);
      for (const text of [
        '🚀'.repeat(2_000),
        '漢'.repeat(5_000),
        '\u0001'.repeat(3_000).concat('x'),
        '"'.repeat(9_000),
      ]) {
        await say(ada, await groupOf(ada, bob), text);
        await browser.gets(browser.received.length + 1);
        expect(text).toStartWith((browser.texts.at(-1) ?? '-').slice(0, -1));
      }
    });
  });

  describe('who gets one', () => {
    test('everybody but the author, on each browser', async () => {
      const { ada, bob, cleo } = await users(server(), 'ada', 'bob', 'cleo');
      const chat_id = await groupOf(ada, bob, cleo);
      const own = await service.subscribe(ada);
      const others = [await service.subscribe(bob), await service.subscribe(bob), await service.subscribe(cleo)];
      await say(ada, chat_id, 'hello');
      for (const browser of others) await browser.gets(1);
      expect(await untilNow(ada, own)).toEqual([]);
    });

    const levels: [Notify, boolean, string[]][] = [
      ['all', false, ['plain', 'to you', 'to all']],
      ['mentions', false, ['to you', 'to all']],
      ['none', false, []],
      ['all', true, []],
    ];
    test.each(levels)('with the level %s and the mute %p', async (notify, isMuted, texts) => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const { name } = (await bob.ok('users.me', {})).user;
      const browser = await service.subscribe(bob);
      const chats = [await groupOf(ada, bob), await groupOf(ada, bob), await groupOf(ada, bob)];
      const muted_until = isMuted ? new Date(now() + 60_000).toISOString() : null;
      for (const chat_id of chats) await bob.ok('chats.set_preferences', { chat_id, notify, muted_until });
      const [plain = 0, mention = 0, all = 0] = chats;
      await say(ada, plain, 'plain');
      await say(ada, mention, `@${name} to you`);
      await say(ada, all, '@all to all');
      const got = (await untilNow(bob, browser)).map((text) => text?.replace(/^@\S+ /, ''));
      expect(got.sort()).toEqual([...texts].sort());
    });

    test('nobody in their quiet hours', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const browser = await service.subscribe(bob);
      const chat_id = await groupOf(ada, bob);
      const clock = (ms: number) => new Date(now() + ms).toISOString().slice(11, 16);
      const hours = { from: clock(-3_600_000), to: clock(3_600_000), time_zone: 'UTC' };
      expect((await bob.ok('users.set_quiet_hours', hours)).quiet_hours).toEqual(hours);
      expect((await bob.ok('users.quiet_hours', {})).quiet_hours).toEqual(hours);
      await say(ada, chat_id, 'quiet @all');
      const { cleo } = await users(server(), 'cleo');
      const other = await service.subscribe(cleo);
      await untilNow(cleo, other);
      expect((await bob.ok('users.set_quiet_hours', {})).quiet_hours).toBeNull();
      expect(await untilNow(bob, browser)).toEqual([]);
    });

    test('nobody who is at a client, and everybody who is away from it', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const browser = await service.subscribe(bob);
      const chat_id = await groupOf(ada, bob);
      let stream: EventReader | undefined;
      try {
        stream = await listen(bob);
        await say(ada, chat_id, 'seen at once');
        await stream.until('told', () => stream?.told.some(({ event }) => event === 'new_message') === true);
        // A push of another waits for those before it.
        const { cleo } = await users(server(), 'cleo');
        await untilNow(cleo, await service.subscribe(cleo));
        expect(browser.received).toEqual([]);
        await bob.ok('users.set_presence', { presence: 'away' });
        await say(ada, chat_id, 'not seen');
        await browser.gets(1);
        expect(browser.texts).toEqual(['not seen']);
      } finally {
        stream?.breakOff();
      }
    });

    test('nobody who has left', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const browser = await service.subscribe(bob);
      const chat_id = await groupOf(ada, bob);
      await bob.ok('chats.leave', { chat_id });
      await say(ada, chat_id, 'without bob');
      expect(await untilNow(bob, browser)).toEqual([]);
    });
  });

  describe('a subscription', () => {
    const endpointsOf = async (user: Client) =>
      (await user.ok('push.list', {})).subscriptions.map(({ endpoint }) => endpoint);

    test('is replaced by the same endpoint, of whomever', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const browser = await service.subscribe(ada);
      const before = (await ada.ok('push.list', {})).subscriptions;
      const again = await ada.ok('push.subscribe', { ...browser.subscription, with_text: false });
      expect(again.subscription).toMatchObject({ subscription_id: before[0]?.subscription_id, with_text: false });
      await bob.ok('push.subscribe', browser.subscription);
      expect(await endpointsOf(ada)).toEqual([]);
      expect(await endpointsOf(bob)).toEqual([browser.endpoint]);
    });

    test('of another cannot be deleted', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      await service.subscribe(ada);
      const [first] = (await ada.ok('push.list', {})).subscriptions;
      const subscription_id = first?.subscription_id ?? 0;
      expect(await bob.refused('push.unsubscribe', { subscription_id })).toBe('not_found');
      await ada.ok('push.unsubscribe', { subscription_id });
      expect(await ada.refused('push.unsubscribe', { subscription_id })).toBe('not_found');
    });

    test('is one of at most 20', async () => {
      const { ada } = await users(server(), 'ada');
      for (let i = 0; i < 20; i++) await service.subscribe(ada);
      const browser = await service.browser();
      expect(await ada.refused('push.subscribe', browser.subscription)).toBe('conflict');
    });

    test('leads to no private address, and over https', async () => {
      const { ada } = await users(server(), 'ada');
      const { p256dh, auth } = await service.browser();
      const wrong = [
        ...['https://10.0.0.1/', 'https://169.254.169.254/', 'https://[::1%25]/', 'http://push.example/x', 'ftp://x/'],
        ...[`${server().url}/`, 'https://user:secret@push.example/', 'push.example', 'https://192.168.1.1:8443/push'],
      ];
      for (const endpoint of wrong) {
        const { status, body } = await ada.call('push.subscribe', { endpoint, p256dh, auth });
        expect({ endpoint, status }).toEqual({ endpoint, status: 422 });
        expect(JSON.stringify(body)).toContain('"field":"endpoint"');
      }
      const { endpoint } = await service.browser();
      for (const keys of [
        { p256dh: 'x', auth },
        { p256dh: p256dh.replace(/^..../, 'BAAA'), auth },
        { p256dh, auth: `${auth}${auth}` },
      ]) {
        expect(await ada.refused('push.subscribe', { endpoint, ...keys })).toBe('validation_failed');
      }
    });

    test('is deleted if the push service says that it is gone', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const chat_id = await groupOf(ada, bob);
      const [gone, missing, kept] = [
        await service.subscribe(bob),
        await service.subscribe(bob),
        await service.subscribe(bob),
      ];
      gone.responses.push(410);
      missing.responses.push(404);
      await say(ada, chat_id, 'hello');
      await kept.gets(1);
      await eventually('both are deleted', async () => (await endpointsOf(bob)).length === 1 || undefined);
      expect(await endpointsOf(bob)).toEqual([kept.endpoint]);
    });

    test('ends with its token', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const chat_id = await groupOf(ada, bob);
      const made = await bob.ok('tokens.create', { name: 'phone' });
      const browser = await service.subscribe(new Client(server().url, made.access_token, bob.userId));
      const kept = await service.subscribe(bob);
      await bob.ok('tokens.revoke', { token_id: made.token.token_id });
      expect(await endpointsOf(bob)).toEqual([kept.endpoint]);
      await say(ada, chat_id, 'hello');
      await kept.gets(1);
      expect(browser.requests).toBe(0);
    });

    test('ends with its session: at sign-out, here or from another browser, and when the password changes', async () => {
      for (const end of ['sign-out', 'others', 'password'] as const) {
        const { name, user_id } = await person(server());
        const owner = new Client(server().url, await server().token(name), user_id);
        const page = new BrowserLike(server().url);
        await page.signIn(name, goodPassword);
        await service.subscribe(new SessionClient(server().url, page.session ?? '', user_id));
        expect((await endpointsOf(owner)).length).toBe(1);
        const next = 'another fine long password';
        if (end === 'password') await page.post('/password', { current: goodPassword, password: next, again: next });
        else if (end === 'others') {
          const other = new BrowserLike(server().url);
          await other.signIn(name, goodPassword);
          await other.post('/sessions/sign-out-others');
        } else await page.post('/sign-out', {});
        expect({ end, left: await endpointsOf(owner) }).toEqual({ end, left: [] });
      }
    });

    test('ends when the user is disabled, and when its session expires', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const root = await server().user(`root${crypto.randomUUID().slice(0, 8)}`, { admin: true });
      const chat_id = await groupOf(ada, bob);
      const browser = await service.subscribe(bob);
      await root.ok('users.disable', { user_id: bob.userId });
      const expired = await service.subscribe(await inSession(server(), ada));
      const kept = await service.subscribe(ada);
      shiftMs += 31 * 24 * 3_600_000;
      const { cleo } = await users(server(), 'cleo');
      await say(cleo, await groupOf(cleo, ada), 'hello');
      await kept.gets(1);
      await say(ada, chat_id, 'hello');
      expect(browser.requests + expired.requests).toBe(0);
    });
  });

  describe('a push service', () => {
    test('that fails is tried again, at most five times', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const browser = await service.subscribe(bob);
      const chat_id = await groupOf(ada, bob);
      browser.responses.push(503, new Response(null, { status: 429, headers: { 'retry-after': '60' } }));
      await say(ada, chat_id, 'at last');
      const after = async (requests: number) =>
        eventually(`${requests} requests`, async () => browser.requests >= requests || undefined);
      const retried = (attempts: number) =>
        eventually('the retry is stored', async () => {
          const row = await server().engine.get<{ attempts: number }>('SELECT attempts FROM push_pending');
          return row?.attempts === attempts || undefined;
        });
      await after(1);
      await retried(1);
      shiftMs += 5_000;
      await after(2);
      await retried(2);
      shiftMs += 60_000;
      expect((await browser.gets(1))[0]?.notification.text).toBe('at last');

      browser.responses.push(500, 500, 500, 500, 500);
      await say(ada, chat_id, 'never');
      for (const [i, waitMs] of [5_000, 30_000, 120_000, 600_000].entries()) {
        await after(4 + i);
        await retried(i + 1);
        shiftMs += waitMs;
      }
      await after(8);
      await eventually('it is dropped', async () => {
        return (await server().engine.all('SELECT 1 AS one FROM push_pending')).length === 0 || undefined;
      });
      expect(browser.texts).toEqual(['at last']);
    });

    test('that refuses is not tried again', async () => {
      const { ada, bob } = await users(server(), 'ada', 'bob');
      const browser = await service.subscribe(bob);
      const chat_id = await groupOf(ada, bob);
      browser.responses.push(400);
      await say(ada, chat_id, 'refused');
      await eventually('it was tried', async () => browser.requests === 1 || undefined);
      expect(await untilNow(bob, browser)).toEqual([]);
      expect(browser.requests).toBe(2);
    });
  });
});
