import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import type { Page, Route } from 'playwright-core';
import { desk, groupWith, message, phone, say, violationsOn } from './acts.ts';
import { chats, composer, log, scene, write } from './scene.ts';
import { becomes, until } from './support.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const notice = (page: Page) => page.locator('.notice');

/** Cuts off the calls of an operation until the returned function is called. */
async function cut(
  page: Page,
  operation: string,
  respond = (route: Route) => route.abort(),
): Promise<() => Promise<void>> {
  const url = new RegExp(`/api/.*\\b${operation}\\b`);
  await page.route(url, respond);
  return () => page.unroute(url, respond);
}

const refuse = (status: number, code: string, text: string) => (route: Route) =>
  route.fulfill({ status, json: { success: false, error: { code, message: text } } });

inChromium('what fails', () => {
  const stage = scene();
  // Browsers write every refusal to the console.
  afterEach(() => stage.expectNoFaults(/status of (?:4\d\d|503)/));

  test('is told in a sentence, and done again', async () => {
    const [ada, bob] = [stage.person('ada'), stage.person('bob')];
    const [chatId, otherId] = [await groupWith(stage, 'Failing'), await groupWith(stage, 'Other')];
    const first = await say(bob, chatId, 'hello');
    await ada.ok('messages.pin', { message_id: first.message_id });
    await say(bob, otherId, 'unread');
    const page = await stage.open('ada', `/chats/${chatId}`, desk);

    let mend = await cut(page, 'add_reaction');
    await message(page, 'hello').hover();
    await button(page, 'React').click();
    await page.getByRole('dialog', { name: 'Add a reaction' }).getByRole('button', { name: 'thumbsup' }).click();
    await notice(page).getByText('Your reaction was not saved.').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await mend();
    await notice(page).getByRole('button', { name: 'Try again' }).click();
    await button(page, '👍 1').waitFor();
    await becomes(() => notice(page).innerText(), '');

    mend = await cut(page, 'set_preferences');
    const choose = async (act: string) => {
      await chats(page).getByRole('button', { name: 'Options of Other' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('menuitem', { name: act }).click();
    };
    const pinned = chats(page).getByRole('link', { name: /Other.*pinned/s });
    await choose('Pin to the top');
    await notice(page).getByText('This setting was not saved.').waitFor();
    await pinned.waitFor({ state: 'detached' });
    await mend();
    await notice(page).getByRole('button', { name: 'Try again' }).click();
    await pinned.waitFor();

    mend = await cut(page, 'mark_read', refuse(503, 'unavailable', 'The server is busy.'));
    await choose('Mark as read');
    await notice(page).getByText('The chat was not marked as read. The server is busy.').waitFor();
    await mend();
    await notice(page).getByRole('button', { name: 'Try again' }).click();
    await chats(page)
      .getByRole('link', { name: /Other.*1 unread/s })
      .waitFor({ state: 'detached' });

    mend = await cut(page, 'unpin');
    await button(page, 'Pinned messages, 1').click();
    const pins = page.getByRole('dialog', { name: 'Pinned messages' });
    await pins.getByRole('button', { name: 'Unpin' }).click();
    await pins.getByText('The message is still pinned.').waitFor();
    await mend();
    await pins.getByRole('button', { name: 'Try again' }).click();
    await button(page, 'Pinned messages, 1').waitFor({ state: 'detached' });
  });

  test('leaves lists with what they have, and a way to load the rest', async () => {
    const [ada, bob] = [stage.person('ada'), stage.person('bob')];
    const chatId = await groupWith(stage, 'Long');
    for (let i = 0; i < 70; i++) await say(bob, chatId, `number ${i}`);
    await ada.ok('messages.mark_read', { chat_id: chatId });
    const channels = await Promise.all(
      Array.from({ length: 130 }, (_, i) => bob.ok('messages.create_channel', { name: `Open ${i}` })),
    );
    const page = await stage.open('ada', '/settings', desk);
    let mend = await cut(page, 'before_id');
    await page.goto(`${stage.url()}/chats/${chatId}`);
    await message(page, 'number 69').waitFor();
    await page.getByText('Earlier messages could not be loaded.').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await mend();
    await button(page, 'Try again').click();
    // One key after the other, as fast as they come: rows outside of the screen are there in time.
    await log(page).focus();
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
    // At the top of what is loaded a key does nothing, so the next ones come until there is more.
    await until('the focus is on the first message', async () => {
      await page.keyboard.press('k');
      return (await focused()).includes('number 0');
    });
    for (let i = 0; i < 40; i++) await page.keyboard.press('j');
    await until('the focus is 40 messages further', async () => (await focused()).includes('number 40'));
    await page.keyboard.press('Escape');

    const last = Math.max(...channels.map(({ channel }) => channel.chat_id));
    const name = channels.find(({ channel }) => channel.chat_id === last)?.channel.name ?? '';
    mend = await cut(page, 'after_id');
    await page.getByRole('link', { name: 'Browse channels' }).click();
    await page.getByRole('heading', { name: 'Open', exact: false, level: 2 }).first().waitFor();
    await button(page, 'Show more').scrollIntoViewIfNeeded();
    await page.getByText('There are more channels, but they could not be loaded.').waitFor();
    await mend();
    await button(page, 'Try again').click();
    await page.getByRole('heading', { name, exact: true }).waitFor();

    const hit = (number: number) => page.locator('.result', { hasText: `number ${number}` });
    mend = await cut(page, 'search_messages');
    await page.goto(`${stage.url()}/search?q=number`);
    await page.getByText('The search did not work.').waitFor();
    await mend();
    await button(page, 'Try again').click();
    await hit(69).waitFor();
    mend = await cut(page, 'search_messages');
    await button(page, 'Show more').click();
    await page.getByText('There are more, but they could not be loaded.').waitFor();
    await mend();
    await button(page, 'Try again').click();
    await hit(39).waitFor();
  });

  test('is not sent: why, and what to do', async () => {
    const chatId = await groupWith(stage, 'Sending');
    const page = await stage.open('ada', `/chats/${chatId}`, phone);
    await write(page, 'x'.repeat(17_000));
    const refused = page.getByRole('alert');
    await refused.getByText('This message is too long. Shorten it, or send it in parts.').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await refused.getByRole('button', { name: 'Edit' }).click();
    expect(await composer(page).inputValue()).toHaveLength(17_000);
    await refused.waitFor({ state: 'detached' });
    await button(page, 'Send').click();
    await refused.getByRole('button', { name: 'Discard' }).press('Enter');
    await refused.waitFor({ state: 'detached' });
    await becomes(() => composer(page).evaluate((field) => field === document.activeElement), true);

    let mend = await cut(page, 'send_message', refuse(429, 'rate_limited', 'Too many requests.'));
    await write(page, 'one');
    await page.getByText('You have sent a lot at once.').waitFor();
    await mend();
    mend = await cut(page, 'send_message', refuse(503, 'unavailable', 'The disk of the server is almost full.'));
    await page.getByText('The disk of the server is almost full. Your messages are sent by themselves').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await mend();
    await message(page, 'one').locator('time').first().waitFor();

    // Nothing moves when a message is sent: neither the first of several, nor one that follows.
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    mend = await cut(page, 'send_message', async (route) => {
      await held;
      await route.continue();
    });
    await say(stage.person('bob'), chatId, 'between');
    await message(page, 'between').waitFor();
    await write(page, 'two');
    await write(page, 'three');
    await until('both are on their way', async () => (await page.getByText('Sending…').count()) === 2);
    const heights = async () => {
      const boxes = await Promise.all(['two', 'three'].map((text) => message(page, text).boundingBox()));
      return boxes.map((box) => box?.height);
    };
    const before = await heights();
    release();
    await until('both are sent', async () => (await page.getByText('Sending…').count()) === 0);
    expect(await heights()).toEqual(before);
    await mend();
  });

  test('is a file that is too large, or has no room: each is told', async () => {
    const chatId = await groupWith(stage, 'Large');
    const page = await stage.open('ada', `/chats/${chatId}`, phone);
    await composer(page).waitFor();
    let mend = await cut(page, 'uploads', (route) =>
      route.request().method() === 'POST'
        ? refuse(413, 'payload_too_large', 'A file may have at most 2147483648 bytes.')(route)
        : route.continue(),
    );
    await page.getByLabel('Files', { exact: true }).setInputFiles({
      name: 'film.mp4',
      mimeType: 'video/mp4',
      buffer: Buffer.from('bytes'),
    });
    await page.getByText('A file may have 2.0 GB here at most.').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    // The same file is as large the next time.
    await becomes(() => button(page, 'Retry film.mp4').count(), 0);
    await button(page, 'Remove film.mp4').click();
    await mend();

    // A full disk is told at the first failure, and the upload goes on by itself.
    mend = await cut(page, 'uploads', refuse(503, 'unavailable', 'The disk of the server is almost full.'));
    await page.getByLabel('Files', { exact: true }).setInputFiles({
      name: 'plan.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('bytes'),
    });
    await page.getByText('The disk of the server is almost full. Your messages are sent by themselves').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await mend();
    await page.getByText('Uploaded').waitFor();
  });

  test('is a server that does not respond: what is not stored appears when it is back', async () => {
    const bob = stage.person('bob');
    const { group } = await bob.ok('messages.create_group', {
      name: 'Away',
      participants: [stage.person('cleo').userId],
    });
    await say(bob, group.chat_id, 'worth the wait');
    const page = await stage.open('cleo', '/settings', phone);
    let mend = await cut(page, '');
    await page.goto(`${stage.url()}/settings/profile`);
    await page.getByText('Your settings could not be loaded.').waitFor();
    await button(page, 'Try again').waitFor();
    await mend();
    const name = page.getByRole('textbox', { name: 'Display name' });
    await until('the settings are there', async () => (await name.inputValue()) === 'Cleo');
    mend = await cut(page, '');
    await page.goto(`${stage.url()}/chats/${group.chat_id}`);
    await page.getByRole('heading', { name: 'The server does not respond' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await mend();
    await message(page, 'worth the wait').waitFor();

    // Removed from the chat while it is open: what was written there is not lost.
    await cut(page, 'send_message');
    await write(page, 'left behind');
    await until('it is kept', async () => (await page.getByText('Sending…').count()) === 1);
    await composer(page).fill('only begun');
    await bob.ok('chats.remove_participant', { chat_id: group.chat_id, user_id: stage.person('cleo').userId });
    await page.getByRole('heading', { name: 'You are not in this chat any more' }).waitFor();
    const left = (words: string) => page.getByRole('listitem').filter({ hasText: words });
    await left('left behind').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    for (const words of ['left behind', 'only begun']) {
      await left(words).getByRole('button', { name: 'Copy the text' }).click();
      await notice(page).getByText('Copied').waitFor();
      await left(words).getByRole('button', { name: 'Discard' }).click();
      await left(words).waitFor({ state: 'detached' });
    }

    // The account is disabled while it is open.
    await stage.person('ada').ok('users.disable', { user_id: stage.person('cleo').userId });
    await page.getByText('Your account is disabled').waitFor();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await becomes(() => page.evaluate(async () => (await indexedDB.databases()).length), 0);
  });

  test('asks before somebody becomes an owner or is removed', async () => {
    const chatId = await groupWith(stage, 'Owners');
    const page = await stage.open('ada', `/chats/${chatId}`, phone);
    await button(page, 'People').click();
    const role = page.getByRole('combobox', { name: 'Role of Bob' });
    const roleOfBob = async () => {
      const { participants } = await stage.person('ada').ok('chats.participants', { chat_id: chatId });
      return participants.find(({ user_id }) => user_id === stage.person('bob').userId)?.role;
    };
    await role.selectOption('Owner');
    await page.getByText('Owners decide everything in it').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await button(page, 'Cancel').press('Enter');
    expect([await role.inputValue(), await roleOfBob()]).toEqual(['member', 'member']);
    await button(page, 'Remove Bob').click();
    await page.getByText('Remove Bob from this chat?').waitFor();
    await button(page, 'Cancel').press('Enter');
    expect(await roleOfBob()).toBe('member');
    await button(page, 'Remove Bob').click();
    await button(page, 'Remove').click();
    await until('he is removed', async () => (await roleOfBob()) === undefined);
    await stage
      .person('ada')
      .ok('chats.add_participants', { chat_id: chatId, participants: [stage.person('bob').userId] });
    await page.keyboard.press('Escape');
    await button(page, 'People').click();
    await role.selectOption('Admin');
    await until('he is an admin', async () => (await roleOfBob()) === 'admin');
    await role.selectOption('Owner');
    await button(page, 'Make owner').click();
    await until('he is an owner', async () => (await roleOfBob()) === 'owner');
  });
});
