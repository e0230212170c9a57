import { type ChatId, ParleyError, type UserId } from '@parley/contract';
import type { Db } from './engine.ts';
import { readCursor, wasEverMember } from './events.ts';

/** Refuses to tell of a chat that somebody never was in. */
export async function requireEverMember(db: Db, chatId: ChatId, userId: UserId): Promise<void> {
  if (await wasEverMember(db, chatId, userId)) return;
  throw new ParleyError('not_found', 'There is no such chat, or you may not see it.');
}

/**
 * Refuses a cursor that this log has never come to. It may lie beyond the last event: ids are also taken for what is then refused,
 * and whoever follows the log passes them.
 */
export async function requireReached(db: Db, after: number): Promise<void> {
  const row = await db.get<{ last: number }>(`SELECT ${db.dialect.lastEventId} AS last`);
  if (after > (row?.last ?? 0)) throw new ParleyError('cursor_expired', `This cursor is not of this log. ${anew}`);
}

/** Refuses a cursor whose next events are dropped. To be asked after they were read: what was dropped meanwhile must not pass for nothing. */
export async function requireKept(db: Db, after: number): Promise<void> {
  if (after === 0 || after >= (await readCursor(db, 'pruned'))) return;
  throw new ParleyError('cursor_expired', `The events after this cursor are no longer kept. ${anew}`);
}

const anew = 'Fetch what you show anew and begin without a cursor, or read all that is kept from 0 on.';
