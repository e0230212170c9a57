import type { Page } from 'playwright-core';
import { Receiver } from '../harness/receiver.ts';
import { makeGroup } from '../harness/stage.ts';
import { pause } from '../harness/wait.ts';
import { type Figure, quantile } from './figures.ts';
import { type Stage, settleMs } from './stage.ts';

/** Deliveries that the webhook has before. */
const past = 200;

/** Sends messages, and waits for the row of each delivery on the page of its webhook. */
export async function watchConsole(stage: Stage, trips: number): Promise<Figure[]> {
  await using receiver = new Receiver();
  await receiver.open();
  const chat = await makeGroup(stage.ada, [stage.bob], 'Deliveries');
  const hook = { url: receiver.url, events: ['new_message'], secret: 'a secret of our own' };
  const { webhook_id } = (await stage.ada.ok('webhooks.register', hook)).webhook;
  const say = (content: string) => stage.bob.ok('messages.send_message', { chat_id: chat, content });
  for (let i = 0; i < past; i++) await say(`past ${i}`);
  const page = await (await stage.profile(stage.ada, await stage.newBrowser())).newPage();
  await page.goto(`${stage.url}/console/webhooks/${webhook_id}`);
  await page.locator('[data-delivery]').first().waitFor();
  await pause(settleMs);
  const times: number[] = [];
  const warmUp = 5;
  for (let trip = 0; trip < trips + warmUp; trip++) {
    const shown = newestShownAt(page);
    await say(`trip ${trip}`);
    const shownAtMs = await shown;
    const receivedAtMs = receiver.arrivals.at(-1)?.receivedAtMs ?? Number.NaN;
    if (trip >= warmUp) times.push(shownAtMs - (performance.timeOrigin + receivedAtMs));
    await pause(30);
  }
  const p50 = quantile(times, 0.5).toFixed(0);
  return [
    {
      what: `attempt to its row in the console, p95 of ${trips}`,
      value: quantile(times, 0.95),
      unit: 'ms',
      bar: { max: 300 },
      notes: [`p50 ${p50} ms, longest ${Math.max(...times).toFixed(0)} ms`],
    },
  ];
}

/** Returns the time at which the frame with another newest delivery, which is delivered, is on the screen. */
const newestShownAt = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const newest = () => document.querySelector<HTMLElement>('[data-delivery]');
    const before = newest()?.dataset.delivery;
    return new Promise<number>((resolve) => {
      const look = () => {
        const row = newest();
        if (!row || row.dataset.delivery === before || !row.querySelector('.pill.delivered')) return;
        observer.disconnect();
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => resolve(performance.timeOrigin + performance.now());
          port2.postMessage(undefined);
        });
      };
      const observer = new MutationObserver(look);
      observer.observe(document.body, { childList: true, subtree: true, attributes: true, characterData: true });
    });
  });
