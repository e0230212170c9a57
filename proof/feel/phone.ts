import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { median } from '../harness/report.ts';
import { makeGroup } from '../harness/stage.ts';
import { pause } from '../harness/wait.ts';
import { type Figure, quantile } from './figures.ts';
import { takeKeys, watchKeys } from './keys.ts';
import { type Stage, settleMs } from './stage.ts';

/** A phone of the middle class, as the tools of browsers emulate one. */
export const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
const slowdown = 4;

/** Messages in the chat that is opened. */
const known = 500;

/** A lively chat. */
const messageMs = 500;

/** People type faster than this only in short bursts. */
const keyMs = 60;

/** Opens a chat on a slow phone, and types in it while messages arrive. */
export async function onPhone(stage: Stage, { rounds, keys }: { rounds: number; keys: number }): Promise<Figure[]> {
  await stage.manyChats(50);
  const chat = await stage.longChat(known);
  const context = await stage.profile(stage.ada, stage.browser, phone);
  const url = `${stage.url}/chats/${chat}`;
  const visits = await openSlowPage(context);
  // The first visit fills the caches of the browser, and compiles the server's bundle.
  const first = await interactiveMs(visits.page, url);
  const again: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await pause(settleMs);
    again.push(await interactiveMs(visits.page, url));
  }
  await visits.page.goto('about:blank');
  const chats = [chat, await makeGroup(stage.bob, [stage.ada], 'Beside')];
  const typeIn = async (open: (slow: SlowPage) => Promise<unknown>) => {
    // The pages before it stay open, so the browser gives it a process of its own, without the garbage of earlier visits.
    const slow = await openSlowPage(context);
    await open(slow);
    await pause(settleMs);
    await watchKeys(slow.page, 'keydown');
    const quiet = await type(slow, keys / 2);
    const busy = await beside(stage, chats, () => type(slow, keys / 2));
    await slow.page.goto('about:blank');
    return { quiet, busy };
  };
  const { quiet, busy } = await typeIn(({ page }) => interactiveMs(page, url));
  const bare = await typeIn(({ page }) => openBarePage(page, stage.url));
  const all = [...quiet, ...busy];
  const shown = (values: readonly number[]) =>
    `p50 ${quantile(values, 0.5).toFixed(0)} ms, p95 ${quantile(values, 0.95).toFixed(0)} ms, longest ${Math.max(...values).toFixed(0)} ms`;
  return [
    { what: 'phone: first visit to a shell that can be used', value: first, unit: 'ms' },
    {
      what: 'phone: next visit to a shell that can be used',
      value: median(again),
      unit: 'ms',
      bar: { max: 1_500 },
      notes: [`rounds ${again.map((ms) => ms.toFixed(0)).join(' ')}`, `${slowdown}x slower processor`],
    },
    {
      what: `phone: key in the composer to the next frame, longest of ${all.length}`,
      value: Math.max(...all),
      unit: 'ms',
      bar: { max: 50 },
      notes: [
        `quiet ${shown(quiet)}`,
        `while messages arrive ${shown(busy)}`,
        `a bare page: quiet ${shown(bare.quiet)}`,
        `a bare page: while messages arrive ${shown(bare.busy)}`,
      ],
    },
  ];
}

interface SlowPage {
  readonly page: Page;
  readonly cdp: CDPSession;
}

async function openSlowPage(context: BrowserContext): Promise<SlowPage> {
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  return { page, cdp };
}

/**
 * Opens a page. Returns the time from the request until the composer is there, and the main thread has answered a task: what
 * is pressed then is answered too.
 */
async function interactiveMs(page: Page, url: string): Promise<number> {
  await page.goto('about:blank');
  await page.goto(url, { waitUntil: 'commit' });
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => resolve(performance.now());
          port2.postMessage(undefined);
        });
      }),
  );
}

/** Does something while messages arrive, in the open chat and in another one. */
async function beside<T>({ bob }: Stage, chats: readonly number[], work: () => Promise<T>): Promise<T> {
  let isDone = false;
  const sending = (async () => {
    for (let sent = 0; !isDone; sent++) {
      const chat_id = chats[sent % chats.length] ?? 0;
      await bob.ok('messages.send_message', { chat_id, content: `new ${sent}, with **some** Markdown` });
      await pause(messageMs);
    }
  })();
  const result = await work().finally(() => {
    isDone = true;
  });
  await sending;
  return result;
}

/** The least that a chat needs: a text field, and a list at whose end the text of each message is shown. */
const barePage = `<!doctype html><title>Bare</title><meta name="viewport" content="width=device-width">
<ol style="height: 50vh; overflow: auto"></ol><textarea aria-label="Message"></textarea><script>
const list = document.querySelector('ol');
new EventSource('/api/events.php?action=stream').addEventListener('new_message', ({ data }) => {
  const item = document.createElement('li');
  item.textContent = JSON.parse(data).data.content;
  list.append(item);
  list.scrollTop = list.scrollHeight;
});
</script>`;

/** Opens a page that has nothing else: no client of ours can be faster. */
async function openBarePage(page: Page, url: string): Promise<void> {
  await page.route(`${url}/bare`, (route) => route.fulfill({ contentType: 'text/html', body: barePage }));
  const listening = page.waitForResponse(/action=stream/);
  await page.goto(`${url}/bare`);
  if ((await listening).status() !== 200) throw new Error('the bare page gets no events');
}

const words = 'the quick brown fox jumps over the lazy dog ';

async function type({ page, cdp }: SlowPage, count: number): Promise<number[]> {
  await page.getByRole('textbox', { name: 'Message', exact: true }).tap();
  for (let i = 0; i < count; i++) {
    const text = words[i % words.length] ?? ' ';
    await cdp.send('Input.dispatchKeyEvent', { type: 'keyDown', text, key: text, unmodifiedText: text });
    await cdp.send('Input.dispatchKeyEvent', { type: 'keyUp', key: text });
    await pause(keyMs);
  }
  return takeKeys(page);
}
