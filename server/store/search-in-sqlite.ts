import type { ChatId } from '@parley/contract';
import type { Db } from './engine.ts';
import { type MessageRow, messageColumns } from './messages.ts';
import { type SearchQuery, wordOf } from './search-query.ts';

/**
 * Words of the index that are looked up for one search. Messages with a whole word come from the newest on, and so do those
 * with any of several; but for the beginning of a word FTS5 puts together all that begin so before it gives the first one:
 * 0.2, 1.9 and 16 ms among 1,000, 10,000 and 100,000 messages with the word, and 0.1 to 0.2 ms where it was replaced by the
 * words that begin so. A look-up takes 0.03 ms. With 300 words there was nothing left to gain.
 */
const mostTerms = 16;

export async function searchInSqlite(db: Db, q: SearchQuery): Promise<MessageRow[]> {
  const endings = await lastWords(db, q);
  const parts = q.chatIds.flatMap((chatId) => {
    const last = endings?.get(chatId)?.map(quote) ?? [`${quote(wordOf(chatId, q.words.at(-1) ?? ''))} *`];
    const whole = q.words.slice(0, -1).map((word) => quote(wordOf(chatId, word)));
    return last.length === 0 ? [] : [`(${[...whole, `(${last.join(' OR ')})`].join(' AND ')})`];
  });
  if (parts.length === 0) return [];
  return db.all(
    `SELECT ${messageColumns} FROM message_words f
     JOIN messages m ON m.message_id = f.rowid
     JOIN members w ON w.chat_id = m.chat_id AND w.user_id = $1 AND w.left_event IS NULL
     WHERE message_words MATCH $2 AND f.rowid < $3 AND m.is_deleted = 0 ORDER BY f.rowid DESC LIMIT $4`,
    q.userId,
    parts.join(' OR '),
    q.before,
    q.limit,
  );
}

/** Words are always quoted: nothing that a person wrote is read as syntax. */
const quote = (word: string): string => `"${word.replaceAll('"', '""')}"`;

/** The words of each chat that begin with the last word, unless they are too many to look them all up. */
async function lastWords(db: Db, q: SearchQuery): Promise<Map<ChatId, string[]> | undefined> {
  // One look-up finds a word and one more that there is no other, so with more chats than this it could not do.
  if (q.chatIds.length > mostTerms / 2) return undefined;
  const found = new Map<ChatId, string[]>();
  let left = mostTerms;
  for (const chatId of q.chatIds) {
    const terms = await termsFrom(db, wordOf(chatId, q.words.at(-1) ?? ''), left + 1);
    left -= terms.length;
    if (left < 0) return undefined;
    found.set(chatId, terms);
  }
  return found;
}

/**
 * The first words of the index that begin so. Each is looked up from behind the one before it, with a character that is
 * in no word: going on from row to row would go through every message that has it.
 */
async function termsFrom(db: Db, beginning: string, limit: number): Promise<string[]> {
  const rows = await db.all<{ term: string | null }>(
    `WITH RECURSIVE found (term) AS (
       SELECT (SELECT term FROM message_terms WHERE term >= $1 LIMIT 1)
       UNION ALL
       SELECT (SELECT term FROM message_terms WHERE term >= found.term || char(1) LIMIT 1) FROM found WHERE found.term < $2
       LIMIT $3
     ) SELECT term FROM found`,
    beginning,
    `${beginning}\u{10ffff}`,
    limit,
  );
  return rows.flatMap(({ term }) => (term?.startsWith(beginning) ? [term] : []));
}
