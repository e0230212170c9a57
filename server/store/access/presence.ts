import type { ChatId, UserId } from '@parley/contract';
import { directKeyOf } from '../chat/chats.ts';
import type { Db, Tx } from '../engine/engine.ts';
import { number, values } from '../engine/query.ts';

const asJson = (userIds: readonly UserId[]) => JSON.stringify(userIds.map((user_id) => ({ user_id })));

export const hidesPresence = async (db: Db, userId: UserId): Promise<boolean> =>
  (await number(db, 'SELECT hides_presence FROM users WHERE user_id = $1', [userId])) === 1;

export async function setHidesPresence(tx: Tx, userId: UserId, hides: boolean): Promise<void> {
  await tx.run('UPDATE users SET hides_presence = $2 WHERE user_id = $1', [userId, hides ? 1 : 0]);
}

/** The chats whose participants may be told of the presence of a user. */
export interface Audience {
  readonly isHidden: boolean;
  /** The chats of the user with few participants, direct chats first. */
  readonly chatIds: ChatId[];
}

/**
 * Returns the audiences of users in one statement, and whether it has looked at all their chats: it stops after `maxChats`.
 * Of a single user it looks at direct chats first, which takes SQLite 10 ms for 10,000 chats. A join with the chats would let
 * PostgreSQL read all of them.
 */
export async function audiencesOf(
  db: Db,
  userIds: readonly UserId[],
  { maxParticipants, maxChats }: { readonly maxParticipants: number; readonly maxChats: number },
): Promise<{ audiences: Map<UserId, Audience>; isWhole: boolean }> {
  const inChat = (column: string, condition = '') =>
    `(SELECT ${column} FROM chats c WHERE c.chat_id = m.chat_id ${condition})`;
  const isGroup = inChat('CASE WHEN c.direct_key IS NULL THEN 1 ELSE 0 END');
  const rows = await db.all<{ user_id: UserId; hides_presence: number; chat_id: ChatId | null; is_group: number }>(
    `SELECT u.user_id, u.hides_presence, ${inChat('c.chat_id', 'AND c.participant_count <= $2')} AS chat_id,
       ${isGroup} AS is_group
     FROM ${db.dialect.rows('$1', { user_id: 'int' }, 'asked')}
     JOIN users u ON u.user_id = asked.user_id
     LEFT JOIN members m ON m.user_id = u.user_id AND m.left_event IS NULL
     ${userIds.length === 1 ? 'ORDER BY is_group' : ''} LIMIT $3`,
    [asJson(userIds), maxParticipants, maxChats],
  );
  rows.sort((a, b) => a.is_group - b.is_group);
  const audiences = new Map<UserId, Audience>();
  for (const { user_id, hides_presence, chat_id } of rows) {
    const audience = audiences.get(user_id) ?? { isHidden: hides_presence === 1, chatIds: [] };
    audiences.set(user_id, audience);
    if (chat_id !== null) audience.chatIds.push(chat_id);
  }
  return { audiences, isWhole: rows.length < maxChats };
}

/** Chats of each side that `visibleAmong` looks at. 200 users, none of whom shares one, take SQLite 10 ms of processor time. */
const maxShared = 100;

/**
 * Returns those of `userIds` who share a chat with the user and do not hide their presence. A direct chat is always found,
 * and any chat of somebody with few chats. Two users with more than `maxShared` are found if they share one of the largest
 * chats of the first. So nobody's chats change the answer about another.
 */
export async function visibleAmong(db: Db, userId: UserId, userIds: readonly UserId[]): Promise<Set<UserId>> {
  const asked = userIds.map((user_id) => ({ user_id, direct_key: directKeyOf(userId, user_id) }));
  const rows = db.dialect.rows('$2', { user_id: 'int', direct_key: 'text' }, 'asked');
  const visible = await values<UserId>(
    db,
    `WITH mine AS MATERIALIZED (
       SELECT m.chat_id FROM members m WHERE m.user_id = $1 AND m.left_event IS NULL
       ORDER BY (SELECT c.participant_count FROM chats c WHERE c.chat_id = m.chat_id) DESC LIMIT ${maxShared}
     )
     SELECT u.user_id FROM ${rows} JOIN users u ON u.user_id = asked.user_id AND u.hides_presence = 0
     WHERE EXISTS (SELECT 1 FROM chats d WHERE d.direct_key = asked.direct_key)
       OR EXISTS (
         SELECT 1 FROM mine CROSS JOIN members them
         WHERE them.chat_id = mine.chat_id AND them.user_id = u.user_id AND them.left_event IS NULL
       ) OR EXISTS (
         SELECT 1 FROM (
           SELECT t.chat_id FROM members t WHERE t.user_id = u.user_id AND t.left_event IS NULL LIMIT ${maxShared}
         ) AS theirs CROSS JOIN members me
         WHERE me.chat_id = theirs.chat_id AND me.user_id = $1 AND me.left_event IS NULL
       )`,
    [userId, JSON.stringify(asked)],
  );
  return new Set(visible);
}
