import { afterEach, describe, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { png } from '@parley/server/test/support/pictures.ts';
import type { Page } from 'playwright-core';
import { askForDay, desk, groupWith, message, phone, say, violationsOn } from './acts.ts';
import { chats, composer, log, scene, write } from './scene.ts';
import { becomes, until } from './support.ts';

/** A page at 200% has half the room, and the same pixels. */
const zoomed = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2, bypassCSP: true };

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });

async function closed(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

/** Points at a message, and chooses an act. */
async function act(page: Page, text: string, name: string): Promise<void> {
  await message(page, text).click({ position: { x: 5, y: 5 } });
  await message(page, text).getByRole('button', { name, exact: true }).click();
}

/** The chat and the messages of the states. */
interface Shown {
  readonly chatId: number;
  /** A message of Ada without replies. */
  readonly messageId: number;
}

/** How a state comes about in the chat with these messages. */
const statesOfChat: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  'the picker of reactions': async (page) => {
    await act(page, 'mine', 'React');
    await dialog(page, 'Add a reaction').waitFor();
  },
  'the edit form and its problem': async (page) => {
    await act(page, 'mine', 'Edit');
    const form = page.getByRole('textbox', { name: 'Edit message' });
    await form.fill(' ');
    await form.press('Enter');
    await page.getByText('A message needs a text.').waitFor();
  },
  'a reply': async (page) => {
    await act(page, 'mine', 'Reply');
    await button(page, 'Cancel the reply').waitFor();
  },
  'a deletion': async (page) => {
    await act(page, 'mine', 'Delete');
    await dialog(page, 'Delete message').waitFor();
  },
  'completion of emoji': async (page) => {
    await composer(page).fill('');
    await composer(page).pressSequentially(':sm');
    await page.getByRole('listbox', { name: 'Emoji' }).waitFor();
  },
  'a jump to a day without messages': async (page) => {
    await askForDay(page);
    const day = dialog(page, 'Jump to date').getByLabel('Day');
    await day.evaluate((field) => field.removeAttribute('max'));
    await day.fill('2999-01-01');
    await day.press('Enter');
    await page.getByText('There are no messages on this day or later.').waitFor();
  },
  'a picture': async (page) => {
    await log(page).getByRole('link', { name: 'picture.png' }).press('Enter');
    await dialog(page, 'View picture').getByRole('img').waitFor();
  },
  'a switcher without hits': async (page) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Name of a chat' }).fill('zzzz');
    await page.getByText('No chat and nobody here has this name.').waitFor();
  },
  'a message that the server refuses': async (page) => {
    await write(page, 'x'.repeat(17_000));
    await button(page, 'Try again').waitFor();
    await button(page, 'Discard').waitFor();
  },
  'a lost connection': async (page) => {
    await page.route('**/api/**', (route) => route.abort());
    await page.reload();
    await page.getByText('Reconnecting…').waitFor();
  },
};

/** Where another state is, and how it comes about there. */
const statesElsewhere: Readonly<
  Record<string, readonly [path: (shown: Shown) => string, open: (page: Page) => Promise<void>]>
> = {
  'a thread': [
    ({ chatId, messageId }) => `/chats/${chatId}?thread=${messageId}`,
    (page) => page.getByRole('region', { name: 'Thread', exact: true }).getByText('No replies yet').waitFor(),
  ],
  'a new group and a new channel': [
    () => '/',
    async (page) => {
      await button(page, 'New chat').click();
      await page.getByRole('radio', { name: 'Channel' }).check();
      await dialog(page, 'New channel').getByRole('checkbox').waitFor();
    },
  ],
  'a search by somebody unknown': [
    () => '/search?q=mine&from=nobody-at-all',
    (page) => page.getByText('There is nobody called nobody-at-all.').waitFor(),
  ],
  'archived chats': [
    () => '/',
    async (page) => {
      await chats(page)
        .getByRole('button', { name: /Archived/ })
        .click();
      await chats(page)
        .getByRole('link', { name: /Put away/ })
        .waitFor();
    },
  ],
};

