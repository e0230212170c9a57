import { setTimeout } from 'node:timers/promises';

/** Only catches hangs: a busy machine may take many times as long as an idle one. */
export const hangMs = 90_000;

/** Waits for `ms`, or until the signal fires. */
export async function pause(ms: number, end?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, end && { signal: end }).catch(() => {});
}

export interface WaitOptions {
  readonly end?: AbortSignal;
  readonly ms?: number;
  readonly everyMs?: number;
}

/** Polls until the condition holds. Returns false if the time is over or the signal fires before. */
export async function waitUntil(
  isMet: () => boolean | Promise<boolean>,
  { end, ms = hangMs, everyMs = 20 }: WaitOptions = {},
): Promise<boolean> {
  for (const deadline = performance.now() + ms; !end?.aborted; await pause(everyMs, end)) {
    if (await isMet()) return true;
    if (performance.now() > deadline) return false;
  }
  return false;
}
