import { readCounters, setCounter } from '../store/counters.ts';
import type { Tx } from '../store/engine.ts';
import type { Manifest } from './manifest.ts';

/** More than any server gives out in a second, of anything. */
const idsPerSecond = 100_000;

/** However little time has passed, or seems to: two machines do not have the same clock. */
const leastJump = 1_000_000_000;

/** How far ids go ahead, so that none which was given out after the backup began is ever given to something else. */
export const jumpAfter = (beganAt: number, now: number): number =>
  Math.max(leastJump, Math.ceil((now - beganAt) / 1_000) * idsPerSecond);

/**
 * Every kind of id, also those of which none was given out when the backup was made: some may have been since. Answers which
 * there are; those in `done` are left alone.
 */
export async function jumpAhead(
  tx: Tx,
  { last_ids, began_at }: Manifest,
  now: number,
  done: ReadonlySet<string> = new Set(),
): Promise<Set<string>> {
  const jump = jumpAfter(Date.parse(began_at), now);
  const counters = await readCounters(tx);
  for (const { name, last } of counters.filter((counter) => !done.has(counter.name))) {
    await setCounter(tx, { name, last: Math.max(last, last_ids[name] ?? 0) + jump });
  }
  return new Set(counters.map(({ name }) => name));
}
