import { expect, test } from 'bun:test';
import type { EventId } from '@parley/contract';
import { onAnyEngine } from '../support/engines.ts';
import { eventually } from '../support/eventually.ts';
import { users } from '../support/people.ts';
import type { TestServer } from '../support/server.ts';
import { serverFor } from '../support/server.ts';
import { EventReader, streamUrl } from '../support/streams.ts';

const many = 12_000;

/** Fills the log of a chat from beside the server. */
async function fill({ engine }: TestServer, chatId: number): Promise<void> {
  await engine.write(async (tx) => {
    const { events } = await tx.takeIds({ messages: 0, events: many });
    const [first = 0 as EventId] = events;
    await tx.run(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${many})
       INSERT INTO events (event_id, chat_id, event, created_at, body)
       SELECT $1 + i, $2, 'reaction_added', 1, '{"event":"reaction_added","timestamp":"","data":{}}' FROM n`,
      [first, chatId],
    );
  });
}

onAnyEngine('a stream', (engine) => {
  const server = serverFor(engine);

  test('that reads a long log holds up nobody else', async () => {
    const ada = await server().user('ada');
    const { chat_id } = (await ada.ok('messages.create_group', { name: 'g', participants: [] })).group;
    await fill(server(), chat_id);
    const authorization = `Bearer ${ada.token}`;
    const readers = await Promise.all(
      Array.from({ length: 4 }, () => EventReader.open(streamUrl(ada.url, { after: 0 }), { authorization })),
    );
    await ada.ok('users.me', {});
    const told = readers.map((reader) => reader.eventIds.length);
    expect(Math.min(...told)).toBeLessThan(many);
    for (const reader of readers) await reader.until('all is told', ({ events }) => events.length > many);
    for (const reader of readers) reader.breakOff();
  });

  test('takes back a cursor that it gave, also one beyond the last event', async () => {
    const { cleo, eve } = await users(server(), 'cleo', 'eve');
    const { chat_id } = (await cleo.ok('messages.create_group', { name: 'g', participants: [] })).group;
    const headers = { authorization: `Bearer ${cleo.token}` };
    const listening = await EventReader.open(streamUrl(cleo.url), headers);
    // It takes an id, and no event comes of it.
    expect(await eve.refused('messages.send_message', { chat_id, content: 'x' })).toBe('not_found');
    const newest = (await cleo.ok('events.list', { limit: 1 })).next;
    const beyond = await eventually('a stream begins beyond the last event', async () => {
      const next = await EventReader.open(streamUrl(cleo.url), headers);
      await next.until('it has begun', ({ frames }) => frames.length > 0);
      next.breakOff();
      return Number(next.lastEventId) > newest ? next.lastEventId : undefined;
    });
    const back = await EventReader.open(streamUrl(cleo.url), { ...headers, 'last-event-id': String(beyond) });
    expect(back.status).toBe(200);
    expect((await cleo.ok('events.list', { after: Number(beyond) })).next).toBe(Number(beyond));
    await cleo.ok('messages.send_message', { chat_id, content: 'and on' });
    await back.until('it is told', ({ contents }) => contents.includes('and on'));
    for (const reader of [listening, back]) reader.breakOff();
  });

  test('with a filter that matches nothing comes to the end of a long log', async () => {
    const ben = await server().user('ben');
    const { chat_id } = (await ben.ok('messages.create_group', { name: 'g', participants: [] })).group;
    await fill(server(), chat_id);
    const url = streamUrl(ben.url, { after: 0, events: ['role_changed', 'new_message'] });
    const reader = await EventReader.open(url, { authorization: `Bearer ${ben.token}` });
    await ben.ok('messages.send_message', { chat_id, content: 'the only one' });
    await reader.until('it is told', ({ contents }) => contents.length > 0);
    expect(reader.contents).toEqual(['the only one']);
    reader.breakOff();
  });
});
