import type { Tx } from '../store/engine/engine.ts';
import { readCounters, setCounter } from './counters.ts';
import { BackupError } from './failure.ts';
import type { Manifest } from './manifest.ts';

/** More than any server gives out of any kind. */
const idsPerSecond = 100_000;

/** Ids of restored servers grow with the time since then. */
const epoch = Date.UTC(2020, 0, 1);

/** How far ids jump if a clock is wrong. */
const wrongClockJump = 1_000_000_000;

/** Half of what a number can hold. At this rate it lasts for 1,400 years. */
const maxId = 2 ** 52;

const idsWithin = (ms: number) => Math.ceil((ms * idsPerSecond) / 1_000);

/**
 * Returns the id after which a restored server continues. It depends only on the time of the restore and grows faster than
 * any server counts. So a later restore starts above all ids that earlier ones have given out, whatever backup they came
 * from. If the ids of the backup are ahead of the time, a clock is wrong: then the backup is the base.
 */
export function idsAfter(last: number, beganAt: number, now: number): number {
  const byTime = idsWithin(now - epoch);
  const byBackup = last + idsWithin(Math.max(0, now - beganAt));
  return byBackup <= byTime ? byTime : byBackup + wrongClockJump;
}

/**
 * Moves all counters ahead, even those at 0: ids may have been given out since the backup. Skips those in `done` and
 * returns the names of all.
 */
export async function jumpAhead(
  tx: Tx,
  { last_ids, began_at }: Manifest,
  now: number,
  done: ReadonlySet<string> = new Set(),
): Promise<Set<string>> {
  const counters = await readCounters(tx);
  for (const counter of counters.filter(({ name }) => !done.has(name))) {
    const { name, last } = counter;
    const from = idsAfter(Math.max(last, last_ids[name] ?? 0), Date.parse(began_at), now);
    if (from > maxId) {
      throw new BackupError(
        `The ids of ${name} would continue after ${from}, which leaves too little room. Check the clock of this machine.`,
      );
    }
    await setCounter(tx, counter, from);
  }
  return new Set(counters.map(({ name }) => name));
}
