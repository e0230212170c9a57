import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { receiverFor } from '@parley/server/test/support/receiver.ts';
import { verifyWebhook } from '@parley-chat/sdk/webhook';
import type { Page } from 'playwright-core';
import { desk, groupWith, phone, say, violationsOn } from './acts.ts';
import { scene } from './scene.ts';
import { becomes } from './support.ts';

inChromium('the event inspector', () => {
  const stage = scene();
  const receiver = receiverFor();
  afterEach(() => stage.expectNoFaults());

  const rows = (page: Page) => page.getByRole('list', { name: 'Newest events' }).getByRole('link');
  const namesOf = (page: Page) => rows(page).locator('strong').allInnerTexts();
  const pane = (page: Page) => page.getByRole('complementary', { name: /^Event \d/ });

  test('shows events as they happen, filters them, and one of them in full', async () => {
    const ada = stage.person('ada');
    const bob = stage.person('bob');
    const chatId = await groupWith(stage, 'Plans');
    const otherId = await groupWith(stage, 'Launch');
    await say(ada, chatId, 'Hello');
    const page = await stage.open('ada', '/console', desk);
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await becomes(() => namesOf(page), ['new_message', 'group_created', 'group_created']);
    const { message_id } = await say(bob, chatId, 'Live');
    await rows(page).first().getByText('"content":"Live"').waitFor();
    expect(await violationsOn(page)).toEqual([]);

    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('New events appear when you resume.').waitFor();
    await bob.ok('messages.add_reaction', { message_id, emoji: '🎉' });
    await say(ada, otherId, 'Elsewhere');
    expect(await namesOf(page)).toHaveLength(4);
    await page.getByRole('button', { name: 'Resume' }).click();
    await becomes(async () => (await namesOf(page)).slice(0, 2), ['new_message', 'reaction_added']);

    await page.getByRole('combobox', { name: 'Chat' }).selectOption({ label: 'Plans' });
    await becomes(() => namesOf(page), ['reaction_added', 'new_message', 'new_message', 'group_created']);
    await page.getByRole('combobox', { name: 'Event' }).selectOption('new_message');
    await becomes(() => namesOf(page), ['new_message', 'new_message']);
    await page.getByRole('searchbox', { name: 'Text in JSON' }).fill('live');
    await becomes(() => namesOf(page), ['new_message']);

    await rows(page).first().click();
    const eventId = Number(/\d+/.exec(await pane(page).getByRole('heading', { level: 2 }).innerText())?.[0]);
    await pane(page).getByText('"content": "Live"').waitFor();
    await pane(page)
      .getByText(`after=${eventId - 1}&limit=1`)
      .waitFor();
    await pane(page).getByRole('button', { name: 'Copy the request as curl' }).click();
    await pane(page).getByText('Copied').waitFor();
    expect(await violationsOn(page)).toEqual([]);

    // My own endpoint gets the same body, signed.
    await pane(page).getByRole('button', { name: 'Send to my webhook' }).click();
    const sending = page.getByRole('dialog', { name: 'Send the event to a webhook' });
    await sending.getByText('You have no webhook yet.').waitFor();
    await page.keyboard.press('Escape');
    await sending.waitFor({ state: 'detached' });
    const endpoint = receiver().endpoint({ status: 200, body: 'thank you' });
    await ada.ok('webhooks.register', { url: endpoint.url, events: ['user_left'], secret: 'a secret of our own' });
    await pane(page).getByRole('button', { name: 'Send to my webhook' }).click();
    await sending.getByRole('button', { name: 'Send' }).click();
    await sending.getByText('thank you').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    const [arrival] = await endpoint.arrived(1);
    expect(arrival && (await verifyWebhook(arrival.bytes, arrival.headers, 'a secret of our own'))).toMatchObject({
      event: 'new_message',
      data: { message_id, content: 'Live' },
    });
    await page.keyboard.press('Escape');
    await sending.waitFor({ state: 'detached' });

    // The URL has it all.
    const shared = await stage.open('ada', page.url().slice(stage.url().length), phone);
    await pane(shared).getByText('"content": "Live"').waitFor();
    expect(await violationsOn(shared)).toEqual([]);
    await shared.keyboard.press('Escape');
    await becomes(() => namesOf(shared), ['new_message']);
    expect(await violationsOn(shared)).toEqual([]);
  });
});
