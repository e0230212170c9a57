import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { desk, groupWith, message, phone, say, violationsOn } from './acts.ts';
import { composer, scene } from './scene.ts';

inChromium('mentions and emoji', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  test('are completed with the keyboard or a click', async () => {
    const chatId = await groupWith(stage, 'Completion');
    const [ada, bob] = [await stage.open('ada', `/chats/${chatId}`), await stage.open('bob', `/chats/${chatId}`)];
    await composer(ada).pressSequentially('Hello @bo');
    await ada.getByRole('option', { name: /Bob/ }).waitFor();
    await ada.keyboard.press('Enter');
    expect(await composer(ada).inputValue()).toBe('Hello @bob ');
    await composer(ada).pressSequentially('and @al');
    await ada.getByRole('option', { name: /Everyone/ }).click();
    await composer(ada).pressSequentially(':tad');
    await ada.getByRole('listbox', { name: 'Emoji' }).getByRole('option').first().waitFor();
    await ada.keyboard.press('Tab');
    expect(await composer(ada).inputValue()).toBe('Hello @bob and @all 🎉 ');
    await ada.keyboard.press('Enter');
    await message(bob, 'Hello @bob and @all').waitFor();
    expect(await message(bob, 'Hello').locator('.mention.me').allInnerTexts()).toEqual(['@bob', '@all']);
    expect(await composer(ada).inputValue()).toBe('');
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

  test('stand out only where the server has found them', async () => {
    const chatId = await groupWith(stage, 'Highlights');
    await say(stage.person('bob'), chatId, 'for @ada, not `@ada` or ada@example.com or @nobody, and **@Ada**!');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await message(ada, 'for @ada').waitFor();
    expect(await message(ada, 'for').locator('.mention').allInnerTexts()).toEqual(['@ada', '@Ada']);
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
