import { expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { Message } from '@parley/contract';
import { BrowserLike } from '@parley/server/test/support/browser-like.ts';
import { Client } from '@parley/server/test/support/client.ts';
import { emptyEnvironment, onAnyEngine } from '@parley/server/test/support/engines.ts';
import { sha256, someBytes } from '@parley/server/test/support/files.ts';
import { eventsAfter, eventTip } from '@parley/server/test/support/people.ts';
import { receiverFor } from '@parley/server/test/support/receiver.ts';
import { startServer } from '@parley/server/test/support/server.ts';
import { eventually } from '../../sdk/test/eventually.ts';
import { at, backedUp, bytesOf, newPath, otherEngine, restored } from './backups.ts';
import { parley, said } from './parley.ts';
import { RunningCommand } from './running-command.ts';

async function messagesOf(by: Client, chat_id: number): Promise<Message[]> {
  const found: Message[] = [];
  for (let after_id = 0, more = true; more; after_id = found.at(-1)?.message_id ?? 0) {
    const page = await by.ok('messages.get_messages', { chat_id, after_id, limit: 200 });
    found.push(...(page.messages as Message[]));
    more = page.has_more;
  }
  return found;
}

onAnyEngine('a backup of a server that is written to', (engine) => {
  test('holds every message acknowledged before it began, and restores into the other engine', async () => {
    const env = await emptyEnvironment(engine);
    const server = await startServer(env);
    const [ada, bob] = [await server.user('ada', { admin: true }), await server.user('bob')];
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'Work', participants: [bob.userId] })).group;
    const acknowledged: Message[] = [];
    let isOver = false;
    const talk = async (by: Client, name: string, size: number) => {
      for (let i = 0; !isOver; i++) {
        const content = `${name} says ${i}`;
        const file = size > 0 ? { file: new File([someBytes(size + i)], `${i}.bin`) } : {};
        const { message } = await by.ok('messages.send_message', { chat_id, content, ...file });
        acknowledged.push(message as Message);
      }
    };
    const talking = [talk(ada, 'ada', 0), talk(bob, 'bob', 0), talk(ada, 'files', 50_000)];
    await eventually('there is something to back up', () => acknowledged.length > 60);
    const [reactedTo] = acknowledged;
    await bob.ok('messages.add_reaction', { message_id: reactedTo?.message_id ?? 0, emoji: '👍' });
    const before = [...acknowledged];

    const path = newPath();
    const saving = new RunningCommand(['backup', '-'], { env });
    saving.context.stdout.block();
    // The backup has begun, and cannot come to its end.
    await eventually('it writes', () => saving.context.stdout.isWaiting);
    const begun = acknowledged.length;
    await eventually('others go on', () => acknowledged.length > begun + 20);
    saving.context.stdout.unblock();
    expect((await saving.end()).code).toBe(0);
    writeFileSync(path, saving.context.stdout.bytes);
    const { last_backup } = (await ada.ok('service.status', {})).status;
    expect(last_backup).toMatchObject({ encrypted: false, bytes: saving.context.stdout.bytes.length });
    expect(last_backup?.messages).toBeGreaterThanOrEqual(before.length);
    const after = acknowledged.length;
    await eventually('others go on after it', () => acknowledged.length > after + 20);
    isOver = true;
    await Promise.all(talking);
    const tip = await eventTip(bob);
    const late = await ada.ok('messages.create_group', { name: 'After', participants: [] });
    await server.stop();

    await using again = await restored(path, otherEngine(engine));
    const [ada2, bob2] = [at(again.server, ada), at(again.server, bob)];
    const found = await messagesOf(bob2, chat_id);
    const byId = new Map(found.map((message) => [message.message_id, message]));
    for (const { message_id, content, file } of before) {
      expect(byId.get(message_id)).toMatchObject({ content, file: file && { sha256: file.sha256 } });
    }
    expect(byId.get(reactedTo?.message_id ?? 0)?.reactions).toMatchObject([{ emoji: '👍', count: 1 }]);
    const sent = new Map(acknowledged.map((message) => [message.message_id, message.content]));
    // Later messages may be missing. Each message that is there was acknowledged, and has its event and its file.
    expect(found.filter(({ message_id, content }) => sent.get(message_id) !== content)).toEqual([]);
    const told = (await eventsAfter(bob2, 0)).filter(({ event }) => event === 'new_message');
    expect(told.map(({ data }) => (data as { message_id: number }).message_id)).toEqual([...byId.keys()]);
    for (const { file } of found.filter((message) => message.file)) {
      expect(sha256((await bytesOf(bob2, file?.file_id ?? 0)).bytes)).toBe(file?.sha256 ?? '');
    }
    const { messages: hits } = await bob2.ok('messages.search_messages', { query: 'ada says 3' });
    expect(hits.map(({ content }) => content)).toContain('ada says 3');

    // No id is given again: neither one that is in the backup, nor one that was given out since.
    const { message } = await bob2.ok('messages.send_message', {
      chat_id,
      content: 'Anew',
      file: new File(['x'], 'x'),
    });
    const files = acknowledged.map(({ file }) => file?.file_id ?? 0);
    expect(message.message_id).toBeGreaterThan(Math.max(...sent.keys()));
    expect(message.file?.file_id).toBeGreaterThan(Math.max(...files));
    const { group } = await ada2.ok('messages.create_group', { name: 'Anew', participants: [] });
    expect(group.chat_id).toBeGreaterThan(late.group.chat_id);
    expect((await again.server.user('cleo')).userId).toBeGreaterThan(1_000_000_000);
    // A cursor beyond the backup has expired. A cursor at its end gets only the new events.
    expect(await bob2.refused('events.list', { after: tip })).toBe('cursor_expired');
    const lastId = told.at(-1)?.event_id ?? 0;
    const news = await eventsAfter(bob2, lastId, { chat_id });
    expect(news.filter(({ event }) => event === 'new_message').map(({ data }) => data)).toMatchObject([
      { message_id: message.message_id },
    ]);
    const next = news.at(-1)?.event_id ?? 0;
    expect(await eventsAfter(bob2, next)).toEqual([]);
    expect(await bob2.refused('events.list', { after: next + 1_000 })).toBe('cursor_expired');
  });
});

