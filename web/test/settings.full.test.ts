import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { png } from '@parley/server/test/support/pictures.ts';
import type { Page } from 'playwright-core';
import { desk, groupWith, message, phone, say, violationsOn } from './acts.ts';
import { scene } from './scene.ts';
import { becomes, until } from './support.ts';

const picture = (name: string, mimeType = 'image/png') => ({
  name,
  mimeType,
  buffer: png(40, 20, (x) => [x * 6, 80, 160]),
});

/** Drops or pastes a picture on the page, as the system would. */
const give = (page: Page, kind: 'drop' | 'paste', bytes: Buffer) =>
  page.evaluate(
    ({ kind, data }) => {
      const transfer = new DataTransfer();
      const file = new File([Uint8Array.from(atob(data), (one) => one.charCodeAt(0))], 'me.png', { type: 'image/png' });
      transfer.items.add(file);
      const options = { bubbles: true, cancelable: true };
      document.body.dispatchEvent(
        kind === 'drop'
          ? new DragEvent('drop', { ...options, dataTransfer: transfer })
          : new ClipboardEvent('paste', { ...options, clipboardData: transfer }),
      );
    },
    { kind, data: bytes.toString('base64') },
  );

inChromium('settings', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

  test('of the profile show at once in the sidebar and in the rows of others', async () => {
    const chatId = await groupWith(stage, 'Launch');
    await say(stage.person('ada'), chatId, 'Good morning');
    const bob = await stage.open('bob', `/chats/${chatId}`);
    const row = message(bob, 'Good morning');
    await row.waitFor();
    const ada = await stage.open('ada', '/', { ...desk, timezoneId: 'Asia/Tokyo' });
    await ada.getByRole('link', { name: /Ada Lovelace.*Settings/ }).click();
    const name = ada.getByRole('textbox', { name: 'Display name' });
    await until('the name is there', async () => (await name.inputValue()) === 'Ada Lovelace');
    // Others see no time zone until somebody chooses one. That of the browser is offered first.
    const zone = ada.getByRole('combobox', { name: 'Time zone' });
    await becomes(() => zone.inputValue(), '');
    expect((await zone.getByRole('option').allInnerTexts()).slice(0, 2)).toEqual([
      'Not shown',
      'Asia/Tokyo (this browser)',
    ]);
    expect(await violationsOn(ada)).toEqual([]);
    await name.fill('Ada King');
    const saved = ada.getByRole('status').filter({ hasText: 'Saved.' });
    await button(ada, 'Save').click();
    await saved.waitFor();
    const inApi = async () => (await stage.person('ada').ok('users.get', { user_id: stage.person('ada').userId })).user;
    expect(await inApi()).toMatchObject({ display_name: 'Ada King', time_zone: null });
    await ada.getByRole('textbox', { name: 'Status' }).fill('On a train');
    await zone.selectOption('Europe/London');
    await button(ada, 'Save').click();
    await saved.waitFor();
    await ada.getByRole('link', { name: /Ada King.*Settings/ }).waitFor();
    await row.locator('.author', { hasText: 'Ada King' }).waitFor();
    expect(await inApi()).toMatchObject({ status_text: 'On a train', time_zone: 'Europe/London' });

    // What the server refuses is said with the label of the field.
    const cleo = await stage.open('cleo', '/settings/profile');
    await cleo.getByRole('textbox', { name: 'Display name' }).fill('Ada King');
    await button(cleo, 'Save').click();
    await cleo.getByText('Display name looks like the name of an administrator: choose another.').waitFor();
    stage.expectNoFaults(/status of 422/);
  });

  test('of the picture: by click, drop and paste, seen before it is saved', async () => {
    const chatId = await groupWith(stage, 'Pictures');
    await say(stage.person('ada'), chatId, 'Look at me');
    const bob = await stage.open('bob', `/chats/${chatId}`);
    const face = message(bob, 'Look at me').locator('.avatar img');
    const ada = await stage.open('ada', '/settings/profile', desk);
    const block = region(ada, 'Picture');
    const mine = ada.locator('.account .avatar img');
    const file = ada.getByLabel('File of the picture');
    await button(ada, 'Choose a picture').waitFor();
    await file.setInputFiles({ ...picture('huge.png'), buffer: Buffer.alloc(10_485_761) });
    await block.getByRole('alert').filter({ hasText: 'A picture may have up to 10 MB.' }).waitFor();
    await file.setInputFiles({ name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('not a picture') });
    await block.getByRole('alert').filter({ hasText: 'is not a picture' }).waitFor();

    await file.setInputFiles(picture('me.png'));
    await block.getByRole('img', { name: 'Your new picture, not saved yet' }).waitFor();
    await becomes(() => block.getByRole('alert').count(), 0);
    const seen = await block.locator('.face img').evaluate((image) => {
      const { borderRadius, objectFit } = getComputedStyle(image);
      const { width, height } = image.getBoundingClientRect();
      return { borderRadius, objectFit, isSquare: width === height };
    });
    expect(seen).toEqual({ borderRadius: '50%', objectFit: 'cover', isSquare: true });
    await becomes(() => mine.count(), 0);
    expect(await violationsOn(ada)).toEqual([]);
    await button(ada, 'Cancel').click();
    await block.getByRole('img', { name: 'Your picture', exact: true }).waitFor();

    await give(ada, 'drop', picture('me.png').buffer);
    await button(ada, 'Save the picture').click();
    await mine.waitFor();
    await face.waitFor();
    const first = await mine.getAttribute('src');
    await give(
      ada,
      'paste',
      png(30, 30, () => [0, 120, 0]),
    );
    await button(ada, 'Save the picture').click();
    await until('it is the new one', async () => (await mine.getAttribute('src')) !== first);
    // Without the picture there are initials.
    await bob.route(/avatar/, (route) => route.abort());
    await bob.reload();
    await message(bob, 'Look at me').locator('.avatar', { hasText: 'A' }).waitFor();
    await bob.unroute(/avatar/);
    await bob.reload();
    await face.waitFor();
    await button(ada, 'Remove the picture').click();
    await mine.waitFor({ state: 'detached' });
    await face.waitFor({ state: 'detached' });
    await becomes(() => ada.evaluate(() => document.activeElement?.textContent), 'Choose a picture');
  });

  test('of the appearance are in the first paint of every page, and in every tab', async () => {
    const chatId = await groupWith(stage, 'Rows');
    const ada = await stage.open('ada', '/settings/appearance', { ...desk, colorScheme: 'light' });
    const ground = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const row = (page: Page) => page.locator(`.entry a[href="/chats/${chatId}"]`);
    const light = await ground(ada);
    const tall = (await row(ada).boundingBox())?.height ?? 0;
    const other = await ada.context().newPage();
    await other.goto(`${stage.url()}/`);
    await row(other).waitFor();
    expect(await violationsOn(ada)).toEqual([]);
    await ada.emulateMedia({ colorScheme: 'light' });
    await ada.getByRole('radio', { name: 'Dark' }).check();
    await ada.getByRole('radio', { name: 'Compact' }).check();
    const dark = await ground(ada);
    expect(dark).not.toBe(light);
    await until('the other tab has it too', async () => (await ground(other)) === dark);
    await until('rows are smaller', async () => ((await row(ada).boundingBox())?.height ?? tall) < tall);
    expect(await violationsOn(ada)).toEqual([]);

    // The server has written it into the page: no script has to change it.
    const plain = await ada.context().browser()?.newContext({ javaScriptEnabled: false, colorScheme: 'light' });
    if (!plain) throw new Error('there is no browser');
    await plain.addCookies(await ada.context().cookies());
    const account = await plain.newPage();
    for (const path of ['/', '/settings', '/password']) {
      await account.goto(`${stage.url()}${path}`);
      expect({ path, ground: await ground(account) }).toEqual({ path, ground: dark });
    }
    await plain.close();

    await ada.emulateMedia({ colorScheme: 'light' });
    await ada.reload();
    await ada.getByRole('radio', { name: 'Dark' }).waitFor();
    await becomes(() => ada.getByRole('radio', { name: 'Dark' }).isChecked(), true);
    await ada.getByRole('radio', { name: 'System' }).check();
    await ada.getByRole('radio', { name: 'Comfortable' }).check();
    await becomes(() => ground(ada), light);
    expect((await ada.context().cookies()).filter(({ name }) => /theme|density/.test(name))).toEqual([]);
  });

  test('of the service are for administrators, and the frame fits a phone', async () => {
    const chatId = await groupWith(stage, 'Everyone');
    const ada = await stage.open('ada', '/settings/service', phone);
    const name = ada.getByRole('textbox', { name: 'Name of the service' });
    await until('the name is there', async () => (await name.inputValue()) === 'Parley');
    expect(await violationsOn(ada)).toEqual([]);
    await name.fill('Lovelace Ltd');
    await ada.getByRole('combobox', { name: 'Welcome chat' }).selectOption({ label: 'Everyone' });
    await button(ada, 'Save').click();
    await ada.getByRole('status').filter({ hasText: 'Saved.' }).waitFor();
    expect(await stage.person('ada').ok('service.get', {})).toMatchObject({
      service: { name: 'Lovelace Ltd', welcome_chat_id: chatId },
    });
    await button(ada, 'Invite somebody').click();
    await ada.getByRole('dialog', { name: 'Invite somebody to Lovelace Ltd' }).waitFor();
    await ada.keyboard.press('Escape');
    const account = ada.getByRole('navigation', { name: 'Account' });
    expect(await account.getByRole('link').allInnerTexts()).toEqual([
      ...['Console', 'Password', 'Sessions', 'Administration'],
    ]);
    const sections = ada.getByRole('navigation', { name: 'Settings' });
    await sections.getByRole('link', { name: 'Appearance' }).click();
    await region(ada, 'Theme').waitFor();
    await becomes(() => sections.locator('[aria-current]').innerText(), 'Appearance');
    expect(await violationsOn(ada)).toEqual([]);
    await ada.getByRole('link', { name: 'All chats' }).click();
    await ada.getByRole('link', { name: 'Lovelace Ltd' }).waitFor();

    const bob = await stage.open('bob', '/settings/service');
    await bob.getByText('Only administrators can change the service.').waitFor();
    await becomes(() => bob.getByRole('link', { name: 'Service', exact: true }).count(), 0);
    await becomes(() => bob.getByRole('link', { name: 'Administration' }).count(), 0);
  });
});
