import { describe, expect, test } from 'bun:test';
import type { NewEvent } from '@parley/contract';
import { append } from '@parley/server/store/log/events.ts';
import { onAnyEngine } from '@parley/server/test/support/engines.ts';
import { Gate } from '@parley/server/test/support/gate.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { createClient } from '@parley-chat/sdk';
import { cursorAt } from '../listen/cursor-at.ts';
import { Listener } from './listener.ts';
import { failed, parley } from './parley.ts';
import { ownServer, type Scene, sceneOn } from './scene.ts';

const hourMs = 3_600_000;

const contents = (lines: readonly string[]) => lines.map((line) => JSON.parse(line).data.content);

const clientOf = ({ env }: Scene) => createClient({ url: env.PARLEY_URL ?? '', token: env.PARLEY_TOKEN ?? '' });

onAnyEngine('events tail', (engine) => {
  const server = serverFor(engine);

  /** Adds events of the chat that happen in some hours: times have to rise with the ids. */
  const happen = ({ chatId: chat_id, ada, bob }: Scene, hours: number, count: number) => {
    const data = { chat_id, user_id: ada.userId, actor_id: bob.userId, role: 'admin', previous_role: 'member' };
    const many: NewEvent[] = Array(count).fill({ event: 'role_changed', data });
    return server().engine.write((tx) => append(tx, many, Date.now() + hours * hourMs));
  };

  test('starts with the events since a time, and goes on with new ones', async () => {
    const scene = await sceneOn(server());
    await scene.send('old');
    const since = new Date().toISOString();
    await Bun.sleep(2);
    await scene.send('recent');
    await using tail = await Listener.tail(['--since', since, '--json'], scene.env);
    await scene.send('new');
    expect(contents(await tail.prints(2))).toEqual(['recent', 'new']);
    expect(await tail.stop('SIGINT')).toBe(0);
  });

  test('filters by chat and by event', async () => {
    const scene = await sceneOn(server());
    const { group } = await scene.bob.ok('messages.create_group', { name: 'Else', participants: [scene.ada.userId] });
    const words = ['--since', '1h', '--chat', String(scene.chatId), '--event', 'new_message,message_edited', '--json'];
    await using tail = await Listener.tail(words, scene.env);
    await scene.bob.ok('messages.send_message', { chat_id: group.chat_id, content: 'elsewhere' });
    await scene.bob.ok('chats.update', { chat_id: scene.chatId, name: 'Landing' });
    const message_id = await scene.send('one');
    await scene.bob.ok('messages.edit_message', { message_id, content: 'two' });
    expect(contents(await tail.prints(2))).toEqual(['one', 'two']);
  });

  test('prints a field of the events that have it', async () => {
    const scene = await sceneOn(server());
    await using tail = await Listener.tail(['--since', '1h', '--field', 'data.content'], scene.env);
    await scene.bob.ok('chats.update', { chat_id: scene.chatId, name: 'Landing' });
    await scene.send('one');
    expect(await tail.prints(1)).toEqual(['one']);
    expect(await parley(['events', 'tail', '--field', 'dta.content'], scene.env)).toEqual(
      failed(2, 'There is no field "dta". Did you mean data?'),
    );
    expect(await parley(['events', 'tail', '--field', 'data.contnt'], scene.env)).toEqual(
      failed(2, 'There is no field "contnt". Did you mean content?'),
    );
  });

  test('finds the first event since a time, however long the log is', async () => {
    const scene = await sceneOn(server());
    const client = clientOf(scene);
    const filters = { chat_id: scene.chatId, events: ['role_changed' as const] };
    for (const hours of [1, 2, 3]) await happen(scene, hours, 300);
    /** The hour of the first event since an hour. */
    const since = async (hours: number) => {
      const after = await cursorAt(client, filters, new Date(Date.now() + hours * hourMs).toISOString());
      const { events } = await client.events.list({ ...filters, after, limit: 1 });
      return events[0] && Math.round((Date.parse(events[0].timestamp) - Date.now()) / hourMs);
    };
    expect([await since(0.5), await since(1.5), await since(2.5), await since(3.5)]).toEqual([1, 2, 3, undefined]);
    expect(await cursorAt(client, filters, new Date(0).toISOString())).toBe(0);
  });
});

test('events tail survives a lost connection without a gap or a repeat', async () => {
  await using own = await ownServer();
  const scene = await sceneOn(own.server);
  using gate = await Gate.before(own.server.url);
  await scene.send('zero');
  const env = { ...scene.env, PARLEY_URL: gate.url };
  await using tail = await Listener.tail(['--since', '1h', '--event', 'new_message', '--json'], env);
  for (const [before, text] of ['one', 'two', 'three'].entries()) {
    await tail.prints(before + 1);
    gate.cut();
    await scene.send(text);
  }
  expect(contents(await tail.prints(4))).toEqual(['zero', 'one', 'two', 'three']);
  expect(await tail.stop('SIGINT')).toBe(0);
});

describe('a wrong command line of events tail', () => {
  test.each([
    [
      ['--since', 'now'],
      '--since must be an age such as 30s, 15m, 2h or 7d, or a time such as 2026-01-31T12:00, not "now".',
    ],
    [['--since', '2026-02-31'], '--since must be an age'],
    [['--chat', '0'], '--chat must be the id or name of a chat, or @person, not "0".'],
    [['--event', 'new_mesage'], 'There is no event "new_mesage". Did you mean new_message?'],
  ])('is refused: %p', async (words, line) => {
    expect(await parley(['events', 'tail', ...words])).toEqual(failed(2, line));
  });

  const server = serverFor('sqlite');

  test('and a refusal of the server is one line', async () => {
    const scene = await sceneOn(server());
    const writer = { ...scene.env, PARLEY_TOKEN: await server().token(scene.names.ada, ['messages:write']) };
    expect(await parley(['events', 'tail', '--chat', '999999', '--since', '1h'], scene.env)).toEqual(
      failed(1, 'There is no such chat, or you may not see it.'),
    );
    expect(await parley(['events', 'tail'], writer)).toEqual(failed(1, 'lacks the scope messages:read'));
  });
});
