import { type ChatId, ParleyError, type UserId } from '@parley/contract';
import type { Db, Tx } from './engine.ts';
import { logTip, readCursor, wasEverMember } from './events.ts';

/** Refuses to tell of a chat that somebody never was in. */
export async function requireEverMember(db: Db, chatId: ChatId, userId: UserId): Promise<void> {
  if (await wasEverMember(db, chatId, userId)) return;
  throw new ParleyError('not_found', 'There is no such chat, or you may not see it.');
}

/**
 * Refuses a cursor that this log has never come to. It may lie beyond the last event: ids are also taken for what is then refused,
 * and whoever follows the log passes them. One that lies in a gap was given by a server that has been replaced by its backup.
 */
export async function requireReached(db: Db, after: number): Promise<void> {
  const row = await db.get<{ last: number; gaps: number }>(
    `SELECT ${db.dialect.lastEventId} AS last,
            (SELECT count(*) FROM log_gaps WHERE after_event < $1 AND up_to > $1) AS gaps`,
    after,
  );
  if (after <= (row?.last ?? 0) && !row?.gaps) return;
  throw new ParleyError('cursor_expired', `This cursor is not of this log. ${anew}`);
}

/**
 * The log goes on after ids that others have used meanwhile. A gap after which nothing has happened yet becomes wider. `reached` is how
 * far the log was known to tell everything, where that is beyond its last event.
 */
export async function noteGap(tx: Tx, reached = 0): Promise<void> {
  await tx.run(
    `INSERT INTO log_gaps (after_event, up_to) SELECT $1, ${tx.dialect.lastEventId} WHERE true
     ON CONFLICT (after_event) DO UPDATE SET up_to = excluded.up_to`,
    Math.max(reached, await logTip(tx)),
  );
}

/** How many ids were taken after one event and up to another: hardly more than there are events. Those of gaps never were. */
export async function idsBetween(db: Db, after: number, upTo: number): Promise<number> {
  if (after === upTo) return 0;
  const row = await db.get<{ missing: number | null }>(
    `SELECT CAST(sum(up_to - after_event) AS bigint) AS missing FROM log_gaps WHERE after_event >= $1 AND up_to < $2`,
    after,
    upTo,
  );
  return upTo - after - (row?.missing ?? 0);
}

/** Refuses a cursor whose next events are dropped. To be asked after they were read: what was dropped meanwhile must not pass for nothing. */
export async function requireKept(db: Db, after: number): Promise<void> {
  if (after === 0 || after >= (await readCursor(db, 'pruned'))) return;
  throw new ParleyError('cursor_expired', `The events after this cursor are no longer kept. ${anew}`);
}

const anew = 'Fetch what you show anew and begin without a cursor, or read all that is kept from 0 on.';
