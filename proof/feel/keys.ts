import type { Page } from 'playwright-core';

/** Notes for each key how long it took from this event until the frame after it was made. */
export const watchKeys = (page: Page, event: 'keydown' | 'input'): Promise<unknown> =>
  page.evaluate((event) => {
    const keys: number[] = [];
    Object.assign(globalThis, { keys });
    addEventListener(
      event,
      ({ timeStamp }) => {
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => keys.push(performance.now() - timeStamp);
          port2.postMessage(undefined);
        });
      },
      { capture: true },
    );
  }, event);

/** Returns the milliseconds of each key since the last call. */
export const takeKeys = (page: Page): Promise<number[]> =>
  page.evaluate(() => (globalThis as unknown as { keys: number[] }).keys.splice(0));
