import type { ChatId, MessageId, UserId } from '@parley/contract';
import type { Db, Dialect, RowWork, Tx } from './engine.ts';
import { type MessageRow, messageColumns } from './messages.ts';

export interface IndexedMessage {
  readonly message_id: MessageId;
  readonly chat_id: ChatId;
  /** Folded words. */
  readonly words: readonly string[];
}

const columns = { message_id: 'int', words: 'text' } as const;

const addition: Record<Dialect['name'], RowWork> = {
  sqlite: {
    columns,
    statements: [(source) => `INSERT INTO message_words (rowid, words) SELECT message_id, words FROM ${source} AS m`],
  },
  postgres: {
    columns,
    statements: [
      (source) => `INSERT INTO message_words (message_id, words)
       SELECT message_id, array_to_tsvector(string_to_array(words, ' ')) FROM ${source} AS m`,
    ],
  },
};

/** A word as it stands in the index. Chats are numbers, so the first letter ends the chat's part. */
const wordOf = (chatId: ChatId, word: string): string => `${chatId}x${word}`;

/** Puts messages into the index that are not in it. */
export async function addToIndex(tx: Tx, messages: readonly IndexedMessage[]): Promise<void> {
  await tx.each(
    addition[tx.dialect.name],
    messages.map((m) => [m.message_id, m.words.map((word) => wordOf(m.chat_id, word)).join(' ')]),
  );
}

export async function dropFromIndex(tx: Tx, messageIds: readonly MessageId[]): Promise<void> {
  if (messageIds.length === 0) return;
  await tx.run(
    `DELETE FROM message_words WHERE ${tx.dialect.name === 'sqlite' ? 'rowid' : 'message_id'} IN (
       SELECT message_id FROM ${tx.dialect.rows('$1', { message_id: 'int' }, 'old')}
     )`,
    JSON.stringify(messageIds.map((message_id) => ({ message_id }))),
  );
}

export interface SearchQuery {
  readonly userId: UserId;
  /** Folded words; the last is a prefix. */
  readonly words: readonly string[];
  /** Where to look; only in those that the user is in. */
  readonly chatIds: readonly ChatId[];
  readonly before: number;
  readonly limit: number;
}

/** Messages in which all words occur, newest first. */
export function searchMessages(db: Db, q: SearchQuery): Promise<MessageRow[]> {
  const { id, match, quote, prefix, and, or } = languages[db.dialect.name];
  const within = (chatId: ChatId) =>
    q.words.map((w, i) => quote(wordOf(chatId, w)) + (i === q.words.length - 1 ? prefix : '')).join(and);
  return db.all(
    `SELECT ${messageColumns} FROM message_words f
     JOIN messages m ON m.message_id = ${id}
     JOIN members w ON w.chat_id = m.chat_id AND w.user_id = $1 AND w.left_event IS NULL
     WHERE ${match} AND ${id} < $3 AND m.is_deleted = 0 ORDER BY ${id} DESC LIMIT $4`,
    q.userId,
    q.chatIds.map((chatId) => `(${within(chatId)})`).join(or),
    q.before,
    q.limit,
  );
}

/** How each engine is asked. Words are always quoted: nothing that a person wrote is read as syntax. */
const languages = {
  sqlite: {
    id: 'f.rowid',
    match: 'message_words MATCH $2',
    quote: (word: string) => `"${word.replaceAll('"', '""')}"`,
    prefix: ' *',
    and: ' AND ',
    or: ' OR ',
  },
  postgres: {
    id: 'f.message_id',
    match: 'f.words @@ CAST($2 AS tsquery)',
    quote: (word: string) => `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`,
    prefix: ':*',
    and: ' & ',
    or: ' | ',
  },
} as const;