onAnyEngine('a restored server', (engine) => {
  const receiver = receiverFor();

  test('contains accounts, responses and webhooks, which continue without a gap', async () => {
    const env = await emptyEnvironment(engine);
    const server = await startServer(env, { sweepMs: 200 });
    const { userId } = await server.user('ada');
    await said(['user', 'password', 'ada', '--password-stdin'], env, 'a long enough password');
    const ada = new Client(server.url, await server.token('ada'), userId);
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'Work', participants: [] })).group;
    let accepts = 3;
    const saved = Promise.withResolvers<void>();
    const endpoint = receiver().endpoint(() => (accepts-- > 0 ? 200 : { status: 503, after: saved.promise }));
    await ada.ok('webhooks.register', { url: endpoint.url, events: ['new_message'], secret: 'a shared secret' });
    const send = (by: Client, content: string) =>
      by.ok('messages.send_message', { chat_id, content }, { 'idempotency-key': content });
    const contents = Array.from({ length: 8 }, (_, i) => `message-${i}`);
    for (const content of contents) await send(ada, content);
    await endpoint.arrived(4);
    const before = new BrowserLike(server.url, { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0' });
    await before.signIn('ada', 'a long enough password');
    const path = await backedUp(env);
    // A server that stops would wait for the attempt that is under way.
    saved.resolve();
    await server.stop();

    const accepted = endpoint.contents.slice(0, 3);
    const refused = endpoint.arrivals.length;
    endpoint.reply = () => 200;
    await using again = await restored(path, engine);
    const ada2 = at(again.server, ada);
    const { message } = await send(ada2, 'message-7');
    expect(message.message_id).toBe(8);
    const { message: anew } = await send(ada2, 'message-8');
    expect(anew.message_id).toBeGreaterThan(1_000_000_000);
    await eventually('everything has come', () => endpoint.contents.includes('message-8'));
    const afterwards = endpoint.contents.slice(refused);
    expect([...new Set([...accepted, ...afterwards])]).toEqual([...contents, 'message-8']);
    const last = endpoint.arrivals.at(-1);
    const signature = createHmac('sha256', 'a shared secret')
      .update(last?.bytes ?? '')
      .digest('hex');
    expect(last?.headers.get('x-webhook-signature')).toBe(`sha256=${signature}`);
    const token = await said(['token', 'create', 'ada'], again.server.env);
    expect((await new Client(again.server.url, token, ada.userId).ok('users.me', {})).user.name).toBe('ada');
    const browser = new BrowserLike(again.server.url);
    browser.cookies.set('parley_session', before.session ?? '');
    expect((await browser.get('/sessions')).main).toContain('Firefox on Linux This session');
    await browser.post('/sign-out');
    await browser.signIn('ada', 'a wrong password');
    expect(await browser.signedInAs()).toBeUndefined();
    await browser.signIn('ada', 'a long enough password');
    expect(await browser.signedInAs()).toBe('ada');
  });
});

