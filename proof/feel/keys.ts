import type { Page } from 'playwright-core';

/**
 * Notes for each key how long it took from this event until the frame after it was made. The frame is made in the task that calls
 * back, so the first task that follows ends it. Which one that is, the browser decides: a trace of Chromium showed a message that had
 * to wait for several frames after a key.
 */
export const watchKeys = (page: Page, event: 'keydown' | 'input'): Promise<unknown> =>
  page.evaluate((event) => {
    const keys: number[] = [];
    Object.assign(globalThis, { keys });
    const isMade = () =>
      new Promise<unknown>((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = resolve;
        port2.postMessage(undefined);
        setTimeout(resolve);
        void (globalThis as unknown as Scheduled).scheduler.postTask(() => resolve(undefined), {
          priority: 'user-blocking',
        });
      });
    addEventListener(
      event,
      ({ timeStamp }) => {
        requestAnimationFrame(async () => {
          await isMade();
          keys.push(performance.now() - timeStamp);
        });
      },
      { capture: true },
    );
  }, event);

interface Scheduled {
  readonly scheduler: { postTask(work: () => void, options: { priority: 'user-blocking' }): Promise<void> };
}

/** Returns the milliseconds of each key since the last call. */
export const takeKeys = (page: Page): Promise<number[]> =>
  page.evaluate(() => (globalThis as unknown as { keys: number[] }).keys.splice(0));
