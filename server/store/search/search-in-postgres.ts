import type { ChatId, MessageId } from '@parley/contract';
import type { Db } from '../engine/engine.ts';
import { values } from '../engine/query.ts';
import { anyChat, type SearchQuery, type WordQuery, wordOf } from './search-query.ts';

/**
 * PostgreSQL can scan messages from the newest back, which is fast for a common word. Or it can use the index of words,
 * which returns all messages with a word in no order and is fast for a rare word. For a prefix its planner always chooses
 * the scan: a rare one took 240 ms among a million messages. So a short scan of the newest messages decides. Among a
 * million messages, the index is as fast as the long scan if 1 to 2 of 100 contain the word.
 */
const shortScan = 256;
const longScan = 4_096;

export async function searchInPostgres(db: Db, q: SearchQuery): Promise<MessageId[]> {
  return (await scanNewest(db, q, q.chatIds)) ?? queryIndex(db, q);
}

/** Scans all chats, and then uses the words that are indexed without their chat. */
export async function searchAllInPostgres(db: Db, q: WordQuery): Promise<MessageId[] | undefined> {
  return (await scanNewest(db, q, undefined)) ?? queryIndexOfAll(db, q);
}

/** Chats to search. Undefined stands for all that the user is in. */
type Chats = readonly ChatId[] | undefined;

/** Returns undefined if the newest messages do not fill the page. */
async function scanNewest(db: Db, q: WordQuery, chats: Chats): Promise<MessageId[] | undefined> {
  const newest = await scanBack(db, q, chats, shortScan);
  if (newest.length >= q.limit) return newest;
  if (newest.length * (longScan / shortScan) < q.limit) return undefined;
  const further = await scanBack(db, q, chats, longScan);
  return further.length >= q.limit ? further : undefined;
}

/**
 * A subquery checks the membership and the words of each message. PostgreSQL could reverse a join, and start with all chats
 * of the user or with all messages: its statistics of a new user are wrong.
 */
const isMember = '(SELECT true FROM members w WHERE w.chat_id = m.chat_id AND w.user_id = $1 AND w.left_event IS NULL)';

/** Searches the newest `window` messages: those of the chat, or of all chats if several are searched. */
function scanBack(db: Db, q: WordQuery, chats: Chats, window: number): Promise<MessageId[]> {
  const [chatId, ...others] = chats ?? [];
  const isOne = chatId !== undefined && others.length === 0;
  const { source, order, within } = isOne ? oneChat : chats ? someChats : allChats;
  return values<MessageId>(
    db,
    `SELECT m.message_id FROM (SELECT * FROM messages WHERE ${source} LIMIT ${window}) m
     WHERE m.is_deleted = 0 AND ${within} AND ${isMember}
       AND (SELECT f.words @@ (SELECT CAST($2 AS tsquery)) FROM message_words f WHERE f.message_id = m.message_id)
     ORDER BY ${order} LIMIT $4`,
    [q.userId, queryIn(isOne ? chatId : anyChat, q.words), q.before, q.limit, ...(chats ? [chats.join(',')] : [])],
  );
}

/** Compares chat and id as a pair: otherwise PostgreSQL scans the messages of all chats if this one has most of them. */
const oneChat = {
  source: `(chat_id, message_id) < (CAST($5 AS bigint), $3) AND (chat_id, message_id) > (CAST($5 AS bigint), 0)
    ORDER BY chat_id DESC, message_id DESC`,
  order: 'm.chat_id DESC, m.message_id DESC',
  within: 'm.chat_id = CAST($5 AS bigint)',
};

const allChats = { source: 'message_id < $3 ORDER BY message_id DESC', order: 'm.message_id DESC', within: 'true' };

const someChats = {
  ...allChats,
  within: `m.chat_id = ANY (CAST((SELECT CAST(string_to_array($5, ',') AS bigint[])) AS bigint[]))`,
};

/**
 * OFFSET 0 keeps PostgreSQL from merging the subqueries with the rest: it would choose another way than the index for the
 * sake of the order or of the bound, and read more messages than needed. Each chat has a query of its own, because the
 * index rechecks every message that it finds against the whole query.
 */
function queryIndex(db: Db, q: SearchQuery): Promise<MessageId[]> {
  return values<MessageId>(
    db,
    `SELECT m.message_id FROM (
       SELECT f.message_id FROM ${db.dialect.rows('$2', { query: 'text' }, 'q')}
       CROSS JOIN LATERAL (SELECT message_id FROM message_words WHERE words @@ CAST(q.query AS tsquery) OFFSET 0) f
       WHERE f.message_id < $3 ORDER BY f.message_id DESC
     ) f
     CROSS JOIN LATERAL (SELECT * FROM messages WHERE message_id = f.message_id OFFSET 0) m
     WHERE m.is_deleted = 0 AND ${isMember} ORDER BY f.message_id DESC LIMIT $4`,
    [q.userId, JSON.stringify(q.chatIds.map((chatId) => ({ query: queryIn(chatId, q.words) }))), q.before, q.limit],
  );
}

/** Messages with the words, of whichever chat, that are checked for the user's membership. */
const maxCandidates = 10_000;

/** Returns undefined if there are more candidates. */
async function queryIndexOfAll(db: Db, q: WordQuery): Promise<MessageId[] | undefined> {
  const candidates = await values<number>(
    db,
    `SELECT message_id FROM message_words WHERE words @@ CAST($1 AS tsquery) LIMIT ${maxCandidates + 1}`,
    [queryIn(anyChat, q.words)],
  );
  if (candidates.length > maxCandidates) return undefined;
  const ids = candidates.filter((id) => id < q.before);
  return values<MessageId>(
    db,
    `SELECT m.message_id FROM (SELECT unnest(CAST(string_to_array($2, ',') AS bigint[])) AS message_id ORDER BY 1 DESC) f
     CROSS JOIN LATERAL (SELECT * FROM messages WHERE message_id = f.message_id OFFSET 0) m
     WHERE m.is_deleted = 0 AND ${isMember} ORDER BY f.message_id DESC LIMIT $3`,
    [q.userId, ids.join(','), q.limit],
  );
}

/** Quotes all words, so that no user text is parsed as syntax. */
function queryIn(chat: ChatId | string, words: readonly string[]): string {
  const quoted = words.map((word) => `'${wordOf(chat, word).replaceAll('\\', '\\\\').replaceAll("'", "''")}'`);
  return `${quoted.join(' & ')}:*`;
}
