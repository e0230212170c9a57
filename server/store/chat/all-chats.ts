import type { ChatId, ChatType, MessageId } from '@parley/contract';
import { type Db, perDialect } from '../engine/engine.ts';
import { type ChatRow, containing } from './chats.ts';
import { newestIn } from './in-chat.ts';

/** A chat without anything of its messages. */
export type ChatUseRow = Pick<
  ChatRow,
  'chat_id' | 'type' | 'visibility' | 'name' | 'participant_count' | 'created_at'
> & {
  readonly message_count: number;
  readonly last_message_id: MessageId | null;
};

/** Messages of a chat are counted up to here: 50 large chats take 35 ms on PostgreSQL, and ten times as many messages 350 ms. */
const maxCount = 1_000;

export interface ChatUseQuery {
  readonly query?: string | undefined;
  readonly type?: ChatType | undefined;
  readonly beforeId?: ChatId | undefined;
  readonly limit: number;
}

const columns = perDialect(
  (dialect) => `c.chat_id, c.type, c.visibility, c.name, c.participant_count, c.created_at,
    (SELECT count(*) FROM (
       SELECT 1 AS one FROM messages n WHERE ${dialect.isOne('n.chat_id', 'c.chat_id')} LIMIT ${maxCount}
     ) AS counted) AS message_count,
    ${newestIn(dialect, 'c.chat_id')} AS last_message_id`,
);

/** Returns chats of everybody, the newest first. */
export const listAllChats = (db: Db, { query, type, beforeId, limit }: ChatUseQuery): Promise<ChatUseRow[]> =>
  db.all(
    // Counts only for the page, after the search.
    `SELECT ${columns(db)} FROM (
       SELECT * FROM chats WHERE chat_id < $1 AND search_key LIKE $2 ESCAPE '!' AND (CAST($3 AS text) IS NULL OR type = $3)
       ORDER BY chat_id DESC LIMIT $4
     ) AS c ORDER BY c.chat_id DESC`,
    [beforeId ?? Number.MAX_SAFE_INTEGER, containing(query), type ?? null, limit],
  );
