import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import type { Page } from 'playwright-core';
import { askForDay, groupWith, message, say } from './acts.ts';
import { chats, composer, log, scene } from './scene.ts';
import { until } from './support.ts';

const smallPhone = { viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true };

/** Returns what is wider than its place, and targets that a finger may miss. */
const faultsOn = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const minPx = 44;
    const faults: string[] = [];
    const nameOf = (element: Element) =>
      `${element.tagName.toLowerCase()}.${element.className} ${element.getAttribute('aria-label') ?? element.textContent?.slice(0, 30)}`;
    for (const element of document.querySelectorAll('html, body, body *')) {
      const { overflowX } = getComputedStyle(element);
      const isScroller = element === document.documentElement || overflowX === 'auto' || overflowX === 'scroll';
      // Code and tables have lines that must not be broken.
      if (!isScroller || element.closest('.markdown, .at-home .main') || element.matches('input, textarea')) continue;
      if (element.scrollWidth > element.clientWidth) {
        faults.push(`${nameOf(element)} scrolls sideways: ${element.scrollWidth} of ${element.clientWidth}`);
      }
    }
    const top = document.querySelector('dialog[open], :popover-open') ?? document.body;
    const targets = 'a[href], button, input:not([hidden], [type=file]), select, textarea, [role=option]';
    for (const target of top.querySelectorAll(targets)) {
      // A link in a text has the height of its line, and a picture has its own. The start is for screen readers here.
      if (
        target.closest('.markdown, .pictures, .at-home .main') ||
        !target.checkVisibility({ visibilityProperty: true })
      )
        continue;
      const { width, height, right } = (target.closest('label') ?? target).getBoundingClientRect();
      // A link that skips to the content is outside of the screen until it has the focus.
      if (right <= 0) continue;
      if (width <= 1 || (width >= minPx - 0.5 && height >= minPx - 0.5)) {
        if (right > innerWidth + 0.5) faults.push(`${nameOf(target)} ends at ${right}`);
        continue;
      }
      faults.push(`${nameOf(target)} is ${Math.round(width)} by ${Math.round(height)}`);
    }
    return faults;
  });

