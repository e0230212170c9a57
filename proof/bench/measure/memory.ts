import { residentBytes } from '../machine.ts';
import type { Outcome } from '../outcome.ts';

/** What a server's process has in memory now. */
export function memoryOf(pid: number, what: string, bar: number, notes: readonly string[] = []): Outcome {
  const resident = residentBytes(pid);
  if (resident === undefined) return { kind: 'skipped', what, why: 'only Linux tells it' };
  return { kind: 'figure', what, value: resident / 1e6, unit: 'MB', bar, notes };
}
