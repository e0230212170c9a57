import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { pushServiceFor } from '@parley/server/test/support/push-service.ts';
import { describeUnless, require } from '@parley/server/test/support/requirements.ts';
import type { Page } from 'playwright-core';
import { desk, groupWith, phone, say, violationsOn } from './acts.ts';
import { chats, networkAddress, scene } from './scene.ts';
import { becomes, until } from './support.ts';

/** What the scripts of these tests keep in a page. */
interface TestedPage {
  isHidden?: boolean;
  rings?: number;
  /** How often a tab or the worker has learned whether somebody looks. */
  looks?: number;
  /** Every notification that it has shown. */
  notified?: string[];
  told?: Promise<unknown>;
}

/** Lets a test hide the page, and counts the sounds. A browser without a window shows all its tabs. */
function observe(): void {
  const page = globalThis as unknown as TestedPage;
  page.rings = 0;
  const isShown = () => page.isHidden !== true;
  Object.defineProperty(document, 'visibilityState', { get: () => (isShown() ? 'visible' : 'hidden') });
  document.hasFocus = isShown;
  const { createOscillator } = AudioContext.prototype;
  AudioContext.prototype.createOscillator = function (this: AudioContext) {
    page.rings = (page.rings ?? 0) + 1;
    return createOscillator.call(this);
  };
}

/** Counts looks and notes notifications. These stay until they are closed: the browser would close them after some seconds. */
function observeNotices(): void {
  const page = globalThis as unknown as TestedPage;
  page.notified = [];
  const { showNotification } = ServiceWorkerRegistration.prototype;
  ServiceWorkerRegistration.prototype.showNotification = function (title, options) {
    page.notified?.push(`${title}: ${options?.body}`);
    return showNotification.call(this, title, { ...options, requireInteraction: true });
  };
  const { query } = LockManager.prototype;
  LockManager.prototype.query = async function (this: LockManager) {
    const found = await query.call(this);
    page.looks = (page.looks ?? 0) + 1;
    return found;
  };
}

const looks = (where: Pick<Page, 'evaluate'>) => where.evaluate(() => (globalThis as unknown as TestedPage).looks ?? 0);

const notified = (where: Pick<Page, 'evaluate'>) =>
  where.evaluate(() => (globalThis as unknown as TestedPage).notified ?? []);

