import type { CDPSession, Page } from 'playwright-core';
import { mebibytes } from '../harness/machine.ts';
import { type Figure, growth } from './figures.ts';
import { pxPerSecond, scrollBy } from './scrolling.ts';
import type { Stage } from './stage.ts';

/** One sample is taken after each trip. */
const tripSeconds = 5;

/** Scrolls back and forth in a long chat while messages arrive, and compares the heap at the end with the start. */
export async function watchMemory(
  stage: Stage,
  { messages, minutes, progress }: { messages: number; minutes: number; progress: (line: string) => void },
): Promise<Figure[]> {
  const chat = await stage.longChat(messages);
  const page = await (await stage.profile(stage.ada)).newPage();
  await page.goto(`${stage.url}/chats/${chat}`);
  await page.getByText('The last one').last().waitFor();
  const cdp = await page.context().newCDPSession(page);
  const samples: number[] = [];
  let sent = 0;
  for (const end = performance.now() + minutes * 60_000; performance.now() < end; ) {
    await scrollBy(page, '.message-list', pxPerSecond * tripSeconds);
    for (let i = 0; i < 10; i++, sent++) {
      await stage.bob.ok('messages.send_message', { chat_id: chat, content: `new ${sent}, with **some** Markdown` });
    }
    await scrollBy(page, '.message-list', -pxPerSecond * tripSeconds * 1.1);
    await toEnd(page);
    samples.push(await heapBytes(cdp));
    progress(
      `${samples.length}: ${mebibytes(samples.at(-1)).toFixed(1)} MB, ${Math.round((end - performance.now()) / 1_000)} s left`,
    );
  }
  return [
    {
      what: `heap after ${minutes} min, in terms of the first third`,
      value: growth(samples),
      unit: '',
      bar: { max: 1.1 },
      notes: [`${sent} messages arrived`, `MB ${samples.map((bytes) => mebibytes(bytes).toFixed(1)).join(' ')}`],
    },
  ];
}

async function toEnd(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: 'Newest messages' });
  if (await button.isVisible()) await button.click();
  await button.waitFor({ state: 'hidden' });
}

async function heapBytes(cdp: CDPSession): Promise<number> {
  await cdp.send('HeapProfiler.collectGarbage');
  return (await cdp.send('Runtime.getHeapUsage')).usedSize;
}
