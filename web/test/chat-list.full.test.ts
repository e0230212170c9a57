import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { desk, groupWith, message, phone, say, violationsOn } from './acts.ts';
import { chats, log, scene, write } from './scene.ts';
import { until } from './support.ts';

inChromium('the list of chats', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  test('shows the newest message without Markdown marks, and counts what is unread and what mentions', async () => {
    const chatId = await groupWith(stage, 'Preview');
    const bob = stage.person('bob');
    const ada = await stage.open('ada');
    const link = chats(ada).getByRole('link', { name: /Preview/ });
    await link.waitFor();
    await say(bob, chatId, '# Plan\n\n- **bold** and `code`, [a link](https://example.com) for @ada');
    await ada.getByRole('link', { name: /Preview.*Bob: Plan bold and code, a link for @ada/s }).waitFor();
    await ada.getByRole('link', { name: /Preview.*1 mention, 1 unread/s }).waitFor();
    await say(bob, chatId, 'and @all');
    await ada.getByRole('link', { name: /Preview.*2 mentions, 2 unread/s }).waitFor();
    await link.getByText('@2', { exact: true }).waitFor();
    const last = await say(bob, chatId, 'nobody');
    await ada.getByRole('link', { name: /Preview.*2 mentions, 3 unread/s }).waitFor();
    await bob.ok('messages.edit_message', { message_id: last.message_id, content: 'somebody' });
    await link.getByText('somebody').waitFor();
    // A reload counts the same.
    await ada.reload();
    await ada.getByRole('link', { name: /Preview.*2 mentions, 3 unread/s }).waitFor();
  });

  test('keeps a pinned chat at the top, mutes and archives, on every client of the user', async () => {
    const [first, second] = [await groupWith(stage, 'First one'), await groupWith(stage, 'Second one')];
    const [ada, other] = [await stage.open('ada', `/chats/${first}`), await stage.open('ada')];
    const inList = (name: RegExp) => chats(other).getByRole('link', { name });
    await inList(/First one/).waitFor();
    const choose = async (act: string) => {
      await ada.getByRole('button', { name: 'Options of this chat' }).click();
      await ada.getByRole('menu').getByText(act, { exact: true }).click();
    };
    await choose('Pin to the top');
    await inList(/First one.*pinned/s).waitFor();
    await say(stage.person('bob'), second, 'newer');
    await inList(/Second one.*newer/s).waitFor();
    expect(await chats(other).getByRole('link').first().innerText()).toContain('First one');
    await choose('Mute for 1 hour');
    await inList(/First one.*muted/s).waitFor();
    await choose('Unmute');
    await until('it is not muted', async () => (await inList(/First one.*muted/s).count()) === 0);

    // With the keyboard, from the list.
    await chats(other).getByRole('button', { name: 'Options of First one' }).focus();
    await other.keyboard.press('Enter');
    await other.getByRole('menuitem', { name: 'Unpin from the top' }).waitFor();
    await other.keyboard.press('ArrowDown');
    await other.keyboard.press('Enter');
    await until('it is archived', async () => (await inList(/First one/).count()) === 0);
    await chats(ada).getByRole('button', { name: 'Archived 1' }).click();
    await chats(ada)
      .getByRole('link', { name: /First one/ })
      .waitFor();
    await other.reload();
    await chats(other).getByRole('button', { name: 'Archived 1' }).click();
    await inList(/First one/).waitFor();

    // The switcher finds it too, and people without a chat.
    const goTo = async (name: string, found: RegExp) => {
      await other.keyboard.press('Control+k');
      await other.getByRole('combobox', { name: 'Name of a chat' }).fill(name);
      await other.getByRole('option', { name: found }).waitFor();
      await other.keyboard.press('Enter');
    };
    await goTo('first', /First one archived/);
    await other.waitForURL(`**/chats/${first}`);
    await goTo('cle', /Cleo @cleo/);
    await other.getByRole('heading', { name: 'Cleo' }).waitFor();
  });

  test('shows new names and pictures of people without a reload', async () => {
    const bob = stage.person('bob');
    const { chat } = await stage.person('ada').ok('messages.create_direct', { user_id: bob.userId });
    await say(bob, chat.chat_id, 'hello');
    const ada = await stage.open('ada', `/chats/${chat.chat_id}`);
    await message(ada, 'hello').waitFor();
    await bob.ok('users.update', { display_name: 'Robert' });
    await chats(ada)
      .getByRole('link', { name: /^Robert/ })
      .waitFor();
    await ada.getByRole('heading', { name: 'Robert' }).waitFor();
    const picture = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    const form = new FormData();
    form.set('file', new File([picture], 'me.png', { type: 'image/png' }));
    const response = await fetch(`${stage.url()}/api/users/set_avatar`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bob.token}` },
      body: form,
    });
    expect(response.status).toBe(200);
    const image = log(ada).locator('.avatar img');
    await image.waitFor();
    await until('it is loaded', () => image.evaluate((img) => (img as HTMLImageElement).naturalWidth === 64));
    await chats(ada).locator('.avatar img').waitFor();
    await bob.ok('users.update', { display_name: 'Bob' });
  });

  test('asks for all names in one request', async () => {
    const chatId = await groupWith(stage, 'Names');
    await stage
      .person('ada')
      .ok('chats.add_participants', { chat_id: chatId, participants: [stage.person('cleo').userId] });
    await say(stage.person('bob'), chatId, 'one');
    await say(stage.person('cleo'), chatId, 'two');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await message(ada, /Cleo.*two/s).waitFor();
    await message(ada, /Bob.*one/s).waitFor();
    const urls = await ada.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
    const requests = urls.filter((url) => /users(?:\.php\?action=|\/)get\b/.test(url));
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.length).toBeLessThanOrEqual(2);
  });

  test('loses a chat that one leaves, after a question', async () => {
    const chatId = await groupWith(stage, 'Leaving');
    await stage
      .person('ada')
      .ok('chats.set_role', { chat_id: chatId, user_id: stage.person('bob').userId, role: 'owner' });
    const ada = await stage.open('ada', `/chats/${chatId}`, desk);
    await ada.getByRole('button', { name: 'People', exact: true }).click();
    await ada.getByRole('button', { name: 'Leave the chat' }).click();
    await ada.getByText('You can come back only if somebody adds you.').waitFor();
    expect(await violationsOn(ada)).toEqual([]);
    await ada.getByRole('button', { name: 'Stay' }).click();
    await ada.getByRole('button', { name: 'Leave the chat' }).click();
    await ada.getByRole('button', { name: 'Leave', exact: true }).click();
    await chats(ada)
      .getByRole('link', { name: /Leaving/ })
      .waitFor({ state: 'detached' });
    const { participants } = await stage.person('bob').ok('chats.participants', { chat_id: chatId });
    expect(participants.map(({ user_id }) => user_id)).toEqual([stage.person('bob').userId]);
  });

  test('breaks no rule of accessibility with its menu open, which renames and describes the chat', async () => {
    const chatId = await groupWith(stage, 'Menu');
    await stage.person('ada').ok('chats.set_preferences', { chat_id: chatId, pinned: true, notify: 'none' });
    await say(stage.person('bob'), chatId, 'hello @ada');
    for (const screen of [desk, phone]) {
      const page = await stage.open('ada', '/', screen);
      await chats(page).getByRole('link', { name: /Menu/ }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.goto(`${stage.url()}/chats/${chatId}`);
      await page.getByRole('button', { name: 'Options of this chat' }).click();
      await page.getByRole('menu').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('menuitem', { name: 'Edit name and description' }).click();
      const dialog = page.getByRole('dialog', { name: 'Edit name and description' });
      await dialog.getByLabel('Name').fill(`Menu of ${screen.viewport.width}`);
      await dialog.getByLabel('Description').fill(`For ${screen.viewport.width} pixels`);
      expect(await violationsOn(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: `Menu of ${screen.viewport.width}` }).waitFor();
      await page.getByText(`For ${screen.viewport.width} pixels`).first().waitFor();
      await write(page, 'done');
    }
  });
});