const setHidden = (page: Page, isHidden: boolean) =>
  page.evaluate((isHidden) => {
    (globalThis as unknown as TestedPage).isHidden = isHidden;
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);

/** Waits until so many sounds were made in all tabs. */
const untilRung = (tabs: readonly Page[], expected: number) =>
  until(`${expected} rings`, async () => {
    const rings = tabs.map((tab) => tab.evaluate(() => (globalThis as unknown as TestedPage).rings ?? 0));
    return (await Promise.all(rings)).reduce((sum, count) => sum + count) === expected;
  });

/** The next notification rings, however soon it comes after the last one. */
const forgetRing = (page: Page, userId: number) =>
  page.evaluate(async (userId) => {
    const opening = indexedDB.open(`parley-${userId}`);
    await new Promise((resolve) => opening.addEventListener('success', resolve));
    const changing = opening.result.transaction('meta', 'readwrite');
    changing.objectStore('meta').delete('notice-rang-at');
    await new Promise((resolve) => changing.addEventListener('complete', resolve));
    opening.result.close();
  }, userId);

const shown = (page: Page) =>
  page.evaluate(async () =>
    (await (await navigator.serviceWorker.ready).getNotifications()).map(({ title, body }) => `${title}: ${body}`),
  );

const untilShown = (page: Page, expected: readonly string[]) => becomes(() => shown(page), [...expected]);

const isWatched = (page: Page) =>
  page.evaluate(async () => ((await navigator.locks.query()).held ?? []).some(({ name }) => name === 'parley-watched'));

inChromium('notifications', () => {
  const stage = scene({ hasNotifications: true });
  const service = pushServiceFor();
  afterEach(() => stage.expectNoFaults());

  /** Stands in for the push service of the vendor, which a test cannot reach. */
  const openWithPush = async (path: string, options = {}): Promise<Page> => {
    const { endpoint, p256dh, auth } = await service.browser();
    const page = await stage.open('ada', '/settings', options);
    await page.context().grantPermissions(['notifications'], { origin: stage.url() });
    await page.context().addInitScript(observe);
    await page.context().addInitScript(observeNotices);
    await page.context().addInitScript(
      ([endpoint, p256dh, auth]) => {
        const key = 'test-subscribed';
        const subscription = {
          endpoint,
          options: {},
          toJSON: () => ({ endpoint, keys: { p256dh, auth } }),
          unsubscribe: async () => localStorage.removeItem(key),
        };
        Object.assign(PushManager.prototype, {
          subscribe: async () => {
            localStorage.setItem(key, '1');
            return subscription;
          },
          getSubscription: async () => (localStorage.getItem(key) ? subscription : null),
        });
      },
      [endpoint, p256dh, auth] as const,
    );
    await page.goto(`${stage.url()}${path}`);
    return page;
  };
  const turnOn = async (page: Page) => {
    await page.getByRole('button', { name: 'Turn on notifications' }).click();
    await page.getByText('Notifications are on.').waitFor();
  };

  test('are turned on by a click, with or without text, and have quiet hours', async () => {
    const blocked = await stage.open('bob', '/settings', desk);
    await blocked.addInitScript(() => Object.defineProperty(Notification, 'permission', { get: () => 'denied' }));
    await blocked.goto(stage.url());
    await blocked.getByRole('link', { name: /Settings/ }).click();
    await blocked.getByRole('link', { name: 'Notifications' }).click();
    await blocked.getByText('Your browser blocks notifications').waitFor();
    expect(await violationsOn(blocked)).toEqual([]);

    const ada = stage.person('ada');
    const page = await openWithPush('/settings/notifications', phone);
    await turnOn(page);
    const device = page.getByRole('list', { name: 'Devices' }).getByText('this device');
    await device.waitFor();
    expect((await ada.ok('push.list', {})).subscriptions).toMatchObject([{ with_text: true }]);
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('checkbox', { name: 'Show the text of messages' }).uncheck();
    await device.getByText('without text').waitFor();
    expect((await ada.ok('push.list', {})).subscriptions).toMatchObject([{ with_text: false }]);

    await page.getByText('Quiet hours are off.').waitFor();
    await page.getByLabel('From').fill('07:00');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('They end when they begin.').waitFor();
    await page.getByLabel('From').fill('21:30');
    await page.getByLabel('Time zone').selectOption('Asia/Tokyo');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { quiet_hours } = await ada.ok('users.quiet_hours', {});
    expect(quiet_hours).toEqual({ from: '21:30', to: '07:00', time_zone: 'Asia/Tokyo' });
    await page.getByText('Quiet hours are on, from 21:30 to 07:00 (Asia/Tokyo).').waitFor();
    await page.getByRole('button', { name: 'No quiet hours' }).click();
    await page.getByText('Quiet hours are off.').waitFor();

    // A new connection renews the subscription, and so does a start of the client.
    const endSubscription = async () => {
      const [before] = (await ada.ok('push.list', {})).subscriptions;
      await ada.ok('push.unsubscribe', { subscription_id: before?.subscription_id ?? 0 });
    };
    await endSubscription();
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await until('it is renewed', async () => (await ada.ok('push.list', {})).subscriptions.length === 1);
    await page.getByText('Notifications are on.').waitFor();
    await endSubscription();
    await page.reload();
    await device.waitFor();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('None yet.').waitFor();
    expect((await ada.ok('push.list', {})).subscriptions).toEqual([]);
  });

  test('come from one of several hidden tabs, ring once, and close when the chat is read elsewhere', async () => {
    const [ada, bob] = [stage.person('ada'), stage.person('bob')];
    // Each message that must not notify has a chat of its own: a later notification of the same chat would replace it.
    const [seen, loud, silent] = [
      await groupWith(stage, 'Seen'),
      await groupWith(stage, 'Loud'),
      await groupWith(stage, 'Silent'),
    ];
    const [unmentioned, night] = [await groupWith(stage, 'Unmentioned'), await groupWith(stage, 'Night')];
    for (const chat_id of [silent, unmentioned]) await ada.ok('chats.set_preferences', { chat_id, notify: 'mentions' });
    const one = await openWithPush('/settings/notifications');
    await turnOn(one);
    const two = await one.context().newPage();
    await two.goto(`${stage.url()}/`);
    // Browsers let a page make sounds once somebody has used it.
    await two.keyboard.press('Escape');
    await two.mouse.click(5, 5);
    for (const tab of [one, two]) {
      await chats(tab).getByRole('link', { name: /Loud/ }).waitFor();
      await tab.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
    }

    // Somebody looks at one of them.
    await setHidden(one, true);
    await until('the other one is watched', () => isWatched(two));
    const before = await looks(one);
    await say(bob, seen, 'while you look');
    await until('the hidden one knows', async () => (await looks(one)) > before);
    await chats(two).getByText('while you look').waitFor();
    await setHidden(two, true);
    await until('nobody looks', async () => !(await isWatched(two)));

    await say(bob, unmentioned, 'without a mention');
    const sent = await say(bob, loud, 'now you are away');
    await untilShown(one, ['Bob in Loud: now you are away']);
    await untilRung([one, two], 1);
    await forgetRing(one, ada.userId);
    await say(bob, silent, '@ada look');
    await untilShown(one, ['Bob in Loud: now you are away', 'Bob in Silent: @ada look']);
    await untilRung([one, two], 2);
    await until('the title counts', async () => (await two.title()).startsWith('(4)'));

    await ada.ok('messages.mark_read', { chat_id: loud, message_id: sent.message_id });
    await untilShown(two, ['Bob in Silent: @ada look']);

    // Both tabs learn of the quiet hours that one of them sets.
    await two.evaluate((userId) => {
      const channel = new BroadcastChannel(`parley-quiet-hours-${userId}`);
      (globalThis as unknown as TestedPage).told = new Promise((resolve) => {
        channel.onmessage = resolve;
      });
    }, ada.userId);
    const [from, to] = await one.evaluate(() =>
      [-2, 2].map((hours) => new Date(Date.now() + hours * 3_600_000).toTimeString().slice(0, 5)),
    );
    await one.getByLabel('From').fill(from ?? '');
    await one.getByLabel('To', { exact: true }).fill(to ?? '');
    await one.getByRole('button', { name: 'Save' }).click();
    await one.getByText('Saved.').waitFor();
    await two.evaluate(async () => void (await (globalThis as unknown as TestedPage).told));
    await say(bob, night, 'while it is quiet');
    for (const tab of [one, two]) await chats(tab).getByText('while it is quiet').waitFor();
    await one.getByRole('button', { name: 'No quiet hours' }).click();
    await one.getByText('Quiet hours are off.').waitFor();

    await forgetRing(one, ada.userId);
    // Either tab may show the next one, so both must know that it has no text.
    await two.evaluate((key) => {
      (globalThis as unknown as TestedPage).told = new Promise<void>((resolve) =>
        addEventListener('storage', (event) => (event as StorageEvent).key === key && resolve()),
      );
    }, `parley-notifications-${ada.userId}`);
    await one.getByRole('checkbox', { name: 'Show the text of messages' }).uncheck();
    await two.evaluate(async () => void (await (globalThis as unknown as TestedPage).told));
    await say(bob, silent, '@ada again');
    await untilRung([one, two], 3);
    await untilShown(two, ['Bob in Silent: You were mentioned']);
    expect([...(await notified(one)), ...(await notified(two))].sort()).toEqual([
      'Bob in Loud: now you are away',
      'Bob in Silent: @ada look',
      'Bob in Silent: You were mentioned',
    ]);
    await one.context().close();
  });

  test('come by push while no tab is watched, and lead to the message', async () => {
    const chatId = await groupWith(stage, 'Pushed');
    const { message_id } = await say(stage.person('bob'), chatId, 'wake up');
    // Its notification would stay: this chat is unread too.
    const other = await groupWith(stage, 'Other');
    await say(stage.person('bob'), other, 'never shown');
    const page = await openWithPush('/');
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
    const devtools = await page.context().newCDPSession(page);
    const registered = new Promise<string>((resolve) => {
      devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        if (registrations[0]) resolve(registrations[0].registrationId);
      });
    });
    await devtools.send('ServiceWorker.enable');
    const registrationId = await registered;
    const push = (message: object) =>
      devtools.send('ServiceWorker.deliverPushMessage', {
        origin: stage.url(),
        registrationId,
        data: JSON.stringify({
          ...{ kind: 'message', chat_id: chatId, chat_name: 'Pushed', message_id, author_id: 2, author_name: 'Bob' },
          ...{ text: 'wake up', is_mention: false, sent_at: new Date().toISOString(), badge: 1 },
          ...message,
        }),
      });
    const worker = page.context().serviceWorkers()[0] ?? (await page.context().waitForEvent('serviceworker'));
    await until('somebody looks', () => isWatched(page));
    await worker.evaluate(observeNotices);
    await push({ chat_id: other, text: 'you see it' });
    await until('the worker knows', async () => (await looks(worker)) > 0);
    await setHidden(page, true);
    await until('nobody looks', async () => !(await isWatched(page)));
    await push({ chat_id: other, kind: 'of a later version' });
    await push({});
    await untilShown(page, ['Bob in Pushed: wake up']);
    await becomes(() => notified(worker), ['Bob in Pushed: wake up']);

    await worker.evaluate(async () => {
      const scope = globalThis as unknown as { registration: ServiceWorkerRegistration };
      const [notification] = await scope.registration.getNotifications();
      dispatchEvent(Object.assign(new Event('notificationclick'), { notification, waitUntil: () => {} }));
    });
    await page.waitForURL(`**/chats/${chatId}/${message_id}`);
    await untilShown(page, []);

    // The browser replaces the subscription.
    const ada = stage.person('ada');
    const [old, fresh] = [await service.browser(), await service.browser()];
    await ada.ok('push.subscribe', { ...old.subscription, with_text: false });
    await worker.evaluate(
      ([before, endpoint, p256dh, auth]) => {
        const newSubscription = { toJSON: () => ({ endpoint, keys: { p256dh, auth } }) };
        const change = { oldSubscription: { endpoint: before }, newSubscription, waitUntil: () => {} };
        dispatchEvent(Object.assign(new Event('pushsubscriptionchange'), change));
      },
      [old.endpoint, fresh.endpoint, fresh.p256dh, fresh.auth] as const,
    );
    await until('the server has the new one instead', async () => {
      const { subscriptions } = await ada.ok('push.list', {});
      const has = (endpoint: string) => subscriptions.find((one) => one.endpoint === endpoint);
      return has(fresh.endpoint)?.with_text === false && !has(old.endpoint);
    });
  });
});

const networkMissing = require(networkAddress !== undefined, 'a network address', 'a network interface');
inChromium('over plain HTTP in a local network', () =>
  describeUnless(networkMissing, 'at an address of this machine', () => {
    const stage = scene({ address: networkAddress, hasNotifications: true });

    test('the settings say that notifications need HTTPS, and quiet hours can be set', async () => {
      const page = await stage.open('ada', '/settings/notifications');
      await page.getByText('Notifications need HTTPS.').waitFor();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.').waitFor();
      expect(await page.evaluate(() => 'serviceWorker' in navigator)).toBe(false);
      stage.expectNoFaults();
    });
  }),
);
