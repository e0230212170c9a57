import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { desk, groupWith, message, phone, say, violationsOn } from './acts.ts';
import { composer, scene } from './scene.ts';
import { until } from './support.ts';

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
    await say(stage.person('bob'), chatId, 'Thanks', root.message_id);
    await pane.getByText('Thanks').waitFor();
    await pane.getByText('2 replies').waitFor();
    // What is written elsewhere in the chat is not part of it.
    await say(stage.person('bob'), chatId, 'Something else');
    await message(ada, 'Something else').waitFor();
    expect(await pane.getByText('Something else').count()).toBe(0);

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

  test('break no rule of accessibility', async () => {
    const chatId = await groupWith(stage, 'Rules');
    const root = await say(stage.person('ada'), chatId, 'A question');
    await say(stage.person('bob'), chatId, 'An answer', root.message_id);
    for (const screen of [desk, phone]) {
      const page = await stage.open('ada', `/chats/${chatId}?thread=${root.message_id}`, screen);
      const pane = page.getByRole('region', { name: 'Thread', exact: true });
      await pane.getByText('An answer').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.goto(`${stage.url()}/threads`);
      await page.getByRole('link', { name: /in Rules/ }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
    }
  });
});
