import type { ChatId } from '@parley/contract';
import type { Db } from './engine.ts';
import { type MessageRow, messageColumns } from './messages.ts';
import { type SearchQuery, wordOf } from './search-query.ts';

/**
 * PostgreSQL can go through messages from the newest on until there are enough, which is quick for a word that many have;
 * or ask its index of words, which gives all messages with a word, in no order, and is quick where few have it. Left to
 * itself it takes the first way for the beginning of any word, of which it knows nothing: a rare one then took 240 ms
 * among a million messages. So a glimpse at the newest tells which way to go. The index is as quick as the longer look back
 * where 1 to 2 of 100 messages have the word, among a million.
 */
const glimpse = 256;
const longLook = 4_096;

export async function searchInPostgres(db: Db, q: SearchQuery): Promise<MessageRow[]> {
  const newest = await lookBack(db, q, glimpse);
  if (newest.length >= q.limit) return newest;
  if (newest.length * (longLook / glimpse) >= q.limit) {
    const further = await lookBack(db, q, longLook);
    if (further.length >= q.limit) return further;
  }
  return askIndex(db, q);
}

const member = 'members w ON w.chat_id = m.chat_id AND w.user_id = $1 AND w.left_event IS NULL';

/** What there is among so many of the newest messages: those of the chat, or of everybody where several are searched. */
function lookBack(db: Db, q: SearchQuery, window: number): Promise<MessageRow[]> {
  const [chatId, ...others] = q.chatIds;
  if (chatId === undefined) return Promise.resolve([]);
  const [words, chats, { source, order, within, query }] =
    others.length === 0
      ? [queryIn(chatId, q.words), chatId, oneChat]
      : [queryIn(anyChat, q.words), q.chatIds.join(','), severalChats];
  // The words are looked at in a subquery: a join could be turned round, to begin with all messages there are.
  return db.all(
    `SELECT ${messageColumns} FROM (SELECT * FROM messages WHERE ${source} LIMIT ${window}) m
     JOIN ${member}
     WHERE m.is_deleted = 0 AND ${within}
       AND (SELECT f.words @@ ${query} FROM message_words f WHERE f.message_id = m.message_id)
     ORDER BY ${order} LIMIT $4`,
    q.userId,
    words,
    q.before,
    q.limit,
    chats,
  );
}

/** Chat and id as a pair: of a chat that has most messages PostgreSQL would rather look for them among all others. */
const oneChat = {
  source: `(chat_id, message_id) < ($5, $3) AND (chat_id, message_id) > ($5, 0) ORDER BY chat_id DESC, message_id DESC`,
  order: 'm.chat_id DESC, m.message_id DESC',
  within: 'm.chat_id = $5',
  query: '(SELECT CAST($2 AS tsquery))',
};

/** Stands in a query for the chat of the message that is looked at. No word has it. */
const anyChat = '#';

/** A query for all chats at once would be gone through for each message, chat by chat. */
const severalChats = {
  source: 'message_id < $3 ORDER BY message_id DESC',
  order: 'm.message_id DESC',
  within: `m.chat_id = ANY (CAST((SELECT CAST(string_to_array($5, ',') AS bigint[])) AS bigint[]))`,
  query: `CAST(replace($2, '${anyChat}', CAST(m.chat_id AS text)) AS tsquery)`,
};

/**
 * What the index has, sorted. The subqueries with OFFSET stay as they stand: what is found in the index is not looked for in
 * another way because it is to be sorted or has to be old enough, and no more messages are read than it takes. Each chat is
 * asked for by itself, since the index weighs every message that it finds against all that was asked for.
 */
function askIndex(db: Db, q: SearchQuery): Promise<MessageRow[]> {
  return db.all(
    `SELECT ${messageColumns} FROM (
       SELECT f.message_id FROM ${db.dialect.rows('$2', { query: 'text' }, 'q')}
       CROSS JOIN LATERAL (SELECT message_id FROM message_words WHERE words @@ CAST(q.query AS tsquery) OFFSET 0) f
       WHERE f.message_id < $3 ORDER BY f.message_id DESC
     ) f
     CROSS JOIN LATERAL (SELECT * FROM messages WHERE message_id = f.message_id OFFSET 0) m
     JOIN ${member}
     WHERE m.is_deleted = 0 ORDER BY f.message_id DESC LIMIT $4`,
    q.userId,
    JSON.stringify(q.chatIds.map((chatId) => ({ query: queryIn(chatId, q.words) }))),
    q.before,
    q.limit,
  );
}

/** Words are always quoted: nothing that a person wrote is read as syntax. */
function queryIn(chat: ChatId | typeof anyChat, words: readonly string[]): string {
  const quoted = words.map((word) => `'${wordOf(chat, word).replaceAll('\\', '\\\\').replaceAll("'", "''")}'`);
  return `${quoted.join(' & ')}:*`;
}
