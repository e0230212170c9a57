import type { Client } from '@parley/server/test/support/client.ts';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { log, type scene } from './scene.ts';
import { until } from './support.ts';

export const groupWith = async ({ person }: ReturnType<typeof scene>, name: string): Promise<number> =>
  (await person('ada').ok('messages.create_group', { name, participants: [person('bob').userId] })).group.chat_id;

export const say = async (by: Client, chat_id: number, content: string, reply_to?: number) =>
  (await by.ok('messages.send_message', { chat_id, content, ...(reply_to && { reply_to }) })).message;

export const message = (page: Page, text: string | RegExp) => log(page).locator('.message', { hasText: text });

/** Opens the window for a day. On a narrow screen it is in the menu of the chat. */
export async function askForDay(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: 'Jump to date' });
  if (await button.isVisible()) return button.click();
  await page.getByRole('button', { name: 'Options of this chat' }).click();
  await page.getByRole('menuitem', { name: 'Jump to date' }).click();
}

/** Waits until the newest message of a chat is stored in the browser. */
export const stored = (page: Page, chatId: number) =>
  until('it is stored', () =>
    page.evaluate(
      (chat) =>
        new Promise<boolean>((resolve) => {
          const opening = indexedDB.open(`parley-${document.getElementById('app')?.dataset.userId}`);
          opening.onsuccess = () => {
            const asking = opening.result.transaction('timelines').objectStore('timelines').get(chat);
            asking.onsuccess = () => {
              opening.result.close();
              resolve((asking.result?.messages.length ?? 0) > 0);
            };
          };
        }),
      chatId,
    ),
  );

/** Waits until everything has appeared. Text that fades in is pale. */
const untilStill = (page: Page): Promise<unknown> =>
  page.evaluate(() => {
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    return Promise.allSettled(ending.map(({ finished }) => finished));
  });

/** The rules whose verdict depends on colours. Nothing else differs between light and dark. */
const aboutColours = ['color-contrast', 'link-in-text-block'];

/** Returns what breaks a rule of accessibility, in light and in dark. The page must ignore its content policy. */
export async function violationsOn(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.addScriptTag({ content: axe.source });
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await untilStill(page);
    const { violations } = await page.evaluate(
      (options) => (globalThis as unknown as { axe: typeof axe }).axe.run(options),
      colorScheme === 'dark' ? { runOnly: aboutColours } : {},
    );
    for (const { id, nodes } of violations) {
      faults.push(`${colorScheme}: ${id} ${nodes.map(({ html }) => html).join(' ')}`);
    }
  }
  if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth))
    faults.push('wider than the screen');
  return faults;
}

export const phone = { viewport: { width: 390, height: 844 }, bypassCSP: true };
export const desk = { viewport: { width: 1280, height: 800 }, bypassCSP: true };
