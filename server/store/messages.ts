import type { ChatId, ChatType, MessageId, Role, UserId } from '@parley/contract';
import type { Db, Tx } from './engine.ts';

export interface MessageRow {
  readonly message_id: MessageId;
  readonly chat_id: ChatId;
  readonly user_id: UserId;
  readonly content: string;
  readonly reply_to: MessageId | null;
  readonly created_at: number;
  readonly edited_at: number | null;
  readonly deleted_at: number | null;
}

export const messageColumns =
  'm.message_id, m.chat_id, m.user_id, m.content, m.reply_to, m.created_at, m.edited_at, m.deleted_at';

export function findMessage(db: Db, messageId: MessageId): Promise<MessageRow | undefined> {
  return db.get(`SELECT ${messageColumns} FROM messages m WHERE m.message_id = $1`, messageId);
}

const newestFirst = `SELECT ${messageColumns} FROM messages m
  WHERE m.chat_id = $1 AND m.message_id < $2 ORDER BY m.message_id DESC LIMIT $3`;
const oldestFirst = `SELECT ${messageColumns} FROM messages m
  WHERE m.chat_id = $1 AND m.message_id > $2 AND m.message_id < $3 ORDER BY m.message_id LIMIT $4`;

export interface Page {
  readonly limit: number;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

/** A page in ascending order: the first after `after` where that is given, else the last before `before`. */
export async function pageOfMessages(
  db: Db,
  chatId: ChatId,
  page: Page,
): Promise<{ rows: MessageRow[]; more: boolean }> {
  const before = page.before ?? Number.MAX_SAFE_INTEGER;
  const rows =
    page.after === undefined
      ? await db.all<MessageRow>(newestFirst, chatId, before, page.limit + 1)
      : await db.all<MessageRow>(oldestFirst, chatId, page.after, before, page.limit + 1);
  const more = rows.length > page.limit;
  if (more) rows.pop();
  if (page.after === undefined) rows.reverse();
  return { rows, more };
}

export interface Sending {
  readonly message_id: MessageId;
  readonly event_id: number;
  readonly chat_id: ChatId;
  readonly user_id: UserId;
  readonly content: string;
  readonly reply_to: MessageId | null;
  readonly body: string;
}

/**
 * Writes those messages whose author is in the chat with a role that may post, and whose `reply_to` is in the same chat,
 * and the event of each; answers which. The verdict is part of the statement, so a refused one never troubles the others.
 */
export async function insertMessages(
  tx: Tx,
  sending: readonly Sending[],
  mayPost: readonly { type: ChatType; role: Role }[],
  at: number,
): Promise<Set<MessageId>> {
  const written = tx.all<{ message_id: MessageId }>(
    `INSERT INTO messages (message_id, chat_id, user_id, content, reply_to, created_at)
     SELECT s.message_id, s.chat_id, s.user_id, s.content, s.reply_to, $3
     FROM ${tx.dialect.rows('$1', { message_id: 'int', chat_id: 'int', user_id: 'int', content: 'text', reply_to: 'int' }, 's')}
     JOIN members w ON w.chat_id = s.chat_id AND w.user_id = s.user_id AND w.left_event IS NULL
     JOIN chats c ON c.chat_id = s.chat_id
     JOIN ${tx.dialect.rows('$2', { type: 'text', role: 'text' }, 'rule')} ON rule.type = c.type AND rule.role = w.role
     WHERE s.reply_to IS NULL
        OR EXISTS (SELECT 1 FROM messages r WHERE r.message_id = s.reply_to AND r.chat_id = s.chat_id)
     RETURNING message_id`,
    JSON.stringify(sending.map(({ event_id, body, ...message }) => message)),
    JSON.stringify(mayPost),
    at,
  );
  const told = tx.run(
    `INSERT INTO events (event_id, chat_id, event, created_at, body)
     SELECT e.event_id, e.chat_id, 'new_message', $2, e.body
     FROM ${tx.dialect.rows('$1', { event_id: 'int', chat_id: 'int', message_id: 'int', body: 'text' }, 'e')}
     WHERE EXISTS (SELECT 1 FROM messages m WHERE m.message_id = e.message_id)`,
    JSON.stringify(sending.map(({ event_id, chat_id, message_id, body }) => ({ event_id, chat_id, message_id, body }))),
    at,
  );
  const [rows] = await Promise.all([written, told]);
  return new Set(rows.map((r) => r.message_id));
}

export async function updateContent(tx: Tx, messageId: MessageId, content: string, at: number): Promise<void> {
  await tx.run('UPDATE messages SET content = $2, edited_at = $3 WHERE message_id = $1', messageId, content, at);
}

/** Leaves a tombstone: the row stays, its text and reactions go. */
export async function buryMessage(tx: Tx, message: MessageRow, at: number): Promise<void> {
  await tx.run(`UPDATE messages SET content = '', deleted_at = $2 WHERE message_id = $1`, message.message_id, at);
  await tx.run('DELETE FROM reactions WHERE chat_id = $1 AND message_id = $2', message.chat_id, message.message_id);
}

export function findMessages(db: Db, messageIds: readonly MessageId[]): Promise<MessageRow[]> {
  return db.all(
    `SELECT ${messageColumns} FROM ${db.dialect.rows('$1', { message_id: 'int' }, 'asked')}
     JOIN messages m ON m.message_id = asked.message_id`,
    JSON.stringify(messageIds.map((message_id) => ({ message_id }))),
  );
}
