import type { ChatId, MessageId } from '@parley/contract';
import type { MessageRow } from '../chat/messages.ts';
import { bulkStatement, type Db, type Tx } from '../engine/engine.ts';
import { searchInPostgres } from './search-in-postgres.ts';
import { searchInSqlite } from './search-in-sqlite.ts';
import { type SearchQuery, wordOf } from './search-query.ts';

export interface IndexedMessage {
  readonly message_id: MessageId;
  readonly chat_id: ChatId;
  /** Folded words. */
  readonly words: readonly string[];
}

const insertion = bulkStatement({ message_id: 'int', words: 'text' }, (source, { name }) =>
  name === 'sqlite'
    ? `INSERT INTO message_words (rowid, words) SELECT message_id, words FROM ${source} AS m`
    : `INSERT INTO message_words (message_id, words)
       SELECT message_id, array_to_tsvector(string_to_array(words, ' ')) FROM ${source} AS m`,
);

/** The messages must not be in the index yet. */
export async function addToIndex(tx: Tx, messages: readonly IndexedMessage[]): Promise<void> {
  await tx.bulk(
    insertion,
    messages.map((m) => [m.message_id, m.words.map((word) => wordOf(m.chat_id, word)).join(' ')]),
  );
}

export async function dropFromIndex(tx: Tx, messageIds: readonly MessageId[]): Promise<void> {
  if (messageIds.length === 0) return;
  await tx.run(
    `DELETE FROM message_words WHERE ${tx.dialect.name === 'sqlite' ? 'rowid' : 'message_id'} IN (
       SELECT message_id FROM ${tx.dialect.rows('$1', { message_id: 'int' }, 'old')}
     )`,
    [JSON.stringify(messageIds.map((message_id) => ({ message_id })))],
  );
}

/** Returns the messages that contain all words, newest first. */
export const searchMessages = (db: Db, q: SearchQuery): Promise<MessageRow[]> =>
  db.dialect.name === 'sqlite' ? searchInSqlite(db, q) : searchInPostgres(db, q);
