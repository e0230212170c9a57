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
  /** May be true without a reaction, but is never false with one. */
  readonly has_reactions: boolean;
  readonly file_id: FileId | null;
  /** The event that is rendered from this message. Null if the event has a body of its own. */
  readonly event_id: EventId | null;
  /** A `Message` without its reactions, which differ by reader, and without the URL of its file, which moves with the server. */
  readonly json: string;
}

export const messageColumns =
  'm.message_id, m.chat_id, m.user_id, m.is_deleted, m.has_reactions, m.file_id, m.event_id, m.json';

export const messageRows = rowReader<MessageRow>('is_deleted', 'has_reactions');

const messageById = pointQuery(
  ['message_id'],
  (_, at) => `SELECT ${messageColumns} FROM messages m WHERE m.message_id = ${at.message_id}`,
);

export async function findMessage(db: Db, messageId: MessageId): Promise<MessageRow | undefined> {
  const row = await messageById(db, { message_id: messageId });
  return row && messageRows.read(row);
}

/** Only the columns that a page needs: each further one costs 50 times per page. */
export type PageRow = Pick<MessageRow, 'has_reactions' | 'file_id' | 'json'>;
const pageRows = rowReader<PageRow>('has_reactions');

const pages = perDialect(({ onwards, backwards }) => {
  const columns = 'm.has_reactions, m.file_id, m.json';
  const place = ['m.chat_id', 'm.message_id'] as const;
  const after = `messages m WHERE ${onwards(place, '$1', '$2')} ORDER BY m.chat_id, m.message_id LIMIT $3`;
  const upTo = `messages m WHERE ${backwards(place, '$1', '$2')} ORDER BY m.chat_id DESC, m.message_id DESC LIMIT $3`;
  return {
    newestFirst: `SELECT ${columns} FROM ${upTo}`,
    oldestFirst: `SELECT ${columns} FROM ${after}`,
    between: `SELECT ${columns} FROM (SELECT m.message_id, ${columns} FROM ${after}) AS m
      WHERE m.message_id < $4 ORDER BY m.message_id`,
  };
});

export interface Page {
  readonly limit: number;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

/** Returns a page in ascending order: the first messages after `after`, or else the last ones before `before`. */
export async function pageOfMessages(db: Db, chatId: ChatId, page: Page): Promise<{ rows: PageRow[]; more: boolean }> {
  const rows = await readPage(db, chatId, page, page.limit + 1);
  const more = rows.length > page.limit;
  if (more) rows.pop();
  if (page.after === undefined) rows.reverse();
  return { rows, more };
}

function readPage(db: Db, chatId: ChatId, { before, after }: Page, count: number): Promise<PageRow[]> {
  const { newestFirst, oldestFirst, between } = pages(db);
  if (after === undefined)
    return pageRows.all(db, newestFirst, [chatId, (before ?? Number.MAX_SAFE_INTEGER) - 1, count]);
  if (before === undefined) return pageRows.all(db, oldestFirst, [chatId, after, count]);
  return pageRows.all(db, between, [chatId, after, count, before]);
}

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
