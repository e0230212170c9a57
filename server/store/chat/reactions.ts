import type { ChatId, EventId, MessageId, Reaction, UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { exists, rowReader, values } from '../engine/query.ts';
import { extraBits } from './messages.ts';

interface ReactionRow {
  readonly message_id: MessageId;
  readonly emoji: string;
  readonly total: number;
  readonly is_own: boolean;
}

const reactionRows = rowReader<ReactionRow>('is_own');

interface Place {
  readonly chat_id: ChatId;
  readonly message_id: MessageId;
}

/** Returns the reactions to these messages, with `reacted` set for one user. */
export async function reactionsTo(
  db: Db,
  messages: readonly Place[],
  userId: UserId,
): Promise<Map<MessageId, Reaction[]>> {
  const rows = await reactionRows.all(
    db,
    `SELECT r.message_id, r.emoji, count(*) AS total, max(CASE WHEN r.user_id = $2 THEN 1 ELSE 0 END) AS is_own
     FROM ${db.dialect.rows('$1', { chat_id: 'int', message_id: 'int' }, 'asked')}
     JOIN reactions r ON r.chat_id = asked.chat_id AND r.message_id = asked.message_id
     GROUP BY r.message_id, r.emoji ORDER BY r.message_id, min(r.event_id)`,
    [JSON.stringify(messages.map(({ chat_id, message_id }) => ({ chat_id, message_id }))), userId],
  );
  const byMessage = new Map<MessageId, Reaction[]>();
  for (const row of rows) {
    const reaction = { emoji: row.emoji, count: row.total, reacted: row.is_own };
    const list = byMessage.get(row.message_id);
    if (list) list.push(reaction);
    else byMessage.set(row.message_id, [reaction]);
  }
  return byMessage;
}

/** Returns the users who reacted with an emoji, by id. */
export const usersWhoReacted = (
  db: Db,
  { chat_id, message_id }: Place,
  emoji: string,
  afterId: number,
  limit: number,
): Promise<UserId[]> =>
  values<UserId>(
    db,
    `SELECT user_id FROM reactions
     WHERE chat_id = $1 AND message_id = $2 AND emoji = $3 AND user_id > $4 ORDER BY user_id LIMIT $5`,
    [chat_id, message_id, emoji, afterId, limit],
  );

interface ReactionKey extends Place {
  readonly emoji: string;
  readonly user_id: UserId;
}

export const hasReaction = (db: Db, { chat_id, message_id, emoji, user_id }: ReactionKey): Promise<boolean> =>
  exists(
    db,
    'SELECT 1 AS found FROM reactions WHERE chat_id = $1 AND message_id = $2 AND emoji = $3 AND user_id = $4',
    [chat_id, message_id, emoji, user_id],
  );

export async function insertReaction(tx: Tx, key: ReactionKey, eventId: EventId): Promise<void> {
  await tx.run('INSERT INTO reactions (chat_id, message_id, emoji, user_id, event_id) VALUES ($1, $2, $3, $4, $5)', [
    key.chat_id,
    key.message_id,
    key.emoji,
    key.user_id,
    eventId,
  ]);
  await tx.run(`UPDATE messages SET extras = extras | ${extraBits.reactions} WHERE chat_id = $1 AND message_id = $2`, [
    key.chat_id,
    key.message_id,
  ]);
}

export async function deleteReaction(tx: Tx, { chat_id, message_id, emoji, user_id }: ReactionKey): Promise<void> {
  await tx.run('DELETE FROM reactions WHERE chat_id = $1 AND message_id = $2 AND emoji = $3 AND user_id = $4', [
    chat_id,
    message_id,
    emoji,
    user_id,
  ]);
}

export async function deleteReactionsTo(tx: Tx, chatId: ChatId, messageId: MessageId): Promise<void> {
  await tx.run('DELETE FROM reactions WHERE chat_id = $1 AND message_id = $2', [chatId, messageId]);
}
