import type { Page } from 'playwright-core';
import type { Client } from '../../server/test/support/client.ts';
import { makeGroup } from '../harness/stage.ts';
import { pause } from '../harness/wait.ts';
import { type Figure, quantile } from './figures.ts';
import type { Stage } from './stage.ts';

/** Types messages in one browser, and waits for each on the screen of another. */
export async function deliver(stage: Stage, trips: number): Promise<Figure[]> {
  const chat = await makeGroup(stage.ada, [stage.bob], 'Delivery');
  const open = async (who: Client): Promise<Page> => {
    const page = await (await stage.profile(who, await stage.newBrowser())).newPage();
    await page.goto(`${stage.url}/chats/${chat}`);
    await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
    return page;
  };
  const [hers, his] = [await open(stage.ada), await open(stage.bob)];
  await hers.evaluate(() => {
    addEventListener(
      'keydown',
      (event) => {
        const { key, timeStamp } = event as KeyboardEvent;
        if (key === 'Enter') Object.assign(globalThis, { enteredAt: performance.timeOrigin + timeStamp });
      },
      { capture: true },
    );
  });
  const field = hers.getByRole('textbox', { name: 'Message', exact: true });
  const times: number[] = [];
  const warmUp = 5;
  for (let trip = 0; trip < trips + warmUp; trip++) {
    const text = `trip ${trip}.`;
    const shown = shownAt(his, text);
    await field.pressSequentially(text);
    await field.press('Enter');
    const sent = await hers.evaluate(() => (globalThis as unknown as { enteredAt: number }).enteredAt);
    const ms = (await shown) - sent;
    if (trip >= warmUp) times.push(ms);
    // People pause between messages.
    await pause(30);
  }
  const p50 = quantile(times, 0.5).toFixed(0);
  return [
    {
      what: `Enter to the other screen, p95 of ${trips}`,
      value: quantile(times, 0.95),
      unit: 'ms',
      bar: { max: 150 },
      notes: [`p50 ${p50} ms, longest ${Math.max(...times).toFixed(0)} ms`],
    },
  ];
}

/** Returns the time at which the frame with a text is on the screen. The clocks of both browsers are that of this machine. */
const shownAt = (page: Page, text: string): Promise<number> =>
  page.evaluate((text) => {
    const list = document.querySelector('.chat-view');
    return new Promise<number>((resolve) => {
      const look = () => {
        if (![...document.querySelectorAll('.message .markdown')].some((one) => one.textContent?.trim() === text))
          return;
        observer.disconnect();
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => resolve(performance.timeOrigin + performance.now());
          port2.postMessage(undefined);
        });
      };
      const observer = new MutationObserver(look);
      if (list) observer.observe(list, { childList: true, subtree: true, characterData: true });
    });
  }, text);
