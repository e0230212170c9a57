import type { ChatId, ChatType, EventId, MessageId, Role, UserId, Visibility } from '@parley/contract';
import { fold } from '../../domain/words.ts';
import { type Db, type Dialect, perDialect, type Tx } from '../engine/engine.ts';
import { pointQuery } from '../engine/point-query.ts';
import { rowReader, value } from '../engine/query.ts';
import { largestId, newestIn } from './in-chat.ts';
import { mentionsSince } from './mentions.ts';
import { type Preferences, preferenceColumns } from './preferences.ts';

export interface ChatRow {
  readonly chat_id: ChatId;
  readonly type: ChatType;
  readonly visibility: Visibility;
  readonly name: string | null;
  readonly description: string;
  readonly created_by: UserId;
  readonly created_at: number;
  readonly participant_count: number;
}

/** A chat as one user sees it. */
export interface ChatView extends ChatRow, Preferences {
  /** The ids of both sides of a direct chat: `1:2`. */
  readonly direct_key: string | null;
  /** The ids of pinned messages as JSON. */
  readonly pins: string;
  readonly role: Role | null;
  readonly last_read_id: number | null;
  readonly last_message_id: MessageId | null;
  readonly unread_count: number;
  readonly mention_count: number;
}

/** Counts unread messages only among the newest, so that a chat unread for years costs no more than any other. */
const maxUnread = 100;

const columns =
  'c.chat_id, c.type, c.visibility, c.name, c.description, c.created_by, c.created_at, c.participant_count, c.direct_key, c.pins';

/** Returns the columns of a view. Messages after `upTo` do not count. */
const viewColumns = (dialect: Dialect, upTo = largestId) =>
  `${columns}, m.role, m.last_read_id, ${preferenceColumns},
  ${newestIn(dialect, 'c.chat_id', upTo)} AS last_message_id,
  (SELECT count(*) FROM (
     SELECT n.message_id, n.user_id, n.is_deleted FROM messages n
     WHERE ${dialect.isOne('n.chat_id', 'c.chat_id')} AND n.message_id > m.last_read_id
     ORDER BY n.chat_id DESC, n.message_id DESC LIMIT ${maxUnread}
   ) AS newest WHERE message_id <= ${upTo} AND user_id <> $1 AND is_deleted = 0) AS unread_count,
  ${mentionsSince('c.chat_id', '$1', 'm.last_read_id', upTo)} AS mention_count`;

const view = perDialect((dialect) => viewColumns(dialect));
const viewThen = perDialect((dialect) => viewColumns(dialect, '$3'));

const chatViews = rowReader<ChatView>('is_archived', 'is_pinned');

const memberOf = (user: string) =>
  `members m ON m.chat_id = c.chat_id AND m.user_id = ${user} AND m.left_event IS NULL`;
const member = memberOf('$1');

/** A chat and one user's role in it. */
export interface ChatAccess
  extends Pick<ChatRow, 'chat_id' | 'type' | 'visibility' | 'name' | 'description' | 'participant_count'> {
  readonly role: Role | null;
  /** The newest event of the chat, if it is not older than `since`. It changes with everything in the chat. */
  readonly latest_event: EventId | null;
}

const chatAccess = pointQuery<ChatAccess, 'user_id' | 'chat_id' | 'after'>(
  ['user_id', 'chat_id', 'after'],
  (dialect, at) => `SELECT c.chat_id, c.type, c.visibility, c.name, c.description, c.participant_count, m.role,
      (SELECT e.event_id FROM events e WHERE ${dialect.isOne('e.chat_id', 'c.chat_id')} AND e.event_id > ${at.after}
       ORDER BY e.chat_id DESC, e.event_id DESC LIMIT 1) AS latest_event
    FROM chats c LEFT JOIN ${memberOf(at.user_id)} WHERE c.chat_id = ${at.chat_id}`,
);

/**
 * Reads `latest_event` only among the events from `since` on, and not at all by default. Pass the newest event known:
 * PostgreSQL reads all events from there on that are adjacent in its index.
 */
export function findChat(
  db: Db,
  chatId: ChatId,
  userId: UserId,
  since: number = Number.MAX_SAFE_INTEGER,
): Promise<ChatAccess | undefined> {
  return chatAccess(db, { user_id: userId, chat_id: chatId, after: since - 1 });
}

