import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import type { Locator, Page } from 'playwright-core';
import { groupWith, message, phone, say, violationsOn } from './acts.ts';
import { chats, scene } from './scene.ts';
import { becomes } from './support.ts';

/** Touches an element for a while, as a finger does. */
async function press(page: Page, target: Locator, ms: number): Promise<void> {
  const box = await target.boundingBox();
  if (!box) throw new Error('it is not on the screen');
  const touch = await page.context().newCDPSession(page);
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at] });
  await Bun.sleep(ms);
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}

inChromium('with a finger', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  test('the menu of a chat opens in the list, by its button or a long press', async () => {
    const chatId = await groupWith(stage, 'Touched');
    await say(stage.person('bob'), chatId, 'hello');
    const page = await stage.open('ada', '/', { ...phone, hasTouch: true, isMobile: true });
    const link = chats(page).getByRole('link', { name: /Touched/ });
    await link.waitFor();
    expect(await violationsOn(page)).toEqual([]);
    const menu = page.getByRole('menu', { name: 'Options of Touched' });
    await press(page, link, 600);
    await menu.getByRole('menuitem', { name: 'Pin to the top' }).tap();
    await chats(page)
      .getByRole('link', { name: /Touched.*pinned/s })
      .waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    await chats(page).getByRole('button', { name: 'Options of Touched' }).tap();
    await menu.getByRole('menuitem', { name: 'Unpin from the top' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    await press(page, link, 20);
    await page.waitForURL(`**/chats/${chatId}`);
  });

  test('a tap shows the actions of a message beside it, and the next tap hides them', async () => {
    const chatId = await groupWith(stage, 'Tapped');
    for (const words of ['one', 'two', 'three']) await say(stage.person('bob'), chatId, words);
    const page = await stage.open('ada', `/chats/${chatId}`, { ...phone, hasTouch: true, isMobile: true });
    const bar = page.getByRole('toolbar', { name: 'Message actions' });
    const hidden = () => bar.waitFor({ state: 'detached' });
    for (const words of ['one', 'three']) {
      const row = message(page, words);
      await row.tap();
      await bar.waitFor();
      const [over, of] = [await bar.boundingBox(), await row.boundingBox()];
      if (!over || !of) throw new Error('they are not on the screen');
      expect(over.y + over.height <= of.y + 1 || over.y >= of.y + of.height - 1).toBe(true);
      expect(over.x).toBeGreaterThan(0);
      expect(over.x + over.width).toBeLessThan(phone.viewport.width);
      await row.tap();
      await hidden();
    }
    await message(page, 'two').tap();
    await bar.waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('heading', { name: 'Tapped' }).tap();
    await hidden();
    // A long press on a reaction tells who reacted, and does not react.
    const message_id = Number(await message(page, 'two').getAttribute('data-message'));
    await stage.person('bob').ok('messages.add_reaction', { message_id, emoji: '👍' });
    const reaction = page.getByRole('button', { name: '👍 1' });
    await reaction.waitFor();
    await press(page, reaction, 600);
    await page.getByRole('tooltip').getByText('Bob').waitFor();
    await becomes(() => reaction.getAttribute('aria-pressed'), 'false');
    // Enter is a new line also while a message is edited, and deep quotes leave room for their text.
    await say(stage.person('ada'), chatId, `${'>'.repeat(60)} my own`);
    const own = message(page, 'my own').getByText('my own');
    expect((await own.boundingBox())?.width).toBeGreaterThan(150);
    await own.tap();
    await page.getByRole('button', { name: 'Edit', exact: true }).tap();
    const form = page.getByRole('textbox', { name: 'Edit message' });
    await form.fill('first');
    await form.press('Enter');
    await form.pressSequentially('second');
    await becomes(() => form.inputValue(), 'first\nsecond');
  });
});
