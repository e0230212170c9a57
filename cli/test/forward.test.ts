import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventsAfter as storedEvents } from '@parley/server/store/log/events.ts';
import { onAnyEngine } from '@parley/server/test/support/engines.ts';
import { freePort } from '@parley/server/test/support/postgres.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { eventually } from '../../sdk/test/eventually.ts';
import { TestClock } from '../../sdk/test/test-clock.ts';
import { Hook, signaturesOf } from './hook.ts';
import { Listener } from './listener.ts';
import { failed, parley } from './parley.ts';
import { type Scene, sceneOn } from './scene.ts';
import { SpawnedCommand } from './spawned-command.ts';

const listen = Listener.start;

const stateFiles = ({ env }: Scene) => {
  const folder = join(env.XDG_STATE_HOME ?? '', 'parley');
  return readdirSync(folder).map((name) => join(folder, name));
};

const stateIn = (path: string): Record<string, unknown> => JSON.parse(readFileSync(path, 'utf8'));

async function secretOf(listener: Listener): Promise<string> {
  await listener.says('Secret: ');
  return /^Secret: (.*)$/m.exec(listener.stderr)?.[1] ?? '';
}

onAnyEngine('forwarding', (engine) => {
  const server = serverFor(engine);

  test('sends the bytes that the log froze, with the headers and both signatures of a delivery', async () => {
    const scene = await sceneOn(server());
    const { ada, bob, chatId, send } = scene;
    await using hook = new Hook();
    await using listener = await listen(['--forward', hook.url], scene.env);
    const secret = await secretOf(listener);
    const since = Math.floor(Date.now() / 1_000);
    const message_id = await send('"quotes" \\ / \u2028 \u007f \u0001 \ud83d\udc68\u200d\ud83d\udc69 שלום\n1e21');
    await ada.ok('messages.send_message', { chat_id: chatId, content: 'yes', reply_to: message_id });
    await bob.ok('messages.edit_message', { message_id, content: '__proto__' });
    await ada.ok('messages.add_reaction', { message_id, emoji: '👍' });
    await bob.ok('chats.set_role', { chat_id: chatId, user_id: ada.userId, role: 'admin' });
    await ada.ok('chats.update', { chat_id: chatId, description: 'two\nlines' });
    await ada.ok('messages.create_direct', { user_id: bob.userId });
    await bob.ok('messages.delete_message', { message_id });
    const received = await hook.gets(8);

    const after = Number(received[0]?.id) - 1;
    const logged = await storedEvents(server().engine, after, 100);
    expect(received.map(({ id, body }) => [Number(id), new TextDecoder().decode(body)])).toEqual(
      logged.map(({ event_id, body }) => [event_id, body]),
    );
    for (const [i, delivery] of received.entries()) {
      const { headers, id } = delivery;
      expect(headers.toJSON()).toMatchObject({
        'content-type': 'application/json',
        'user-agent': expect.stringMatching(/^Parley-Webhooks\/\d/),
        'x-webhook-id': id,
        'webhook-id': id,
        'x-webhook-event': logged[i]?.event ?? '',
        'x-webhook-attempt': '1',
        'x-webhook-registration': '0',
        ...signaturesOf(delivery, secret),
      });
      expect(Number(headers.get('webhook-timestamp'))).toBeWithin(since, Date.now() / 1_000 + 1);
    }
    const lines = await listener.prints(8);
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}new_message {2,}\d+ {2}204 {2}\d+ ms$/);
  });
});

