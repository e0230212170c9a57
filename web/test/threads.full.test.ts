import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { png } from '@parley/server/test/support/pictures.ts';
import { desk, groupWith, message, phone, say, violationsOn } from './acts.ts';
import { chats, composer, scene } from './scene.ts';
import { becomes, until } from './support.ts';

inChromium('threads', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  test('have a count on their first message and a pane of their own', async () => {
    const chatId = await groupWith(stage, 'Threads');
    const root = await say(stage.person('bob'), chatId, 'A question');
    const [ada, bob] = [await stage.open('ada', `/chats/${chatId}`), await stage.open('bob', `/chats/${chatId}`)];
    await message(ada, 'A question').hover();
    await ada.getByRole('button', { name: 'Open the thread' }).click();
    const pane = ada.getByRole('region', { name: 'Thread', exact: true });
    await pane.getByText('No replies yet').waitFor();
    const field = pane.getByRole('textbox', { name: 'Reply in the thread' });
    await field.fill('An answer');
    await field.press('Enter');
    await pane.getByText('1 reply').waitFor();
    await message(bob, 'A question').getByRole('link', { name: '1 reply' }).click();
    const other = bob.getByRole('region', { name: 'Thread', exact: true });
    await other.getByText('An answer').waitFor();
    // The live region of the chat tells about replies: another one would say them twice.
    await becomes(() => pane.getByRole('log', { name: 'Replies' }).getAttribute('aria-live'), 'off');
    // Files that are dropped on the thread are for it.
    await field.evaluate((area) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['dropped'], 'dropped.txt'));
      area.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
    });
    const tray = ada.getByRole('list', { name: 'Attached files' });
    await pane.getByRole('list', { name: 'Attached files' }).getByText('Uploaded').waitFor();
    await becomes(() => tray.count(), 1);
    await tray.getByRole('button', { name: 'Remove dropped.txt' }).click();
    // The actions go with the pointer.
    const answer = pane.locator('.message', { hasText: 'An answer' });
    await answer.hover();
    const [bar, time] = [await pane.getByRole('toolbar').boundingBox(), await answer.locator('time').boundingBox()];
    expect((bar?.y ?? 0) + (bar?.height ?? 0)).toBeLessThanOrEqual((time?.y ?? 0) + 1);
    await chats(ada).hover();
    await pane.getByRole('toolbar').waitFor({ state: 'detached' });
    await say(stage.person('bob'), chatId, 'Thanks', root.message_id);
    await pane.getByText('Thanks').waitFor();
    await pane.getByText('2 replies').waitFor();
    // What is written elsewhere in the chat is not part of it.
    await say(stage.person('bob'), chatId, 'Something else');
    await message(ada, 'Something else').waitFor();
    await becomes(() => pane.getByText('Something else').count(), 0);

    const { messages } = await stage
      .person('ada')
      .ok('messages.get_messages', { chat_id: chatId, thread_id: root.message_id });
    const own = messages.find(({ content }) => content === 'An answer');
    await stage.person('ada').ok('messages.delete_message', { message_id: own?.message_id ?? 0 });
    await pane.getByText('1 reply').waitFor();
    await other.getByText('An answer').waitFor({ state: 'detached' });
    await field.press('Escape');
    await pane.waitFor({ state: 'detached' });
    await until('the focus is in the composer', () =>
      composer(ada).evaluate((area) => area === document.activeElement),
    );
  });

  test('are listed with their unread replies', async () => {
    const chatId = await groupWith(stage, 'Listed');
    const root = await say(stage.person('ada'), chatId, 'My **own** question');
    const ada = await stage.open('ada', '/threads');
    await ada.getByRole('heading', { name: 'Threads' }).waitFor();
    await say(stage.person('bob'), chatId, 'one', root.message_id);
    await say(stage.person('bob'), chatId, 'two', root.message_id);
    await ada.getByRole('link', { name: 'Threads, 1 unread' }).waitFor();
    const entry = ada
      .getByRole('list', { name: 'Your threads' })
      .getByRole('link', { name: /My own question.*2 replies.*2 new/s });
    await entry.click();
    const pane = ada.getByRole('region', { name: 'Thread', exact: true });
    await pane.getByText('two').waitFor();
    await ada.getByRole('link', { name: 'Threads', exact: true }).waitFor();
  });

  test('are loaded in pages while one scrolls', async () => {
    const chatId = await groupWith(stage, 'Paged');
    const [ada, bob] = [stage.person('ada'), stage.person('bob')];
    const count = 120;
    for (let from = 0; from < count; from += 20) {
      await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          const root = await say(ada, chatId, `topic ${from + i}.`);
          await say(bob, chatId, 'yes', root.message_id);
        }),
      );
    }
    const page = await stage.open('ada', '/threads');
    const cards = page.getByRole('list', { name: 'Your threads' }).getByRole('link', { name: /topic/ });
    await cards.first().waitFor();
    expect(await cards.count()).toBeLessThan(count);
    const end = page.getByRole('button', { name: 'Show more' });
    await until('all are there', async () => {
      await page.locator('.pane').evaluate((pane) => pane.scrollTo(0, pane.scrollHeight));
      return (await end.count()) === 0;
    });
    const shown = await cards.allInnerTexts();
    expect(new Set(shown.map((text) => /topic \d+\./.exec(text)?.[0])).size).toBe(count);
    // A new reply moves a thread to the top, and leaves the others.
    const oldest = shown.at(-1)?.match(/topic \d+\./)?.[0] ?? '';
    const { messages } = await ada.ok('messages.search_messages', { query: oldest, chat_id: chatId });
    const root = messages.find(({ content }) => content === oldest);
    await say(bob, chatId, 'late', root?.message_id);
    await until('it is the first', async () => (await cards.first().innerText()).includes(oldest));
    await becomes(() => cards.count(), count);
  });

  test('break no rule of accessibility', async () => {
    const chatId = await groupWith(stage, 'Rules');
    const root = await say(stage.person('ada'), chatId, 'A question');
    await say(stage.person('bob'), chatId, 'An answer', root.message_id);
    const file = new File([new Uint8Array(png(400, 300, (x, y) => [x % 255, y % 255, 90]))], 'drawing.png', {
      type: 'image/png',
    });
    await stage.person('bob').ok('messages.send_message', { chat_id: chatId, reply_to: root.message_id, file });
    for (const screen of [desk, phone]) {
      const page = await stage.open('ada', `/chats/${chatId}?thread=${root.message_id}`, screen);
      const pane = page.getByRole('region', { name: 'Thread', exact: true });
      await pane.getByText('An answer').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await pane.getByRole('link', { name: 'drawing.png' }).click();
      await page.getByRole('dialog', { name: 'View picture' }).getByRole('img', { name: 'drawing.png' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.goto(`${stage.url()}/threads`);
      await page.getByRole('link', { name: /in Rules/ }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
    }
  });
});
