import type { ChatId, EventId, EventName, NewEvent, UserId } from '@parley/contract';
import { freeze } from '../domain/event.ts';
import type { Db, RowWork, Tx } from './engine.ts';

export interface EventRow {
  readonly event_id: EventId;
  readonly chat_id: ChatId;
  readonly event: EventName;
  readonly body: string;
}

const insertion: RowWork = {
  columns: { event_id: 'int', chat_id: 'int', event: 'text', body: 'text' },
  statements: [
    (source) => `INSERT INTO events (event_id, chat_id, event, created_at, body)
     SELECT event_id, chat_id, event, $1, body FROM ${source} AS e`,
  ],
};

/** Appends events to the log and answers their ids, in the same order. Takes the event lock. */
export async function append(tx: Tx, events: readonly NewEvent[], at: number): Promise<EventId[]> {
  const { events: ids } = await tx.takeIds({ messages: 0, events: events.length });
  const rows = events.map((event, i) => [ids[i] ?? null, event.data.chat_id, event.event, freeze(event, at)]);
  await tx.each(insertion, rows, at);
  return ids;
}

/** Appends one event and answers its id. */
export async function appendOne(tx: Tx, event: NewEvent, at: number): Promise<EventId> {
  const [id] = await append(tx, [event], at);
  if (id === undefined) throw new Error('the log gave no id');
  return id;
}

/** The newest event that ever was. Everything up to it can be read: ids rise in commit order. */
export async function logTip(db: Db): Promise<number> {
  const row = await db.get<{ pruned: number; last: number | null }>(
    `SELECT event_id AS pruned, (SELECT max(event_id) FROM events) AS last FROM cursors WHERE name = 'pruned'`,
  );
  return row?.last ?? row?.pruned ?? 0;
}

/** Events in the log after one id, whoever may see them: for the followers inside the server. */
export function eventsAfter(db: Db, after: number, limit: number): Promise<EventRow[]> {
  return db.all(
    'SELECT event_id, chat_id, event, body FROM events WHERE event_id > $1 ORDER BY event_id LIMIT $2',
    after,
    limit,
  );
}

export interface EventQuery {
  readonly userId: UserId;
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
  readonly chatId?: ChatId | undefined;
  readonly events?: readonly EventName[] | undefined;
}

/**
 * The first events that a user may see after one id: those within one of the user's stays in their chat, both ends
 * included.
 *
 * Each stay is asked for its next event (one step into an index); the first `limit` events can only lie in the `limit`
 * stays whose next event is earliest, so only those are read, and at most `limit` events of each. The cost is that of
 * the user's own chats, whatever goes on elsewhere and however long the log is.
 */
export function visibleEvents(db: Db, q: EventQuery): Promise<EventRow[]> {
  const named = `e.event IN (SELECT name FROM ${db.dialect.rows('$5', { name: 'text' }, 'wanted')})`;
  const rare = q.events?.includes('new_message') ? '' : `AND e.event <> 'new_message'`;
  const wanted = q.events ? `${named} ${rare}` : 'CAST($5 AS text) IS NULL';
  const within = (stay: string) => `e.chat_id = ${stay}.chat_id AND e.event_id > $2 AND e.event_id <= $3
    AND e.event_id >= ${stay}.joined_event AND (${stay}.left_event IS NULL OR e.event_id <= ${stay}.left_event)
    AND ${wanted}`;
  const stays = `(
    SELECT m.chat_id, m.joined_event, m.left_event,
           (SELECT min(e.event_id) FROM events e WHERE ${within('m')}) AS next
    FROM members m
    WHERE m.user_id = $1 AND (m.left_event IS NULL OR m.left_event > $2)
      AND ${q.chatId === undefined ? 'CAST($6 AS bigint) IS NULL' : 'm.chat_id = $6'}
    ORDER BY next NULLS LAST LIMIT $4
  ) AS stay`;
  const firstOfStay = `SELECT e.event_id FROM events e WHERE ${within('stay')} ORDER BY e.event_id`;
  return db.all(
    `SELECT e.event_id, e.chat_id, e.event, e.body
     FROM (
       SELECT seen.id FROM ${db.dialect.firstIdsPerRow(stays, firstOfStay, '$4', 'seen')} ORDER BY seen.id LIMIT $4
     ) AS page
     JOIN events e ON e.event_id = page.id ORDER BY e.event_id`,
    q.userId,
    q.after,
    q.upTo,
    q.limit,
    q.events ? JSON.stringify(q.events.map((name) => ({ name }))) : null,
    q.chatId ?? null,
  );
}

/** Whether a user is or was in a chat. */
export async function wasEverMember(db: Db, chatId: ChatId, userId: UserId): Promise<boolean> {
  const row = await db.get(
    'SELECT 1 AS found FROM members WHERE chat_id = $1 AND user_id = $2 LIMIT 1',
    chatId,
    userId,
  );
  return row !== undefined;
}

export async function readCursor(db: Db, name: string): Promise<number> {
  const row = await db.get<{ event_id: number }>('SELECT event_id FROM cursors WHERE name = $1', name);
  return row?.event_id ?? 0;
}

export async function moveCursor(tx: Tx, name: string, eventId: number): Promise<void> {
  await tx.run('UPDATE cursors SET event_id = $2 WHERE name = $1', name, eventId);
}

/** Drops up to `count` events older than `before` that every follower has passed; answers how many. */
export async function pruneEvents(tx: Tx, before: number, count: number): Promise<number> {
  const row = await tx.get<{ last: number | null }>(
    `SELECT max(event_id) AS last FROM (
       SELECT event_id, created_at FROM events
       WHERE event_id <= (SELECT min(event_id) FROM cursors WHERE name <> 'pruned') ORDER BY event_id LIMIT $2
     ) AS oldest WHERE created_at < $1`,
    before,
    count,
  );
  if (!row?.last) return 0;
  await moveCursor(tx, 'pruned', row.last);
  return tx.run('DELETE FROM events WHERE event_id <= $1', row.last);
}
