import { hangMs } from '../hang.ts';
import { pause } from '../pause.ts';
import type { Scene } from './trial.ts';

const succeeded = (answers: Scene['calls']['answers'], from: number) =>
  answers.slice(from).filter(({ outcome }) => outcome === 200).length;

/** Calls that succeed in a stretch of this length from now on. That at least one does at last has to hold in any case. */
export async function answeredIn({ calls, tally }: Scene, ms: number, end: AbortSignal): Promise<number> {
  const from = calls.answers.length;
  await pause(ms, end);
  const count = succeeded(calls.answers, from);
  for (const until = performance.now() + hangMs; succeeded(calls.answers, from) === 0; await pause(20, end)) {
    if (end.aborted) break;
    if (performance.now() < until) continue;
    tally.breach(`no call succeeded within ${(ms + hangMs) / 1_000} s`);
    break;
  }
  return count;
}
