import type { ChatId, EventId, EventName, NewEvent, UserId } from '@parley/contract';
import { freeze } from '../../domain/event.ts';
import { seenDuring, seenWithin } from '../chat/visibility.ts';
import { bulkStatement, type Db, type LogEntry, type Tx, type Value } from '../engine/engine.ts';
import { number } from '../engine/query.ts';
import { type EventRow, toEntry } from './entry.ts';

/** The event of a message refers to it, so both are read in one statement: an edit of the message changes both. */
const columns = `e.event_id, e.chat_id, e.event, e.created_at, e.body, e.format,
  (SELECT t.json FROM messages t WHERE t.message_id = e.message_id) AS message`;

async function readEntries(db: Db, sql: string, params: readonly Value[]): Promise<LogEntry[]> {
  return (await db.all<EventRow>(sql, params)).map(toEntry);
}

/** Returns the chat of an event. An event without a chat is for one user, and has that user's negative id. */
const placeOf = ({ data }: NewEvent) => ('chat_id' in data ? data.chat_id : -data.user_id) as ChatId;

const insertion = bulkStatement(
  { event_id: 'int', chat_id: 'int', event: 'text', body: 'text' },
  (source) => `INSERT INTO events (event_id, chat_id, event, created_at, body)
     SELECT event_id, chat_id, event, $1, body FROM ${source} AS e`,
);

/** Appends events to the log and returns their ids, in the same order. Takes the event lock. */
export async function append(tx: Tx, events: readonly NewEvent[], at: number): Promise<EventId[]> {
  const { events: ids } = await tx.takeIds({ messages: 0, events: events.length });
  const rows = events.map((event, i): EventRow => {
    const event_id = ids[i];
    if (event_id === undefined) throw new Error('the log gave too few ids');
    const body = freeze(event, at);
    return { event_id, chat_id: placeOf(event), event: event.event, created_at: at, body, format: null, message: null };
  });
  await tx.bulk(
    insertion,
    rows.map((e) => [e.event_id, e.chat_id, e.event, e.body]),
    [at],
  );
  tx.appended(rows);
  return ids;
}

/** Appends one event and returns its id. */
export async function appendOne(tx: Tx, event: NewEvent, at: number): Promise<EventId> {
  const [id] = await append(tx, [event], at);
  if (id === undefined) throw new Error('the log gave no id');
  return id;
}

/** Returns the id of the newest event ever. Everything up to it can be read: ids rise in commit order. */
export async function logTip(db: Pick<Db, 'all'>): Promise<number> {
  const [row] = await db.all<{ pruned: number; last: number | null }>(
    `SELECT event_id AS pruned, (SELECT max(event_id) FROM events) AS last FROM cursors WHERE name = 'pruned'`,
  );
  return row?.last ?? row?.pruned ?? 0;
}

/** Returns the first `limit` events after an id, in order. */
export const eventsAfter = (db: Db, after: number, limit: number): Promise<LogEntry[]> =>
  readEntries(db, `SELECT ${columns} FROM events e WHERE e.event_id > $1 ORDER BY e.event_id LIMIT $2`, [after, limit]);

export interface EventQuery {
  readonly userId: UserId;
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
  readonly chatId?: ChatId | undefined;
  readonly events?: readonly EventName[] | undefined;
}

/**
 * Returns the first events that a user may see after an id: those within one of the user's membership periods in their
 * chat, both ends included.
 *
 * One index lookup finds the next event of each period. The first `limit` events can only be in the `limit` periods
 * whose next event is earliest, so only those are read, and at most `limit` events of each. The cost depends on the
 * user's own chats, and neither on the traffic elsewhere nor on the length of the log.
 */
export function visibleEvents(db: Db, q: EventQuery): Promise<LogEntry[]> {
  const named = `e.event IN (SELECT name FROM ${db.dialect.rows('$5', { name: 'text' }, 'wanted')})`;
  const rare = q.events?.includes('new_message') ? '' : `AND e.event <> 'new_message'`;
  const wanted = q.events ? `${named} ${rare}` : 'CAST($5 AS text) IS NULL';
  // Without a filter the next event is the first after the bound. With one it may be far away, so the search has an end.
  const within = (period: string) =>
    q.events
      ? `${db.dialect.isOne('e.chat_id', `${period}.chat_id`)} AND e.event_id > ${period}.after AND e.event_id <= ${period}.up_to`
      : db.dialect.onwards(['e.chat_id', 'e.event_id'], `${period}.chat_id`, `${period}.after`);
  const first = (period: string) =>
    `SELECT e.event_id FROM events e WHERE ${within(period)} AND ${wanted} ORDER BY e.chat_id, e.event_id`;
  const periods = `(
    WITH asked AS MATERIALIZED (SELECT m.chat_id, m.after, m.up_to, (${first('m')} LIMIT 1) AS next FROM (
      SELECT chat_id, ${seenWithin('$2', '$3')} FROM members WHERE user_id = $1
      UNION ALL SELECT -CAST($1 AS bigint), CAST($2 AS bigint), CAST($3 AS bigint)
    ) AS m
    WHERE m.after < m.up_to AND ${q.chatId === undefined ? 'CAST($6 AS bigint) IS NULL' : 'm.chat_id = $6'})
    SELECT chat_id, after, up_to FROM asked WHERE next <= up_to ORDER BY next LIMIT $4
  ) AS period`;
  const firstOfEach = db.dialect.firstIdsPerRow(periods, first('period'), '$4', 'seen', 'events.event_id');
  return readEntries(
    db,
    `SELECT ${columns}
     FROM (SELECT seen.id FROM ${firstOfEach} WHERE seen.id <= period.up_to ORDER BY seen.id LIMIT $4) AS page
     JOIN events e ON e.event_id = page.id ORDER BY e.event_id`,
    [
      q.userId,
      q.after,
      q.upTo,
      q.limit,
      q.events ? JSON.stringify(q.events.map((name) => ({ name }))) : null,
      q.chatId ?? null,
    ],
  );
}

