import type { Engine, Tx } from '../../server/store/engine/engine.ts';
import type { Client } from '../../server/test/support/client.ts';
import { inParallel, makeGroup, makeUsers, type Some } from '../harness/stage.ts';
import { content, getMessages, type Parley, type Request, sendMessage } from './parley.ts';

/** The users, chats and rows that measurements need. */

/** The secret of every webhook here. */
export const secret = 'a secret of the bench';

/** Four users and a group of them. */
export async function usersWithChat(parley: Parley): Promise<{ users: Some<Client>; chat: number }> {
  const users = await makeUsers(parley.admin, 'bench', 4);
  return { users, chat: await makeGroup(users[0], users) };
}

/** Returns sends by four users, each into four groups. */
export async function sendsOf(parley: Parley): Promise<Some<Request>> {
  const users = await makeUsers(parley.admin, 'bench', 4);
  const chats = await Promise.all(users.map((owner) => makeGroup(owner, users)));
  return chats.flatMap((chat) => users.map((user) => sendMessage(user, chat))) as unknown as Some<Request>;
}

export async function makeChats(owner: Client, count: number, members: readonly Client[] = []): Promise<number[]> {
  const chats: number[] = [];
  await inParallel(16, count, async () => chats.push(await makeGroup(owner, members)));
  return chats;
}

/** Returns a group with so many messages. */
export async function filledChat(parley: Parley, users: Some<Client>, size: number): Promise<number> {
  const chat = await makeGroup(users[0], users);
  await fillChat(parley.engine, users[0], chat, size);
  return chat;
}

/** Four users, and a group of them with so many messages. */
export async function usersWithFilledChat(
  parley: Parley,
  size: number,
): Promise<{ users: Some<Client>; chat: number }> {
  const users = await makeUsers(parley.admin, 'bench', 4);
  return { users, chat: await filledChat(parley, users, size) };
}

/** A word in all messages of a chat, and one in a few that are spread evenly. */
export const common = 'quarterly';
export const rare = 'heliotrope';
const rareMessages = 10;

/** Four users, and a group of them whose messages are all indexed. */
export async function usersWithSearchableChat(parley: Parley, size: number) {
  const { users, chat } = await usersWithChat(parley);
  for (let i = 0; i < rareMessages; i++) {
    await fillChat(parley.engine, users[0], chat, size / rareMessages - 1, { searchable: true });
    await users[0].ok('messages.send_message', { chat_id: chat, content: `The ${rare} in room ${i} needs water.` });
  }
  await untilIndexed(parley.engine, 600);
  await analyze(parley.engine);
  return { users, chat };
}

const middlePages = 400;

/** Returns requests for pages of a chat. The server keeps `kept` in memory, and reads the others from the database. */
export async function pagesOf({ engine }: Parley, users: Some<Client>, chat: number) {
  const sql = 'SELECT max(message_id) AS newest, count(*) AS size FROM messages WHERE chat_id = $1';
  const { newest = 0, size = 0 } = (await engine.get<{ newest: number; size: number }>(sql, [chat])) ?? {};
  const before = (id: number) => ({ before_id: String(id) });
  const ask = (bounds?: Record<string, string>) => users.map((user) => getMessages(user, chat, bounds));
  return {
    kept: ask(),
    newest: ask(before(newest + 1)),
    /** Each request is for another page. */
    middle: Array.from({ length: middlePages / users.length }, (_, i) =>
      users.map((u, j) => getMessages(u, chat, before(newest - (size - middlePages) / 2 - i * users.length - j))),
    ).flat(),
    oldest: ask({ after_id: '0' }),
  };
}

export async function countMessages({ engine }: Parley): Promise<number> {
  return (await engine.get<{ n: number }>('SELECT count(*) AS n FROM messages'))?.n ?? 0;
}

/** Rows in one transaction: the server cannot write meanwhile. */
const maxBatch = 50_000;

/**
 * Fills a chat up to `count` messages from beside the server: to send a million would take too long. Sends one, and copies
 * its rows with new ids, so that the others are what `send_message` writes whatever the schema. Unless they are searchable,
 * the cursor of the search index moves past them: a million keep it busy for minutes.
 */
