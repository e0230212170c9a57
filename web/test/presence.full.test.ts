import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { desk, groupWith, message, phone, violationsOn } from './acts.ts';
import { chats, composer, scene } from './scene.ts';

inChromium('presence and typing', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  test('show who is there and who writes, and nothing moves', async () => {
    const bobId = stage.person('bob').userId;
    const { chat } = await stage.person('ada').ok('messages.create_direct', { user_id: bobId });
    const group = await groupWith(stage, 'Typing');
    const ada = await stage.open('ada', `/chats/${chat.chat_id}`);
    const bob = await stage.open('bob', `/chats/${chat.chat_id}`);
    await chats(ada)
      .getByRole('link', { name: /Bob.*online/s })
      .waitFor();
    await ada.getByText('@bob · online').waitFor();
    const place = await composer(ada).boundingBox();
    await composer(bob).pressSequentially('Hel');
    await ada.getByRole('status', { name: 'Typing' }).getByText('typing…').waitFor();
    expect(await composer(ada).boundingBox()).toEqual(place);
    await composer(bob).press('Enter');
    await message(ada, 'Hel').waitFor();
    await ada.getByText('typing…').first().waitFor({ state: 'detached' });

    await ada.goto(`${stage.url()}/chats/${group}`);
    // The server tells only people who are connected.
    await chats(ada)
      .getByRole('link', { name: /Bob.*online/s })
      .waitFor();
    await bob.goto(`${stage.url()}/chats/${group}`);
    await chats(bob)
      .getByRole('link', { name: /Ada.*online/s })
      .waitFor();
    await composer(bob).pressSequentially('Hello');
    await ada.getByRole('status', { name: 'Typing' }).getByText('Bob is typing…').waitFor();
    await chats(ada).getByText('Bob is typing…').waitFor();
    await bob.context().close();
  });

  test('say away after some minutes without a key or a pointer, and online at the next one', async () => {
    const bobId = stage.person('bob').userId;
    const { chat } = await stage.person('ada').ok('messages.create_direct', { user_id: bobId });
    const ada = await stage.open('ada', `/chats/${chat.chat_id}`);
    const bob = await stage.open('bob', '/');
    await ada.getByText('@bob · online').waitFor();
    await bob.clock.install();
    await bob.reload();
    await chats(bob)
      .getByRole('link', { name: /Ada.*online/s })
      .waitFor();
    await bob.clock.fastForward('06:00');
    await ada.getByText('@bob · away').waitFor();
    await bob.mouse.move(100, 100);
    await bob.mouse.move(200, 200);
    await ada.getByText('@bob · online').waitFor();
  });

  test('break no rule of accessibility', async () => {
    const bobId = stage.person('bob').userId;
    const { chat } = await stage.person('ada').ok('messages.create_direct', { user_id: bobId });
    const bob = await stage.open('bob', `/chats/${chat.chat_id}`);
    await composer(bob).waitFor();
    for (const screen of [desk, phone]) {
      const page = await stage.open('ada', `/chats/${chat.chat_id}`, screen);
      await page.getByText('@bob · online').waitFor();
      await composer(bob).pressSequentially('abc');
      expect(await violationsOn(page)).toEqual([]);
    }
    await composer(bob).fill('');
  });
});
