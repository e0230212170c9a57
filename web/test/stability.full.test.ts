import { afterEach, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { fileOf, png } from '@parley/server/test/support/pictures.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { desk, groupWith, message, phone, say } from './acts.ts';
import { chats, log, scene } from './scene.ts';
import { expectStill, recordShifts } from './shifts.ts';
import { becomes, until } from './support.ts';

const sizes = [
  [400, 300],
  [60, 900],
  [900, 60],
  [300, 500],
] as const;

const picture = (i: number) => {
  const [width, height] = sizes[i % sizes.length] ?? sizes[0];
  return fileOf(
    png(width, height, () => [90, 120, 160]),
    `number-${i}.png`,
  );
};

const long = 'One of those messages that need more than a line on most screens. '.repeat(6);

inChromium('nothing on the page moves by itself', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  /** Opens the client with nothing stored. */
  const openClient = async (options: BrowserContextOptions) => {
    const page = await stage.open('ada', '/settings', options);
    await recordShifts(page);
    await page.goto(stage.url());
    return page;
  };

  /** Opens a chat without an act of the user, so that everything that moves counts. */
  const openChat = async (page: Page, name: string) => {
    const link = chats(page).getByRole('link', { name });
    await link.evaluate((found) => (found as HTMLElement).click());
    await page
      .getByRole('region', { name })
      .getByRole('log', { name: 'Messages' })
      .locator('.message')
      .first()
      .waitFor();
    await until('the pictures are loaded', () =>
      log(page)
        .locator('.picture img')
        .evaluateAll((all) => all.every((image) => (image as HTMLImageElement).complete)),
    );
  };

  for (const [screen, options] of Object.entries({ desk, phone })) {
    test(`when chats with pictures open on a ${screen}`, async () => {
      const [ada, bob] = [stage.person('ada'), stage.person('bob')];
      const names: string[] = [];
      // They fill less than the screen, a little more, and much more.
      for (const count of [1, 4, 30]) {
        for (const isRead of [true, false]) {
          const name = `${count} ${isRead ? 'read' : 'unread'}, ${screen}`;
          names.push(name);
          const chat_id = await groupWith(stage, name);
          for (let i = 0; i < count; i++) {
            await bob.ok('messages.send_message', { chat_id, content: i % 4 === 2 ? long : '', file: picture(i) });
          }
          if (isRead) await ada.ok('messages.mark_read', { chat_id });
        }
      }
      const page = await openClient(options);
      await chats(page)
        .getByRole('link', { name: names[0] as string })
        .waitFor();
      await expectStill(page, 'the client opens');
      for (const name of names) {
        await openChat(page, name);
        await expectStill(page, name);
        await page.reload();
        await message(page, /./).first().waitFor();
        await expectStill(page, `${name}, from the local store`);
        await page.goto(stage.url());
      }
    });

    test(`when chats are switched, messages arrive and a thread opens on a ${screen}`, async () => {
      const [ada, bob] = [stage.person('ada'), stage.person('bob')];
      const [one, other] = [`One, ${screen}`, `Other, ${screen}`];
      const [chatId, otherId] = [await groupWith(stage, one), await groupWith(stage, other)];
      for (let i = 0; i < 20; i++) {
        for (const chat_id of [chatId, otherId])
          await say(i % 3 === 0 ? ada : bob, chat_id, i % 4 === 0 ? long : `${i}`);
      }
      const root = await say(bob, chatId, 'the root of a thread');
      for (let i = 0; i < 5; i++) await say(ada, chatId, `reply ${i}`, root.message_id);
      for (const chat_id of [chatId, otherId]) await ada.ok('messages.mark_read', { chat_id });

      const page = await openClient(options);
      await openChat(page, other);
      if (screen === 'phone') await page.goBack();
      await openChat(page, one);
      await message(page, 'reply 4').waitFor();
      await expectStill(page, 'two chats open');

      await say(bob, chatId, 'new in the open chat');
      await message(page, 'new in the open chat').waitFor();
      await bob.ok('messages.send_message', { chat_id: chatId, content: 'a new picture', file: picture(0) });
      await message(page, 'a new picture').getByRole('img').waitFor();
      await say(bob, otherId, 'new in the other chat');
      if (screen === 'desk') await chats(page).getByText('new in the other chat').waitFor();
      await expectStill(page, 'messages arrive');

      const thread = log(page).getByRole('link', { name: '5 replies' });
      await thread.evaluate((link) => (link as HTMLElement).click());
      await page.getByRole('log', { name: 'Replies' }).getByText('reply 4').waitFor();
      await expectStill(page, 'a thread opens');
    });
  }

  test('and an open chat follows its end, also one that was opened empty', async () => {
    const chatId = await groupWith(stage, 'Opened empty');
    const page = await stage.open('ada', `/chats/${chatId}`, desk);
    // An empty chat shows what to do next instead, and hides this line.
    await log(page).getByText('This is the start of the chat.').waitFor({ state: 'attached' });
    for (let i = 0; i < 40; i++) await say(stage.person('bob'), chatId, i % 3 === 0 ? long : `message ${i}`);
    await say(stage.person('bob'), chatId, 'the last of them');
    await message(page, 'the last of them').waitFor();
    await until('the end is on the screen', () =>
      log(page).evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight < 2),
    );
    // Somebody who reads further up stays there.
    await log(page).hover();
    await until('it is scrolled up', async () => {
      await page.mouse.wheel(0, -1_000);
      return page.getByRole('button', { name: 'Newest messages' }).isVisible();
    });
    await say(stage.person('bob'), chatId, 'one more');
    await chats(page).getByText('one more').waitFor();
    await becomes(
      () => log(page).evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight > 300),
      true,
    );
  });

  test('and the end is followed while somebody types, also as the composer grows', async () => {
    const chatId = await groupWith(stage, 'Typing');
    for (let i = 0; i < 30; i++) await say(stage.person('bob'), chatId, `message ${i}`);
    await stage.person('ada').ok('messages.mark_read', { chat_id: chatId });
    const page = await stage.open('ada', `/chats/${chatId}`, phone);
    await message(page, 'message 29').waitFor();
    const composer = page.getByRole('textbox', { name: 'Message', exact: true });
    await composer.focus();
    const endPx = () => log(page).evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight);
    /** Returns whether the message is at the end, and the composer does not cover it. */
    const isAbove = async (words: string) => {
      const [row, field] = [await message(page, words).boundingBox(), await composer.boundingBox()];
      return row !== null && field !== null && row.y + row.height <= field.y && (await endPx()) < 2;
    };
    let typed = '';
    /** Goes on with typing, faster than anybody, until something is so. */
    const typeUntil = (what: string, isSo: () => Promise<boolean>) =>
      until(what, async () => {
        await page.keyboard.type('word ');
        typed += 'word ';
        return isSo();
      });
    for (let i = 0; i < 3; i++) {
      const height = (await composer.boundingBox())?.height ?? 0;
      await say(stage.person('bob'), chatId, `arrives ${i}`);
      await typeUntil('the message is at the end', async () => {
        const isShown = await message(page, `arrives ${i}`).isVisible();
        return isShown && (await endPx()) < 2;
      });
      await typeUntil('the composer grows', async () => ((await composer.boundingBox())?.height ?? 0) > height);
      await becomes(() => isAbove(`arrives ${i}`), true);
    }
    await becomes(() => composer.inputValue(), typed);
    // A message comes while the composer gets smaller.
    await say(stage.person('bob'), chatId, `is\n\nlong`);
    for (let i = 0; i < 60; i++) await page.keyboard.press('Backspace');
    await message(page, 'long').waitFor();
    await becomes(() => isAbove('long'), true);
    await page.getByRole('button', { name: 'Send' }).click();
    await becomes(() => isAbove(typed.slice(0, -60).trim()), true);
  });

  test('and a reader who leaves the end as a message arrives is not taken back', async () => {
    const chatId = await groupWith(stage, 'Left at once');
    for (let i = 0; i < 60; i++) await say(stage.person('bob'), chatId, i % 3 === 0 ? long : `message ${i}`);
    await stage.person('ada').ok('messages.mark_read', { chat_id: chatId });
    const page = await stage.open('ada', `/chats/${chatId}`, desk);
    await message(page, 'message 59').waitFor();
    await log(page).hover();
    await say(stage.person('bob'), chatId, 'it arrives');
    await message(page, 'it arrives').waitFor();
    await page.mouse.wheel(0, -1_000);
    await page.getByRole('button', { name: 'Newest messages' }).waitFor();
    // The rows above are measured when they are first on the screen.
    await until('the rows are measured', () =>
      log(page).evaluate(
        (list) =>
          new Promise<boolean>((resolve) => {
            const top = list.scrollTop;
            setTimeout(() => resolve(list.scrollTop === top), 200);
          }),
      ),
    );
    await say(stage.person('bob'), chatId, 'and one more');
    await chats(page).getByText('and one more').waitFor();
    await page.getByRole('button', { name: 'Newest messages' }).click();
    await message(page, 'and one more').waitFor();
    await until('the end is on the screen', () =>
      log(page).evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight < 2),
    );
  });
});
