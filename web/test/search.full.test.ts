import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import axe from 'axe-core';
import { askForDay } from './acts.ts';
import { composer, log, scene } from './scene.ts';
import { becomes, until } from './support.ts';

inChromium('search', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  test('is narrowed by chat, author, file and day, marks the words and leads to the hit', async () => {
    const [ada, bob] = [stage.person('ada'), stage.person('bob')];
    const group = async (name: string) =>
      (await ada.ok('messages.create_group', { name, participants: [bob.userId] })).group.chat_id;
    const [first, second] = [await group('First'), await group('Second')];
    const say = (person: typeof ada, chat_id: number, content: string) =>
      person.ok('messages.send_message', { chat_id, content });
    await say(ada, first, 'a needle of Ada');
    await say(bob, first, 'a needle of Bob');
    await say(bob, second, 'another needle of Bob');
    await bob.ok('chats.set_preferences', { chat_id: second, archived: true });
    const page = await stage.open('bob', `/chats/${first}`);
    await composer(page).waitFor();
    await page.locator('input[type=file]').setInputFiles({
      name: 'plan.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('plan'),
    });
    await page.getByText('Uploaded').waitFor();
    await composer(page).fill('a needle with a file');
    await composer(page).press('Enter');
    await until('all are indexed', async () => {
      const { messages } = await ada.ok('messages.search_messages', { query: 'needle' });
      return messages.length === 4;
    });
    await page.goto(`${stage.url()}/search?q=needle`);
    const hits = page.locator('.result');
    const count = (wanted: number) => until(`${wanted} hits`, async () => (await hits.count()) === wanted);
    await count(4);
    await becomes(() => hits.first().locator('mark').innerText(), 'needle');
    await page.getByLabel('From', { exact: true }).fill('ada');
    await page.getByLabel('From', { exact: true }).press('Enter');
    await count(1);
    await page.getByLabel('From', { exact: true }).fill('bob');
    await page.getByLabel('From', { exact: true }).press('Enter');
    await count(3);
    await page.getByRole('combobox', { name: 'In', exact: true }).selectOption('First');
    await count(2);
    await page.getByRole('combobox', { name: 'In', exact: true }).selectOption('Second');
    await count(1);
    await page.getByRole('combobox', { name: 'In', exact: true }).selectOption('First');
    await count(2);
    await page.getByLabel('Has a file').check();
    await count(1);
    await hits.first().getByText('plan.txt').waitFor();
    await page.getByLabel('Before', { exact: true }).fill('2020-01-01');
    await page.getByText('No message matches').waitFor();
    await page.getByLabel('Before', { exact: true }).fill('2200-01-01');
    await count(1);
    await hits.first().click();
    await log(page).locator('.message.target', { hasText: 'a needle with a file' }).waitFor();
  });

  test('jumps to a day, and breaks no rule of accessibility', async () => {
    const ada = stage.person('ada');
    const { group } = await ada.ok('messages.create_group', { name: 'Days' });
    const { message } = await ada.ok('messages.send_message', { chat_id: group.chat_id, content: 'the first' });
    for (let i = 0; i < 90; i++)
      await ada.ok('messages.send_message', { chat_id: group.chat_id, content: `later ${i}` });
    const faults: string[] = [];
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 390, height: 844 },
    ]) {
      const page = await stage.open('ada', `/chats/${group.chat_id}`, { viewport, bypassCSP: true });
      const check = async () => {
        await page.addScriptTag({ content: axe.source });
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
          for (const { id, nodes } of violations) faults.push(`${id} ${nodes.map((node) => node.html).join(' ')}`);
        }
        if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) faults.push('too wide');
      };
      await log(page).getByText('later 89').waitFor();
      await askForDay(page);
      const dialog = page.getByRole('dialog', { name: 'Jump to date' });
      await dialog.getByLabel('Day').fill('2020-02-02');
      await check();
      await dialog.getByRole('button', { name: 'Jump', exact: true }).click();
      await log(page).getByText('the first', { exact: true }).waitFor();
      expect(page.url()).toEndWith(`/chats/${group.chat_id}/${message.message_id}`);
      await page.goto(`${stage.url()}/search?q=later`);
      await page.locator('.result').first().waitFor();
      await check();
    }
    expect(faults).toEqual([]);
  });
});