export const viewChat = (db: Db, chatId: ChatId, userId: UserId): Promise<ChatView | undefined> =>
  chatViews.get(db, `SELECT ${view(db)} FROM chats c LEFT JOIN ${member} WHERE c.chat_id = $2`, [userId, chatId]);

export interface ChatQuery {
  readonly scope: 'mine' | 'public';
  readonly query?: string | undefined;
  readonly afterId: number;
  readonly limit: number;
}

/**
 * Starts with the user's memberships. PostgreSQL misjudges the condition on names and would start with all chats: 45 ms to
 * list 100 among 31,000. OFFSET 0 prevents that.
 */
const ofMember: Record<Dialect['name'], string> = {
  sqlite: 'members m JOIN chats c ON c.chat_id = m.chat_id',
  postgres: 'members m CROSS JOIN LATERAL (SELECT * FROM chats WHERE chat_id = m.chat_id OFFSET 0) c',
};

export function listChats(db: Db, userId: UserId, q: ChatQuery): Promise<ChatView[]> {
  const mine = q.scope === 'mine';
  const from = mine ? ofMember[db.dialect.name] : `chats c LEFT JOIN ${member}`;
  const which = mine
    ? `${db.dialect.onwards(['m.user_id', 'm.chat_id'], '$1', '$2')} AND m.left_event IS NULL`
    : `c.visibility = 'public' AND c.chat_id > $2`;
  return chatViews.all(
    db,
    `SELECT ${view(db)} FROM ${from} WHERE ${which} AND c.search_key LIKE $3 ESCAPE '!'
     ORDER BY ${mine ? 'm.user_id, m.chat_id' : 'c.chat_id'} LIMIT $4`,
    [userId, q.afterId, containing(q.query), q.limit],
  );
}

/** Returns those of the chats that the user is in, with the messages up to an id. */
export async function viewChats(
  db: Db,
  userId: UserId,
  chatIds: readonly ChatId[],
  upTo: number,
): Promise<ReadonlyMap<ChatId, ChatView>> {
  if (chatIds.length === 0) return new Map();
  // LEFT JOIN keeps the order. SQLite would rather begin with all memberships of the user.
  const views = await chatViews.all(
    db,
    `SELECT ${viewThen(db)} FROM ${db.dialect.rows('$2', { chat_id: 'int' }, 'asked')}
     JOIN chats c ON c.chat_id = asked.chat_id LEFT JOIN ${member}`,
    [userId, JSON.stringify(chatIds.map((chat_id) => ({ chat_id }))), upTo],
  );
  return new Map(views.filter(({ role }) => role !== null).map((view) => [view.chat_id, view]));
}

/** Returns a LIKE pattern for texts that contain this one literally. */
export const containing = (text: string | undefined): string => `%${fold(text ?? '').replace(/[!%_]/g, '!$&')}%`;

export type NewChat = Omit<ChatRow, 'chat_id' | 'participant_count'> & { readonly direct_key: string | null };

/** Returns undefined if the direct chat exists already. The transaction that created it has then been committed. */
export const insertChat = (tx: Tx, chat: NewChat): Promise<ChatId | undefined> =>
  value<ChatId>(
    tx,
    `INSERT INTO chats (type, visibility, name, search_key, description, created_by, created_at, direct_key)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (direct_key) DO NOTHING RETURNING chat_id`,
    [
      chat.type,
      chat.visibility,
      chat.name,
      fold(chat.name ?? ''),
      chat.description,
      chat.created_by,
      chat.created_at,
      chat.direct_key,
    ],
  );

/** Returns the key of the direct chat of two users. */
export const directKeyOf = (one: UserId, other: UserId): string => [one, other].sort((a, b) => a - b).join(':');

export const findDirect = (db: Db, directKey: string): Promise<ChatId | undefined> =>
  value<ChatId>(db, 'SELECT chat_id FROM chats WHERE direct_key = $1', [directKey]);

export async function updateChat(
  tx: Tx,
  chatId: ChatId,
  to: { name: string; description: string; visibility: Visibility },
): Promise<void> {
  await tx.run('UPDATE chats SET name = $2, search_key = $3, description = $4, visibility = $5 WHERE chat_id = $1', [
    chatId,
    to.name,
    fold(to.name),
    to.description,
    to.visibility,
  ]);
}

export const findChatType = (db: Db, chatId: ChatId): Promise<ChatType | undefined> =>
  value<ChatType>(db, 'SELECT type FROM chats WHERE chat_id = $1', [chatId]);
