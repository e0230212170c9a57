import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import type { Client as TestUser } from '@parley/server/test/support/client.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { type BotMessage, type BotOptions, type BotState, bot, type RunOptions } from '../bot.ts';
import { type ApiError, type Client, createClient, TransportError } from '../index.ts';
import { eventually } from './eventually.ts';
import { FlakyProxy, refusal } from './flaky.ts';
import { TestClock } from './test-clock.ts';

const server = serverFor('sqlite');
let ada: TestUser;
let echoToken = '';
let echoId = 0;

beforeAll(async () => {
  ada = await server().user('ada');
  const echo = await server().user('echo.bot');
  [echoToken, echoId] = [echo.token, echo.userId];
});

const stops: (() => void)[] = [];
afterAll(() => {
  for (const stop of stops) stop();
});

const newClient = (url = server().url): Client => createClient({ url, token: echoToken, clock: new TestClock() });

async function newChat(): Promise<number> {
  const { group } = await ada.ok('messages.create_group', { name: 'Bots', participants: [echoId] });
  return group.chat_id;
}

const say = async (chat_id: number, content: string): Promise<number> =>
  (await ada.ok('messages.send_message', { chat_id, content })).message.message_id;

const contentsOf = async (chat_id: number): Promise<string[]> =>
  (await ada.ok('messages.get_messages', { chat_id })).messages.map(({ content }: { content: string }) => content);

function memory(): { state: BotState | undefined; load(): BotState | undefined; save(state: BotState): void } {
  const store = {
    state: undefined as BotState | undefined,
    load: () => store.state,
    save: (state: BotState) => {
      store.state = JSON.parse(JSON.stringify(state));
    },
  };
  return store;
}

const rethrow = (error: unknown) => {
  throw error;
};

/** Runs a bot until it is stopped. */
async function running(
  options: Omit<BotOptions, 'client' | 'onError'> & Partial<BotOptions>,
  runOptions: RunOptions = {},
) {
  const stopping = new AbortController();
  const opened = Promise.withResolvers<void>();
  const run = bot({ client: newClient(), onError: rethrow, ...options }).run({
    signal: stopping.signal,
    onOpen: opened.resolve,
    ...runOptions,
  });
  await Promise.race([opened.promise, run]);
  return {
    ended: run,
    stop: async () => {
      stopping.abort();
      await run;
    },
  };
}

