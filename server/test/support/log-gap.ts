import { readCounters, setCounter } from '../../backup/counters.ts';
import type { Engine } from '../../store/engine/engine.ts';
import { noteGap } from '../../store/log/log-cursor.ts';

/** About as far as ids jump when a backup is restored. */
const gap = 20_000_000_000_000;

/** Moves all ids far ahead, as a restore does. */
export async function leaveGap(engine: Engine): Promise<void> {
  await engine.write(async (tx) => {
    for (const counter of await readCounters(tx)) await setCounter(tx, counter, counter.last + gap);
    await noteGap(tx);
  });
}
