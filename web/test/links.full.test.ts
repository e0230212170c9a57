import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { desk, groupWith, message, phone, say, violationsOn } from './acts.ts';
import { composer, scene } from './scene.ts';
import { until } from './support.ts';

inChromium('links and pins', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  test('lead to a message far back, and from there to the newest', async () => {
    const chatId = await groupWith(stage, 'Far');
    const ids: number[] = [];
    for (let i = 0; i < 160; i++) ids.push((await say(stage.person('bob'), chatId, `number ${i}.`)).message_id);
    await stage.person('ada').ok('messages.mark_read', { chat_id: chatId });
    const ada = await stage.open('ada', `/m/${ids[20]}`);
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
