import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { type Arrival, receiverFor } from '@parley/server/test/support/receiver.ts';
import { inSession } from '@parley/server/test/support/visitor.ts';
import { verifyWebhook } from '@parley-chat/sdk/webhook';
import type { Page } from 'playwright-core';
import { desk, groupWith, phone, say, violationsOn } from './acts.ts';
import { scene } from './scene.ts';
import { becomes, until } from './support.ts';

inChromium('the console', () => {
  const stage = scene();
  const receiver = receiverFor();
  afterEach(() => stage.expectNoFaults());

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });
  const table = (page: Page) => page.getByRole('table', { name: 'Deliveries' });
  const pane = (page: Page) => page.getByRole('complementary', { name: /^Delivery \d/ });
  const entry = (page: Page, url: string) =>
    page.getByRole('list', { name: 'Your webhooks' }).getByRole('article').filter({ hasText: url });

  const register = async (url: string, more: { events?: string[]; chat_id?: number } = {}) => {
    const hook = { url, events: ['new_message'], secret: 'a secret of our own', ...more };
    return (await stage.person('ada').ok('webhooks.register', hook)).webhook.webhook_id;
  };
  const isSigned = ({ bytes, headers }: Arrival, secret: string) =>
    verifyWebhook(bytes, headers, secret).then(
      () => true,
      () => false,
    );

  test('creates a webhook, and finds a wrong secret by a test', async () => {
    // A receiver that verifies with the secret that it has.
    let ownSecret = 'the secret of another webhook';
    const endpoint = receiver().endpoint(({ headers, body }) => {
      const mac = new Bun.CryptoHasher('sha256', ownSecret).update(body).digest('hex');
      return headers.get('x-webhook-signature') === `sha256=${mac}` ? { status: 200, body: 'thank you' } : 401;
    });
    const page = await stage.open('bob', '/settings/profile', desk);
    await page.getByRole('link', { name: 'Console' }).click();
    await page.getByRole('navigation', { name: 'Console' }).waitFor();
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
    await until('the tab has the name of the page', async () => (await page.title()).startsWith('Webhooks · '));

    await button(page, 'New webhook').click();
    const form = dialog(page, 'Create a webhook');
    await form.getByRole('textbox', { name: 'URL' }).fill('http://10.0.0.1/hook');
    await button(page, 'Create').click();
    await form.getByRole('alert').filter({ hasText: 'URL 10.0.0.1 is a private address' }).waitFor();
    // Such a URL cannot be used.
    await becomes(() => button(page, 'Create').isEnabled(), true);
    stage.expectNoFaults(/status of 422/);
    await form.getByRole('textbox', { name: 'URL' }).fill(endpoint.url);
    await form.getByRole('checkbox', { name: 'All events' }).uncheck();
    await button(page, 'Choose events of Messages').click();
    await form.getByRole('checkbox', { name: 'new_message' }).check();
    await button(page, 'Example of new_message').click();
    await form.getByText('"content": "The launch is on Friday"').waitFor();
    const messages = form.getByRole('checkbox', { name: 'Messages' });
    await becomes(() => messages.evaluate((box) => (box as HTMLInputElement).indeterminate), true);
    expect(await violationsOn(page)).toEqual([]);
    // The URL is tested first, and what comes back does not have to be right.
    await button(page, 'Create').click();
    await form.getByText('refused the request with 401').waitFor();
    await form.getByText('Give it the secret above and test again.').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await button(page, 'Test again').click();
    const [test] = await endpoint.arrived(2);
    const secret = await form.getByRole('textbox', { name: 'Secret' }).inputValue();
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(test && (await isSigned(test, secret))).toBe(true);
    expect((await stage.person('bob').ok('webhooks.list', {})).webhooks).toEqual([]);
    await button(page, 'Create anyway').click();

    const done = dialog(page, 'The webhook is created');
    await becomes(() => done.getByRole('textbox', { name: 'The secret' }).inputValue(), secret);
    await button(page, 'Send a test').click();
    await done.getByText('refused the request with 401').waitFor();
    ownSecret = secret;
    await button(page, 'Test again').click();
    await done.getByText('It works.').waitFor();
    await done.getByText('thank you').waitFor();
    await done.getByRole('link', { name: 'See its deliveries' }).click();
    await page.getByRole('heading', { name: 'Nothing was sent yet' }).waitFor();
    const { webhooks } = await stage.person('bob').ok('webhooks.list', {});
    expect(webhooks).toMatchObject([{ url: endpoint.url, events: ['new_message'], chat_id: null, status: 'active' }]);
  });

  test('says on its first page why webhooks fail, and redelivers what is repaired', async () => {
    const ada = stage.person('ada');
    const chatId = await groupWith(stage, 'Launch');
    const hanging = receiver().endpoint('hang');
    const refusing = receiver().endpoint(401);
    const broken = receiver().endpoint({ status: 500, body: 'out of cheese' });
    const moved = receiver().endpoint({ status: 301, headers: { location: broken.url } });
    const lost = 'http://no-such-host.invalid/hook';
    for (const url of [hanging.url, refusing.url, moved.url, lost]) await register(url);
    const brokenId = await register(broken.url);
    await say(ada, chatId, 'Hello');
    await hanging.arrived(1);
    const page = await stage.open('ada', '/console', desk);
    await entry(page, refusing.url).getByText('refused the request with 401').waitFor();
    await entry(page, broken.url).getByText('failed with 500, an error in its own code').waitFor();
    const retried = entry(page, broken.url).getByRole('link', { name: '1', exact: true });
    expect(await retried.getAttribute('href')).toBe(`/console/webhooks/${brokenId}?state=retrying`);
    await entry(page, moved.url).getByText('responded with 301, a redirect').waitFor();
    // Without a name server the name is not found either.
    await entry(page, lost)
      .getByText(/The host of the URL (was not found|could not be looked up)/)
      .waitFor();
    expect(await violationsOn(page)).toEqual([]);

    // The delivery that failed is one click away, and its link can be shared.
    await entry(page, broken.url).getByRole('link', { name: 'See the delivery' }).click();
    await pane(page).getByText('out of cheese').waitFor();
    await pane(page).getByText('"content":"Hello"').waitFor();
    await pane(page).getByText('X-Webhook-Event: new_message').waitFor();
    await pane(page).getByRole('list', { name: 'Attempts' }).getByText('500 Server error').first().waitFor();
    expect(await violationsOn(page)).toEqual([]);
    broken.reply = () => 200;
    await pane(page).getByRole('button', { name: 'Redeliver' }).click();
    await table(page)
      .getByRole('row', { name: /Delivered/ })
      .waitFor();
    await pane(page).getByText('Delivered').waitFor();
    // What is done elsewhere is seen here.
    const attempts = pane(page).getByRole('list', { name: 'Attempts' }).getByRole('listitem');
    const count = await attempts.count();
    const deliveryId = Number(new URL(page.url()).searchParams.get('delivery'));
    await ada.ok('webhooks.redeliver', { delivery_id: deliveryId });
    await becomes(() => attempts.count(), count + 1);
    await page.keyboard.press('Escape');
    await pane(page).waitFor({ state: 'detached' });
    await until('the row has the focus', () =>
      page.evaluate(() => document.activeElement?.closest('[data-delivery]') !== null),
    );

    // Filters are in the URL, in both directions.
    const other = await groupWith(stage, 'Lunch');
    await say(ada, other, 'Pizza?');
    await table(page).getByRole('row', { name: /Lunch/ }).waitFor();
    await page.getByRole('combobox', { name: 'Chat' }).selectOption({ label: 'Lunch' });
    await table(page)
      .getByRole('row', { name: /Launch/ })
      .waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe(`?chat=${other}`);
    await page.goBack();
    await table(page)
      .getByRole('row', { name: /Launch/ })
      .waitFor();
    const shared = await stage.openTab(page, `/console/webhooks/${brokenId}?state=delivered&chat=${chatId}`);
    await table(shared)
      .getByRole('row', { name: /Launch/ })
      .waitFor();
    await becomes(() => table(shared).getByRole('row', { name: /Lunch/ }).count(), 0);
    await shared.getByRole('combobox', { name: 'State' }).selectOption('Failed');
    await button(shared, 'Clear filters').first().click();
    await table(shared)
      .getByRole('row', { name: /Delivered new_message Lunch/ })
      .waitFor();

    // A selection is sent again until somebody stops it, from the oldest on.
    const gate = Promise.withResolvers<void>();
    broken.reply = () => ({ after: gate.promise });
    await table(shared).getByRole('checkbox', { name: 'Select all shown' }).check();
    await button(shared, 'Redeliver').click();
    await button(shared, 'Stop').click();
    gate.resolve();
    await shared.getByText('1 of 2 were delivered.').waitFor();
    broken.reply = () => 200;
    const before = broken.arrivals.length;
    await table(shared).getByRole('checkbox', { name: 'Select all shown' }).check();
    await button(shared, 'Redeliver').click();
    await shared.getByText('2 of 2 were delivered.').waitFor();
    await broken.arrived(before + 2);
    expect(broken.contents.slice(-2)).toEqual(['Hello', 'Pizza?']);
    await shared.close();

    // Skipping what is selected asks first.
    const { webhooks } = await ada.ok('webhooks.list', {});
    const refusingId = webhooks.find(({ url }) => url === refusing.url)?.webhook_id;
    await page.goto(`${stage.url()}/console/webhooks/${refusingId}`);
    await page.getByRole('checkbox', { name: 'Select all shown' }).check();
    await button(page, 'Skip').click();
    const skipping = dialog(page, 'Skip deliveries');
    await skipping.getByText(/does not get \d+ deliver/).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await skipping.getByRole('button', { name: 'Skip', exact: true }).click();
    await table(page)
      .getByRole('row', { name: /Skipped/ })
      .first()
      .waitFor();

    // The URL that a redirect leads to is tested, too, before it takes the place of the other.
    await page.goto(`${stage.url()}/console/webhooks`);
    await entry(page, moved.url).getByRole('link', { name: 'See the delivery' }).click();
    await pane(page).getByText(`a redirect to ${broken.url}.`).waitFor();
    await button(page, 'Use this URL').click();
    const editing = dialog(page, 'Edit the webhook');
    await becomes(() => editing.getByRole('textbox', { name: 'URL' }).inputValue(), broken.url);
    broken.reply = () => 404;
    await button(page, 'Save').click();
    await editing.getByText('nothing is at this path').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    broken.reply = () => 200;
    await button(page, 'Save anyway').click();
    await page.getByRole('heading', { name: broken.url, level: 1 }).waitFor();
    expect(broken.arrivals.some(({ event }) => event === 'test')).toBe(true);

    await page.goto(`${stage.url()}/console/webhooks`);
    await entry(page, hanging.url).getByText('did not respond in time').waitFor();
  });

  test('creates a webhook of the whole service for administrators, who see its deliveries as they happen', async () => {
    const endpoint = receiver().endpoint();
    const bob = stage.person('bob');
    const page = await stage.open('ada', '/console/webhooks', desk);
    await button(page, 'New webhook').first().click();
    const form = dialog(page, 'Create a webhook');
    await form.getByRole('textbox', { name: 'URL' }).fill(endpoint.url);
    await form.getByRole('combobox', { name: 'Chats' }).selectOption('All chats of the service');
    await form.getByRole('checkbox', { name: 'Direct chats too' }).check();
    expect(await violationsOn(page)).toEqual([]);
    await button(page, 'Create').click();
    await dialog(page, 'The webhook is created').getByRole('link', { name: 'See its deliveries' }).click();
    await page.getByText('all events of all chats of the service').waitFor();
    const { group } = await bob.ok('messages.create_group', { name: 'Of Bob', participants: [] });
    await table(page)
      .getByRole('row', { name: `group_created Chat ${group.chat_id}` })
      .waitFor();

    // A password that was entered long ago does not count.
    const { token } = await inSession(stage.server(), stage.person('ada'), Date.now() - 11 * 60_000);
    await page.context().addCookies([{ name: 'parley_session', value: token, url: stage.url() }]);
    await page.goto(`${stage.url()}/console/webhooks`);
    await button(page, 'New webhook').click();
    await form.getByRole('textbox', { name: 'URL' }).fill(endpoint.url);
    await form.getByRole('combobox', { name: 'Chats' }).selectOption('All chats of the service');
    await button(page, 'Create').click();
    await form.getByRole('link', { name: 'Enter it now' }).waitFor();
    stage.expectNoFaults(/status of 403/);
    const { webhooks } = await stage.person('ada').ok('webhooks.list', {});
    const wide = webhooks.filter(({ service_wide }) => service_wide);
    expect(wide).toMatchObject([{ url: endpoint.url, include_direct: true }]);
    await stage.person('ada').ok('webhooks.delete', { webhook_id: wide[0]?.webhook_id ?? 0 });
  });

  test('pauses, edits, rotates, replays and deletes', async () => {
    const ada = stage.person('ada');
    const chatId = await groupWith(stage, 'Plans');
    const endpoint = receiver().endpoint();
    const id = await register(endpoint.url, { events: ['*'], chat_id: chatId });
    await say(ada, chatId, 'One');
    await endpoint.arrived(1);
    const page = await stage.open('ada', `/console/webhooks/${id}`, phone);
    await table(page)
      .getByRole('row', { name: /Delivered/ })
      .waitFor();
    await button(page, 'Pause').click();
    await page.getByText('Events wait until you resume it.').waitFor();
    await say(ada, chatId, 'Two');
    await button(page, 'Resume').click();
    await endpoint.arrived(2);
    await until(
      'both are there',
      async () =>
        (await table(page)
          .getByRole('row', { name: /Delivered/ })
          .count()) === 2,
    );

    await button(page, 'Edit').click();
    await dialog(page, 'Edit the webhook').getByRole('checkbox', { name: 'All events' }).uncheck();
    await dialog(page, 'Edit the webhook').getByRole('checkbox', { name: 'Messages' }).check();
    await button(page, 'Save').click();
    await page.getByText('5 events of Plans').waitFor();

    await button(page, 'Rotate secret').click();
    await dialog(page, 'Rotate the secret').getByRole('textbox', { name: 'Secret' }).fill('a secret that is typed');
    await button(page, 'Rotate').click();
    await dialog(page, 'Rotate the secret').getByText('the signatures of both secrets until').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await button(page, 'I have saved it').click();
    await page.getByText('webhook-signature only, until').waitFor();
    await say(ada, chatId, 'Three');
    const third = (await endpoint.arrived(3)).at(-1);
    expect(
      third && (await isSigned(third, 'a secret of our own')) && (await isSigned(third, 'a secret that is typed')),
    ).toBe(true);

    await button(page, 'Test').click();
    const testing = dialog(page, 'Test the webhook');
    await testing.getByRole('combobox', { name: 'Event' }).selectOption('reaction_added');
    await testing.getByText('"emoji": "🎉"').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await button(page, 'Send a test').click();
    await testing.getByText('It works.').waitFor();
    expect(endpoint.arrivals.at(-1)).toMatchObject({ event: 'reaction_added', data: { emoji: '🎉' } });
    await page.keyboard.press('Escape');

    const replaying = dialog(page, 'Replay events');
    await button(page, 'Replay').click();
    await replaying.getByText('This sends 3 events.').waitFor();
    await replaying.getByRole('combobox', { name: 'Which events' }).selectOption('Failed');
    await replaying.getByText('There are no such events.').waitFor();
    await becomes(() => button(page, 'Start the replay').isDisabled(), true);
    await replaying.getByRole('combobox', { name: 'Which events' }).selectOption('All');
    await replaying.getByText('This sends 3 events.').waitFor();
    await button(page, 'Start the replay').click();
    const replays = page.getByRole('region', { name: 'Replays' });
    await replays.getByText('3 delivered, 0 failed, 0 waiting').waitFor();
    await endpoint.arrived(7);
    expect(endpoint.contents.slice(3)).toEqual(['One', 'Two', 'Three']);

    // One that hangs is cancelled.
    const gate = Promise.withResolvers<void>();
    endpoint.reply = () => ({ after: gate.promise });
    await button(page, 'Replay').click();
    await button(page, 'Start the replay').click();
    await replays.getByText('0 delivered, 0 failed, 3 waiting').waitFor();
    await button(page, 'Cancel the replay').click();
    await replays.getByText('0 delivered, 0 failed, 3 skipped, 0 waiting').waitFor();
    await replays.getByText('Cancelled').waitFor();
    gate.resolve();
    endpoint.reply = () => 200;

    // The debugger has what was sent, and the browser computes the rest.
    await table(page)
      .getByRole('row', { name: /Delivered/ })
      .first()
      .getByRole('link')
      .click();
    await pane(page)
      .getByText(/^webhook-signature: v1,/m)
      .waitFor();
    await pane(page).getByRole('link', { name: 'Check the signature' }).click();
    const verdict = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
    await verdict('The secret is missing');
    const secret = page.getByRole('textbox', { name: 'Secret' });
    // Only the secret is left to paste.
    await becomes(() => secret.evaluate((field) => field === document.activeElement), true);
    await secret.fill('another');
    await verdict('The secret is wrong');
    await page.getByRole('checkbox', { name: 'Show the secret' }).check();
    await secret.fill('a secret that is typed');
    await verdict('The signature is valid');
    const eventId = Number(
      /webhook-id: (\d+)/.exec(await page.getByRole('textbox', { name: 'Headers' }).inputValue())?.[1],
    );
    const received = endpoint.arrivals.findLast((arrival) => arrival.eventId === eventId);
    const headers = [...(received?.headers ?? [])].map(([name, value]) => `${name}: ${value}`).join('\n');
    await page.getByRole('textbox', { name: 'Headers' }).fill(headers);
    await verdict('The signature is valid');
    await secret.fill('another');
    await verdict('The secret is wrong');
    for (const { viewport } of [phone, desk]) {
      await page.setViewportSize(viewport);
      expect(await violationsOn(page)).toEqual([]);
    }
    await page.setViewportSize(phone.viewport);
    await secret.fill('a secret that is typed');
    await page.getByRole('textbox', { name: 'Body' }).fill(`${received?.body}\n`);
    await verdict('A line break was added to the body');
    await page.getByText('The first difference is in line 1').waitFor();

    await page.goto(`${stage.url()}/console/webhooks/${id}`);
    await table(page).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await button(page, 'Delete').click();
    await dialog(page, 'Delete the webhook').getByText('receives nothing more').waitFor();
    await button(page, 'Delete the webhook').click();
    await entry(page, '/').first().waitFor();
    expect(await violationsOn(page)).toEqual([]);
    expect((await ada.ok('webhooks.list', {})).webhooks.map(({ url }) => url)).not.toContain(endpoint.url);
  });
});
