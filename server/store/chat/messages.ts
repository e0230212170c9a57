import type { ChatId, EventId, FileId, MessageId, UserId } from '@parley/contract';
import { renderMessageEvent } from '../../domain/event.ts';
import { type Db, perDialect, type Tx } from '../engine/engine.ts';
import { pointQuery } from '../engine/point-query.ts';
import { rowReader, value } from '../engine/query.ts';

/** A message is stored as the JSON that readers get, so that a page is sent without parsing it. */
export interface MessageRow {
  readonly message_id: MessageId;
  readonly chat_id: ChatId;
  readonly user_id: UserId;
  readonly is_deleted: boolean;
  /** The `extraBits` of what it may have. A bit may be set without it, but is never missing. */
  readonly extras: number;
  readonly file_id: FileId | null;
  /** The event that is rendered from this message. Null if the event has a body of its own. */
  readonly event_id: EventId | null;
  /**
   * A `Message` without its reactions, which differ by reader, without the count of its replies, and without the URL of its
   * file, which moves with the server.
   */
  readonly json: string;
}

/** What a message has that is stored elsewhere. A page without any of it is sent as it is stored. */
export const extraBits = { reactions: 1, replies: 2 } as const;

const messageColumns = 'm.message_id, m.chat_id, m.user_id, m.is_deleted, m.extras, m.file_id, m.event_id, m.json';

const messageRows = rowReader<MessageRow>('is_deleted');

const messageById = pointQuery(
  ['message_id'],
  (_, at) => `SELECT ${messageColumns} FROM messages m WHERE m.message_id = ${at.message_id}`,
);

export async function findMessage(db: Db, messageId: MessageId): Promise<MessageRow | undefined> {
  const row = await messageById(db, { message_id: messageId });
  return row && messageRows.read(row);
}

/**
 * Messages as JSON, separated by commas. One that has a file or extras is not sent as it is stored: it stands between
 * line breaks, which JSON has none of, after the one digit of its `extras`.
 */
export type MessageTexts = string;

const text = `CASE WHEN m.extras = 0 AND m.file_id IS NULL THEN m.json
  ELSE '\n' || m.extras || m.json || '\n' END`;

interface PageRow {
  /** Null for an empty page. */
  readonly texts: MessageTexts | null;
  /** The message next to the page, if there are more. */
  readonly next_id: MessageId | null;
}

/**
 * Returns a query for the first or the last `size` messages of a chat in a range of ids. The database joins their texts:
 * as 50 rows they took twice as long to read, because each string was allocated.
 */
const pageQuery = (order: 'ASC' | 'DESC') =>
  pointQuery<PageRow, 'chat_id' | 'after' | 'up_to' | 'size'>(
    ['chat_id', 'after', 'up_to', 'size'],
    ({ name, onwards, backwards }, at) => {
      const place = ['m.chat_id', 'm.message_id'] as const;
      const start = order === 'ASC' ? onwards(place, at.chat_id, at.after) : backwards(place, at.chat_id, at.up_to);
      const next = `SELECT m.message_id FROM messages m WHERE ${start}
        ORDER BY m.chat_id ${order}, m.message_id ${order} LIMIT 1 OFFSET ${at.size}`;
      const [after, upTo] =
        order === 'ASC'
          ? [at.after, `COALESCE(next.id - 1, ${at.up_to})`]
          : [`COALESCE(next.id, ${at.after})`, at.up_to];
      // Rows are joined in the order in which the index has them. If they are sorted, SQLite takes twice as long.
      const page = {
        sqlite: `SELECT group_concat(${text}, ',') FROM messages m
          WHERE m.chat_id = ${at.chat_id} AND m.message_id > ${after} AND m.message_id <= ${upTo}`,
        postgres: `SELECT string_agg(p.text, ',') FROM (
            SELECT m.message_id, ${text} AS text FROM messages m WHERE ${onwards(place, at.chat_id, after)}
            ORDER BY m.chat_id, m.message_id LIMIT ${at.size}
          ) AS p WHERE p.message_id <= ${upTo}`,
      };
      // LIMIT 1 keeps PostgreSQL from searching for the next message wherever it is used.
      return `SELECT next.id AS next_id, (${page[name]}) AS texts FROM (SELECT (
          SELECT n.message_id FROM (${next}) AS n WHERE n.message_id > ${at.after} AND n.message_id <= ${at.up_to}
        ) AS id LIMIT 1) AS next`;
    },
  );

