import type { ChatId, MessageId, UserId } from '@parley/contract';
import { type Handles, handlesIn, type Mentions } from '../../domain/mentions.ts';
import { bulkStatement, type Db, type Tx } from '../engine/engine.ts';
import { values } from '../engine/query.ts';

/** The user_id of the one row of a message that mentions all. */
const everybody = 0 as UserId;

/** A text that somebody writes in a chat. */
interface Text {
  readonly chat_id: ChatId;
  readonly user_id: UserId;
  readonly content: string;
}

const participantsNamed = bulkStatement(
  { nth: 'int', chat_id: 'int', name: 'text' },
  (source) => `SELECT s.nth, s.name, (
       SELECT u.user_id FROM users u WHERE u.name_key = s.name AND EXISTS (
         SELECT 1 FROM members m WHERE m.chat_id = s.chat_id AND m.user_id = u.user_id AND m.left_event IS NULL
       )
     ) AS user_id FROM ${source} AS s`,
);

/** Returns whom each text mentions, for those that mention somebody. Without an `@` it asks the database nothing. */
export async function findMentions<T extends Text>(tx: Tx, texts: readonly T[]): Promise<ReadonlyMap<T, Mentions>> {
  const addressed: (readonly [T, Handles])[] = [];
  for (const text of texts) {
    const handles = handlesIn(text.content);
    if (handles) addressed.push([text, handles]);
  }
  const found = new Map<T, Mentions>();
  if (addressed.length === 0) return found;
  const sought = addressed.flatMap(([{ chat_id }, { names }], nth) =>
    names.flatMap((likely) => likely.map((name) => [nth, chat_id, name])),
  );
  const rows = await tx.bulk<{ nth: number; name: string; user_id: UserId | null }>(participantsNamed, sought);
  const people = new Map(rows.flatMap(({ nth, name, user_id }) => (user_id ? [[`${nth} ${name}`, user_id]] : [])));
  for (const [nth, [text, { names, all }]] of addressed.entries()) {
    const named = names.map((likely) => likely.map((name) => people.get(`${nth} ${name}`)).find(Boolean));
    const mentions = [...new Set(named)].filter((id) => id !== undefined && id !== text.user_id) as UserId[];
    if (all || mentions.length > 0) {
      found.set(text, { ...(mentions.length > 0 && { mentions }), ...(all && { mentions_all: true }) });
    }
  }
  return found;
}

/** A message and whom it mentions. */
interface Mentioning extends Mentions {
  readonly chat_id: ChatId;
  readonly message_id: MessageId;
  readonly user_id: UserId;
}

/** A message that mentions all needs no rows for those whom it names too. */
const rowsOf = (mentioning: Mentioning): number[][] => {
  const { chat_id, message_id, user_id, mentions = [], mentions_all } = mentioning;
  return (mentions_all ? [everybody] : mentions).map((id) => [chat_id, id, message_id, user_id]);
};

const columns = { chat_id: 'int', user_id: 'int', message_id: 'int', author_id: 'int' } as const;

const insertion = bulkStatement(
  columns,
  (source) => `INSERT INTO mentions (chat_id, user_id, message_id, author_id)
     SELECT chat_id, user_id, message_id, author_id FROM ${source} AS s`,
);

const deletion = bulkStatement(
  columns,
  (source) => `DELETE FROM mentions WHERE (chat_id, user_id, message_id) IN (
       SELECT chat_id, user_id, message_id FROM ${source} AS s)`,
);

export async function insertMentions(tx: Tx, messages: readonly Mentioning[]): Promise<void> {
  const rows = messages.flatMap(rowsOf);
  if (rows.length > 0) await tx.bulk(insertion, rows);
}

export async function deleteMentions(tx: Tx, message: Mentioning): Promise<void> {
  const rows = rowsOf(message);
  if (rows.length > 0) await tx.bulk(deletion, rows);
}

/** Counts only the newest of each kind, so that a chat unread for years costs no more than any other. */
const maxCounted = 100;

/** A subquery for the number of messages of others after `since` that mention a user of a chat, or all. */
export function mentionsSince(chat: string, user: string, since: string, upTo: string): string {
  const newest = (whom: string) => `(SELECT count(*) FROM (
     SELECT n.author_id, n.message_id FROM mentions n WHERE n.chat_id = ${chat} AND n.user_id = ${whom} AND n.message_id > ${since}
     ORDER BY n.message_id DESC LIMIT ${maxCounted}
   ) AS newest WHERE message_id <= ${upTo} AND author_id <> ${user})`;
  return `${newest(user)} + ${newest(String(everybody))}`;
}

export interface MentionQuery {
  readonly userId: UserId;
  readonly before: number;
  readonly limit: number;
  readonly chatId?: ChatId | undefined;
}

/** A list skips fewer than so many of one's own messages that mention all, one after the other: 200,000 took 8 to 30 ms. */
const maxWalked = 1_000;

/**
 * Returns the ids of the newest messages before an id that mention a user, or all, since the user joined the chat. Two
 * lookups for each of these chats find the newest of both kinds; the page can only be in the `limit` places whose newest is
 * latest. So the cost depends on the user's own chats, and not on how often others are mentioned.
 */
export function mentionsOf(db: Db, q: MentionQuery): Promise<MessageId[]> {
  const newest = (place: string) => `SELECT w.message_id FROM (
      SELECT n.message_id, n.author_id FROM mentions n
      WHERE n.chat_id = ${place}.chat_id AND n.user_id = ${place}.user_id AND n.message_id > ${place}.joined_message
        AND n.message_id < $2 ORDER BY n.message_id DESC LIMIT ${maxWalked}
    ) AS w WHERE w.author_id <> $1 ORDER BY w.message_id DESC`;
  const places = `(
    WITH asked AS MATERIALIZED (SELECT p.*, (${newest('p')} LIMIT 1) AS newest FROM (
      SELECT m.chat_id, w.user_id, m.joined_message FROM members m
      CROSS JOIN (SELECT CAST($1 AS bigint) AS user_id UNION ALL SELECT ${everybody}) AS w
      WHERE m.user_id = $1 AND m.left_event IS NULL
        AND ${q.chatId === undefined ? 'CAST($4 AS bigint) IS NULL' : 'm.chat_id = $4'}
    ) AS p)
    SELECT chat_id, user_id, joined_message FROM asked WHERE newest IS NOT NULL ORDER BY newest DESC LIMIT $3
  ) AS place`;
  const newestOfEach = db.dialect.firstIdsPerRow(places, newest('place'), '$3', 'found', 'messages.message_id');
  return values<MessageId>(db, `SELECT found.id FROM ${newestOfEach} ORDER BY found.id DESC LIMIT $3`, [
    q.userId,
    q.before,
    q.limit,
    q.chatId ?? null,
  ]);
}
