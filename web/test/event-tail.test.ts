import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '@parley/server/test/support/client.ts';
import { users } from '@parley/server/test/support/people.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { createClient } from '@parley-chat/sdk';
import { hasWords, readEventFilters } from '../ui/console/event-filters.ts';
import { EventTail, type LogFilter } from '../ui/console/event-tail.ts';

const everything: LogFilter = { event: undefined, chatId: undefined };

describe('the end of the log', () => {
  const server = serverFor('sqlite');
  let ada: Client;
  let bob: Client;
  let plans = 0;
  let launch = 0;
  const groupOf = async (by: Client, name: string) =>
    (await by.ok('messages.create_group', { name, participants: [] })).group.chat_id;
  const write = async (by: Client, chat_id: number, count: number, text: string) => {
    for (let number = 1; number <= count; number++)
      await by.ok('messages.send_message', { chat_id, content: `${text} ${number}` });
  };
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
    plans = await groupOf(ada, 'Plans');
    launch = await groupOf(ada, 'Launch');
    await write(ada, plans, 60, 'old');
    // Ids that ada does not see.
    await write(bob, await groupOf(bob, 'Other'), 450, 'hidden');
    await write(ada, launch, 30, 'new');
  });
  const clientOf = (fetch = globalThis.fetch) => createClient({ url: server().url, token: ada.token, fetch });
  const textsOf = ({ rows }: EventTail) => rows.value.map(({ event, data }) => data.content ?? event);
  const numbered = (text: string, from: number, to: number) =>
    Array.from({ length: from - to + 1 }, (_, place) => `${text} ${from - place}`);
  const whole = () => [
    ...[...numbered('new', 30, 1), ...numbered('old', 60, 1)],
    ...['group_created', 'group_created'],
  ];

  test('is read back to its start, over the events of others, and filled with new ones', async () => {
    const tail = new EventTail(clientOf(), everything);
    await tail.start();
    expect(textsOf(tail).slice(0, 31)).toEqual([...numbered('new', 30, 1), 'old 60']);
    while (tail.hasOlder.value) await tail.older();
    expect(textsOf(tail)).toEqual(whole());
    await write(ada, launch, 1, 'newest');
    await tail.poll();
    expect(textsOf(tail).slice(0, 2)).toEqual(['newest 1', 'new 30']);
    tail.pause();
    await write(ada, launch, 2, 'paused');
    await tail.poll();
    expect(textsOf(tail)[0]).toBe('newest 1');
    await tail.resume();
    expect(textsOf(tail).slice(0, 3)).toEqual(['paused 2', 'paused 1', 'newest 1']);
  });

  test('is filtered by event and chat', async () => {
    const tail = new EventTail(clientOf(), { event: 'group_created', chatId: plans });
    await tail.start();
    while (tail.hasOlder.value) await tail.older();
    expect(tail.rows.value).toMatchObject([{ event: 'group_created', data: { name: 'Plans' } }]);
  });

  test('has a bounded number of rows: old ones go for new ones, and new ones for old ones', async () => {
    const tail = new EventTail(clientOf(), { ...everything, chatId: plans }, 40);
    await tail.start();
    await tail.older();
    expect(tail.isPaused.value).toBe(true);
    expect(textsOf(tail).at(-1)).toBe('group_created');
    expect(tail.rows.value).toHaveLength(40);
    await write(ada, plans, 45, 'later');
    await tail.resume();
    expect(textsOf(tail)[0]).toBe('later 45');
    await write(ada, plans, 50, 'last');
    await tail.poll();
    expect(textsOf(tail)).toEqual(numbered('last', 50, 11));
    expect(tail.hasOlder.value).toBe(true);
    await tail.older();
    expect(textsOf(tail)).toEqual(numbered('later', 40, 1));
  });

  test('ends where events have expired', async () => {
    const own = await clientOf().events.list({ after: 0, limit: 200, chat_id: plans });
    const kept = own.events.find(({ data }) => data.content === 'old 31')?.event_id ?? 0;
    // A server that has deleted all events below: it refuses cursors there, except for 0.
    const fetch = async (url: string, init: RequestInit) => {
      const { pathname, searchParams } = new URL(url);
      const after = Number(searchParams.get('after'));
      if (!/events/.test(pathname) || after >= kept - 1) return globalThis.fetch(url, init);
      if (after > 0) {
        const error = { code: 'cursor_expired', message: 'gone', details: [], request_id: '1' };
        return Response.json({ success: false, error }, { status: 410 });
      }
      return globalThis.fetch(url.replace(/after=0/, `after=${kept - 1}`), init);
    };
    const tail = new EventTail(clientOf(fetch as typeof globalThis.fetch), { event: 'new_message', chatId: plans });
    await tail.start();
    while (tail.hasOlder.value) await tail.older();
    expect(textsOf(tail).slice(-30)).toEqual(numbered('old', 60, 31));
  });
});

test('filters come from the URL', () => {
  expect(readEventFilters('?event=new_message&chat=3&q=pizza&id=9')).toEqual({
    ...{ event: 'new_message', chatId: 3, words: 'pizza', eventId: 9 },
  });
  expect(readEventFilters('?event=a%20b&chat=x&id=-1')).toEqual({
    ...{ event: undefined, chatId: undefined, words: '', eventId: undefined },
  });
  const event = { event_id: 1, event: 'new_message', timestamp: '', data: { content: 'Pizza' } };
  expect([' PIZZA', 'new_mess', '', 'pasta'].map((words) => hasWords(event, words))).toEqual([true, true, true, false]);
});