inChromium('a small phone', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults(/status of 4\d\d/));

  test('has room for every view and window, and targets for a finger', async () => {
    const [ada, bob] = [stage.person('ada'), stage.person('bob')];
    const chatId = await groupWith(stage, 'A group with quite a long name for a phone');
    const long = 'https://example.com/'.concat('x'.repeat(200));
    const first = await say(ada, chatId, 'mine');
    await say(bob, chatId, `look at ${long}\n\n\`\`\`\n${'code '.repeat(60)}\n\`\`\``, first.message_id);
    await ada.ok('messages.add_reaction', { message_id: first.message_id, emoji: '👍' });
    await ada.ok('messages.pin', { message_id: first.message_id });
    await ada.ok('messages.create_channel', { name: 'An open channel', description: 'd'.repeat(200) });
    await ada.ok('messages.create_direct', { user_id: bob.userId });
    const service = 'Wort'.repeat(17);
    await ada.ok('service.update', { name: service });
    const page = await stage.open('ada', `/chats/${chatId}`, smallPhone);
    const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
    const found: Record<string, string[]> = {};
    const look = async (view: string) => {
      const faults = await faultsOn(page);
      if (faults.length > 0) found[view] = faults;
    };
    const close = async () => {
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    const menu = async (item: string) => {
      await button('Options of this chat').tap();
      await page.getByRole('menuitem', { name: item }).tap();
    };
    await message(page, 'mine').first().waitFor();
    await look('a chat');
    await message(page, 'mine')
      .first()
      .tap({ position: { x: 5, y: 5 } });
    await look('the actions of a message');
    // All of them are in one line, also those of one's own message.
    const actions = await page.getByRole('toolbar', { name: 'Message actions' }).boundingBox();
    expect(actions?.height).toBeLessThan(60);
    await button('React').tap();
    await page.getByRole('dialog', { name: 'Add a reaction' }).waitFor();
    await look('the picker of reactions');
    await close();
    await button('Edit').tap();
    await page.getByRole('textbox', { name: 'Edit message' }).waitFor();
    await look('the edit form');
    await page.getByRole('button', { name: 'Cancel' }).tap();
    await message(page, 'mine')
      .first()
      .tap({ position: { x: 5, y: 5 } });
    await button('Delete').tap();
    await page.getByRole('dialog', { name: 'Delete message' }).waitFor();
    await look('a deletion');
    await close();
    await button('Reply').tap();
    await composer(page).fill(':smil');
    await composer(page).press('e');
    await page.getByRole('listbox', { name: 'Emoji' }).waitFor();
    await look('a reply and completion');
    await composer(page).fill('');
    await button('Cancel the reply').tap();
    await page.getByLabel('Files', { exact: true }).setInputFiles({
      name: `${'a long name '.repeat(10)}.txt`,
      mimeType: 'text/plain',
      buffer: Buffer.from('text'),
    });
    await page.getByText('Uploaded').waitFor();
    await look('an uploaded file');
    await page.getByRole('button', { name: /^Remove a long name/ }).tap();
    await button('Pinned messages, 1').tap();
    await page.getByRole('list', { name: 'Pinned messages' }).getByRole('button').waitFor();
    await look('pinned messages');
    await close();
    await button('Options of this chat').tap();
    await page.getByRole('menu').waitFor();
    await look('the menu of a chat');
    await close();
    await askForDay(page);
    await page.getByRole('dialog', { name: 'Jump to date' }).waitFor();
    await look('a jump to a date');
    await close();
    await button('People').tap();
    await page.getByRole('combobox', { name: 'Role of Bob' }).waitFor();
    await look('people');
    await page.getByLabel('People to add').fill('cleo');
    await page.getByRole('list', { name: 'People found' }).getByRole('button').tap();
    await page.getByRole('combobox', { name: 'Role of Bob' }).selectOption('Owner');
    await button('Leave the chat').tap();
    await look('questions about people');
    await close();
    await menu('Search in this chat');
    await page.getByRole('heading', { name: /Search in/ }).waitFor();
    await page.getByRole('searchbox', { name: 'Search messages' }).fill('mine');
    await page.keyboard.press('Enter');
    await page.locator('.result', { hasText: 'mine' }).waitFor();
    await look('a search');
    await page.goto(`${stage.url()}/chats/${chatId}?thread=${first.message_id}`);
    await page.getByRole('log', { name: 'Replies' }).getByText('look at').waitFor();
    await look('a thread');
    for (const [path, heading] of [
      ['/browse', 'An open channel'],
      ['/threads', 'Threads'],
      ['/m/999999', 'You cannot see this message'],
      ['/chats/999999', 'You cannot see this chat'],
      ['/settings/profile', 'About you'],
      ['/settings/appearance', 'Density'],
      ['/settings/notifications', 'Quiet hours'],
      ['/settings/service', 'Administration'],
      ['/sessions', 'Sessions'],
      ['/admin/users', 'Users'],
      [`/admin/users/${bob.userId}`, 'bob'],
    ] as const) {
      await page.goto(`${stage.url()}${path}`);
      await page.getByRole('heading', { name: heading, exact: true }).waitFor();
      await look(path);
    }
    await page.goto(stage.url());
    await chats(page)
      .getByRole('link', { name: /A group/ })
      .waitFor();
    await look('the list');
    for (const [name, title] of [
      ['New chat', 'New direct chat'],
      ['Keyboard shortcuts', 'Keyboard shortcuts'],
      ['Invite', `Invite somebody to ${service}`],
    ] as const) {
      await button(name).tap();
      await page.getByRole('dialog', { name: title }).waitFor();
      await look(title);
      await close();
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Name of a chat' }).waitFor();
    await look('the switcher');
    expect(found).toEqual({});
  });

  test('shows the composer above a keyboard that covers the page', async () => {
    const chatId = await groupWith(stage, 'Keyboard');
    for (let i = 0; i < 30; i++) await say(stage.person('bob'), chatId, `number ${i}`);
    await stage.person('ada').ok('messages.mark_read', { chat_id: chatId });
    const page = await stage.open('ada', '/settings', smallPhone);
    // Browsers on iOS tell about their keyboard in this way alone.
    await page.addInitScript(() => {
      const shown = Object.assign(new EventTarget(), { scale: 1, height: 568, offsetTop: 0 });
      Object.defineProperty(window, 'visualViewport', { value: shown });
    });
    await page.goto(`${stage.url()}/chats/${chatId}`);
    await message(page, 'number 29').waitFor();
    const keyboard = (height: number) =>
      page.evaluate((height) => {
        Object.assign(visualViewport ?? {}, { height });
        visualViewport?.dispatchEvent(new Event('resize'));
      }, height);
    const bottom = async () => {
      const box = await composer(page).boundingBox();
      return (box?.y ?? 0) + (box?.height ?? 0);
    };
    await keyboard(568 - 260);
    expect(await bottom()).toBeLessThanOrEqual(568 - 260);
    // The newest message stays in sight.
    await until('it is above the composer', async () => {
      const [row, list] = [await message(page, 'number 29').boundingBox(), await log(page).boundingBox()];
      return (row?.y ?? 0) + (row?.height ?? 0) <= (list?.y ?? 0) + (list?.height ?? 0) + 1;
    });
    await keyboard(568);
    expect(await bottom()).toBeGreaterThan(568 - 60);

    // Somebody who types all the time sees what arrives, here and behind this view.
    await composer(page).tap();
    await say(stage.person('bob'), await groupWith(stage, 'Behind'), 'while typing there');
    await say(stage.person('bob'), chatId, 'while typing here');
    await until('it is there', async () => {
      await page.keyboard.press('a');
      return message(page, 'while typing here').isVisible();
    });
    await page.getByRole('link', { name: 'All chats' }).tap();
    await chats(page)
      .getByRole('link', { name: /Behind/ })
      .getByText('while typing there')
      .waitFor();
  });
});
