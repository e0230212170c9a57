import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { eventNames, type NewEvent } from '@parley/contract';
import { append } from '@parley/server/store/log/events.ts';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import { freshEnvironment } from '@parley/server/test/support/engines.ts';
import { Gate } from '@parley/server/test/support/gate.ts';
import { freePort } from '@parley/server/test/support/postgres.ts';
import { serverFor, startServer } from '@parley/server/test/support/server.ts';
import { createClient } from '@parley-chat/sdk';
import { eventually } from '../../sdk/test/eventually.ts';
import { TestClock } from '../../sdk/test/test-clock.ts';
import { UsageError } from '../command.ts';
import { command } from '../commands/listen.ts';
import { requireKnown } from '../known.ts';
import { followEvents } from '../listen/follow.ts';
import { tail } from '../listen/tail.ts';
import { processClock } from '../process-context.ts';
import type { Task } from '../signals.ts';
import { TestContext } from './context.ts';
import { Hook } from './hook.ts';
import { Listener } from './listener.ts';
import { failed, parley } from './parley.ts';
import { ownServer, sceneOn } from './scene.ts';
import { mainFile, spawn } from './spawned-command.ts';

const listen = Listener.start;

describe('the tail', () => {
  const server = serverFor('sqlite');

  test('shows new events in local time, with names', async () => {
    const scene = await sceneOn(server());
    await scene.send('before');
    await using listener = await listen([], scene.env);
    await scene.send('one\n\ttwo');
    const { events } = await scene.ada.ok('events.list', { events: ['new_message'] });
    const lines = await listener.prints(2);
    const { event_id, timestamp } = events.at(-1) ?? { event_id: 0, timestamp: '' };
    const local = new Date(Date.parse(timestamp) + 9 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
    const column = (name: string) => name.padEnd(Math.max(...eventNames.map(({ length }) => length)));
    const start = `${event_id}  ${local}  ${column('new_message')}  Launch 🚀 (${scene.chatId})  ${scene.names.bob}  `;
    const message = /message \d+: one/.exec(lines[0] ?? '')?.[0];
    expect(lines).toEqual([`${start}${message}`, `${' '.repeat(Bun.stringWidth(start))}    two`]);
    await scene.bob.ok('chats.update', { chat_id: scene.chatId, name: 'Landing' });
    await scene.send('three');
    const [renamed, three] = (await listener.prints(4)).slice(2);
    const rest = `Landing (${scene.chatId})  ${scene.names.bob}  Landing (private)`;
    expect(renamed).toContain(`  ${column('chat_updated')}  ${rest}`);
    expect(three).toContain(`  Landing (${scene.chatId})  ${scene.names.bob}  message `);
    expect(readdirSync(scene.env.XDG_STATE_HOME ?? '')).toEqual([]);
  });

  test('has words for every kind of event', async () => {
    const scene = await sceneOn(server());
    const { ada, bob, chatId, send } = scene;
    const message_id = await send('hello');
    const yes = { chat_id: chatId, content: 'yes', reply_to: message_id };
    const { message: answer } = await ada.ok('messages.send_message', yes);
    await bob.ok('messages.edit_message', { message_id, content: 'hello!' });
    await ada.ok('messages.add_reaction', { message_id, emoji: '👍' });
    await ada.ok('messages.remove_reaction', { message_id, emoji: '👍' });
    await bob.ok('chats.set_role', { chat_id: chatId, user_id: ada.userId, role: 'admin' });
    await ada.ok('chats.update', { chat_id: chatId, name: 'Landing' });
    await ada.ok('messages.delete_message', { message_id });
    await ada.ok('messages.create_direct', { user_id: bob.userId });
    const { channel } = await bob.ok('messages.create_channel', { name: 'News' });
    await ada.ok('chats.join', { chat_id: channel.chat_id });
    await bob.ok('chats.remove_participant', { chat_id: chatId, user_id: ada.userId });
    await using listener = await listen(['--from', '0'], scene.env);
    const { ada: a, bob: b } = scene.names;
    const told = (await listener.prints(12)).map((line) =>
      line
        .split(/ {2,}/)
        .slice(2)
        .join(' | ')
        .replace(/\(\d+\)/, '(n)'),
    );
    const left = `chat ${chatId}`;
    expect(told).toEqual([
      `group_created | ${left} | ${b} | Launch 🚀, participants: 2`,
      `new_message | ${left} | ${b} | message ${message_id}: hello`,
      `new_message | ${left} | ${a} | message ${answer.message_id}, a reply to ${message_id}: yes`,
      `message_edited | ${left} | ${b} | message ${message_id}: hello!`,
      `reaction_added | ${left} | ${a} | 👍 to message ${message_id}`,
      `reaction_removed | ${left} | ${a} | 👍 from message ${message_id}`,
      `role_changed | ${left} | ${a} | member to admin by ${b}`,
      `chat_updated | ${left} | ${a} | Landing (private)`,
      `message_deleted | ${left} | ${a} | message ${message_id} of ${b}`,
      `direct_created | ${b} (n) | ${a} | with ${b}`,
      `user_joined | News (n) | ${a}`,
      `user_left | ${left} | ${a} | removed by ${b}`,
    ]);
  });

  test('escapes text that would control the terminal', async () => {
    const scene = await sceneOn(server());
    const attack = 'red \u001b[31m csi \u009b31m turned \u202e back\rover';
    await using people = await listen([], scene.env);
    await using programs = await listen(['--json'], scene.env);
    await scene.send(attack);
    expect((await people.prints(1))[0]).toContain(String.raw`red \u{1b}[31m csi \u{9b}31m turned \u{202e} back`);
    const [line = ''] = await programs.prints(1);
    expect(people.stdout + programs.stdout).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
    expect(JSON.parse(line).data.content).toBe(attack);
  });

  test('prints events as lines of JSON, as the log has them', async () => {
    const scene = await sceneOn(server());
    await using listener = await listen(['--json', '--chat', String(scene.chatId)], scene.env);
    await scene.send('one');
    await scene.send('two');
    const lines = await listener.prints(2);
    const { events } = await scene.ada.ok('events.list', { events: ['new_message'] });
    expect(lines).toEqual(events.map((event) => JSON.stringify(event)));
    expect(Object.keys(JSON.parse(lines[0] ?? ''))).toEqual(['event_id', 'event', 'timestamp', 'data']);
    expect(await listener.stop('SIGINT')).toBe(0);
  });

  test('tells people and chats by id where the token may not see them', async () => {
    const scene = await sceneOn(server());
    const reader = await server().token(scene.names.ada, ['messages:read']);
    await using listener = await listen([], { ...scene.env, PARLEY_TOKEN: reader });
    await scene.send('hello');
    expect((await listener.prints(1))[0]).toContain(`  chat ${scene.chatId}  user ${scene.bob.userId}  message `);
  });

  test('ends quietly when its reader has had enough', async () => {
    const scene = await sceneOn(server());
    await using listener = await listen(['--json', '--from', '0'], scene.env);
    await listener.prints(1);
    listener.command.context.stdout.close();
    // A closed pipe is noticed at the next write.
    await scene.send('hello');
    expect(await listener.command.status).toBe(0);
    expect(listener.stderr).toMatch(/^Listening as [^\n]*\n$/);
  });

  test('stops although its output is not read', async () => {
    const scene = await sceneOn(server());
    const clock = new TestClock();
    await using listener = await listen(['--json'], scene.env, { clock });
    const { stdout } = listener.command.context;
    stdout.block();
    await scene.send('hello');
    await eventually('it prints', () => stdout.isWaiting);
    listener.command.signal('SIGTERM');
    clock.expire(500);
    expect(await listener.command.status).toBe(0);
    stdout.close();
  });

  test('stops, as a process, although its output is not read', async () => {
    const scene = await sceneOn(server());
    for (let i = 0; i < 20; i++) await scene.send('x'.repeat(16_000));
    // A pipe that is open for reading. Once some bytes are read, nobody reads the rest, which is more than the pipe can hold.
    const stuck = `mkfifo pipe; exec 3<>pipe; ${process.execPath} ${mainFile} listen --json --from 0 >pipe 2>said &
      head -c 70000 <&3 >/dev/null; kill $!; wait $!; echo $? >>said; cat said`;
    const { stdout } = await spawn(['bash', '-c', stuck], temporaryFolder(), scene.env);
    expect(stdout).toMatch(/Press Ctrl-C to stop\.\n0\n$/);
  });
});

test('a look-up that fails with the server is made again, and not remembered', async () => {
  await using own = await ownServer();
  const { env, names, send } = await sceneOn(own.server);
  let away = false;
  const client = createClient({
    url: env.PARLEY_URL ?? '',
    token: env.PARLEY_TOKEN ?? '',
    retries: 0,
    fetch: (url, init) => {
      if (!url.includes('users.php') || !away) return fetch(url, init);
      away = false;
      throw new TypeError('cut off');
    },
  });
  await send('hello');
  const stopping = new AbortController();
  const said: string[] = [];
  const task: Task = {
    signal: stopping.signal,
    clock: new TestClock(),
    say: async (line) => void said.push(line),
    print: async (...lines) => {
      said.push(...lines);
      stopping.abort();
    },
  };
  const { user } = await client.users.me();
  away = true;
  const filters = { events: ['new_message' as const] };
  const subscription = { server: own.server.url, client, user, filters, from: 0, task, context: new TestContext() };
  await expect(tail(subscription, { json: false })).rejects.toThrow('aborted');
  expect(said.slice(1)).toEqual([
    expect.stringMatching(/^The server is not available\. .*: cut off/),
    'The server is back.',
    expect.stringMatching(new RegExp(`  ${names.bob}  message 1: hello$`)),
  ]);
});

describe('the server', () => {
  test('may be down for a while: no event is lost, and the outage is reported once', async () => {
    const env = { ...(await freshEnvironment('sqlite')), PORT: String(await freePort()) };
    const before = await startServer(env);
    const scene = await sceneOn(before);
    await using hook = new Hook();
    const clock = new TestClock();
    await using forwarding = await listen(['--forward', hook.url], scene.env, { clock });
    await using tail = await listen([], scene.env, { clock });
    const listeners = [forwarding, tail];
    await scene.send('before');
    for (const listener of listeners) await listener.prints(1);
    clock.hold();
    await before.stop();
    // A break that is mended at the first attempt would be nothing to speak of.
    await eventually('both have noticed', () => clock.pausing === 2);
    clock.release();
    clock.hold();
    for (const listener of listeners) await listener.says('The server is not available. Retrying. ');
    await using _after = await ownServer(env);
    clock.release();
    await scene.send('after');
    for (const listener of listeners) {
      const lines = await listener.prints(2);
      expect(lines).toHaveLength(2);
      expect(listener.stderr).toMatch(/ not available\. [^\n]*\nThe server is back\.\n$/);
    }
    expect(hook.contents).toEqual(['before', 'after']);
  });

  test('may close a connection: no event is lost, and the break is not reported', async () => {
    await using own = await ownServer();
    const scene = await sceneOn(own.server);
    using gate = await Gate.before(own.server.url);
    await using listener = await listen(['--json'], { ...scene.env, PARLEY_URL: gate.url });
    await scene.send('one');
    await listener.prints(1);
    gate.cut();
    await scene.send('two');
    const contents = (await listener.prints(2)).map((line) => JSON.parse(line).data.content);
    expect(contents).toEqual(['one', 'two']);
    expect(listener.stderr).toMatch(/^Listening as [^\n]*\n$/);
  });

  test('is asked no more often than it allows', async () => {
    await using limited = await ownServer({ PARLEY_RATE_LIMIT: '1/2' });
    const scene = await sceneOn(limited.server);
    await using listener = await listen(['--json'], scene.env, { clock: processClock });
    await scene.send('slowly');
    expect(await listener.prints(1)).toHaveLength(1);
    expect(listener.stderr).toMatch(/^Listening as [^\n]*\n$/);
  });

  test('gets one request, however long its log is', async () => {
    await using own = await ownServer();
    const { ada, bob, chatId, env, send } = await sceneOn(own.server);
    const data = { chat_id: chatId, user_id: ada.userId, actor_id: bob.userId, role: 'admin', previous_role: 'member' };
    const many: NewEvent[] = Array(100 * 200).fill({ event: 'role_changed', data });
    await own.server.engine.write((tx) => append(tx, many, Date.now()));
    await send('before');
    let calls = 0;
    const client = createClient({
      url: env.PARLEY_URL ?? '',
      token: env.PARLEY_TOKEN ?? '',
      fetch: (url, init) => {
        calls++;
        return fetch(url, init);
      },
    });
    const stopping = new AbortController();
    const task: Task = {
      signal: stopping.signal,
      clock: new TestClock(),
      say: async () => {},
      print: async () => {},
    };
    const following = await followEvents({ client, filters: {}, task }, undefined);
    const { next } = await ada.ok('events.list', { events: ['chat_updated'] });
    expect(following.cursor).toBe(next);
    await send('now');
    for await (const event of following) {
      expect(event.data.content).toBe('now');
      break;
    }
    expect(calls).toBe(1);
  });
});

describe('a wrong command line', () => {
  const server = serverFor('sqlite');
  const hook = 'http://localhost:3000/hook';

  test.each([
    [['--forward', 'localhost:3000'], '--forward must be a URL such as http://localhost:3000/hook, not "localhost'],
    [['--forward', 'ftp://localhost/'], '--forward must be a URL such as http://localhost:3000/hook, not "ftp:'],
    [['--forward', 'http://me:pw@localhost/'], '--forward must be a URL such as'],
    [['--events', 'new_message,new_mesage'], 'There is no event "new_mesage". Did you mean new_message?'],
    [['--events', 'zzz'], 'There is no event "zzz".'],
    [['--chat', '0'], '--chat must be the id or name of a chat, or @person, not "0".'],
    [['--from', 'yesterday'], '--from must be a whole number from 0, not "yesterday".'],
    [['--secret', 'x'], '--secret requires --forward.'],
    [['--json', '--forward', hook], 'Give --json or --forward, not both.'],
  ])('is refused: parley listen %p', async (words, line) => {
    const refusal = await command.execute(words, new TestContext()).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(UsageError);
    expect((refusal as UsageError).message).toStartWith(line);
  });

  test('is reported in one line, with exit code 2', async () => {
    expect(await parley(['listen', '--forward', 'localhost:3000'])).toEqual(failed(2, '--forward must be a URL'));
    expect(await parley(['listen', '--events', 'new_mesage'])).toEqual(
      failed(2, 'There is no event "new_mesage". Did you mean new_message? See: npx parley listen --help'),
    );
  });

  test('and a refusal of the server is reported in one line, with exit code 1', async () => {
    const { env } = await sceneOn(server());
    const away = `http://127.0.0.1:${await freePort()}`;
    const refused = await Promise.all([
      parley(['listen', '--chat', '999999'], env),
      parley(['listen', '--chat', '999999', '--forward', hook], env),
      parley(['listen', '--token', 'pat_wrong'], env),
      parley(['listen', '--url', away], env),
      parley(['listen', '--forward', hook, '--secret', 'whsec_abc'], env),
    ]);
    expect(refused).toEqual([
      failed(1, 'There is no such chat, or you may not see it.'),
      failed(1, 'There is no such chat, or you may not see it.'),
      failed(1, 'This access token is unknown, expired or revoked.'),
      failed(1, `Cannot reach Parley at ${away}: `),
      failed(1, 'secret: must not begin with whsec_'),
    ]);
    expect(readdirSync(env.XDG_STATE_HOME ?? '')).toEqual([]);
  });

  test('the nearest word is suggested, and a far one is not', () => {
    const known = ['new_message', 'message_edited', 'user_joined', 'user_left'] as const;
    const suggestion = (typed: string) => {
      try {
        return requireKnown('event', typed, known);
      } catch (error) {
        return /Did you mean (.*)\?$/.exec((error as Error).message)?.[1];
      }
    };
    const typed = ['new_mesage', 'message-edited', 'user_join', 'NEW_MESSAGE', 'x', ''];
    const near = ['new_message', 'message_edited', 'user_joined', 'new_message', undefined, undefined];
    expect(typed.map(suggestion)).toEqual(near);
  });
});
