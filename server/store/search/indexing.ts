import type { ChatId, MessageId } from '@parley/contract';
import { bulkStatement, type Tx } from '../engine/engine.ts';
import { anyChat, wordOf } from './search-query.ts';

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

/** Adds each word with its chat and without. The messages must not be in the index yet. */
export async function addToIndex(tx: Tx, messages: readonly IndexedMessage[]): Promise<void> {
  await tx.bulk(
    insertion,
    messages.map(({ message_id, chat_id, words }) => [message_id, `${allOf(chat_id, words)} ${allOf(anyChat, words)}`]),
  );
}

/** Returns the words as the index holds them, with a space between. */
const allOf = (chat: ChatId | string, words: readonly string[]): string =>
  wordOf(chat, words.join(` ${wordOf(chat, '')}`));

const mergedPages = 64;

/**
 * Merges some pages of SQLite's index, whose parts repeat the words. Not called while sends wait: with 32 pages after each
 * 100 messages at full load, half as many messages were sent.
 */
export async function mergeIndex(tx: Tx): Promise<void> {
  if (tx.dialect.name !== 'sqlite') return;
  await tx.run(`INSERT INTO message_words (message_words, rank) VALUES ('merge', ${mergedPages})`);
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