describe('a bot on the stream', () => {
  test('gets the messages of others, and replies to them', async () => {
    const chat_id = await newChat();
    const message_id = { asked: 0 };
    const seen: BotMessage[] = [];
    const one = await running({
      onMessage: async (message) => {
        if (message.chat_id !== chat_id) return;
        seen.push(message);
        await message.reply(`You said ${message.content}`);
      },
    });
    message_id.asked = await say(chat_id, 'hello');
    await eventually('it has replied', async () => (await contentsOf(chat_id)).includes('You said hello'));
    await one.stop();
    expect(seen).toMatchObject([{ chat_id, content: 'hello', user_id: ada.userId, isMention: false }]);
    const { messages } = await ada.ok('messages.get_messages', { chat_id });
    expect(messages.at(-1)).toMatchObject({ user_id: echoId, reply_to: message_id.asked });
  });

  test('tells mentions of its name from other messages', async () => {
    const chat_id = await newChat();
    const mentions: string[] = [];
    const others: string[] = [];
    const one = await running({
      onMention: ({ content }) => void mentions.push(content),
      onMessage: ({ content }) => void others.push(content),
    });
    const texts = [
      '@echo.bot hi',
      'hi, @Echo.Bot!',
      'at the end: @echo.bot.',
      '@echo.bots',
      'x@echo.bot',
      '@echoxbot',
      '`@echo.bot`',
    ];
    for (const text of texts) await say(chat_id, text);
    await eventually('it has seen them', () => mentions.length + others.length === texts.length);
    await one.stop();
    expect(mentions).toEqual(texts.slice(0, 3));
    expect(others).toEqual(texts.slice(3));
  });

  test('gets the text without its own name', async () => {
    const chat_id = await newChat();
    const texts: string[] = [];
    const one = await running({ onMessage: ({ withoutMention }) => void texts.push(withoutMention) });
    const said = ['@ada @echo.bot hi', '@Echo.Bot  @echo.bot hi', 'hi @echo.bot', '@echo.bot', '@echo.bots hi', 'hi'];
    for (const text of said) await say(chat_id, text);
    await eventually('it has seen them', () => texts.length === said.length);
    await one.stop();
    expect(texts).toEqual(['@ada hi', 'hi', 'hi', '', '@echo.bots hi', 'hi']);
  });

  test('resumes where it stopped, and handles each message once', async () => {
    const chat_id = await newChat();
    const store = memory();
    const seen: string[] = [];
    const onMessage = ({ content }: BotMessage) => void seen.push(content);
    const first = await running({ store, onMessage });
    await say(chat_id, 'one');
    await eventually('it has seen one', () => seen.length === 1);
    await first.stop();
    await say(chat_id, 'two');
    await say(chat_id, 'three');
    const second = await running({ store, onMessage });
    await eventually('it has seen three', () => seen.length === 3);
    await second.stop();
    await (await running({ store, onMessage })).stop();
    expect(seen).toEqual(['one', 'two', 'three']);
  });

  test('begins with new messages if it has no state', async () => {
    const chat_id = await newChat();
    await say(chat_id, 'before');
    const seen: string[] = [];
    const one = await running({ onMessage: ({ content }) => void seen.push(content) });
    await say(chat_id, 'after');
    await eventually('it has seen one', () => seen.length === 1);
    await one.stop();
    expect(seen).toEqual(['after']);
  });

  test('that crashed after its reply replies once', async () => {
    const chat_id = await newChat();
    const store = memory();
    const crashing = await running({
      store,
      onMessage: async (message) => {
        await message.reply('first try');
        throw new Error('crash');
      },
    });
    await say(chat_id, 'hello');
    await expect(crashing.ended).rejects.toThrow('crash');
    let runs = 0;
    const again = await running({
      store,
      onMessage: async (message) => {
        await message.reply('second try');
        runs++;
      },
    });
    await eventually('it has run again', () => runs === 1);
    await again.stop();
    expect(await contentsOf(chat_id)).toEqual(['hello', 'first try']);
  });

  test('goes on after a handler that throws', async () => {
    const chat_id = await newChat();
    const errors: unknown[] = [];
    const seen: string[] = [];
    const one = await running({
      onMessage: ({ content }) => {
        if (content === 'bad') throw new Error('no');
        seen.push(content);
      },
      onError: (error, { content }) => void errors.push([String(error), content]),
    });
    await say(chat_id, 'bad');
    await say(chat_id, 'good');
    await eventually('it has seen one', () => seen.length === 1);
    await one.stop();
    expect(errors).toEqual([['Error: no', 'bad']]);
  });

  test('runs a handler again if the server was not available', async () => {
    const chat_id = await newChat();
    const proxy = new FlakyProxy(server().url, [refusal(503, 'unavailable'), refusal(503, 'unavailable')]);
    stops.push(() => proxy.stop());
    const unsteady = createClient({ url: await proxy.start(), token: echoToken, retries: 0 });
    let runs = 0;
    const one = await running({
      onMessage: async ({ content }) => {
        if (content !== 'hello') return;
        runs++;
        await unsteady.messages.send({ chat_id, content: 'done' });
      },
    });
    await say(chat_id, 'hello');
    await eventually('it is done', async () => (await contentsOf(chat_id)).includes('done'));
    await one.stop();
    expect(runs).toBe(3);
  });

  test('gives a message up that the server fails on, reports it, and goes on', async () => {
    const chat_id = await newChat();
    const proxy = new FlakyProxy(server().url, Array(100).fill(refusal(500, 'internal')));
    stops.push(() => proxy.stop());
    const failing = createClient({ url: await proxy.start(), token: echoToken, retries: 0 });
    const errors: unknown[] = [];
    const seen: string[] = [];
    const breaks: [status: number | undefined, pauseMs: number][] = [];
    const one = await running(
      {
        onMessage: async ({ content }) => {
          if (content === 'bad') await failing.messages.send({ chat_id, content: 'never' });
          seen.push(content);
        },
        onError: (error, { content }) => void errors.push([(error as ApiError).code, content]),
      },
      { onBreak: ({ status }, pauseMs) => void breaks.push([status, pauseMs]) },
    );
    await say(chat_id, 'bad');
    await say(chat_id, 'good');
    await eventually('it has seen one', () => seen.length === 1);
    await one.stop();
    expect(errors).toEqual([['internal', 'bad']]);
    expect(seen).toEqual(['good']);
    expect(proxy.seen).toHaveLength(6);
    expect(breaks.map(([status]) => status)).toEqual([500, 500, 500, 500, 500]);
    for (const [, pauseMs] of breaks) expect(pauseMs).toBeGreaterThanOrEqual(1_000);
  });

  test('ends if it can neither handle a message nor report it', async () => {
    const chat_id = await newChat();
    const proxy = new FlakyProxy(server().url, Array(100).fill(refusal(500, 'internal')));
    stops.push(() => proxy.stop());
    const failing = createClient({ url: await proxy.start(), token: echoToken, retries: 0 });
    const fail = async () => void (await failing.messages.send({ chat_id, content: 'never' }));
    const one = await running({ onMessage: fail, onError: fail });
    await say(chat_id, 'bad');
    await expect(one.ended).rejects.toMatchObject({ code: 'internal' });
  });

  test('repeats a handler as long as the server cannot be reached, and reports each retry', async () => {
    const chat_id = await newChat();
    const proxy = new FlakyProxy(server().url, Array(20).fill('drop'));
    stops.push(() => proxy.stop());
    const unsteady = createClient({ url: await proxy.start(), token: echoToken, retries: 0 });
    const breaks: unknown[] = [];
    const one = await running(
      { onMessage: async () => void (await unsteady.messages.send({ chat_id, content: 'done' })) },
      { onBreak: (error) => void breaks.push(error) },
    );
    await say(chat_id, 'hello');
    await eventually('it is done', async () => (await contentsOf(chat_id)).includes('done'));
    await one.stop();
    expect(breaks).toHaveLength(20);
    for (const error of breaks) expect(error).toBeInstanceOf(TransportError);
  });

  test('waits for a server that cannot be reached at the start', async () => {
    const chat_id = await newChat();
    const proxy = new FlakyProxy(server().url, [
      ...Array(6).fill('drop'),
      ...Array(6).fill(refusal(503, 'unavailable')),
    ]);
    stops.push(() => proxy.stop());
    const seen: string[] = [];
    let breaks = 0;
    const one = await running(
      { client: newClient(await proxy.start()), onMessage: ({ content }) => void seen.push(content) },
      { onBreak: () => void breaks++ },
    );
    await say(chat_id, 'hello');
    await eventually('it has seen one', () => seen.length === 1);
    await one.stop();
    // The client itself repeats each call twice.
    expect(breaks).toBe(4);
  });

  test('stops while it waits for the server', async () => {
    const clock = new TestClock();
    clock.hold();
    const proxy = new FlakyProxy(server().url, Array(100).fill('drop'));
    stops.push(() => proxy.stop());
    const client = createClient({ url: await proxy.start(), token: echoToken, retries: 0, clock });
    const stopping = new AbortController();
    const run = bot({ client, onError: rethrow }).run({ signal: stopping.signal });
    await eventually('it waits', () => clock.pausing === 1);
    stopping.abort();
    await run;
  });

  test('stops during its first call', async () => {
    const proxy = new FlakyProxy(server().url, ['hang']);
    stops.push(() => proxy.stop());
    const client = createClient({ url: await proxy.start(), token: echoToken });
    const stopping = new AbortController();
    const run = bot({ client, onError: rethrow }).run({ signal: stopping.signal });
    await eventually('it has called', () => proxy.seen.length === 1);
    stopping.abort();
    await run;
  });

  describe('whose cursor has expired', () => {
    test('reports it, and goes on with new messages', async () => {
      const chat_id = await newChat();
      await say(chat_id, 'missed');
      const store = memory();
      // Ids that another log has used.
      store.state = { cursor: 4_000_000_000, handled: Array.from({ length: 1_000 }, (_, id) => id) };
      const seen: string[] = [];
      const expired: string[] = [];
      const one = await running(
        { store, onMessage: ({ content }) => void seen.push(content) },
        { onExpired: ({ code }) => void expired.push(code) },
      );
      await say(chat_id, 'new');
      await eventually('it has seen one', () => seen.length === 1);
      await one.stop();
      expect([seen, expired]).toEqual([['new'], ['cursor_expired']]);
      expect(store.state?.handled).toHaveLength(1);
      await (await running({ store }, { onExpired: rethrow })).stop();
    });

    test('while it ran goes on too', async () => {
      const chat_id = await newChat();
      const headers = { 'content-type': 'text/event-stream' };
      const opening = { status: 200, headers, body: 'id: 1\n\n' };
      const proxy = new FlakyProxy(server().url, ['none', opening, refusal(410, 'cursor_expired')]);
      stops.push(() => proxy.stop());
      const seen: string[] = [];
      const expired = Promise.withResolvers<void>();
      let opened = 0;
      const stopping = new AbortController();
      const onMessage = ({ content }: BotMessage) => void seen.push(content);
      const run = bot({ client: newClient(await proxy.start()), onMessage, onError: rethrow }).run({
        signal: stopping.signal,
        onExpired: () => expired.resolve(),
        onOpen: () => void opened++,
      });
      await Promise.race([expired.promise, run]);
      await eventually('the stream is open again', () => opened === 2);
      await say(chat_id, 'new');
      await eventually('it has seen one', () => seen.length === 1);
      stopping.abort();
      await run;
      expect(seen).toEqual(['new']);
    });

    test('ends with the error that onExpired throws, and keeps its state', async () => {
      const store = memory();
      store.state = { cursor: 4_000_000_000, handled: [7] };
      const run = bot({ client: newClient(), store, onError: rethrow }).run({ onExpired: rethrow });
      await expect(run).rejects.toMatchObject({ code: 'cursor_expired' });
      expect(store.state).toEqual({ cursor: 4_000_000_000, handled: [7] });
    });
  });

  test('throws if the server refuses it', async () => {
    const refused = bot({ client: createClient({ url: server().url, token: 'pat_unknown' }), onError: rethrow });
    await expect(refused.run()).rejects.toMatchObject({ code: 'unauthorized' });
  });
});