test('a server that is restored later gives out later ids, whichever backup it comes from', async () => {
  const env = await emptyEnvironment('sqlite');
  const server = await startServer(env);
  const ada = await server.user('ada');
  const { chat_id } = (await ada.ok('messages.create_group', { name: 'Work', participants: [] })).group;
  const first = await backedUp(env);
  await server.stop();
  let last = 0;
  /** Restores a backup, says something, and backs that up in turn. */
  const followedBy = async (path: string) => {
    await using again = await restored(path, 'sqlite');
    const next = await backedUp(again.server.env);
    const { message } = await at(again.server, ada).ok('messages.send_message', { chat_id, content: 'Hello' });
    expect(message.message_id).toBeGreaterThan(last);
    last = message.message_id;
    return next;
  };
  const second = await followedBy(first);
  await followedBy(first);
  await followedBy(second);
  await followedBy(second);
});

onAnyEngine('a cursor beyond the ids of failed writes', (engine) => {
  test('stays valid after a restore', async () => {
    const env = await emptyEnvironment(engine);
    const server = await startServer(env);
    const ada = await server.user('ada');
    await ada.ok('messages.create_group', { name: 'Work', participants: [] });
    const tip = await eventTip(ada);
    await server.engine.write((tx) => tx.takeIds({ messages: 0, events: 3 }));
    const path = await backedUp(env);
    await ada.ok('messages.create_group', { name: 'Lost', participants: [] });
    expect(await eventTip(ada)).toBe(tip + 4);
    await server.stop();
    await using again = await restored(path, otherEngine(engine));
    const ada2 = at(again.server, ada);
    expect(await eventsAfter(ada2, tip + 3)).toEqual([]);
    expect(await ada2.refused('events.list', { after: tip + 4 })).toBe('cursor_expired');
  });
});

test('a backup goes through pipes, and tells of itself in JSON', async () => {
  const env = await emptyEnvironment('sqlite');
  const server = await startServer(env);
  await server.user('ada');
  const saving = new RunningCommand(['backup', '-'], { env });
  expect((await saving.end()).code).toBe(0);
  const { bytes } = saving.context.stdout;
  const told = JSON.parse(await said(['backup', newPath(), '--json'], env));
  await server.stop();
  expect(told).toMatchObject({ messages: 0, files: 0, files_included: true, key_included: true, removed_files: [] });
  const target = await emptyEnvironment('sqlite');
  const outcome = await parley(['restore', '-', '--json'], target, bytes);
  expect({ code: outcome.code, stderr: outcome.stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(outcome.stdout)).toMatchObject({ messages: 0, files: 0 });
  expect(await said(['user', 'list'], target)).toContain('ada');
});
