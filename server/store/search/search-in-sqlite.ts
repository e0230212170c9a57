import type { ChatId, MessageId } from '@parley/contract';
import type { Db } from '../engine/engine.ts';
import { exists, values } from '../engine/query.ts';
import { anyChat, type SearchQuery, type WordQuery, wordOf } from './search-query.ts';

/**
 * A prefix is replaced by up to this many words of the index. FTS5 returns matches of whole words, or of several joined by
 * OR, from the newest back. For a prefix it collects all matches first: 0.2, 1.9 and 16 ms among 1,000, 10,000 and
 * 100,000 messages with the word, against 0.1 to 0.2 ms for the words themselves. Finding a word takes 0.03 ms. With 300
 * words nothing is gained.
 */
const maxTerms = 16;

export async function searchInSqlite(db: Db, q: SearchQuery): Promise<MessageId[]> {
  const endings = await expandPrefix(db, q);
  const parts = q.chatIds.flatMap((chatId) => matchOf(chatId, q.words, endings && (endings.get(chatId) ?? [])));
  if (parts.length === 0) return [];
  return values<MessageId>(
    db,
    `SELECT m.message_id FROM message_words f
     JOIN messages m ON m.message_id = f.rowid
     JOIN ${member}
     WHERE message_words MATCH $2 AND f.rowid < $3 AND m.is_deleted = 0 ORDER BY f.rowid DESC LIMIT $4`,
    [q.userId, parts.join(' OR '), q.before, q.limit],
  );
}

const member = 'members w ON w.chat_id = m.chat_id AND w.user_id = $1 AND w.left_event IS NULL';

/**
 * Messages with one word, of whichever chat, that are checked for the user's membership. Several words cost more for each
 * message: 4,000 with 20 words took 10 to 50 ms.
 */
const maxCandidates = 4_000;

/** Checks the newest messages of the server that have the words. */
export async function searchAllInSqlite(db: Db, q: WordQuery): Promise<MessageId[] | undefined> {
  const endings = await termsFrom(db, wordOf(anyChat, q.words.at(-1) ?? ''), maxTerms + 1);
  // A prefix would collect the messages of the whole server.
  if (endings.length > maxTerms) return undefined;
  const [match] = matchOf(anyChat, q.words, endings);
  if (match === undefined) return [];
  const most = Math.max(q.limit, Math.floor(maxCandidates / q.words.length));
  const candidates = 'SELECT rowid FROM message_words WHERE message_words MATCH $2 AND rowid < $3 ORDER BY rowid DESC';
  const found = await values<MessageId>(
    db,
    `SELECT m.message_id FROM (${candidates} LIMIT $5) f
     CROSS JOIN messages m ON m.message_id = f.rowid
     CROSS JOIN ${member}
     WHERE m.is_deleted = 0 ORDER BY f.rowid DESC LIMIT $4`,
    [q.userId, match, q.before, q.limit, most],
  );
  if (found.length === q.limit) return found;
  const hasMore = await exists(db, `${candidates} LIMIT 1 OFFSET $1`, [most, match, q.before]);
  return hasMore ? undefined : found;
}

/** Returns the FTS5 query of a chat. The last word is one of `endings`, or a prefix. There is none without endings. */
function matchOf(chat: ChatId | string, words: readonly string[], endings: readonly string[] | undefined): string[] {
  const last = endings?.map(quote) ?? [`${quote(wordOf(chat, words.at(-1) ?? ''))} *`];
  const whole = words.slice(0, -1).map((word) => quote(wordOf(chat, word)));
  return last.length === 0 ? [] : [`(${[...whole, `(${last.join(' OR ')})`].join(' AND ')})`];
}

/** Quotes all words, so that no user text is parsed as syntax. */
const quote = (word: string): string => `"${word.replaceAll('"', '""')}"`;

/** Returns the words of each chat that start with the last word, or undefined if there are more than `maxTerms`. */
async function expandPrefix(db: Db, q: SearchQuery): Promise<Map<ChatId, string[]> | undefined> {
  // A chat takes at least two lookups: one finds a word, one finds that there is no other.
  if (q.chatIds.length > maxTerms / 2) return undefined;
  const found = new Map<ChatId, string[]>();
  let left = maxTerms;
  for (const chatId of q.chatIds) {
    const terms = await termsFrom(db, wordOf(chatId, q.words.at(-1) ?? ''), left + 1);
    left -= terms.length;
    if (left < 0) return undefined;
    found.set(chatId, terms);
  }
  return found;
}

/**
 * Returns the first words of the index with this prefix. Each lookup starts after the previous word, with a character that
 * no word contains: stepping from row to row would visit every message with the word.
 */
async function termsFrom(db: Db, prefix: string, limit: number): Promise<string[]> {
  const rows = await db.all<{ term: string | null }>(
    `WITH RECURSIVE found (term) AS (
       SELECT (SELECT term FROM message_terms WHERE term >= $1 LIMIT 1)
       UNION ALL
       SELECT (SELECT term FROM message_terms WHERE term >= found.term || char(1) LIMIT 1) FROM found WHERE found.term < $2
       LIMIT $3
     ) SELECT term FROM found`,
    [prefix, `${prefix}\u{10ffff}`, limit],
  );
  return rows.flatMap(({ term }) => (term?.startsWith(prefix) ? [term] : []));
}
