import { readCounters, setCounter } from '../../backup/counters.ts';
import type { Engine } from '../../store/engine/engine.ts';
import { noteGap } from '../../store/log/log-cursor.ts';

/** About as far as ids go ahead when a backup is restored. */
const gap = 20_000_000_000_000;

/** Every id from now on lies far ahead, as after a restore. */
export async function leaveGap(engine: Engine): Promise<void> {
  await engine.write(async (tx) => {
    for (const { name, last } of await readCounters(tx)) await setCounter(tx, { name, last: last + gap });
    await noteGap(tx);
  });
}
