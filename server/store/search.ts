import type { ChatId, MessageId, UserId } from '@parley/contract';
import type { Db, Dialect, RowWork, Tx } from './engine.ts';
import { type MessageRow, messageColumns } from './messages.ts';

export interface IndexedMessage {
  readonly message_id: MessageId;
  readonly chat_id: ChatId;
  /** Folded words. */
  readonly words: readonly string[];
}

const addition: Record<Dialect['name'], RowWork> = {
  sqlite: {
    columns: { message_id: 'int', chat: 'text', words: 'text' },
    statements: [
      (source) => `INSERT INTO message_words (rowid, chat, words) SELECT message_id, chat, words FROM ${source} AS m`,
    ],
  },
  postgres: {
    columns: { message_id: 'int', chat: 'text', words: 'text' },
    statements: [
      (source) => `INSERT INTO message_words (message_id, words)
       SELECT message_id, array_to_tsvector(array_append(string_to_array(words, ' '), '#' || chat)) FROM ${source} AS m`,
    ],
  },
};

/** Puts messages into the index that are not in it. */
export async function addToIndex(tx: Tx, messages: readonly IndexedMessage[]): Promise<void> {
  await tx.each(
    addition[tx.dialect.name],
    messages.map((m) => [m.message_id, chatWord(m.chat_id), m.words.join(' ')]),
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

const chatWord = (chatId: ChatId) => String(chatId);

export interface SearchQuery {
  readonly userId: UserId;
  /** Folded words; the last is a prefix. */
  readonly words: readonly string[];
  readonly chatId?: ChatId | undefined;
  readonly before: number;
  readonly limit: number;
}

/** Messages of chats that the user is in, newest first. */
export function searchMessages(db: Db, q: SearchQuery): Promise<MessageRow[]> {
  const sqlite = db.dialect.name === 'sqlite';
  const id = sqlite ? 'f.rowid' : 'f.message_id';
  const match = sqlite ? 'message_words MATCH $2' : 'f.words @@ CAST($2 AS tsquery)';
  return db.all(
    `SELECT ${messageColumns} FROM message_words ${sqlite ? '' : 'AS '}f
     JOIN messages m ON m.message_id = ${id}
     JOIN members w ON w.chat_id = m.chat_id AND w.user_id = $1 AND w.left_event IS NULL
     WHERE ${match} AND ${id} < $3 AND m.is_deleted = 0 ORDER BY ${id} DESC LIMIT $4`,
    q.userId,
    sqlite ? fts5Query(q) : tsQuery(q),
    q.before,
    q.limit,
  );
}

const fts5Quote = (word: string) => `"${word.replaceAll('"', '""')}"`;
const tsQuote = (word: string) => `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

function fts5Query({ words, chatId }: SearchQuery): string {
  const terms = words.map((w, i) => `words : ${fts5Quote(w)}${i === words.length - 1 ? ' *' : ''}`);
  if (chatId !== undefined) terms.push(`chat : ${fts5Quote(chatWord(chatId))}`);
  return terms.join(' AND ');
}

function tsQuery({ words, chatId }: SearchQuery): string {
  const terms = words.map((w, i) => `${tsQuote(w)}${i === words.length - 1 ? ':*' : ''}`);
  if (chatId !== undefined) terms.push(tsQuote(`#${chatWord(chatId)}`));
  return terms.join(' & ');
}