export async function fillChat(
  engine: Engine,
  sender: Client,
  chatId: number,
  count: number,
  { searchable = false, text = content } = {},
): Promise<void> {
  const { message } = await sender.ok('messages.send_message', { chat_id: chatId, content: text });
  const event = await engine.get<{ id: number }>('SELECT max(event_id) AS id FROM events WHERE chat_id = $1', [chatId]);
  const model = { message_id: message.message_id, event_id: event?.id ?? 0 };
  if (!searchable) await untilIndexed(engine);
  for (let left = count - 1; left > 0; left -= maxBatch) {
    await engine.write(async (tx) => {
      const last = await copy(tx, model, Math.min(left, maxBatch));
      if (!searchable) await tx.run(`UPDATE cursors SET event_id = $1 WHERE name = 'search'`, [last]);
    });
    // The index writes as much as we do: wait for it.
    if (searchable && left > maxBatch) await untilIndexed(engine, 600);
  }
  await analyze(engine);
}

/** Updates the statistics of PostgreSQL, which it would do by itself within a minute. */
export async function analyze(engine: Engine): Promise<void> {
  if (engine.dialect.name === 'postgres') await engine.run('ANALYZE');
}

interface Ids {
  readonly message_id: number;
  readonly event_id: number;
}

/** Returns the id of the last event. */
async function copy(tx: Tx, model: Ids, count: number): Promise<number> {
  const ids = await tx.takeIds({ messages: count, events: count });
  const first = { message_id: Number(ids.messages[0]), event_id: Number(ids.events[0]) };
  await copyRow(tx, 'messages', 'message_id', model, first, count);
  await copyRow(tx, 'events', 'event_id', model, first, count);
  return first.event_id + count - 1;
}

async function copyRow(tx: Tx, table: string, key: keyof Ids, model: Ids, first: Ids, count: number): Promise<void> {
  const row = await tx.get<Record<string, unknown>>(`SELECT * FROM ${table} WHERE ${key} = $1`, [model[key]]);
  if (!row) throw new Error(`the row to copy is not in ${table}`);
  const named = (id: number | string) => `'"message_id":' || (${id})`;
  const values = Object.entries(row).map(([column, value]) => {
    if (column === 'message_id' || column === 'event_id') return `${first[column]} + i`;
    if (typeof value !== 'string') return column;
    return `replace(${column}, ${named(model.message_id)}, ${named(`${first.message_id} + i`)})`;
  });
  await tx.run(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${count})
     INSERT INTO ${table} (${Object.keys(row).join(', ')})
     SELECT ${values.join(', ')} FROM ${table}, n WHERE ${key} = ${model[key]}`,
  );
}

/** Returns the age of the oldest event that the search index has not read, or 0 if it has read all. */
export async function searchLagSeconds(engine: Engine): Promise<number> {
  const oldest = await engine.get<{ created_at: number }>(
    `SELECT created_at FROM events WHERE event_id > (SELECT event_id FROM cursors WHERE name = 'search')
     ORDER BY event_id LIMIT 1`,
  );
  return oldest ? (Date.now() - oldest.created_at) / 1_000 : 0;
}

/**
 * Waits until the search index has caught up with the log. Returns how many seconds that took: sends leave this work behind,
 * and it must not disturb the next round.
 */
export async function untilIndexed(engine: Engine, maxSeconds = 60): Promise<number> {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1_000;
  for (; seconds() < maxSeconds; await Bun.sleep(10)) {
    const row = await engine.get<{ lag: number }>(
      `SELECT (SELECT max(event_id) FROM events) - event_id AS lag FROM cursors WHERE name = 'search'`,
    );
    if (row?.lag === 0) return seconds();
  }
  throw new Error('the search index does not catch up');
}

/** The `afterRound` of a racer that sends. */
export const indexed =
  ({ engine }: Parley) =>
  async (): Promise<void> =>
    void (await untilIndexed(engine));