const firstPage = pageQuery('ASC');
const lastPage = pageQuery('DESC');

export interface Page {
  readonly limit: number;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

/** Returns a page in ascending order: the first messages after `after`, or else the last ones before `before`. */
export async function pageOfMessages(
  db: Db,
  chatId: ChatId,
  { limit: size, before = Number.MAX_SAFE_INTEGER, after }: Page,
): Promise<{ texts: MessageTexts; more: boolean }> {
  const query = after === undefined ? lastPage : firstPage;
  const page = await query(db, { chat_id: chatId, after: after ?? 0, up_to: before - 1, size });
  return { texts: page?.texts ?? '', more: page !== undefined && page.next_id !== null };
}

/** Returns a page with a message in its middle, or with the place where it would be. */
export async function pageAround(
  db: Db,
  chatId: ChatId,
  messageId: number,
  limit: number,
): Promise<{ texts: MessageTexts; more: boolean }> {
  const older = Math.floor(limit / 2);
  const [before, from] = await Promise.all([
    pageOfMessages(db, chatId, { limit: older, before: messageId }),
    pageOfMessages(db, chatId, { limit: limit - older, after: messageId - 1 }),
  ]);
  const texts = [before, from].flatMap((half) => half.texts || []).join(',');
  return { texts, more: before.more || from.more };
}

const textsById = (which: string) =>
  perDialect(
    ({ name }) =>
      ({
        sqlite: `SELECT group_concat(${text}, ',') FROM json_each('[' || $1 || ']') i
          CROSS JOIN messages m ON m.message_id = i.value WHERE ${which}`,
        postgres: `SELECT string_agg(${text}, ',' ORDER BY i.nth)
          FROM unnest(CAST(string_to_array($1, ',') AS bigint[])) WITH ORDINALITY AS i (message_id, nth)
          JOIN messages m ON m.message_id = i.message_id WHERE ${which}`,
      })[name],
  );

const allTexts = textsById('true');
const presentTexts = textsById('m.is_deleted = 0');

async function joinedTexts(db: Db, sql: string, messageIds: readonly MessageId[]): Promise<MessageTexts> {
  if (messageIds.length === 0) return '';
  return (await value<string | null>(db, sql, [messageIds.join(',')])) ?? '';
}

/** Returns the texts of messages in the order of the ids, without those that are deleted. */
export const textsOf = (db: Db, messageIds: readonly MessageId[]): Promise<MessageTexts> =>
  joinedTexts(db, presentTexts(db), messageIds);

/** Returns the same with those that are deleted. */
export const allTextsOf = (db: Db, messageIds: readonly MessageId[]): Promise<MessageTexts> =>
  joinedTexts(db, allTexts(db), messageIds);

async function storeEventBody(tx: Tx, { event_id, json }: MessageRow): Promise<void> {
  if (event_id === null) return;
  const format = await value<number>(tx, 'SELECT format FROM events WHERE event_id = $1', [event_id]);
  if (format === undefined) return;
  const body = renderMessageEvent(format, json);
  await tx.run('UPDATE events SET body = $2, message_id = NULL, format = NULL WHERE event_id = $1', [event_id, body]);
}

/**
 * Replaces a message. Until now its `new_message` event, if there still is one, was rendered from it. From now on the
 * event has a body of its own.
 */
export async function updateMessage(tx: Tx, before: MessageRow, after: MessageRow): Promise<void> {
  await storeEventBody(tx, before);
  await tx.run(
    `UPDATE messages SET is_deleted = $3, file_id = $4, json = $5, event_id = NULL
     WHERE chat_id = $1 AND message_id = $2`,
    [after.chat_id, after.message_id, after.is_deleted ? 1 : 0, after.file_id, after.json],
  );
}