describe('a bot that receives webhooks', () => {
  const secret = 'a secret of the bot';

  /** A delivery as Parley sends it. */
  function delivery(id: number, data: object, signedWith = secret): Request {
    const body = JSON.stringify({ event: 'new_message', timestamp: '2026-01-01T12:00:00.000Z', data });
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const mac = (text: string, encoding: 'hex' | 'base64') =>
      createHmac('sha256', signedWith).update(text).digest(encoding);
    const headers = {
      'webhook-id': String(id),
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${mac(`${id}.${timestamp}.${body}`, 'base64')}`,
      'x-webhook-signature': `sha256=${mac(body, 'hex')}`,
    };
    return new Request('http://bot.example/hook', { method: 'POST', headers, body });
  }

  const message = (user_id: number, content: string) => {
    const mentions = content.includes('@echo.bot') ? { mentions: [echoId] } : {};
    return { message_id: 1, chat_id: 1, user_id, content, ...mentions };
  };

  test('calls the same handlers, once for each event', async () => {
    const store = memory();
    const seen: string[] = [];
    const options: BotOptions = {
      client: newClient(),
      store,
      onMessage: ({ content }) => void seen.push(content),
      onMention: ({ event_id, content }) => void seen.push(`${event_id} ${content}`),
      onError: rethrow,
    };
    const one = bot(options);
    const statuses = [];
    for (const [id, content] of [
      [7, 'hi'],
      [8, '@echo.bot hi'],
      [7, 'hi'],
    ] as const) {
      statuses.push((await one.receive(delivery(id, message(ada.userId, content)), secret)).status);
    }
    statuses.push((await one.receive(delivery(9, message(echoId, 'my own')), secret)).status);
    // Another process after a restart.
    statuses.push((await bot(options).receive(delivery(8, message(ada.userId, '@echo.bot hi')), secret)).status);
    expect(statuses).toEqual([204, 204, 204, 204, 204]);
    expect(seen).toEqual(['hi', '8 @echo.bot hi']);
    expect(store.state?.handled).toEqual([7, 8, 9]);
  });

  test('runs a handler once for deliveries that overlap', async () => {
    const finished = Promise.withResolvers<void>();
    let runs = 0;
    const one = bot({
      client: newClient(),
      onMessage: () => {
        runs++;
        return finished.promise;
      },
      onError: rethrow,
    });
    const responses = [1, 2].map(() => one.receive(delivery(7, message(ada.userId, 'hi')), secret));
    await eventually('the handler runs', () => runs > 0);
    finished.resolve();
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([204, 204]);
    expect(runs).toBe(1);
  });

  test('refuses what is not signed with its secret, too large, or no POST', async () => {
    const one = bot({ client: newClient(), onMessage: () => rethrow(new Error('called')), onError: rethrow });
    const large = { ...message(1, 'x'.repeat(1_100_000)) };
    const statuses = await Promise.all([
      one.receive(delivery(7, message(1, 'hi'), 'another secret'), secret),
      one.receive(delivery(7, large), secret),
      one.receive(new Request('http://bot.example/hook'), secret),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([401, 413, 405]);
  });

  test('throws if an event could not be handled, and handles it when it comes again', async () => {
    let fails = true;
    const one = bot({
      client: newClient(),
      onMessage: () => {
        if (fails) throw new Error('no');
      },
      onError: rethrow,
    });
    await expect(one.receive(delivery(7, message(ada.userId, 'hi')), secret)).rejects.toThrow('no');
    fails = false;
    expect((await one.receive(delivery(7, message(ada.userId, 'hi')), secret)).status).toBe(204);
  });
});
