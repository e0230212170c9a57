import type { ChatId, ChatType, MessageId, Role, UserId } from '@parley/contract';
import type { Db, Tx } from './engine.ts';

/** A message is kept as the JSON that readers get, so that a page is read and sent without taking it apart. */
export interface MessageRow {
  readonly message_id: MessageId;
  readonly chat_id: ChatId;
  readonly user_id: UserId;
  readonly is_deleted: number;
  /** 0: surely none. */
  readonly has_reactions: number;
  /** A `Message` whose reactions are left empty: they differ from reader to reader. */
  readonly json: string;
}

export const messageColumns = 'm.message_id, m.chat_id, m.user_id, m.is_deleted, m.has_reactions, m.json';

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
  readonly reply_to: MessageId | null;
  readonly json: string;
  /** The body of its event. */
  readonly body: string;
}

const messageRow = { message_id: 'int', chat_id: 'int', user_id: 'int', reply_to: 'int', json: 'text' } as const;
const eventRow = { event_id: 'int', chat_id: 'int', message_id: 'int', body: 'text' } as const;

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
  const rule = mayPost.map(({ type, role }) => `(c.type = '${type}' AND w.role = '${role}')`).join(' OR ');
  const written = tx.each<{ message_id: MessageId }>(
    {
      columns: messageRow,
      values: sending.map((s) => [s.message_id, s.chat_id, s.user_id, s.reply_to, s.json]),
    },
    (rows) => `INSERT INTO messages (message_id, chat_id, user_id, json)
     SELECT s.message_id, s.chat_id, s.user_id, s.json
     FROM ${rows} AS s
     JOIN members w ON w.chat_id = s.chat_id AND w.user_id = s.user_id AND w.left_event IS NULL
     JOIN chats c ON c.chat_id = s.chat_id
     WHERE (${rule})
       AND (s.reply_to IS NULL
            OR EXISTS (SELECT 1 FROM messages r WHERE r.chat_id = s.chat_id AND r.message_id = s.reply_to))
     RETURNING message_id`,
  );
  const told = tx.each(
    { columns: eventRow, values: sending.map((s) => [s.event_id, s.chat_id, s.message_id, s.body]) },
    (rows) => `INSERT INTO events (event_id, chat_id, event, created_at, body)
     SELECT e.event_id, e.chat_id, 'new_message', $1, e.body FROM ${rows} AS e
     WHERE EXISTS (SELECT 1 FROM messages m WHERE m.chat_id = e.chat_id AND m.message_id = e.message_id)`,
    at,
  );
  const [accepted] = await Promise.all([written, told]);
  return new Set(accepted.map((row) => row.message_id));
}

export async function updateMessage(tx: Tx, row: MessageRow): Promise<void> {
  await tx.run(
    'UPDATE messages SET is_deleted = $3, json = $4 WHERE chat_id = $1 AND message_id = $2',
    row.chat_id,
    row.message_id,
    row.is_deleted,
    row.json,
  );
}

export function findMessages(db: Db, messageIds: readonly MessageId[]): Promise<MessageRow[]> {
  return db.all(
    `SELECT ${messageColumns} FROM ${db.dialect.rows('$1', { message_id: 'int' }, 'asked')}
     JOIN messages m ON m.message_id = asked.message_id`,
    JSON.stringify(messageIds.map((message_id) => ({ message_id }))),
  );
}
