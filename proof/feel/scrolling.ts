import type { Browser, CDPSession, Page } from 'playwright-core';
import { quantile } from './figures.ts';

export const pxPerSecond = 4_000;

export interface Scrolled {
  /** Frames that the main thread made, for each second. */
  readonly framesPerSecond: number;
  /** Processor time of the main thread between two frames. Waits for a core that others use do not count. */
  readonly workMs: { readonly p50: number; readonly p95: number };
}

/** Scrolls what is in the middle of an element, as a wheel does. */
async function scroll(page: Page, cdp: CDPSession, selector: string, px: number): Promise<void> {
  const box = await page.locator(selector).boundingBox();
  if (!box) throw new Error(`nothing to scroll at ${selector}`);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await cdp.send('Input.synthesizeScrollGesture', {
    x,
    y,
    yDistance: px,
    speed: pxPerSecond,
    gestureSourceType: 'mouse',
  });
}

/** Scrolls without measuring. A positive distance leads to earlier rows. */
export async function scrollBy(page: Page, selector: string, px: number): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  await scroll(page, cdp, selector, px);
  await cdp.detach();
}

/** Scrolls, and reads from the trace of the browser what that took. */
export async function measureScroll(browser: Browser, page: Page, selector: string, px: number): Promise<Scrolled> {
  const cdp = await page.context().newCDPSession(page);
  await page.bringToFront();
  const main = await traced(browser, page, () => scroll(page, cdp, selector, px));
  await cdp.detach();
  return scrolledIn(main);
}

/** No others: without `-*`, the browser records all that are on by default, which takes a fifth of the time that is measured. */
const categories = ['-*', 'disabled-by-default-devtools.timeline', 'disabled-by-default-devtools.timeline.frame'];

/** Does something, and returns what the main thread of the page did meanwhile. */
async function traced(browser: Browser, page: Page, work: () => Promise<unknown>): Promise<MainThread> {
  await browser.startTracing(page, { categories });
  await work();
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: readonly TraceEvent[] };
  return mainThreadIn(trace.traceEvents);
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds. */
  readonly ts: number;
  /** Processor time in microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** The work of the main thread. Times are in microseconds. */
interface MainThread {
  /** When each frame began. */
  readonly frames: readonly number[];
  readonly tasks: readonly TraceEvent[];
}

const frameEvent = 'BeginMainThreadFrame';

function mainThreadIn(events: readonly TraceEvent[]): MainThread {
  const threads = events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const framesOf = ({ pid }: TraceEvent) => events.filter((event) => event.name === frameEvent && event.pid === pid);
  // Other pages of the browser have main threads too. Theirs are idle.
  const main = threads.toSorted((a, b) => framesOf(b).length - framesOf(a).length)[0];
  if (!main) throw new Error('the trace has no main thread');
  const frames = framesOf(main)
    .map(({ ts }) => ts)
    .toSorted((a, b) => a - b);
  const tasks = events
    .filter(({ name, ph, pid, tid }) => name === 'RunTask' && ph === 'X' && pid === main.pid && tid === main.tid)
    .toSorted((a, b) => a.ts - b.ts);
  return { frames, tasks };
}

function scrolledIn({ frames, tasks }: MainThread): Scrolled {
  const work: number[] = [];
  let next = 0;
  while (next < tasks.length && (tasks[next]?.ts ?? 0) < (frames[0] ?? 0)) next++;
  for (const end of frames.slice(1)) {
    let sum = 0;
    for (let task = tasks[next]; task && task.ts < end; task = tasks[++next]) sum += task.tdur ?? 0;
    work.push(sum / 1_000);
  }
  const seconds = ((frames.at(-1) ?? 0) - (frames[0] ?? 0)) / 1e6;
  return {
    framesPerSecond: work.length / seconds,
    workMs: { p50: quantile(work, 0.5), p95: quantile(work, 0.95) },
  };
}
