import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import type { Page } from 'playwright-core';
import { desk, groupWith, message, phone, say, violationsOn } from './acts.ts';
import { chats, composer, log, scene, write } from './scene.ts';
import { until } from './support.ts';

inChromium('links and pins', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  test('lead to a message far back, and from there to the newest', async () => {
    const chatId = await groupWith(stage, 'Far');
    const ids: number[] = [];
    for (let i = 0; i < 160; i++) ids.push((await say(stage.person('bob'), chatId, `number ${i}.`)).message_id);
    // A chat with many unread messages opens where they begin.
    await stage.person('ada').ok('messages.mark_read', { chat_id: chatId, message_id: ids[9] ?? 0 });
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await message(ada, 'number 10.').waitFor();
    const line = await log(ada).locator('.unread-line').boundingBox();
    const [last, first] = [
      await message(ada, 'number 9.').boundingBox(),
      await message(ada, 'number 10.').boundingBox(),
    ];
    expect(line?.y).toBeGreaterThan(last?.y ?? Number.POSITIVE_INFINITY);
    expect(line?.y).toBeLessThan(first?.y ?? 0);

    await stage.person('ada').ok('messages.mark_read', { chat_id: chatId });
    await ada.goto(`${stage.url()}/m/${ids[20]}`);
    await message(ada, 'number 20.').waitFor();
    expect(ada.url()).toEndWith(`/chats/${chatId}/${ids[20]}`);
    expect(await message(ada, 'number 20.').getAttribute('class')).toContain('target');
    await ada.getByRole('button', { name: 'Newest messages' }).click();
    await message(ada, 'number 159.').waitFor();
    await message(ada, 'number 159.').hover();
    await ada.getByRole('button', { name: 'Copy link' }).click();
    await ada.getByText('Link copied').waitFor();
    await composer(ada).focus();
    await ada.keyboard.press('Control+v');
    await until('it is pasted', async () => (await composer(ada).inputValue()).endsWith(`/m/${ids[159]}`));
    await composer(ada).fill('');
  });

  test('do not keep a reader from the end: by sending, or by opening the chat itself', async () => {
    const chatId = await groupWith(stage, 'Back to the end');
    const ids: number[] = [];
    for (let i = 0; i < 160; i++) ids.push((await say(stage.person('bob'), chatId, `number ${i}.`)).message_id);
    await stage.person('ada').ok('messages.mark_read', { chat_id: chatId });
    const ada = await stage.open('ada', `/m/${ids[10]}`);
    await message(ada, 'number 10.').waitFor();
    await write(ada, 'sent from far back');
    await message(ada, 'sent from far back').waitFor();
    await untilAtEnd(ada);
    await ada.goto(`${stage.url()}/m/${ids[10]}`);
    await message(ada, 'number 10.').waitFor();
    await chats(ada).getByRole('link', { name: 'Back to the end' }).click();
    await message(ada, 'sent from far back').waitFor();
    await untilAtEnd(ada);
  });

  const untilAtEnd = (page: Page) =>
    until('the end is on the screen', () =>
      log(page).evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight < 2),
    );

  test('pin a message for everyone, and take it back', async () => {
    const chatId = await groupWith(stage, 'Pins');
    await say(stage.person('bob'), chatId, 'the **address**');
    const [ada, bob] = [await stage.open('ada', `/chats/${chatId}`), await stage.open('bob', `/chats/${chatId}`)];
    await message(ada, 'the address').hover();
    await ada.getByRole('button', { name: 'Pin', exact: true }).click();
    await message(bob, /the address.*Pinned/s).waitFor();
    await bob.getByRole('button', { name: 'Pinned messages, 1' }).click();
    const list = bob.getByRole('list', { name: 'Pinned messages' });
    await list.getByRole('link', { name: /the address/ }).waitFor();
    await list.getByRole('button', { name: 'Unpin' }).click();
    await ada.getByRole('button', { name: /Pinned messages/ }).waitFor({ state: 'detached' });
    await message(ada, /Pinned/).waitFor({ state: 'detached' });
  });

  test('break no rule of accessibility', async () => {
    const chatId = await groupWith(stage, 'Rules');
    const { message_id } = await say(stage.person('bob'), chatId, 'pinned text');
    await stage.person('ada').ok('messages.pin', { message_id });
    for (const screen of [desk, phone]) {
      const page = await stage.open('ada', `/chats/${chatId}`, screen);
      await page.getByRole('button', { name: 'Pinned messages, 1' }).click();
      await page.getByRole('list', { name: 'Pinned messages' }).getByRole('link').waitFor();
      expect(await violationsOn(page)).toEqual([]);
    }
  });
});
