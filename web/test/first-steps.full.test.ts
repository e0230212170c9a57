import { expect, test } from 'bun:test';
import { desk, phone, violationsOn } from './acts.ts';
import { chats, composer, log, scene, write } from './scene.ts';
import { becomes } from './support.ts';

const { open, person, expectNoFaults, url } = scene();

test('an administrator names the place and invites somebody, who arrives in a group and writes', async () => {
  const ada = await open('ada', '/', desk);
  const steps = ada.getByRole('region', { name: 'First steps' });
  await steps.getByRole('textbox', { name: 'Name of the service' }).fill('Lovelace Ltd');
  expect(await violationsOn(ada)).toEqual([]);
  await steps.getByRole('button', { name: 'Save' }).click();
  await steps.getByRole('heading', { name: /Name your place.*done/ }).waitFor();
  await ada.getByRole('link', { name: 'Lovelace Ltd' }).waitFor();
  await chats(ada)
    .getByRole('link', { name: /Everyone/ })
    .waitFor();
  // Phones can open a link to a host in the network.
  const [here, there] = ['127.0.0.1', '192.0.2.1'];
  await ada.route(/invitations/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replaceAll(here, there) });
  });
  await ada.getByRole('button', { name: 'Invite', exact: true }).click();
  const dialog = ada.getByRole('dialog', { name: 'Invite somebody to Lovelace Ltd' });
  await becomes(() => ada.evaluate(() => document.activeElement?.id), 'invitation-note');
  await dialog.getByRole('button', { name: 'Create an invitation' }).click();
  await dialog.getByRole('img', { name: 'QR code of the link' }).waitFor();
  const field = dialog.getByRole('textbox', { name: 'Link of the invitation' });
  const link = (await field.inputValue()).replace(there, here);
  expect(await violationsOn(ada)).toEqual([]);
  await ada.unroute(/invitations/);
  await dialog.getByRole('button', { name: 'Invite another person' }).click();
  await dialog.getByRole('button', { name: 'Create an invitation' }).click();
  await dialog.getByText('Only this computer can open the link').waitFor();
  await becomes(() => dialog.getByRole('img', { name: 'QR code of the link' }).count(), 0);
  await ada.keyboard.press('Escape');
  await steps.getByRole('heading', { name: /Invite someone.*done/ }).waitFor();

  const context = await ada.context().browser()?.newContext();
  if (!context) throw new Error('there is no browser');
  const grace = await context.newPage();
  await grace.goto(link);
  await grace.getByText('Ada Lovelace invites you to Lovelace Ltd.').waitFor();
  await grace.getByLabel('Name', { exact: true }).fill('grace');
  await grace.getByLabel('Password', { exact: true }).fill('a fine long password');
  await grace.getByLabel('Password, again').fill('a fine long password');
  await grace.getByRole('button', { name: 'Sign up' }).click();
  await chats(grace)
    .getByRole('link', { name: /Everyone/ })
    .click();
  await composer(grace).waitFor();
  await write(grace, 'Hello from Grace');
  await chats(ada)
    .getByRole('link', { name: /Everyone/ })
    .click();
  await log(ada).getByText('Hello from Grace').waitFor();
  await context.close();
  // Only what the administrator writes counts.
  await ada.goto(url());
  await steps.getByRole('button', { name: 'Open Everyone' }).click();
  await write(ada, 'Hello, Grace');
  await log(ada).getByText('Hello, Grace').waitFor();

  const hook = { url: 'http://127.0.0.1:9/hook', events: ['new_message' as const], secret: 'a secret of yours' };
  await person('ada').ok('webhooks.register', hook);
  await ada.goto(url());
  await ada.getByRole('heading', { name: 'Hello, Ada Lovelace' }).waitFor();
  await ada.getByRole('main').getByRole('button', { name: 'Start a chat' }).waitFor();
  await becomes(() => steps.count(), 0);
  expectNoFaults();
});

test('the steps are below the list on a phone, and ask the server once', async () => {
  await person('ada').ok('service.update', { name: 'Parley' });
  const calls: string[] = [];
  const ada = await open('ada', '/', phone);
  const steps = ada.getByRole('region', { name: 'First steps' });
  await steps.waitFor();
  ada.on('request', (request) => calls.push(new URL(request.url()).pathname));
  await ada.reload();
  await steps.waitFor();
  const chat = await chats(ada)
    .getByRole('link', { name: /Everyone/ })
    .boundingBox();
  const box = await steps.boundingBox();
  expect(box?.y ?? 0).toBeGreaterThanOrEqual((chat?.y ?? 0) + (chat?.height ?? 0));
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(phone.viewport.height);
  expect(await violationsOn(ada)).toEqual([]);
  await chats(ada)
    .getByRole('link', { name: /Everyone/ })
    .click();
  await composer(ada).waitFor();
  await ada.getByRole('link', { name: 'All chats' }).click();
  await steps.waitFor();
  expect(calls.filter((call) => /webhooks/.test(call))).toHaveLength(1);
  expect(calls.filter((call) => /service|invitations/.test(call))).toEqual([]);
  // All is done. The next page asks for nothing.
  await steps.getByRole('textbox', { name: 'Name of the service' }).fill('Lovelace Ltd');
  await steps.getByRole('button', { name: 'Save' }).click();
  await steps.waitFor({ state: 'detached' });
  calls.splice(0);
  await ada.reload();
  await chats(ada)
    .getByRole('link', { name: /Everyone/ })
    .waitFor();
  expect(calls.filter((call) => /webhooks/.test(call))).toEqual([]);
  expectNoFaults();
});

test('the steps can be hidden, and others never see them', async () => {
  await person('ada').ok('service.update', { name: 'Parley' });
  const ada = await open('ada');
  await ada.getByRole('button', { name: 'Hide these steps' }).click();
  await becomes(() => ada.getByRole('region', { name: 'First steps' }).count(), 0);
  await ada.reload();
  await ada.getByRole('heading', { name: 'Hello, Ada Lovelace' }).waitFor();
  await becomes(() => ada.getByRole('region', { name: 'First steps' }).count(), 0);
  // Another administrator of the same browser has their own list.
  await ada.evaluate(() => {
    const [key = ''] = Object.keys(localStorage).filter((name) => name.startsWith('parley-first-steps'));
    localStorage.removeItem(key);
    localStorage.setItem(key.replace(/\d+$/, '0'), '1');
  });
  await ada.reload();
  await ada.getByRole('region', { name: 'First steps' }).waitFor();
  const bob = await open('bob');
  await bob.getByRole('heading', { name: 'Hello, Bob' }).waitFor();
  await becomes(() => bob.getByRole('region', { name: 'First steps' }).count(), 0);
  await becomes(() => bob.getByRole('button', { name: 'Invite', exact: true }).count(), 0);
  expectNoFaults();
});
