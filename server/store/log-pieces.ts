import type { Db } from './engine.ts';

/** A piece of the log: what there is after one id and up to another. */
export interface Piece {
  readonly after: number;
  readonly end: number;
}

/**
 * The next piece of the log that is gone through at once. It holds no more than `most` events, and at least one where there is one
 * up to `upTo`. So it begins at an event and not at an id: a log that was restored goes on after a gap of any width, and whoever
 * went from id to id would not come to its end.
 */
export async function nextPiece(db: Db, after: number, upTo: number, most: number): Promise<Piece> {
  if (upTo - after <= most) return { after, end: upTo };
  const row = await db.get<{ first: number | null }>(
    'SELECT min(event_id) AS first FROM events WHERE event_id > $1',
    after,
  );
  const before = Math.min(upTo, (row?.first ?? upTo) - 1);
  return { after: before, end: Math.min(upTo, before + most) };
}
