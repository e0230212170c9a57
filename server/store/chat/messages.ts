import type { ChatId, ChatType, FileId, MessageId, Role, UserId } from '@parley/contract';
import { bulkStatement, type Db, type LogEntry, perDialect, type Tx } from '../engine/engine.ts';
import { pointQuery } from '../engine/point-query.ts';
import { rowReader } from '../engine/query.ts';

/** A message is stored as the JSON that readers get, so that a page is sent without parsing it. */
export interface MessageRow {
  readonly message_id: MessageId;
  readonly chat_id: ChatId;
  readonly user_id: UserId;
  readonly is_deleted: boolean;
  /** May be true without a reaction, but is never false with one. */
  readonly has_reactions: boolean;
  readonly file_id: FileId | null;
  /** A `Message` without its reactions, which differ by reader, and without the URL of its file, which moves with the server. */
  readonly json: string;
}

export const messageColumns = 'm.message_id, m.chat_id, m.user_id, m.is_deleted, m.has_reactions, m.file_id, m.json';

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

/** The facts that decide whether a send is allowed. */
export interface SendPermission {
  readonly type: ChatType | null;
  readonly role: Role | null;
  /** The chat of the message replied to. */
  readonly reply_chat: ChatId | null;
}

/** Subqueries instead of joins, which PostgreSQL would plan for tables of another size. */
const permissionQuery = bulkStatement(
  { n: 'int', chat_id: 'int', user_id: 'int', reply_to: 'int' },
  (source) => `SELECT s.n, (SELECT c.type FROM chats c WHERE c.chat_id = s.chat_id) AS type,
       (SELECT m.role FROM members m WHERE m.chat_id = s.chat_id AND m.user_id = s.user_id AND m.left_event IS NULL) AS role,
       (SELECT r.chat_id FROM messages r WHERE r.message_id = s.reply_to) AS reply_chat
     FROM ${source} AS s`,
);

/** Returns one permission for each send, in the same order. */
export async function findSendPermissions(
  tx: Tx,
  sends: readonly { chat_id: ChatId; user_id: UserId; reply_to: MessageId | null }[],
): Promise<SendPermission[]> {
  const rows = await tx.bulk<SendPermission & { n: number }>(
    permissionQuery,
    sends.map((s, n) => [n, s.chat_id, s.user_id, s.reply_to]),
  );
  return rows.sort((a, b) => a.n - b.n);
}

export interface NewMessage extends Omit<LogEntry, 'event' | 'created_at'> {
  readonly message_id: MessageId;
  readonly user_id: UserId;
  readonly file_id: FileId | null;
  readonly json: string;
}

const insertion = bulkStatement(
  {
    message_id: 'int',
    event_id: 'int',
    chat_id: 'int',
    user_id: 'int',
    file_id: 'int',
    json: 'text',
    body: 'text',
  },
  (source) => `INSERT INTO messages (message_id, chat_id, user_id, file_id, json)
     SELECT message_id, chat_id, user_id, file_id, json FROM ${source} AS m`,
  (source) => `INSERT INTO events (event_id, chat_id, event, created_at, body)
     SELECT event_id, chat_id, 'new_message', $1, body FROM ${source} AS e`,
);

/** Inserts messages and the event of each, under ids that this transaction has taken. */
export async function insertMessages(tx: Tx, messages: readonly NewMessage[], at: number): Promise<void> {
  await tx.bulk(
    insertion,
    messages.map((m) => [m.message_id, m.event_id, m.chat_id, m.user_id, m.file_id, m.json, m.body]),
    [at],
  );
  tx.appended(
    messages.map(({ event_id, chat_id, body }) => ({ event_id, chat_id, event: 'new_message', created_at: at, body })),
  );
}

export async function updateMessage(tx: Tx, row: MessageRow): Promise<void> {
  await tx.run('UPDATE messages SET is_deleted = $3, file_id = $4, json = $5 WHERE chat_id = $1 AND message_id = $2', [
    row.chat_id,
    row.message_id,
    row.is_deleted ? 1 : 0,
    row.file_id,
    row.json,
  ]);
}
