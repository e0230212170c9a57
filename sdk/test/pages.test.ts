import { beforeAll, describe, expect, test } from 'bun:test';
import { listOperations } from '@parley/contract';
import { serverFor } from '@parley/server/test/support/server.ts';
import { type Client, createClient } from '../index.ts';
import { pages } from '../pages.ts';

const server = serverFor('sqlite');
let client: Client;
let chatId = 0;

beforeAll(async () => {
  const { token } = await server().user('ada', { admin: true });
  client = createClient({ url: server().url, token });
  const { group } = await client.chats.createGroup({ name: 'Pages', participants: [] });
  chatId = group.chat_id;
  for (let i = 1; i <= 5; i++) await client.messages.send({ chat_id: chatId, content: `word ${i}` });
});

test('every operation that returns pages can be iterated, and no other', () => {
  const paged = listOperations().filter((row) => 'has_more' in ((row.output as { shape?: object }).shape ?? {}));
  expect(Object.keys(pages).sort()).toEqual(paged.map((row) => row.name as string).sort());
});

describe('all', () => {
  test('returns every row once, whatever the size of a page', async () => {
    for (const limit of [1, 2, 5, 100]) {
      const contents: string[] = [];
      for await (const { content } of client.messages.list.all({ chat_id: chatId, limit })) contents.push(content);
      expect(contents).toEqual(['word 1', 'word 2', 'word 3', 'word 4', 'word 5']);
    }
  });

  test('starts after a given row', async () => {
    const [, second] = await Array.fromAsync(client.messages.list.all({ chat_id: chatId }));
    const rest = await Array.fromAsync(
      client.messages.list.all({ chat_id: chatId, after_id: second?.message_id, limit: 2 }),
    );
    expect(rest.map((message) => message.content)).toEqual(['word 3', 'word 4', 'word 5']);
  });

  test('goes through events by their cursor', async () => {
    const paged = await Array.fromAsync(client.events.list.all({ chat_id: chatId, limit: 2 }));
    const { events } = await client.events.list({ chat_id: chatId });
    expect(paged).toEqual(events);
    expect(paged).toHaveLength(6);
  });

  test('goes through chats, participants and users', async () => {
    for (const name of ['bea', 'ben', 'bo']) {
      const { user } = await client.users.create({ name, password: 'a long password of theirs' });
      await client.chats.addParticipants({ chat_id: chatId, participants: [user.user_id] });
    }
    for (let i = 0; i < 2; i++) await client.chats.createGroup({ name: `Group ${i}`, participants: [] });
    const chats = await Array.fromAsync(client.chats.list.all({ limit: 1 }));
    expect(chats.map((chat) => chat.name)).toEqual(['Pages', 'Group 0', 'Group 1']);
    const active = await Array.fromAsync(client.chats.list.all({ order: 'activity', limit: 1 }));
    expect(active.map((chat) => chat.name)).toEqual(['Group 1', 'Group 0', 'Pages']);
    const people = await Array.fromAsync(client.chats.participants.all({ chat_id: chatId, limit: 1 }));
    expect(people.map((one) => one.name)).toEqual(['ada', 'bea', 'ben', 'bo']);
    const users = await Array.fromAsync(client.users.search.all({ query: 'b', limit: 1 }));
    expect(users.map((user) => user.name)).toEqual(['bea', 'ben', 'bo']);
  });

  test('loads a page only when it is needed', async () => {
    const urls: string[] = [];
    const counting = createClient({
      url: server().url,
      token: await server().token('ada'),
      fetch: (url, init) => {
        urls.push(url);
        return fetch(url, init);
      },
    });
    for await (const message of counting.messages.list.all({ chat_id: chatId, limit: 2 })) {
      if (message.content === 'word 2') break;
    }
    expect(urls).toHaveLength(1);
  });

  test('throws what a call throws', async () => {
    const all = client.messages.list.all({ chat_id: 999_999 });
    await expect(all.next()).rejects.toMatchObject({ code: 'not_found' });
  });
});
