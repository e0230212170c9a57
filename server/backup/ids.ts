import type { Tx } from '../store/engine.ts';
import { readCounters, setCounter } from './counters.ts';
import { BackupError } from './failure.ts';
import type { Manifest } from './manifest.ts';

/** More than any server gives out in a second, of anything. */
const idsPerSecond = 100_000;

/** The ids of restored servers follow the time since then. */
const beginning = Date.UTC(2020, 0, 1);

/** How far ids go ahead where a clock is wrong and the time tells nothing. */
const jump = 1_000_000_000;

/** Half of what a number can hold, which at this pace is fourteen centuries of ids. */
const mostId = 2 ** 52;

const idsWithin = (ms: number) => Math.ceil((ms * idsPerSecond) / 1_000);

/**
 * What ids go on from after a restore. It rises with the time of the restore faster than any server counts, and depends on nothing
 * else: so a server that is restored later begins above everything that those before it have given out, whichever backups they
 * came from and went into. A backup that is ahead of the time, or will have been by now, shows that a clock is wrong; then it is
 * the backup that is counted from.
 */
export function idsAfter(last: number, beganAt: number, now: number): number {
  const byTime = idsWithin(now - beginning);
  const byBackup = last + idsWithin(Math.max(0, now - beganAt));
  return byBackup <= byTime ? byTime : byBackup + jump;
}

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
  const counters = await readCounters(tx);
  for (const { name, last } of counters.filter((counter) => !done.has(counter.name))) {
    const from = idsAfter(Math.max(last, last_ids[name] ?? 0), Date.parse(began_at), now);
    if (from > mostId) {
      throw new BackupError(
        `The ids of ${name} would go on from ${from}, which leaves no room for more. Is the clock of this machine right?`,
      );
    }
    await setCounter(tx, { name, last: from });
  }
  return new Set(counters.map(({ name }) => name));
}
