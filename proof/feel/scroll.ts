import type { Page } from 'playwright-core';
import { median } from '../harness/report.ts';
import { serveBareList } from './bare.ts';
import type { Figure } from './figures.ts';
import { measureScroll, pxPerSecond, type Scrolled, scrollBy } from './scrolling.ts';
import { type Stage, screen } from './stage.ts';

const minFrames = { min: 0.9 };
const maxWorkMs = { max: 8 };

/** A list under test, and a bare list with rows of the same heights. */
interface Race {
  readonly stage: Stage;
  readonly what: string;
  readonly page: Page;
  readonly selector: string;
  readonly bare: Page;
  readonly rounds: number;
  readonly px: number;
  /** Which way the rows continue. */
  readonly direction: 1 | -1;
}

/** Scrolls the list and the bare one in turn, there and back. */
export async function race({ stage, what, page, selector, bare, rounds, px, direction }: Race): Promise<Figure[]> {
  const ratios: number[] = [];
  const own: Scrolled[] = [];
  const others: Scrolled[] = [];
  for (let round = 0; round < rounds * 2; round++) {
    const way = direction * (round % 2 === 0 ? 1 : -1);
    const other = await measureScroll(stage.browser, bare, '[role=log]', way * px);
    const one = await measureScroll(stage.browser, page, selector, way * px);
    others.push(other);
    own.push(one);
    ratios.push(one.framesPerSecond / other.framesPerSecond);
  }
  const each = (of: (one: Scrolled) => number) => own.map((one) => of(one).toFixed(1)).join(' ');
  const bareWork = median(others.map(({ workMs }) => workMs.p95)).toFixed(1);
  return [
    {
      what: `${what}: frames, in terms of a bare list`,
      value: median(ratios),
      unit: '',
      bar: minFrames,
      notes: [
        `rounds ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}`,
        `frames/s ${each((one) => one.framesPerSecond)}`,
      ],
    },
    {
      what: `${what}: work per frame, p95`,
      value: median(own.map(({ workMs }) => workMs.p95)),
      unit: 'ms',
      bar: maxWorkMs,
      notes: [
        `rounds ${each((one) => one.workMs.p95)}`,
        `median ${each((one) => one.workMs.p50)}`,
        `bare list ${bareWork}`,
      ],
    },
  ];
}

/** Opens the bare list at one of its rows: the first or the last one. */
export const openBare = async (stage: Stage, url: string, row: number): Promise<Page> => {
  const page = await (await stage.browser.newContext({ viewport: screen })).newPage();
  await page.goto(row === 0 ? url : `${url}#end`);
  await page.getByText(`Row ${row}`, { exact: true }).waitFor();
  return page;
};

const heightsOf = (page: Page, selector: string): Promise<number[]> =>
  page.locator(selector).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));

const firstShown = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const top = document.querySelector('.message-list')?.getBoundingClientRect().top ?? 0;
    const shown = [...document.querySelectorAll('[data-message]')].find(
      (one) => one.getBoundingClientRect().bottom > top,
    );
    return Number(shown?.getAttribute('data-message'));
  });

export interface ScrollOptions {
  readonly messages: number;
  readonly rounds: number;
  readonly seconds: number;
}

/** Scrolls through a long chat. */
export async function scrollMessages(stage: Stage, { messages, rounds, seconds }: ScrollOptions): Promise<Figure[]> {
  const chat = await stage.longChat(messages);
  const page = await (await stage.profile(stage.ada)).newPage();
  await page.goto(`${stage.url}/chats/${chat}`);
  await page.getByText('The last one').last().waitFor();
  // The first scroll compiles the client, and shows which heights there are.
  const seen: number[] = [];
  for (let step = 0; step < 8; step++) {
    await scrollBy(page, '.message-list', 2_000);
    seen.push(...(await heightsOf(page, '.message-list [data-message]')));
  }
  await using bareServer = await serveBareList(messages, seen);
  const bare = await openBare(stage, bareServer.url, messages - 1);
  await scrollBy(bare, '[role=log]', 10_000);
  const px = pxPerSecond * seconds;
  const from = await firstShown(page);
  await scrollBy(page, '.message-list', px);
  const rows = from - (await firstShown(page));
  const meanHeight = seen.reduce((sum, height) => sum + height, 0) / seen.length;
  const figures = await race({
    stage,
    what: 'messages',
    page,
    selector: '.message-list',
    bare,
    rounds,
    px,
    direction: 1,
  });
  return [
    ...figures,
    {
      what: 'messages: distance, in terms of the scroll',
      value: (rows * meanHeight) / px,
      unit: '',
      bar: { min: 0.9 },
    },
  ];
}
