import type { Page } from 'playwright-core';

/**
 * Notes for each key how long it took from this event until the frame after it was made. The frame is made in the task that calls
 * back, so the first task that follows ends it. A message between ports would not do: a trace of Chromium showed one that had to wait
 * for several frames after a key.
 */
export const watchKeys = (page: Page, event: 'keydown' | 'input'): Promise<unknown> =>
  page.evaluate(async (event) => {
    const keys: number[] = [];
    Object.assign(globalThis, { keys });
    const { scheduler } = globalThis as unknown as Scheduled;
    const isMade = () =>
      new Promise<void>((resolve) => {
        setTimeout(resolve);
        void scheduler.postTask(resolve, { priority: 'user-blocking' });
      });
    const note = async ({ timeStamp }: Event) => {
      await new Promise(requestAnimationFrame);
      await isMade();
      keys.push(performance.now() - timeStamp);
    };
    // The first call compiles it, which is no part of the first key.
    await note(new Event(event));
    keys.pop();
    addEventListener(event, note, { capture: true });
  }, event);

interface Scheduled {
  readonly scheduler: { postTask(work: () => void, options: { priority: 'user-blocking' }): Promise<void> };
}

/** Returns the milliseconds of each key since the last call. */
export const takeKeys = (page: Page): Promise<number[]> =>
  page.evaluate(() => (globalThis as unknown as { keys: number[] }).keys.splice(0));
