import type { ChatId, UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { number, values } from '../engine/query.ts';

const asJson = (userIds: readonly UserId[]) => JSON.stringify(userIds.map((user_id) => ({ user_id })));

export const hidesPresence = async (db: Db, userId: UserId): Promise<boolean> =>
  (await number(db, 'SELECT hides_presence FROM users WHERE user_id = $1', [userId])) === 1;

export async function setHidesPresence(tx: Tx, userId: UserId, hides: boolean): Promise<void> {
  await tx.run('UPDATE users SET hides_presence = $2 WHERE user_id = $1', [userId, hides ? 1 : 0]);
}

/** Who may be told of the presence of a user. */
export interface Audience {
  readonly isHidden: boolean;
  /** The chats of the user with few participants. */
  readonly chatIds: ChatId[];
}

/**
 * Returns the audiences of users in one statement, and whether it looked at all their chats: it stops after `maxChats`. A
 * join with the chats would let PostgreSQL read all of them.
 */
export async function audiencesOf(
  db: Db,
  userIds: readonly UserId[],
  { maxParticipants, maxChats }: { readonly maxParticipants: number; readonly maxChats: number },
): Promise<{ audiences: Map<UserId, Audience>; isWhole: boolean }> {
  const rows = await db.all<{ user_id: UserId; hides_presence: number; chat_id: ChatId | null }>(
    `SELECT u.user_id, u.hides_presence,
       (SELECT c.chat_id FROM chats c WHERE c.chat_id = m.chat_id AND c.participant_count <= $2) AS chat_id
     FROM ${db.dialect.rows('$1', { user_id: 'int' }, 'asked')}
     JOIN users u ON u.user_id = asked.user_id
     LEFT JOIN members m ON m.user_id = u.user_id AND m.left_event IS NULL LIMIT $3`,
    [asJson(userIds), maxParticipants, maxChats],
  );
  const audiences = new Map<UserId, Audience>();
  for (const { user_id, hides_presence, chat_id } of rows) {
    const audience = audiences.get(user_id) ?? { isHidden: hides_presence === 1, chatIds: [] };
    audiences.set(user_id, audience);
    if (chat_id !== null) audience.chatIds.push(chat_id);
  }
  return { audiences, isWhole: rows.length < maxChats };
}

/** Memberships that `visibleAmong` looks at: ten for a usual page are enough, and so many take some milliseconds. */
const maxMemberships = 20_000;

/** Returns those of `userIds` who share a chat with the user and do not hide their presence. */
export const visibleAmong = async (db: Db, userId: UserId, userIds: readonly UserId[]): Promise<Set<UserId>> =>
  new Set(
    await values<UserId>(
      db,
      `SELECT DISTINCT theirs.user_id FROM (
         SELECT m.user_id, m.chat_id FROM ${db.dialect.rows('$2', { user_id: 'int' }, 'asked')}
         JOIN users u ON u.user_id = asked.user_id AND u.hides_presence = 0
         JOIN members m ON m.user_id = u.user_id AND m.left_event IS NULL LIMIT ${maxMemberships}
       ) AS theirs CROSS JOIN members mine
       WHERE mine.chat_id = theirs.chat_id AND mine.user_id = $1 AND mine.left_event IS NULL`,
      [userId, asJson(userIds)],
    ),
  );
