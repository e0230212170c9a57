import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import type { Page } from 'playwright-core';
import { desk, groupWith, message, phone, say, violationsOn } from './acts.ts';
import { chats, composer, log, scene } from './scene.ts';
import { becomes, until } from './support.ts';

inChromium('where there is nothing, the client says what to do next', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name });

  test('without chats, threads, channels and hits', async () => {
    for (const screen of [desk, phone]) {
      const page = await stage.open('cleo', '/', screen);
      await chats(page).getByText('No chats yet').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      // One of them on the whole page: in the list on a phone, beside it at a desk.
      await button(page, 'Start a chat').click();
      await page.getByRole('dialog', { name: 'New direct chat' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Find channels' }).click();
      await heading(page, 'No public channels yet').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await button(page, 'Create a channel').click();
      await page.getByRole('dialog', { name: 'New channel' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('searchbox', { name: 'Find a channel' }).fill('nowhere');
      await heading(page, 'No channel has this name').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await button(page, 'Show all channels').click();
      await heading(page, 'No public channels yet').waitFor();
      await page.goto(`${stage.url()}/threads`);
      await heading(page, 'No threads yet').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await button(page, 'Go to a chat').click();
      await page.getByRole('dialog', { name: 'Go to a chat' }).waitFor();
      await page.goto(`${stage.url()}/search`);
      await heading(page, 'Search what was written').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.goto(`${stage.url()}/search?q=nothing&file=1`);
      await heading(page, 'No message matches').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await button(page, 'Remove the filters').click();
      await until('the filter is gone', async () => !page.url().includes('file'));
      await page.getByText('Check the spelling, or use fewer words.').waitFor();
      await page.context().close();
    }
  });

  test('in a chat without messages', async () => {
    const chatId = await groupWith(stage, 'Quiet');
    for (const screen of [desk, phone]) {
      const page = await stage.open('ada', `/chats/${chatId}`, screen);
      await heading(page, 'Quiet').nth(1).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await button(page, 'Add people').click();
      await page.getByRole('dialog', { name: 'People' }).waitFor();
      await page.keyboard.press('Escape');
      await button(page, 'Write a message').click();
      await until('the field has the focus', () =>
        composer(page).evaluate((field) => field === document.activeElement),
      );
      await page.context().close();
    }
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await button(ada, 'Write a message').waitFor();
    await say(stage.person('bob'), chatId, 'first');
    await message(ada, 'first').waitFor();
    await button(ada, 'Write a message').waitFor({ state: 'detached' });
    await ada.getByText('This is the start of the chat.').waitFor();
  });

  test('for a reader of a channel', async () => {
    const { channel } = await stage.person('ada').ok('messages.create_channel', { name: 'News', participants: [] });
    await stage.person('bob').ok('chats.join', { chat_id: channel.chat_id });
    const bob = await stage.open('bob', `/chats/${channel.chat_id}`, desk);
    await bob.getByText('Nothing has been posted yet.').waitFor();
    expect(await violationsOn(bob)).toEqual([]);
  });
});

inChromium('links that lead nowhere', () => {
  const stage = scene();
  // Browsers write every 404 to the console.
  afterEach(() => stage.expectNoFaults(/status of 404/));
  const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name });

  test('to a message or a chat that one may not see', async () => {
    const own = await groupWith(stage, 'Secret');
    const { message_id } = await say(stage.person('bob'), own, 'hidden');
    for (const screen of [desk, phone]) {
      const cleo = await stage.open('cleo', `/m/${message_id}`, screen);
      await heading(cleo, 'You cannot see this message').waitFor();
      await becomes(() => cleo.getByText('hidden').count(), 0);
      expect(await violationsOn(cleo)).toEqual([]);
      await cleo.getByRole('link', { name: 'Go to your chats' }).click();
      await until('it is at home', async () => new URL(cleo.url()).pathname === '/');
      await chats(cleo).waitFor();
      await cleo.goto(`${stage.url()}/chats/${own}`);
      await heading(cleo, 'You cannot see this chat').waitFor();
      expect(await violationsOn(cleo)).toEqual([]);
      await cleo.context().close();
    }
  });

  test('to a message that was deleted or never was, and while the server is away', async () => {
    const chatId = await groupWith(stage, 'Gone');
    await say(stage.person('bob'), chatId, 'still here');
    const gone = await say(stage.person('bob'), chatId, 'a mistake');
    await stage.person('bob').ok('messages.delete_message', { message_id: gone.message_id });
    const ada = await stage.open('ada', `/m/${gone.message_id}`, desk);
    await log(ada).locator('.message.target').getByText('This message was deleted.').waitFor();
    expect(await violationsOn(ada)).toEqual([]);
    await ada.goto(`${stage.url()}/chats/${chatId}/999999`);
    await ada.getByText('This message is not here any more.').waitFor();
    await message(ada, 'still here').waitFor();
    await ada.route('**/api/**', (route) => route.abort());
    await ada.goto(`${stage.url()}/m/${gone.message_id}`);
    await heading(ada, 'The message could not be loaded').waitFor();
    expect(await violationsOn(ada)).toEqual([]);
    await ada.unroute('**/api/**');
    await ada.getByRole('button', { name: 'Try again' }).click();
    await log(ada).locator('.message.target').waitFor();
  });
});
