import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { desk, groupWith, message, phone, say, violationsOn } from './acts.ts';
import { composer, log, scene } from './scene.ts';
import { becomes, until } from './support.ts';

inChromium('mentions and emoji', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  test('are completed with the keyboard or a click', async () => {
    const chatId = await groupWith(stage, 'Completion');
    const [ada, bob] = [await stage.open('ada', `/chats/${chatId}`), await stage.open('bob', `/chats/${chatId}`)];
    await composer(ada).pressSequentially('Hello @bo');
    await ada.getByRole('option', { name: /Bob/ }).waitFor();
    await ada.keyboard.press('Enter');
    await becomes(() => composer(ada).inputValue(), 'Hello @bob ');
    await composer(ada).pressSequentially('and @al');
    await ada.getByRole('option', { name: /Everyone/ }).click();
    await composer(ada).pressSequentially(':tad');
    await ada.getByRole('listbox', { name: 'Emoji' }).getByRole('option').first().waitFor();
    await ada.keyboard.press('Tab');
    await becomes(() => composer(ada).inputValue(), 'Hello @bob and @all 🎉 ');
    await ada.keyboard.press('Enter');
    await message(bob, 'Hello @bob and @all').waitFor();
    await becomes(() => message(bob, 'Hello').locator('.mention.me').allInnerTexts(), ['@bob', '@all']);
    await becomes(() => composer(ada).inputValue(), '');
  });

  test('leave the field alone after Escape', async () => {
    const chatId = await groupWith(stage, 'Escape');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await composer(ada).pressSequentially('@');
    await ada.getByRole('listbox', { name: 'People' }).waitFor();
    await ada.keyboard.press('Escape');
    await ada.getByRole('listbox', { name: 'People' }).waitFor({ state: 'detached' });
    await composer(ada).press('Enter');
    await message(ada, '@').waitFor();
  });

  test('are not completed in a draft that is opened again', async () => {
    const chatId = await groupWith(stage, 'Draft');
    const ada = await stage.open('ada', `/chats/${chatId}`, desk);
    await composer(ada).pressSequentially('Hi @bo');
    await ada.getByRole('option', { name: /Bob/ }).waitFor();
    await ada.reload();
    await becomes(() => composer(ada).inputValue(), 'Hi @bo');
    await composer(ada).press('Enter');
    await message(ada, 'Hi @bo').waitFor();
    await becomes(() => composer(ada).inputValue(), '');
  });

  test('are completed in the edit form too, above or below it', async () => {
    const chatId = await groupWith(stage, 'Editing');
    for (let i = 0; i < 30; i++) await say(stage.person('ada'), chatId, `line ${i}`);
    const ada = await stage.open('ada', `/chats/${chatId}`, desk);
    const form = ada.getByRole('textbox', { name: 'Edit message' });
    const list = ada.getByRole('listbox', { name: 'People' });
    await message(ada, 'line 29').waitFor();
    await composer(ada).press('ArrowUp');
    await form.press('End');
    await form.pressSequentially(' for @bo');
    await list.getByRole('option', { name: /Bob/ }).waitFor();
    expect(await violationsOn(ada)).toEqual([]);
    expect((await list.boundingBox())?.y).toBeLessThan((await form.boundingBox())?.y ?? 0);
    await form.press('Escape');
    await list.waitFor({ state: 'detached' });
    await form.fill('The line 29 for @bo');
    await list.waitFor();
    await form.press('Enter');
    await becomes(() => form.inputValue(), 'The line 29 for @bob ');
    await form.press('Enter');
    await message(ada, 'line 29 for @bob').locator('.mention').waitFor();
    // At the top there is no room above.
    const first = log(ada).locator('.message[data-message]').first();
    await first.hover();
    await first.getByRole('button', { name: 'Edit' }).click();
    await form.evaluate((field) => field.scrollIntoView({ block: 'start' }));
    await form.press('End');
    await form.pressSequentially(' @');
    await list.waitFor();
    const [below, above] = [await list.boundingBox(), await form.boundingBox()];
    expect(below?.y ?? 0).toBeGreaterThan(above?.y ?? 0);
    await list.getByRole('option', { name: /Bob/ }).click();
    await until('it is completed', async () => (await form.inputValue()).endsWith(' @bob '));
    await form.press('Escape');
  });

  test('stand out only where the server has found them', async () => {
    const chatId = await groupWith(stage, 'Highlights');
    await say(stage.person('bob'), chatId, 'for @ada, not `@ada` or ada@example.com or @nobody, and **@Ada**!');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await message(ada, 'for @ada').waitFor();
    await becomes(() => message(ada, 'for').locator('.mention').allInnerTexts(), ['@ada', '@Ada']);
    expect(await message(ada, 'for').getAttribute('class')).toContain('to-me');
  });

  test('break no rule of accessibility', async () => {
    const chatId = await groupWith(stage, 'Rules');
    await say(stage.person('bob'), chatId, 'for @ada');
    await say(stage.person('ada'), chatId, 'for @bob');
    for (const screen of [desk, phone]) {
      const page = await stage.open('ada', `/chats/${chatId}`, screen);
      await message(page, 'for @bob').locator('.mention').waitFor();
      await composer(page).pressSequentially('@');
      await page.getByRole('option', { name: /Bob/ }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await composer(page).fill('');
    }
  });
});
