import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import type { Page } from 'playwright-core';
import { desk, groupWith, phone, say, violationsOn } from './acts.ts';
import { scene } from './scene.ts';
import { becomes, until } from './support.ts';

inChromium('the documentation', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  const search = (page: Page) => page.getByRole('combobox', { name: 'Search the documentation' });
  const found = (page: Page) => page.getByRole('listbox', { name: 'Results' }).getByRole('option');
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true, level: 1 });
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const result = (page: Page) => page.getByRole('region', { name: 'Result' });
  const input = (page: Page) => page.getByRole('textbox', { name: 'Input as JSON' });
  const tokenNames = async () => (await stage.person('ada').ok('tokens.list', {})).tokens.map(({ name }) => name);

  /** What changes something asks first. */
  const callIt = async (page: Page) => {
    await button(page, 'Send').click();
    await button(page, 'Call it').click();
  };

  test('shows an operation with my ids, and calls it with a token that is gone afterwards', async () => {
    const ada = stage.person('ada');
    const chatId = await groupWith(stage, 'Plans');
    const { message_id } = await say(ada, chatId, 'Hello');
    const page = await stage.open('ada', '/console/webhooks', desk);
    await page.getByRole('link', { name: 'API reference' }).click();
    await heading(page, 'API reference').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('main').getByRole('link', { name: 'messages.send_message' }).click();
    await heading(page, 'messages.send_message').waitFor();
    await page.getByText('Chat 1 is Plans.').waitFor();
    const code = page.locator('.request-example code');
    await until('it has my ids', async () =>
      (await code.innerText()).includes(`{"chat_id":${chatId},"content":"See you there","reply_to":${message_id}}`),
    );
    await page.getByText('Python', { exact: true }).click();
    await until('it is Python', async () => (await code.innerText()).includes('urllib.request.urlopen'));
    await page.getByText('Fields of Message').click();
    await page.getByText('identifier of a message; rises within a chat').first().waitFor();
    expect(await violationsOn(page)).toEqual([]);

    // The call has no cookie: the token alone makes it.
    const calling = page.waitForRequest((request) => request.url().endsWith('/api/messages/send_message'));
    await input(page).fill(JSON.stringify({ chat_id: chatId, content: 'From the reference' }));
    await callIt(page);
    const headers = await (await calling).allHeaders();
    expect([headers.cookie, headers.authorization]).toEqual([undefined, expect.stringMatching(/^Bearer pat_/)]);
    await result(page).getByText('"content": "From the reference"').waitFor();
    await result(page).getByText('x-request-id').waitFor();
    await result(page).getByText('The token is revoked.').waitFor();
    const { messages } = await ada.ok('messages.get_messages', { chat_id: chatId });
    expect(messages.at(-1)?.content).toBe('From the reference');
    expect(await tokenNames()).toEqual(['test']);

    // Nothing is left of a token either if the page is left before the response comes.
    let isAsked = false;
    await page.route('**/api/messages/send_message', () => {
      isAsked = true;
    });
    await callIt(page);
    await until('the call is made', () => isAsked);
    expect(await tokenNames()).toEqual(['test', 'Try messages.send_message']);
    await page.goto(`${stage.url()}/docs/messages.send_message`);
    await becomes(tokenNames, ['test']);
    isAsked = false;
    await callIt(page);
    await until('the call is made', () => isAsked);
    await page.getByRole('navigation').getByRole('link', { name: 'get_messages' }).click();
    await becomes(tokenNames, ['test']);
    await page.unrouteAll();
    // A call that only pages may make has no example for programs.
    await page.goto(`${stage.url()}/docs/bots.create_token`);
    await heading(page, 'bots.create_token').waitFor();
    expect(await page.locator('.request-example, .operation-head .pill').count()).toBe(0);
    await page.goto(`${stage.url()}/docs/messages.send_message`);

    // What the server refuses is shown as it is. What is no JSON is not sent.
    await input(page).fill('{"chat_id": 1, "contents": "x"}');
    await callIt(page);
    await result(page)
      .getByRole('heading', { name: /^422 in/ })
      .waitFor();
    stage.expectNoFaults(/status of 422/);
    await input(page).fill('{');
    await button(page, 'Send').click();
    await page.getByRole('alert').getByText('This is not a JSON object').waitFor();
    await button(page, 'Reset').click();

    // An operation that destroys asks first, and has the token of an administrator only with a recent password.
    await page.goto(`${stage.url()}/docs/users.disable`);
    await input(page).fill(JSON.stringify({ user_id: stage.person('cleo').userId }));
    await button(page, 'Send').click();
    const asking = page.getByRole('dialog', { name: 'Call users.disable?' });
    expect(await violationsOn(page)).toEqual([]);
    await asking.getByRole('button', { name: 'Cancel' }).click();
    await asking.waitFor({ state: 'detached' });
    const { users } = await ada.ok('users.search', { query: 'cleo' });
    expect(users).toMatchObject([{ disabled_at: null }]);

    // The server refuses a token for administration to an older session.
    const error = { code: 'forbidden', message: 'Not now.', details: [], request_id: '1' };
    await page.route(/\/api\/tokens.*create/, (route) =>
      route.fulfill({ status: 403, json: { success: false, error } }),
    );
    await button(page, 'Send').click();
    await asking.getByRole('button', { name: 'Call it' }).click();
    const password = page.getByRole('alert').getByRole('link', { name: 'Enter your password' });
    await becomes(() => password.getAttribute('href'), '/confirm-password?next=%2Fdocs%2Fusers.disable');
    stage.expectNoFaults(/status of 403/);

    const other = await stage.open('bob', '/docs/users.create', desk);
    await callIt(other);
    await other.getByRole('alert').getByText('Only administrators may call this operation.').waitFor();
    stage.expectNoFaults(/status of 403/);
    await other.goto(`${stage.url()}/docs/files.upload`);
    await other.getByText('Uploads are not tried here.').waitFor();
  });

  test('finds operations and parts of guides with the keyboard, on a phone too', async () => {
    const page = await stage.open('ada', '/docs/nothing', phone);
    await heading(page, 'There is no such page').waitFor();
    await page.getByRole('banner').getByRole('link', { name: 'API reference' }).click();
    await heading(page, 'API reference').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('/');
    await page.keyboard.type('rotate sec');
    await found(page).first().getByText('webhooks.rotate_secret').waitFor();
    expect(await found(page).first().locator('mark').allInnerTexts()).toEqual(
      expect.arrayContaining(['rotate', 'secret']),
    );
    expect(await violationsOn(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await heading(page, 'Webhooks').waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe('/docs/guides/webhooks#rotate-the-secret');
    await until('the part is shown', () =>
      page.locator('#rotate-the-secret').evaluate((part) => Math.abs(part.getBoundingClientRect().top) < 400),
    );
    expect(await violationsOn(page)).toEqual([]);
    await page.getByText('How you type parley depends on the installation').waitFor();

    // Links of a guide lead to a part of it, to another guide, and to operations.
    await page.getByRole('link', { name: 'Blocked addresses' }).first().click();
    await becomes(async () => new URL(page.url()).hash, '#blocked-addresses');
    await page.goBack();
    await becomes(async () => new URL(page.url()).hash, '#rotate-the-secret');
    await page.goto(`${stage.url()}/docs/guides/mentions-and-threads`);
    await page
      .getByRole('main')
      .getByRole('link', { name: /threads/ })
      .first()
      .click();
    await heading(page, 'messages.threads').waitFor();
    await page.getByRole('button', { name: 'Copy the request as curl' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.goBack();
    await heading(page, 'Mentions and threads').waitFor();
    await search(page).fill('xyzzy');
    await page.getByText('Nothing matches “xyzzy”.').waitFor();
    await page.goto(`${stage.url()}/docs/guides/performance`);
    await heading(page, 'Performance').waitFor();
    expect(await violationsOn(page)).toEqual([]);
  });
});
