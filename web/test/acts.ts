import type { Client } from '@parley/server/test/support/client.ts';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { log, type scene } from './scene.ts';

export const groupWith = async ({ person }: ReturnType<typeof scene>, name: string): Promise<number> =>
  (await person('ada').ok('messages.create_group', { name, participants: [person('bob').userId] })).group.chat_id;

export const say = async (by: Client, chat_id: number, content: string, reply_to?: number) =>
  (await by.ok('messages.send_message', { chat_id, content, ...(reply_to && { reply_to }) })).message;

export const message = (page: Page, text: string | RegExp) => log(page).locator('.message', { hasText: text });

/** Returns what breaks a rule of accessibility, in light and in dark. The page must ignore its content policy. */
export async function violationsOn(page: Page): Promise<string[]> {
  await page.addScriptTag({ content: axe.source });
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
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
