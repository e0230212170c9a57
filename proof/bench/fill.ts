import type { Engine, Tx } from '../../server/store/engine.ts';
import type { Client } from '../../server/test/support/client.ts';
import { content } from './parley.ts';

/** Rows in one transaction: the server waits for it when it wants to write. */
const largestBatch = 50_000;

/**
 * Fills a chat up to `count` messages from beside the server: a million would take too long to send. One is sent, and its
 * rows are copied with new ids: so the others are what `send_message` writes, whatever the tables look like. Unless they
 * are to be found, the search index is told that it has seen them: a million of them keep it busy for minutes.
 */
export async function fillChat(
  engine: Engine,
  sender: Client,
  chatId: number,
  count: number,
  { searchable = false } = {},
): Promise<void> {
  const { message } = await sender.ok('messages.send_message', { chat_id: chatId, content });
  const told = await engine.get<{ id: number }>('SELECT max(event_id) AS id FROM events WHERE chat_id = $1', chatId);
  const model = { message_id: message.message_id, event_id: told?.id ?? 0 };
  if (!searchable) await untilIndexed(engine);
  for (let left = count - 1; left > 0; left -= largestBatch) {
    await engine.write(async (tx) => {
      const last = await copy(tx, model, Math.min(left, largestBatch));
      if (!searchable) await tx.run(`UPDATE cursors SET event_id = $1 WHERE name = 'search'`, last);
    });
    // Two who write much are in each other's way.
    if (searchable && left > largestBatch) await untilIndexed(engine, 600);
  }
  await lookAround(engine);
}

/** PostgreSQL chooses how to find rows by what it knows of its tables. It looks by itself within a minute of so many rows. */
export async function lookAround(engine: Engine): Promise<void> {
  if (engine.dialect.name === 'postgres') await engine.run('ANALYZE');
}

interface Ids {
  readonly message_id: number;
  readonly event_id: number;
}

/** Answers the id of the last event. */
async function copy(tx: Tx, model: Ids, count: number): Promise<number> {
  const ids = await tx.takeIds({ messages: count, events: count });
  const first = { message_id: Number(ids.messages[0]), event_id: Number(ids.events[0]) };
  await copyRow(tx, 'messages', 'message_id', model, first, count);
  await copyRow(tx, 'events', 'event_id', model, first, count);
  return first.event_id + count - 1;
}

async function copyRow(tx: Tx, table: string, key: keyof Ids, model: Ids, first: Ids, count: number): Promise<void> {
  const row = await tx.get<Record<string, unknown>>(`SELECT * FROM ${table} WHERE ${key} = $1`, model[key]);
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

/**
 * Waits until the search index has caught up with the log, and answers how many seconds that took: it is work that sends
 * leave behind, and neither the baseline's next round nor a writer beside the server shall be in its way.
 */
export async function untilIndexed(engine: Engine, atMostSeconds = 60): Promise<number> {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1_000;
  for (; seconds() < atMostSeconds; await Bun.sleep(10)) {
    const row = await engine.get<{ lag: number }>(
      `SELECT (SELECT max(event_id) FROM events) - event_id AS lag FROM cursors WHERE name = 'search'`,
    );
    if (row?.lag === 0) return seconds();
  }
  throw new Error('the search index does not catch up');
}