inChromium('every state of the client', () => {
  const stage = scene();
  // Browsers write every refusal to the console.
  afterEach(() => stage.expectNoFaults(/status of 4\d\d/));
  const pages = new Map<object, Page>();
  let shown: Promise<Shown> | undefined;
  const populated = (): Promise<Shown> => (shown ??= populate());
  const populate = async (): Promise<Shown> => {
    const chatId = await groupWith(stage, 'All of it');
    const ada = stage.person('ada');
    const file = new File([new Uint8Array(png(400, 300, (x, y) => [x % 255, y % 255, 90]))], 'picture.png', {
      type: 'image/png',
    });
    await ada.ok('messages.send_message', { chat_id: chatId, content: 'look', file });
    await say(stage.person('bob'), chatId, 'hello');
    const { message_id } = await say(ada, chatId, 'mine');
    const away = await groupWith(stage, 'Put away');
    await ada.ok('chats.set_preferences', { chat_id: away, archived: true });
    return { chatId, messageId: message_id };
  };
  const at = async (screen: typeof desk, path: string) => {
    const page = pages.get(screen) ?? (await stage.open('ada', '/', screen));
    pages.set(screen, page);
    await page.unroute('**/api/**');
    await page.goto(`${stage.url()}${path}`);
    return page;
  };
  const inChat = async (screen: typeof desk) => {
    const page = await at(screen, `/chats/${(await populated()).chatId}`);
    await message(page, 'mine').waitFor();
    return page;
  };

  describe('breaks no rule of accessibility and fits the screen, at a desk, on a phone and at 200%', () => {
    /** The screens are browsers of their own, so none waits for another. */
    const onAll = async (show: (screen: typeof desk) => Promise<void>) => {
      // The next test uses the same pages: it begins when all of them are done.
      const outcomes = await Promise.allSettled([desk, phone, zoomed].map(show));
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    };
    test.each(Object.entries(statesOfChat))('%s', async (_, open) => {
      await onAll(async (screen) => {
        const page = await inChat(screen);
        await open(page);
        expect(await violationsOn(page)).toEqual([]);
        const discard = page.getByRole('button', { name: 'Discard' });
        if ((await discard.count()) > 0) await discard.click();
      });
    });
    test.each(Object.entries(statesElsewhere))('%s', async (_, [path, open]) => {
      await onAll(async (screen) => {
        const page = await at(screen, path(await populated()));
        await open(page);
        expect(await violationsOn(page)).toEqual([]);
      });
    });
  });

  test('leaves room to read and write at 200%', async () => {
    const page = await inChat(zoomed);
    const list = await log(page).boundingBox();
    const field = await composer(page).boundingBox();
    expect(list?.height).toBeGreaterThan(150);
    expect((field?.y ?? 0) + (field?.height ?? 0)).toBeLessThanOrEqual(400);
    await button(page, 'People').click();
    await button(page, 'Leave the chat').scrollIntoViewIfNeeded();
    const leave = await button(page, 'Leave the chat').boundingBox();
    expect((leave?.y ?? 0) + (leave?.height ?? 0)).toBeLessThanOrEqual(400);
    await closed(page);
  });

  test('gives the focus back when a window or a menu closes', async () => {
    const page = await inChat(desk);
    const focused = () =>
      page.evaluate(() => {
        const { activeElement: at } = document;
        return at?.getAttribute('aria-label') ?? at?.className ?? '';
      });
    const comesBack = (name: string) => until(`the focus is on ${name}`, async () => (await focused()) === name);
    for (const name of ['New chat', 'Keyboard shortcuts', 'People', 'Jump to date']) {
      await button(page, name).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await closed(page);
      await comesBack(name);
    }
    await button(page, 'Options of this chat').press('Enter');
    await page.getByRole('menu').waitFor();
    await page.keyboard.press('Escape');
    await comesBack('Options of this chat');
    await message(page, 'hello').focus();
    await message(page, 'hello').getByRole('button', { name: 'React' }).press('Enter');
    await dialog(page, 'Add a reaction').getByRole('button', { name: 'tada' }).press('Enter');
    await comesBack('React');
    await message(page, 'mine').focus();
    await message(page, 'mine').getByRole('button', { name: 'Delete' }).press('Enter');
    await dialog(page, 'Delete message').getByRole('button', { name: 'Cancel' }).press('Enter');
    await comesBack('Delete');
    await say(stage.person('ada'), (await populated()).chatId, 'to be removed');
    await message(page, 'to be removed').focus();
    await message(page, 'to be removed').getByRole('button', { name: 'Delete' }).press('Enter');
    await dialog(page, 'Delete message').getByRole('button', { name: 'Delete' }).press('Enter');
    await until('the focus is on the message', async () => (await focused()).startsWith('message'));
    await composer(page).focus();
    await page.keyboard.press('Control+k');
    await dialog(page, 'Go to a chat').waitFor();
    await closed(page);
    await comesBack('Message');
  });

  test('keeps an edit and the focus, wherever the list is scrolled to', async () => {
    const id = await groupWith(stage, 'Edited');
    const mine = await say(stage.person('ada'), id, 'mine, further up');
    const tall = 'a line\n\n'.repeat(12);
    for (let i = 0; i < 25; i++) await say(stage.person('bob'), id, `number ${i}\n\n${tall}`);
    await stage.person('ada').ok('messages.mark_read', { chat_id: id });
    const page = await stage.open('ada', `/chats/${id}`, desk);
    await message(page, 'number 24').waitFor();
    await becomes(() => message(page, 'mine, further up').count(), 0);
    // Its row is not rendered when the edit begins.
    await composer(page).press('ArrowUp');
    const form = page.getByRole('textbox', { name: 'Edit message' });
    const isShown = () =>
      form.evaluate((field) => {
        const [box, list] = [field, field.closest('[role="log"]')].map((one) => one?.getBoundingClientRect());
        return box && list ? box.top >= list.top && box.bottom <= list.bottom : false;
      });
    const hasFocus = () => form.evaluate((field) => field === document.activeElement);
    await form.waitFor();
    await until('it is on the screen', async () => (await isShown()) && hasFocus());
    await page.keyboard.type(', and changed');
    await page.getByRole('button', { name: 'Newest messages' }).click();
    await message(page, 'number 24').waitFor();
    await until('it is not on the screen', async () => !(await isShown()));
    await until(
      'the place is kept',
      async () => !(await page.getByRole('button', { name: 'Newest messages' }).count()),
    );
    await becomes(() => form.inputValue(), 'mine, further up, and changed');
    await composer(page).press('ArrowUp');
    await until('it is on the screen again', async () => (await isShown()) && hasFocus());
    await page.keyboard.type('!');
    await log(page).evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await message(page, 'number 24').waitFor();
    // The keys still go to it, and the screen follows them.
    await page.keyboard.type('!');
    await page.keyboard.press('Enter');
    await until('it is saved', async () => {
      const { message: saved } = await stage.person('bob').ok('messages.get_message', { message_id: mine.message_id });
      return saved.content === 'mine, further up, and changed!!';
    });
    await message(page, 'mine, further up').focus();
    await message(page, 'mine, further up').getByRole('button', { name: 'Copy link' }).press('Enter');
    await page.locator('.notice').getByText('Link copied').waitFor();
    await becomes(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Copy link');
  });

  test('tells a screen reader about a new message once', async () => {
    const id = await groupWith(stage, 'Spoken');
    await say(stage.person('bob'), id, 'an old one');
    const page = await stage.open('ada', `/chats/${id}`);
    await message(page, 'an old one').waitFor();
    await page.evaluate(() => {
      const said: string[] = [];
      Object.assign(window, { said });
      for (const region of document.querySelectorAll('[aria-live="polite"], [role="status"], [role="alert"]')) {
        const hear = () => region.textContent && said.push(region.textContent);
        new MutationObserver(hear).observe(region, { childList: true, characterData: true, subtree: true });
      }
    });
    const first = await say(stage.person('bob'), id, 'a **new** one');
    await message(page, 'a new one').waitFor();
    // None of these is a new message of somebody else.
    await stage.person('bob').ok('messages.add_reaction', { message_id: first.message_id, emoji: '👍' });
    await message(page, 'a new one').getByRole('button', { name: '👍 1' }).waitFor();
    await write(page, 'my own');
    await message(page, 'my own').locator('time').first().waitFor();
    await stage.person('bob').ok('messages.edit_message', { message_id: first.message_id, content: 'a changed one' });
    await message(page, 'a changed one').waitFor();
    await say(stage.person('bob'), id, 'the last');
    await message(page, 'the last').waitFor();
    const said = () => page.evaluate(() => (window as unknown as { said: string[] }).said);
    await until('both are told', async () => (await said()).some((text) => text.includes('the last')));
    expect(await said()).toEqual(['Bob: a new one', 'Bob: the last']);
    await becomes(() => log(page).getAttribute('aria-live'), 'off');
  });

  test('shows right-to-left texts and names in their own direction', async () => {
    const [ada, bob] = [stage.person('ada'), stage.person('bob')];
    await bob.ok('users.update', { display_name: 'بوب الكاتب' });
    const name = 'קבוצה (1)';
    const id = await groupWith(stage, name);
    await say(bob, id, 'שלום, **עולם** 123!');
    await say(bob, id, 'left to right');
    await ada.ok('messages.mark_read', { chat_id: id });
    for (const screen of [desk, phone]) {
      const page = await at(screen, `/chats/${id}`);
      await message(page, 'שלום').waitFor();
      const direction = (text: string) =>
        message(page, text)
          .locator('.markdown')
          .evaluate((element) => getComputedStyle(element).direction);
      expect([await direction('שלום'), await direction('left to right')]).toEqual(['rtl', 'ltr']);
      await page.getByRole('heading', { name }).waitFor();
      // The name does not pull the time to its other side.
      const head = message(page, 'שלום').locator('header');
      const [author, time] = [await head.locator('.author').boundingBox(), await head.locator('time').boundingBox()];
      expect(author?.x).toBeLessThan(time?.x ?? 0);
      // The colon after it is part of the sentence, not of the name. On a phone the list is not shown.
      if (screen === desk) await becomes(() => chats(page).locator('.preview bdi').first().textContent(), 'بوب الكاتب');
      await composer(page).fill('مرحبا');
      await becomes(() => composer(page).evaluate((field) => getComputedStyle(field).direction), 'rtl');
      expect(await violationsOn(page)).toEqual([]);
      await composer(page).fill('');
    }
    await bob.ok('users.update', { display_name: 'Bob' });
  });
});
