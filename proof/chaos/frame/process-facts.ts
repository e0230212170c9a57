import { readdirSync } from 'node:fs';
import { residentBytes } from '../../bench/machine.ts';
import { pause } from '../pause.ts';

/** What a server takes of its machine, as Linux tells. */

export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

export const residentMegabytes = (pid: number): number => Math.round((residentBytes(pid) ?? 0) / 2 ** 20);

/** Waits until a figure has come down to `most`; answers what it is then, or at last. */
export async function untilAtMost(
  most: number,
  look: () => number,
  withinMs: number,
  end: AbortSignal,
): Promise<number> {
  let figure = look();
  for (const until = performance.now() + withinMs; figure > most && performance.now() < until && !end.aborted; ) {
    await pause(200, end);
    figure = look();
  }
  return figure;
}
