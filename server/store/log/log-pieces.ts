import type { Db } from '../engine/engine.ts';
import { value } from '../engine/query.ts';

/** A range of event ids: above `after` and up to `end`. */
export interface Piece {
  readonly after: number;
  readonly end: number;
}

/**
 * Returns the next range with at most `maxEvents` events, and at least one if there is one up to `upTo`. It starts at an
 * event and not at an id, because a restored log may have a gap of any width: a search by ids would never end.
 */
export async function nextPiece(db: Db, after: number, upTo: number, maxEvents: number): Promise<Piece> {
  if (upTo - after <= maxEvents) return { after, end: upTo };
  const first = await value<number | null>(db, 'SELECT min(event_id) AS first FROM events WHERE event_id > $1', [
    after,
  ]);
  const before = Math.min(upTo, (first ?? upTo) - 1);
  return { after: before, end: Math.min(upTo, before + maxEvents) };
}