describe('forwarding', () => {
  const server = serverFor('sqlite');

  test('sends an event again until it is accepted, and the others in order after it', async () => {
    const scene = await sceneOn(server());
    await using hook = new Hook();
    hook.answers.push(Response.redirect('/elsewhere', 302), new Response('no', { status: 500 }));
    const clock = new TestClock();
    await using listener = await listen(['--forward', hook.url], scene.env, { clock });
    const contents = Array.from({ length: 15 }, (_, i) => `message ${i}`);
    for (const content of contents) await scene.send(content);
    const received = await hook.gets(contents.length + 2);
    expect(hook.contents).toEqual([...Array(2).fill('message 0'), ...contents]);
    expect(received.slice(0, 3).map(({ headers }) => headers.get('x-webhook-attempt'))).toEqual(['1', '2', '3']);
    expect(new Set(received.slice(0, 3).map(({ id }) => id)).size).toBe(1);
    const lines = await listener.prints(contents.length + 2);
    expect(lines[0]).toMatch(/ 302 \(redirects are not followed\) {2}\d+ ms {2}again in 1 s$/);
    expect(lines[1]).toMatch(/ 500 {2}\d+ ms {2}again in 2 s$/);
    expect(lines[2]).toMatch(/ 204 {2}\d+ ms$/);
    expect(clock.pauses).toEqual([1_000, 2_000]);
    expect(listener.stderr).toMatch(/^Forwarding to .*\nSecret: .*\n$/);
  });

  test('waits for a receiver that is not there, also past a proxy of the environment', async () => {
    const scene = await sceneOn(server());
    const port = await freePort();
    const proxied = { ...scene.env, http_proxy: `http://127.0.0.1:${await freePort()}`, NO_PROXY: '127.0.0.1' };
    // The proxies that `fetch` goes by are those of a process.
    await using listener = new SpawnedCommand(['listen', '--forward', `http://localhost:${port}/`], proxied);
    await eventually('it listens', () => listener.stderr.includes('Press Ctrl-C to stop.\n'));
    await scene.send('early');
    await eventually('a line', () => listener.stdout.includes('\n'));
    expect(listener.stdout).toMatch(/^[^\n]* connection refused {2}\d+ ms {2}again in 1 s\n/);
    await using _late = Bun.serve({ hostname: '127.0.0.1', port, fetch: () => new Response('thanks') });
    await eventually('the last line', () => / 200 {2}\d+ ms\n$/.test(listener.stdout));
  });

  test('treats a missing response as a failure', async () => {
    const scene = await sceneOn(server());
    let requests = 0;
    await using silent = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => (++requests === 1 ? new Promise(() => {}) : new Response()),
    });
    const clock = new TestClock();
    await using listener = await listen(['--forward', silent.url.href], scene.env, { clock });
    await scene.send('hello');
    await eventually('the request', () => requests === 1);
    clock.expire(15_000);
    await listener.prints(2);
    expect(listener.lines[0]).toMatch(/ no response in 15 s {2}\d+ ms {2}again in 1 s$/);
    expect(listener.lines[1]).toMatch(/ 200 {2}\d+ ms$/);
  });

  test('resumes where it stopped, with the same secret, and repeats no event', async () => {
    const scene = await sceneOn(server());
    await using hook = new Hook();
    await scene.send('before it ever ran');
    await using first = await listen(['--forward', hook.url], scene.env);
    const secret = await secretOf(first);
    await scene.send('one');
    await first.prints(1);
    expect(await first.stop('SIGTERM')).toBe(0);
    const [path = '', ...others] = stateFiles(scene);
    expect(others).toEqual([]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(stateIn(path)).toMatchObject({ secret, cursor: expect.any(Number), forward: hook.url });

    await scene.send('two');
    await scene.send('three');
    await using second = await listen(['--forward', hook.url], scene.env);
    expect(await secretOf(second)).toBe(secret);
    await second.prints(2);
    await scene.send('four');
    await second.prints(3);
    expect(await second.stop('SIGINT')).toBe(0);
    expect(hook.contents).toEqual(['one', 'two', 'three', 'four']);
    expect(stateFiles(scene)).toEqual([path]);
  });

  test('an event that was not accepted when it stopped comes first the next time', async () => {
    const scene = await sceneOn(server());
    await using hook = new Hook();
    hook.answers.push(new Response(null, { status: 503 }));
    const clock = new TestClock();
    clock.hold();
    await using first = await listen(['--forward', hook.url], scene.env, { clock });
    await scene.send('refused');
    await first.prints(1);
    expect(await first.stop()).toBe(0);
    await using _listener = await listen(['--forward', hook.url], scene.env);
    await scene.send('next');
    await hook.gets(3);
    expect(hook.contents).toEqual(['refused', 'refused', 'next']);
  });

  test('each URL and each filter has its own cursor and secret, and a chosen secret is saved', async () => {
    const scene = await sceneOn(server());
    await using hook = new Hook();
    const targets = [
      ['--forward', hook.url],
      ['--forward', `${hook.url}/other`],
      ['--forward', hook.url, '--chat', String(scene.chatId)],
      ['--forward', hook.url, '--events', 'user_left,user_joined'],
    ];
    const secrets: string[] = [];
    for (const words of targets) {
      await using listener = await listen(words, scene.env);
      secrets.push(await secretOf(listener));
      await listener.stop();
    }
    expect(new Set(secrets).size).toBe(targets.length);
    const same = ['--forward', hook.url, '--events', 'user_joined, user_left', '--url', `${scene.env.PARLEY_URL}/api/`];
    await using again = await listen(same, scene.env);
    expect(await secretOf(again)).toBe(secrets[3] ?? '');
    expect(stateFiles(scene)).toHaveLength(targets.length);

    await (await listen(['--forward', hook.url, '--secret', 'of my own'], scene.env)).stop();
    await using plain = await listen(['--forward', hook.url], scene.env);
    expect(await secretOf(plain)).toBe('of my own');
  });

  test('skips events that the filters exclude', async () => {
    const scene = await sceneOn(server());
    await using hook = new Hook();
    const { ada, bob, chatId } = scene;
    const words = ['--forward', hook.url, '--chat', String(chatId), '--events', 'new_message,message_deleted'];
    await using _listener = await listen(words, scene.env);
    const { group } = await bob.ok('messages.create_group', { name: 'Another', participants: [ada.userId] });
    await bob.ok('messages.send_message', { chat_id: group.chat_id, content: 'elsewhere' });
    const message_id = await scene.send('here');
    await bob.ok('messages.edit_message', { message_id, content: 'edited' });
    await bob.ok('messages.delete_message', { message_id });
    const received = await hook.gets(2);
    expect(received.map(({ headers }) => headers.get('x-webhook-event'))).toEqual(['new_message', 'message_deleted']);
  });

  test('starts at --from, whatever cursor is saved', async () => {
    const scene = await sceneOn(server());
    await using hook = new Hook();
    const to = ['--forward', hook.url, '--events', 'new_message'];
    await scene.send('one');
    await scene.send('two');
    await (await listen(to, scene.env)).stop();
    await using all = await listen([...to, '--from', '0'], scene.env);
    await all.prints(2);
    await all.stop();
    await using last = await listen([...to, '--from', String(hook.received[1]?.id)], scene.env);
    await last.prints(1);
    await last.stop();
    await scene.send('missed on purpose');
    await using fresh = await listen([...to, '--from', 'now'], scene.env);
    await scene.send('three');
    await fresh.prints(1);
    expect(hook.contents).toEqual(['one', 'two', 'two', 'three']);
  });

  test('continues with the oldest event if the cursor has expired', async () => {
    const scene = await sceneOn(server());
    await using hook = new Hook();
    const to = ['--forward', hook.url, '--events', 'new_message'];
    await (await listen(to, scene.env)).stop();
    await scene.send('one');
    const [path = ''] = stateFiles(scene);
    writeFileSync(path, JSON.stringify({ ...stateIn(path), cursor: 1_000_000 }));
    await using listener = await listen(to, scene.env);
    await listener.prints(1);
    await listener.says(
      'Events after 1000000 are deleted, or the cursor belongs to another log. Continuing with the oldest event.\n',
    );
    expect(hook.contents).toEqual(['one']);
    await listener.stop();
    expect(stateIn(path).cursor).toBeLessThan(1_000_000);

    writeFileSync(path, '{"cursor":');
    expect(await parley(['listen', ...to], scene.env)).toEqual(failed(1, `${path} is damaged. Remove it`));
  });
});
