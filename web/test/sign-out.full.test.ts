import { expect, test } from 'bun:test';
import { createPasswordLink } from '@parley/server/auth/links.ts';
import { goodPassword } from '@parley/server/test/support/browser-like.ts';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { accessOf } from '@parley/server/test/support/oauth.ts';
import { describeUnless, require } from '@parley/server/test/support/requirements.ts';
import type { Page } from 'playwright-core';
import { desk, groupWith, message, say, violationsOn } from './acts.ts';
import { chats, networkAddress, scene, write } from './scene.ts';
import { becomes, until } from './support.ts';

const databasesIn = (page: Page) => page.evaluate(async () => (await indexedDB.databases()).length);

/** The link in the corner that shows whose client it is. */
const account = (page: Page, name: string) =>
  page.getByRole('link', { name: /Settings$/ }).getByText(name, { exact: true });

/** Opens the client of Ada, and lets Bob set a password in another tab of her browser. Returns her tab, and what it has shown of Bob. */
async function intrusion(stage: ReturnType<typeof scene>, during: (tab: Page, link: () => Promise<void>) => unknown) {
  const { person, server } = stage;
  const [ada, bob] = [person('ada'), person('bob')];
  const chatId = await groupWith(stage, 'Both');
  await say(ada, chatId, 'For both');
  await bob.ok('messages.create_group', { name: 'Of Bob alone' });
  const actor = { userId: ada.userId as never, appId: 0, address: null };
  const { secret } = await createPasswordLink(accessOf(server()), actor, bob.userId as never);

  const tab = await stage.open('ada', `/chats/${chatId}`);
  await message(tab, 'For both').waitFor();
  const shown: string[] = [];
  tab.on('console', (line) => line.text().startsWith('shown ') && shown.push(line.text()));
  await tab.evaluate(() => {
    const root = document.getElementById('app') as HTMLElement;
    const look = () => root.innerText.includes('Of Bob alone') && console.info('shown in the client of Ada');
    new MutationObserver(look).observe(root, { subtree: true, childList: true, characterData: true });
  });
  await during(tab, async () => {
    const other = await stage.openTab(tab, `/password-link/${secret}`);
    await other.getByLabel('New password', { exact: true }).fill(goodPassword);
    await other.getByLabel('New password, again').fill(goodPassword);
    await other.getByRole('button', { name: 'Set the password' }).click();
    await other.getByRole('heading', { name: 'Hello, Bob' }).waitFor();
    await other.close();
  });
  // A tab that notices the end of the session before the browser has the new cookie shows the page for signing in.
  const signIn = tab.getByRole('heading', { name: 'Sign in' });
  await account(tab, 'Bob').or(signIn).waitFor();
  await tab.goto(stage.url());
  await account(tab, 'Bob').waitFor();
  await chats(tab).getByRole('link', { name: 'Of Bob alone' }).waitFor();
  expect(shown).toEqual([]);
  expect(await databasesIn(tab)).toBe(1);
  const { messages } = await ada.ok('messages.get_messages', { chat_id: chatId });
  expect(messages.map(({ content }) => content)).toEqual(['For both']);
  // A tab that has noticed it has seen the refusal.
  stage.expectNoFaults(/status of 401/);
}

inChromium('somebody else who signs in', () => {
  const stage = scene();
  test('gets a client of their own in each tab', () => intrusion(stage, (_, link) => link()));
});

const networkMissing = require(networkAddress !== undefined, 'a network address', 'a network interface');
inChromium('somebody else who signs in over plain HTTP in a local network', () =>
  describeUnless(networkMissing, 'at an address of this machine', () => {
    const stage = scene({ address: networkAddress });
    test('gets nothing that the person before them wrote', () =>
      intrusion(stage, async (tab, link) => {
        // The tab cannot notice it, and browsers obey no `Clear-Site-Data` here.
        await tab.route('**/api/**', (route) => route.abort());
        await link();
        await write(tab, 'Written by Ada');
        await message(tab, 'Written by Ada').waitFor();
        await tab.unroute('**/api/**');
      }));
  }),
);

inChromium('signing out', () => {
  const stage = scene();
  test('asks about messages that are not sent, and needs the server', async () => {
    const chatId = await groupWith(stage, 'Launch');
    await say(stage.person('bob'), chatId, 'The plan');
    const ada = await stage.open('ada', `/chats/${chatId}`, desk);
    await message(ada, 'The plan').waitFor();
    await ada.context().setOffline(true);
    await write(ada, 'Not sent yet');
    await message(ada, 'Not sent yet').waitFor();

    const signOut = ada.getByRole('button', { name: 'Sign out', exact: true });
    const dialog = ada.getByRole('dialog', { name: 'Sign out' });
    await signOut.click();
    await dialog.getByText('1 message is not sent yet. It is deleted if you sign out now.').waitFor();
    expect(await violationsOn(ada)).toEqual([]);
    await dialog.getByRole('button', { name: 'Stay' }).click();
    await dialog.waitFor({ state: 'detached' });
    await signOut.click();
    await dialog.getByRole('button', { name: 'Sign out anyway' }).click();
    await ada.getByText('You are still signed in. The server did not respond.').waitFor();
    await becomes(() => dialog.count(), 0);
    await message(ada, 'Not sent yet').waitFor();

    // Nothing is lost.
    await ada.context().setOffline(false);
    await until('it is sent', async () => {
      const { messages } = await stage.person('bob').ok('messages.get_messages', { chat_id: chatId });
      return messages.some(({ content }) => content === 'Not sent yet');
    });
    await until('the client knows it', async () => (await ada.getByText('Sending…').count()) === 0);
    await signOut.click();
    await ada.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(new URL(ada.url()).search).toBe('');
    expect(await databasesIn(ada)).toBe(0);
    await ada.goBack();
    await ada.getByRole('heading', { name: 'Sign in' }).waitFor();
    // A call may have been on its way when the session ended.
    stage.expectNoFaults(/status of 401/);
  });
});
