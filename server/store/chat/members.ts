import type { ChatId, EventId, MessageId, Role, UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { deleteSome, number, values } from '../engine/query.ts';
import { largestId, newestIn } from './in-chat.ts';
import type { MembershipPeriod } from './visibility.ts';

export interface MemberRow {
  readonly user_id: UserId;
  readonly role: Role;
  readonly joined_at: number;
  readonly last_read_id: number;
}

export interface ParticipantRow extends MemberRow {
  readonly name: string;
  readonly display_name: string;
}

const participantColumns = 'm.user_id, m.role, m.joined_at, m.last_read_id, u.name, u.display_name';

export const findParticipant = (db: Db, chatId: ChatId, userId: UserId): Promise<ParticipantRow | undefined> =>
  db.get(
    `SELECT ${participantColumns} FROM members m JOIN users u ON u.user_id = m.user_id
     WHERE m.chat_id = $1 AND m.user_id = $2 AND m.left_event IS NULL`,
    [chatId, userId],
  );

export const listParticipants = (db: Db, chatId: ChatId, afterId: number, limit: number): Promise<ParticipantRow[]> =>
  db.all(
    `SELECT ${participantColumns} FROM members m JOIN users u ON u.user_id = m.user_id
     WHERE m.chat_id = $1 AND m.user_id > $2 AND m.left_event IS NULL ORDER BY m.user_id LIMIT $3`,
    [chatId, afterId, limit],
  );

/** Returns a page of the chats that a user is in, by id. */
export const chatsOf = (db: Db, userId: UserId, after: number, limit: number): Promise<ChatId[]> =>
  values<ChatId>(
    db,
    `SELECT chat_id FROM members WHERE user_id = $1 AND left_event IS NULL AND chat_id > $2 ORDER BY chat_id LIMIT $3`,
    [userId, after, limit],
  );

export const countChatsOf = (db: Db, userId: UserId): Promise<number> =>
  number(db, 'SELECT count(*) AS chats FROM members WHERE user_id = $1 AND left_event IS NULL', [userId]);

/** Returns the periods of these users that last, or ended after an event. */
export function membershipPeriods(
  db: Db,
  userIds: readonly UserId[],
  since: number,
): Promise<(MembershipPeriod & { user_id: UserId; chat_id: ChatId })[]> {
  return db.all(
    `SELECT m.user_id, m.chat_id, m.joined_event, m.left_event
     FROM ${db.dialect.rows('$1', { user_id: 'int' }, 'asked')}
     JOIN members m ON m.user_id = asked.user_id AND (m.left_event IS NULL OR m.left_event > $2)`,
    [JSON.stringify(userIds.map((user_id) => ({ user_id }))), since],
  );
}

/** Returns those of the users who are in the chat now. */
export async function presentAmong(db: Db, chatId: ChatId, userIds: readonly UserId[]): Promise<Set<UserId>> {
  return new Set(
    await values<UserId>(
      db,
      `SELECT m.user_id FROM ${db.dialect.rows('$2', { user_id: 'int' }, 'asked')}
     JOIN members m ON m.chat_id = $1 AND m.user_id = asked.user_id AND m.left_event IS NULL`,
      [chatId, JSON.stringify(userIds.map((user_id) => ({ user_id })))],
    ),
  );
}

/** Counts owners who are not disabled. */
export const countOwners = (db: Db, chatId: ChatId): Promise<number> =>
  number(
    db,
    `SELECT count(*) AS owners FROM members m JOIN users u ON u.user_id = m.user_id AND u.disabled_at IS NULL
     WHERE m.chat_id = $1 AND m.role = 'owner' AND m.left_event IS NULL`,
    [chatId],
  );

export const chatsOwnedBy = (db: Db, userId: UserId): Promise<ChatId[]> =>
  values<ChatId>(
    db,
    `SELECT chat_id FROM members WHERE user_id = $1 AND role = 'owner' AND left_event IS NULL ORDER BY chat_id`,
    [userId],
  );

/** Returns the next owner of a chat: an admin before a member, the longest-standing first. */
export const findSuccessor = (db: Db, chatId: ChatId): Promise<{ user_id: UserId; role: Role } | undefined> =>
  db.get(
    `SELECT m.user_id, m.role FROM members m JOIN users u ON u.user_id = m.user_id AND u.disabled_at IS NULL
     WHERE m.chat_id = $1 AND m.left_event IS NULL
     ORDER BY CASE m.role WHEN 'owner' THEN 0 WHEN 'admin' THEN 1 ELSE 2 END, m.joined_event, m.user_id LIMIT 1`,
    [chatId],
  );

export interface Joining {
  readonly user_id: UserId;
  readonly role: Role;
  readonly event_id: EventId;
}

/**
 * Starts membership periods, after their events were appended. Older messages count as read: a newcomer starts with nothing
 * unread.
 */
export async function insertMembers(tx: Tx, chatId: ChatId, joining: readonly Joining[], at: number): Promise<void> {
  await tx.run(
    `INSERT INTO members (chat_id, user_id, joined_event, role, joined_at, last_read_id, joined_message)
     SELECT $1, j.user_id, j.event_id, j.role, $3,
            COALESCE(${newestIn(tx.dialect, '$1')}, 0), ${tx.dialect.lastMessageId}
     FROM ${tx.dialect.rows('$2', { user_id: 'int', role: 'text', event_id: 'int' }, 'j')}`,
    [chatId, JSON.stringify(joining), at],
  );
  await countParticipants(tx, chatId, joining.length);
}

/** Ends a membership period with the event of leaving. */
export async function endMembership(tx: Tx, chatId: ChatId, userId: UserId, eventId: EventId): Promise<void> {
  await tx.run('UPDATE members SET left_event = $3 WHERE chat_id = $1 AND user_id = $2 AND left_event IS NULL', [
    chatId,
    userId,
    eventId,
  ]);
  await countParticipants(tx, chatId, -1);
}

/** Deletes up to `count` periods whose events are all pruned. Returns how many. */
export function prunePeriods(tx: Tx, count: number): Promise<number> {
  const pruned = `SELECT event_id FROM cursors WHERE name = 'pruned'`;
  const ended = `left_event <= (${pruned}) ORDER BY left_event LIMIT $1`;
  return deleteSome(tx, ['members', 'chat_id, user_id, joined_event'], ended, [count]);
}

/** The count is stored: otherwise a list of chats would read every member of each. */
async function countParticipants(tx: Tx, chatId: ChatId, change: number): Promise<void> {
  await tx.run('UPDATE chats SET participant_count = participant_count + $2 WHERE chat_id = $1', [chatId, change]);
}

export async function updateRole(tx: Tx, chatId: ChatId, userId: UserId, role: Role): Promise<void> {
  await tx.run('UPDATE members SET role = $3 WHERE chat_id = $1 AND user_id = $2 AND left_event IS NULL', [
    chatId,
    userId,
    role,
  ]);
}

export interface ReadMark {
  readonly chat_id: ChatId;
  readonly user_id: UserId;
  /** Null: up to the newest message. */
  readonly message_id: number | null;
}

export type ReachedMark = ReadMark & { readonly message_id: MessageId };

/**
 * Moves read markers forward to the last message at or before the given one. Returns those that moved. Rows are updated in
 * one order, to prevent deadlocks.
 */
export function advanceReadMarks(tx: Tx, marks: readonly ReadMark[]): Promise<ReachedMark[]> {
  const columns = { chat_id: 'int', user_id: 'int', message_id: 'int' } as const;
  const reached = newestIn(tx.dialect, 'mark.chat_id', `COALESCE(mark.message_id, ${largestId})`);
  const ordered = [...marks].sort((a, b) => a.chat_id - b.chat_id || a.user_id - b.user_id);
  return tx.all(
    `UPDATE members SET last_read_id = reached.message_id
     FROM (
       SELECT mark.chat_id, mark.user_id, ${reached} AS message_id
       FROM (
         SELECT chat_id, user_id,
                CASE WHEN count(*) = count(message_id) THEN max(message_id) END AS message_id
         FROM ${tx.dialect.rows('$1', columns, 'asked')} GROUP BY chat_id, user_id ORDER BY chat_id, user_id
       ) AS mark
     ) AS reached
     WHERE members.chat_id = reached.chat_id AND members.user_id = reached.user_id AND members.left_event IS NULL
       AND reached.message_id > members.last_read_id
     RETURNING members.chat_id, members.user_id, members.last_read_id AS message_id`,
    [JSON.stringify(ordered)],
  );
}