/** Returns all events that a user may see in a range of the log, which is read as a whole. */
export const visibleWithin = (db: Db, q: Omit<EventQuery, 'limit' | 'chatId'>): Promise<LogEntry[]> =>
  readEntries(
    db,
    `SELECT ${columns} FROM events e
     WHERE e.event_id > $2 AND e.event_id <= $3
       AND (e.chat_id = -CAST($1 AS bigint) OR EXISTS (
         SELECT 1 FROM members m WHERE m.chat_id = e.chat_id AND m.user_id = $1 AND ${seenDuring('m', 'e.event_id')}
       ))
       AND (CAST($4 AS text) IS NULL OR e.event IN (SELECT name FROM ${db.dialect.rows('$4', { name: 'text' }, 'wanted')}))
     ORDER BY e.event_id`,
    [q.userId, q.after, q.upTo, q.events ? JSON.stringify(q.events.map((name) => ({ name }))) : null],
  );

/** Returns the events of every chat, and those for the administrator alone. */
export function serviceEvents(db: Db, q: EventQuery & { readonly includeDirect: boolean }): Promise<LogEntry[]> {
  const direct = q.includeDirect
    ? ''
    : `AND NOT EXISTS (SELECT 1 FROM chats c WHERE c.chat_id = e.chat_id AND c.type = 'direct')`;
  return readEntries(
    db,
    `SELECT ${columns} FROM events e
     WHERE e.event_id > $1 AND e.event_id <= $2 AND (e.chat_id > 0 OR e.chat_id = -CAST($6 AS bigint)) ${direct}
       AND (CAST($4 AS bigint) IS NULL OR e.chat_id = $4)
       AND (CAST($5 AS text) IS NULL OR e.event IN (SELECT name FROM ${db.dialect.rows('$5', { name: 'text' }, 'wanted')}))
     ORDER BY e.event_id LIMIT $3`,
    [
      q.after,
      q.upTo,
      q.limit,
      q.chatId ?? null,
      q.events ? JSON.stringify(q.events.map((name) => ({ name }))) : null,
      q.userId,
    ],
  );
}

/** Returns the first event at a time or later, by a binary search in one statement: times rise with ids. */
export async function firstEventSince(db: Db, at: number): Promise<number> {
  const first = (await readCursor(db, 'pruned')) + 1;
  const end = (await logTip(db)) + 1;
  const found = await number(
    db,
    `WITH RECURSIVE search (low, high) AS (
       SELECT CAST($2 AS bigint), CAST($3 AS bigint)
       UNION ALL
       SELECT CASE WHEN e.created_at < $1 THEN e.event_id + 1 ELSE s.low END,
         CASE WHEN e.created_at < $1 THEN s.high ELSE (s.low + s.high) / 2 END
       FROM search s
       LEFT JOIN events e ON e.event_id = (SELECT min(m.event_id) FROM events m WHERE m.event_id >= (s.low + s.high) / 2)
       WHERE s.low < s.high
     ) SELECT max(low) AS first FROM search`,
    [at, first, end],
  );
  return Math.max(first, found);
}

export const readCursor = (db: Db, name: string): Promise<number> =>
  number(db, 'SELECT event_id FROM cursors WHERE name = $1', [name]);

export async function moveCursor(tx: Tx, name: string, eventId: number): Promise<void> {
  await tx.run('UPDATE cursors SET event_id = $2 WHERE name = $1', [name, eventId]);
}

/** Deletes up to `count` events older than `before` that every consumer has passed. Returns how many. */
export async function pruneEvents(
  tx: Tx,
  before: number,
  count: number,
  dropping: (upTo: number) => Promise<void>,
): Promise<number> {
  const row = await tx.get<{ last: number | null }>(
    `SELECT max(event_id) AS last FROM (
       SELECT event_id, created_at FROM events
       WHERE event_id <= (SELECT min(event_id) FROM cursors WHERE name <> 'pruned') ORDER BY event_id LIMIT $2
     ) AS oldest WHERE created_at < $1`,
    [before, count],
  );
  if (!row?.last) return 0;
  await dropping(row.last);
  await moveCursor(tx, 'pruned', row.last);
  return tx.run('DELETE FROM events WHERE event_id <= $1', [row.last]);
}

/** Returns those of the events that are not pruned. */
export const eventsNamed = (db: Db, eventIds: readonly number[]): Promise<LogEntry[]> =>
  readEntries(
    db,
    `SELECT ${columns} FROM ${db.dialect.rows('$1', { event_id: 'int' }, 'asked')} JOIN events e ON e.event_id = asked.event_id
     ORDER BY e.event_id`,
    [JSON.stringify(eventIds.map((event_id) => ({ event_id })))],
  );
