import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { Client } from '@parley/server/test/support/client.ts';
import { inSession } from '@parley/server/test/support/visitor.ts';
import type { Locator, Page } from 'playwright-core';
import { desk, phone, violationsOn } from './acts.ts';
import { scene } from './scene.ts';
import { becomes, until } from './support.ts';

inChromium('access in the console', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  const button = (page: Page | Locator, name: string) => page.getByRole('button', { name, exact: true });
  const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });
  const entry = (page: Page, name: string) => page.getByRole('article').filter({ hasText: name });
  const shownSecret = async (page: Page, label: string): Promise<string> => {
    const field = page.getByRole('textbox', { name: label });
    await field.waitFor();
    return field.inputValue();
  };
  const isUsable = async (token: string): Promise<boolean> =>
    (await new Client(stage.url(), token, 0).call('users.me', {})).status === 200;

  test('a token is made from a preset, counted, and revoked', async () => {
    const page = await stage.open('bob', '/console/tokens', desk);
    await button(page, 'New token').first().click();
    const form = dialog(page, 'Create an access token');
    await form.getByRole('textbox', { name: 'Name' }).fill('nightly report');
    expect(await form.getByRole('checkbox', { name: /Administer/ }).count()).toBe(0);
    await form.getByRole('radio', { name: 'Everything' }).check();
    await form.getByRole('checkbox', { name: /Register, list and delete/ }).uncheck();
    await becomes(() => form.getByRole('radio', { name: 'Everything' }).isChecked(), false);
    await form.getByRole('radio', { name: 'Read only' }).check();
    await becomes(() => form.getByRole('combobox', { name: 'Expires' }).inputValue(), 'days90');
    expect(await violationsOn(page)).toEqual([]);
    await button(page, 'Create').click();
    const token = await shownSecret(page, 'Access token');
    await form.waitFor({ state: 'detached' });
    await page.getByText(`Authorization: Bearer ${token}`).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect(await isUsable(token)).toBe(true);
    // It is not shown again, so Escape closes nothing before it is copied.
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape');
    expect(await shownSecret(page, 'Access token')).toBe(token);
    await button(page, 'I have saved it').waitFor();
    await button(page, 'Copy the secret').click();
    await button(page, 'Done').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    const made = entry(page, 'nightly report');
    await made.getByText('May read messages and see chats and users.').waitFor();
    const { tokens } = await stage.person('bob').ok('tokens.list', {});
    const [mine] = tokens.filter(({ name }) => name === 'nightly report');
    expect(mine?.scopes).toEqual(['messages:read', 'chats:read']);
    const days = (Date.parse(mine?.expires_at ?? '') - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(90);
    await until('its use is counted', async () => {
      await page.reload();
      await made.waitFor();
      return (await made.getByText('1 request in 30 days, 1 today').count()) > 0;
    });
    expect(await violationsOn(page)).toEqual([]);
    await button(page, 'Revoke nightly report').click();
    await button(dialog(page, 'Revoke the token'), 'Revoke').click();
    await made.waitFor({ state: 'detached' });
    expect(await isUsable(token)).toBe(false);
  });

  test('a token that administers needs a password that was entered recently', async () => {
    const page = await stage.open('ada', '/console/tokens', desk);
    const old = await inSession(stage.server(), stage.person('ada'), Date.now() - 3_600_000);
    const cookie = { name: 'parley_session', url: stage.url() };
    const recent = (await page.context().cookies()).find(({ name }) => name === cookie.name)?.value ?? '';
    await page.context().addCookies([{ ...cookie, value: old.token }]);
    await page.reload();
    await button(page, 'New token').first().click();
    const form = dialog(page, 'Create an access token');
    await form.getByRole('textbox', { name: 'Name' }).fill('root');
    await form.getByRole('checkbox', { name: /Administer the service/ }).check();
    await button(page, 'Create').click();
    // It opens in another tab, so that the form stays.
    const opened = page.context().waitForEvent('page');
    await form
      .getByRole('alert')
      .getByRole('link', { name: /Enter the password/ })
      .click();
    const tab = await opened;
    await tab.getByRole('heading', { name: 'Enter your password again' }).waitFor();
    await tab.close();
    stage.expectNoFaults(/status of 403/);

    await page.context().addCookies([{ ...cookie, value: recent }]);
    await page.goto(`${stage.url()}/console/tokens`);
    await button(page, 'New token').first().click();
    await form.getByRole('textbox', { name: 'Name' }).fill('root');
    await form.getByRole('checkbox', { name: /Administer the service/ }).check();
    await button(page, 'Create').click();
    const token = await shownSecret(page, 'Access token');
    expect(await isUsable(token)).toBe(true);
  });

  test('a bot is made, gets a token, and is disabled', async () => {
    const page = await stage.open('bob', '/console/bots', phone);
    await button(page, 'New bot').first().click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Not a name');
    await button(page, 'Create').click();
    await dialog(page, 'Create a bot').getByRole('alert').filter({ hasText: 'Name' }).waitFor();
    stage.expectNoFaults(/status of 422/);
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('greeter');
    await page.getByRole('textbox', { name: 'Display name' }).fill('The Greeter');
    await button(page, 'Create').click();
    await page.getByRole('heading', { name: 'The Greeter', level: 1 }).waitFor();
    await button(page, 'New token').click();
    await page.getByRole('textbox', { name: 'Name' }).fill('its program');
    await becomes(() => page.getByRole('radio', { name: 'Bot' }).isChecked(), true);
    await button(page, 'Create').click();
    const token = await shownSecret(page, 'Access token');
    const bot = new Client(stage.url(), token, 0);
    expect((await bot.ok('users.me', {})).user).toMatchObject({ name: 'greeter', kind: 'bot' });
    await button(page, 'I have saved it').click();
    await entry(page, 'its program').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await button(page, 'Disable').click();
    await button(dialog(page, 'Disable the bot'), 'Disable').click();
    await page.getByRole('heading', { name: 'No bots yet' }).waitFor();
    expect(await isUsable(token)).toBe(false);
    for (const id of ['999999', 'abc']) {
      await page.goto(`${stage.url()}/console/bots/${id}`);
      await page.getByRole('heading', { name: 'There is no such bot' }).waitFor();
    }
  });

  test('an app is registered, changed, gets another secret, and is deleted', async () => {
    const page = await stage.open('bob', '/console/apps', desk);
    await button(page, 'New app').first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Planner');
    await page.getByRole('textbox', { name: 'Redirect URLs' }).fill('http://planner.example/callback');
    await button(page, 'Register').click();
    await dialog(page, 'Register an app').getByRole('alert').waitFor();
    stage.expectNoFaults(/status of 422/);
    await page.getByRole('textbox', { name: 'Redirect URLs' }).fill('https://planner.example/callback');
    await button(page, 'Register').click();
    const secret = await shownSecret(page, 'Client secret');
    expect(secret).toStartWith('acs_');
    await button(page, 'I have saved it').click();
    await page.getByRole('heading', { name: 'Planner', level: 1 }).waitFor();
    await page.getByText(`${stage.url()}/oauth/token`).waitFor();
    expect(await violationsOn(page)).toEqual([]);

    await page.getByRole('textbox', { name: 'Name' }).fill('Organizer');
    await button(page, 'Save').click();
    await page.getByRole('heading', { name: 'Organizer', level: 1 }).waitFor();
    await button(page, 'Replace the secret').click();
    await button(dialog(page, 'Replace the secret'), 'Replace the secret').click();
    const next = await shownSecret(page, 'Client secret');
    expect(next).not.toBe(secret);
    await button(page, 'I have saved it').click();
    await button(page, 'Delete').click();
    await dialog(page, 'Delete the app').getByText('Nobody has authorized it.').waitFor();
    await button(dialog(page, 'Delete the app'), 'Delete').click();
    await page.getByRole('heading', { name: 'No apps yet' }).waitFor();
  });
});
