import { hangMs, pause, waitUntil } from '../harness/wait.ts';
import type { Scene } from './scenario.ts';

/** Returns the number of calls that succeed in the next `ms`. It is a breach if none does for long. */
export async function successesWithin({ calls, tally }: Scene, ms: number, end: AbortSignal): Promise<number> {
  const from = calls.answers.length;
  const successes = () => calls.answers.slice(from).filter(({ outcome }) => outcome === 200).length;
  await pause(ms, end);
  const count = successes();
  const hasSucceeded = await waitUntil(() => successes() > 0, { end });
  if (!hasSucceeded && !end.aborted) tally.breach(`no call succeeded within ${(ms + hangMs) / 1_000} s`);
  return count;
}
