import type { ChatId, Notify, UserId } from '@parley/contract';
import type { Tx } from '../engine/engine.ts';

/** The choices of a participant for a chat. They end with the membership. */
export interface Preferences {
  readonly notify: Notify;
  readonly muted_until: number | null;
  readonly is_archived: boolean;
  readonly is_pinned: boolean;
}

/** The columns of `members m`, or the defaults for a user who is not a participant. */
export const preferenceColumns = `COALESCE(m.notify, 'all') AS notify, m.muted_until, m.is_archived, m.is_pinned`;

export async function updatePreferences(tx: Tx, chatId: ChatId, userId: UserId, to: Preferences): Promise<void> {
  await tx.run(
    `UPDATE members SET notify = $3, muted_until = $4, is_archived = $5, is_pinned = $6
     WHERE chat_id = $1 AND user_id = $2 AND left_event IS NULL`,
    [chatId, userId, to.notify, to.muted_until, to.is_archived ? 1 : 0, to.is_pinned ? 1 : 0],
  );
}
