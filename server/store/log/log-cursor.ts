import { type ChatId, ParleyError, type UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { exists, number } from '../engine/query.ts';
import { logTip, readCursor } from './events.ts';

/** Fails with `not_found` if the user never was in the chat. */
export async function requireEverMember(db: Db, chatId: ChatId, userId: UserId): Promise<void> {
  if (await exists(db, 'SELECT 1 AS found FROM members WHERE chat_id = $1 AND user_id = $2 LIMIT 1', [chatId, userId]))
    return;
  throw new ParleyError('not_found', 'There is no such chat, or you may not see it.');
}

/**
 * Fails with `cursor_expired` if the log never reached the cursor. A cursor may be beyond the last event, because ids are
 * also taken for writes that are then refused. One inside a gap came from a server that was replaced by its backup.
 */
export async function requireReached(db: Db, after: number): Promise<void> {
  const row = await db.get<{ last: number; gaps: number }>(
    `SELECT ${db.dialect.lastEventId} AS last,
            (SELECT count(*) FROM log_gaps WHERE after_event < $1 AND up_to > $1) AS gaps`,
    [after],
  );
  if (after <= (row?.last ?? 0) && !row?.gaps) return;
  throw new ParleyError('cursor_expired', `This cursor belongs to another log. ${restart}`);
}

/**
 * Records that the ids up to the last one taken are a gap: another server may have used them. A gap without an event after
 * it becomes wider. `reached` is the last id known to be complete, if that is beyond the last event.
 */
export async function noteGap(tx: Tx, reached = 0): Promise<void> {
  await tx.run(
    `INSERT INTO log_gaps (after_event, up_to) SELECT $1, ${tx.dialect.lastEventId} WHERE true
     ON CONFLICT (after_event) DO UPDATE SET up_to = excluded.up_to`,
    [Math.max(reached, await logTip(tx))],
  );
}

/** Returns how many ids were taken in a range, without gaps. That is hardly more than there are events. */
export async function idsBetween(db: Db, after: number, upTo: number): Promise<number> {
  if (after === upTo) return 0;
  const missing = await number(
    db,
    `SELECT CAST(sum(up_to - after_event) AS bigint) AS missing FROM log_gaps WHERE after_event >= $1 AND up_to < $2`,
    [after, upTo],
  );
  return upTo - after - missing;
}

/**
 * Fails with `cursor_expired` if the events after the cursor are pruned. Call it after they were read: events that were
 * pruned meanwhile must not be skipped silently.
 */
export async function requireKept(db: Db, after: number): Promise<void> {
  if (after === 0 || after >= (await readCursor(db, 'pruned'))) return;
  throw new ParleyError('cursor_expired', `Events after this cursor are deleted. ${restart}`);
}

const restart = 'Load the state and start without a cursor; 0 reads all events that are kept.';
