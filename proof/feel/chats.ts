import type { Locator, Page } from 'playwright-core';
import { median } from '../harness/report.ts';
import { pause } from '../harness/wait.ts';
import { serveBareList } from './bare.ts';
import { type Figure, quantile } from './figures.ts';
import { takeKeys, watchKeys } from './keys.ts';
import { openBare, race, type ScrollOptions } from './scroll.ts';
import { pxPerSecond } from './scrolling.ts';
import { type Stage, screen, settleMs } from './stage.ts';

const rowPx = 60;

/** Shows and scrolls a long list of chats, and types in the switcher. */
export async function manyChats(stage: Stage, count: number, { rounds, seconds }: ScrollOptions): Promise<Figure[]> {
  await stage.manyChats(count);
  const page = await (await stage.profile(stage.ada)).newPage();
  await recordFirstEntry(page);
  // The first visit compiles the server's bundle, and stores the chats.
  const first = await open(page, stage.url, count);
  const again: Opened[] = [];
  for (let round = 0; round < rounds; round++) {
    await pause(settleMs);
    again.push(await open(page, stage.url, count));
  }
  await using bareServer = await serveBareList(count, [rowPx]);
  const bare = await openBare(stage, bareServer.url, 0);
  const px = Math.min(pxPerSecond * seconds, count * rowPx - screen.height);
  const what = `${count} chats`;
  const figures = await race({ stage, what, page, selector: '.chat-list', bare, rounds, px, direction: -1 });
  const keys = await typeInSwitcher(page);
  return [
    ...figures,
    { what: `${what}: first visit to the first chat`, value: first.firstMs, unit: 'ms' },
    { what: `${what}: first visit to all chats`, value: first.allMs, unit: 'ms' },
    {
      what: `${what}: next visit to all chats`,
      value: median(again.map(({ allMs }) => allMs)),
      unit: 'ms',
      bar: { max: 500 },
    },
    {
      what: `${what}: key in the switcher to the screen, p95`,
      value: quantile(keys, 0.95),
      unit: 'ms',
      bar: { max: 50 },
    },
  ];
}

interface Opened {
  readonly firstMs: number;
  readonly allMs: number;
}

interface Marks {
  readonly firstMs?: number;
  readonly allMs?: number;
}

/** Notes when chats are first on the screen, and when all of them are in the list. */
const recordFirstEntry = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const marks: { firstMs?: number; allMs?: number } = {};
    Object.assign(globalThis, { marks });
    const look = () => {
      const list = document.querySelector('.chat-list ul');
      if (list?.querySelector('.entry')) marks.firstMs ??= performance.now();
      const { allPx } = globalThis as unknown as { allPx?: number };
      if (list && allPx !== undefined && list.clientHeight >= allPx) marks.allMs ??= performance.now();
      if (marks.allMs === undefined) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });

async function open(page: Page, url: string, count: number): Promise<Opened> {
  await page.goto('about:blank');
  await page.goto(url, { waitUntil: 'commit' });
  await page.evaluate((allPx) => Object.assign(globalThis, { allPx }), count * rowPx);
  const handle = await page.waitForFunction(() => {
    const { marks } = globalThis as unknown as { marks: Marks };
    return marks.allMs === undefined ? undefined : marks;
  });
  return (await handle.jsonValue()) as Opened;
}

/** The list may be on the screen before the client listens for keys. */
async function openSwitcher(page: Page, field: Locator): Promise<void> {
  for (let tries = 0; tries < 10 && !(await field.isVisible()); tries++) {
    await page.keyboard.press('Control+k');
    await field.waitFor({ timeout: 3_000 }).catch(() => {});
  }
}

/** Types names of chats. Returns how long each key took until the frame after it was on the screen. */
async function typeInSwitcher(page: Page): Promise<number[]> {
  await page.bringToFront();
  await watchKeys(page, 'input');
  const field = page.getByRole('combobox', { name: 'Name of a chat' });
  for (const name of ['budget 16', 'design 5', 'gar 199']) {
    await openSwitcher(page, field);
    await field.pressSequentially(name, { delay: 30 });
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
  }
  return takeKeys(page);
}
