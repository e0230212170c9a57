import { expect, test } from 'bun:test';
import { phone, violationsOn } from './acts.ts';
import { log, scene } from './scene.ts';

const { person, open, expectNoFaults } = scene();

test('people create a webhook of a chat, see what it posts, and revoke it', async () => {
  const bob = person('bob');
  const { group } = await bob.ok('messages.create_group', { name: 'Ops', participants: [person('cleo').userId] });
  const page = await open('bob', `/chats/${group.chat_id}`, phone);
  const openDialog = async () => {
    await page.getByRole('button', { name: 'Options of this chat' }).click();
    await page.getByRole('menuitem', { name: 'Incoming webhooks' }).click();
  };
  await openDialog();
  const dialog = page.getByRole('dialog', { name: 'Incoming webhooks' });
  await dialog.getByLabel('Name').fill('Grafana');
  await dialog.getByRole('button', { name: 'Create webhook' }).click();
  const url = await dialog.getByLabel('Secret URL').inputValue();
  expect(await dialog.locator('pre').innerText()).toContain(url);
  expect(await violationsOn(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Done' }).click();
  const row = dialog.getByRole('list', { name: 'Incoming webhooks of this chat' }).getByRole('listitem');
  await row.getByText('never used').waitFor();
  expect(await dialog.getByText(url).count()).toBe(0);
  await page.keyboard.press('Escape');

  await fetch(url, { method: 'POST', body: new URLSearchParams({ content: 'The disk is **full**' }) });
  const message = log(page).locator('.message', { hasText: 'The disk is full' });
  await message.getByText('Grafana').waitFor();

  await openDialog();
  await row.getByText('last used').waitFor();
  await dialog.getByRole('button', { name: 'Revoke Grafana' }).click();
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
  await row.waitFor({ state: 'detached' });
  expect((await fetch(url, { method: 'POST', body: new URLSearchParams({ content: 'x' }) })).status).toBe(404);
  await dialog.getByRole('link', { name: 'How to set them up' }).click();
  await page.getByRole('heading', { name: 'Incoming webhooks', level: 1 }).waitFor();
  await dialog.waitFor({ state: 'detached' });
  expectNoFaults();
});
