import { afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '@parley/server/test/support/client.ts';
import { users } from '@parley/server/test/support/people.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { effect } from '@preact/signals';
import { Lease, leaseMs } from '../outbox/lease.ts';
import type { Session } from '../session.ts';
import { openDatabase } from '../store/database.ts';
import { TestBrowser, until } from './support.ts';

const day = 24 * 3_600_000;

describe('the outbox', () => {
  const server = serverFor('sqlite', { PARLEY_RATE_LIMIT: 'off' });
  let ada: Client;
  const browsers: TestBrowser[] = [];
  beforeAll(async () => {
    ({ ada } = await users(server(), 'ada'));
  });
  afterEach(() => {
    for (const browser of browsers.splice(0)) browser.close();
  });
  const newBrowser = async () => {
    const browser = await TestBrowser.of(server(), 'ada', ada);
    browsers.push(browser);
    return browser;
  };
  const newGroup = async () => (await ada.ok('messages.create_group', { name: 'Launch' })).group.chat_id;
  const textsIn = async (chat_id: number) =>
    (await ada.ok('messages.get_messages', { chat_id, limit: 200 })).messages.map(({ content }) => content);
  const numbered = (count: number) => Array.from({ length: count }, (_, i) => `message ${i}`);
  const unsentIn = ({ outbox, store }: Session, chatId: number) =>
    outbox.unsentIn(chatId, store.peekTimeline(chatId)?.messages ?? []).map(({ content }) => content);
  /** Collects what is shown twice from now on. */
  const watchDoubled = ({ store, outbox }: Session, chatId: number) => {
    const doubled: string[] = [];
    effect(() => {
      const messages = store.timeline(chatId).value?.messages ?? [];
      const shown = messages.map(({ content }) => content);
      for (const { content } of outbox.unsentIn(chatId, messages)) if (shown.includes(content)) doubled.push(content);
    });
    return doubled;
  };
  const isSend = (url: string) => url.includes('action=send_message');

  test('shows nothing twice that another tab sends', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    const [one, two] = [await browser.open(), await browser.open()];
    const doubled = watchDoubled(two, chatId);
    await two.openChat(chatId);
    for (const text of numbered(20)) await one.outbox.send(chatId, text);
    await until('all are shown', () => two.store.peekTimeline(chatId)?.messages.length === 20);
    await until('everything is sent', () => two.outbox.items.value.length === 0);
    expect(doubled).toEqual([]);
  });

  test('shows nothing twice that a tab sent before it was closed in the middle of it', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    const one = await browser.open();
    // It does not get as far as to note that the message is in the outbox.
    const { removeItem } = browser.storage;
    browser.storage.removeItem = () => {};
    await one.outbox.send(chatId, 'first');
    await until('it is sent', () => one.outbox.items.value.length === 0);
    browser.storage.removeItem = removeItem;
    const gate = Promise.withResolvers<void>();
    let sends = 0;
    browser.before = (url) => (isSend(url) && ++sends > 0 ? gate.promise : undefined);
    await one.outbox.send(chatId, 'second');
    await until('it is on its way', () => sends === 1);
    const two = await browser.open();
    const doubled = watchDoubled(two, chatId);
    await two.openChat(chatId);
    await until('both are in the outbox', () => two.outbox.items.value.length === 2);
    gate.resolve();
    await until('everything is sent', () => two.outbox.items.value.length === 0);
    expect(doubled).toEqual([]);
    expect(await textsIn(chatId)).toEqual(['first', 'second']);
  });

  test('shows the same text twice if it was written twice, until both are sent', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    const gate = Promise.withResolvers<void>();
    let sends = 0;
    browser.before = (url) => (isSend(url) && ++sends > 1 ? gate.promise : undefined);
    const tab = await browser.open();
    await tab.openChat(chatId);
    await Promise.all([tab.outbox.send(chatId, 'again'), tab.outbox.send(chatId, 'again')]);
    await until('the second is on its way', () => sends === 2);
    await until('the first is shown', () => tab.store.peekTimeline(chatId)?.messages.length === 1);
    expect(unsentIn(tab, chatId)).toEqual(['again']);
    gate.resolve();
    await until('everything is sent', () => tab.outbox.items.value.length === 0);
    expect(await textsIn(chatId)).toEqual(['again', 'again']);
  });

  test('sends in order what was written offline, also after a reload', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    browser.isOnline = false;
    const tab = await browser.open();
    const texts = numbered(12);
    for (const text of texts.slice(0, 6)) await tab.outbox.send(chatId, text);
    expect(tab.outbox.items.value.map(({ content }) => content)).toEqual(texts.slice(0, 6));
    browser.close();
    const again = await browser.open();
    for (const text of texts.slice(6)) await again.outbox.send(chatId, text);
    expect(await textsIn(chatId)).toEqual([]);
    browser.isOnline = true;
    again.outbox.wake();
    await until('everything is sent', () => again.outbox.items.value.length === 0);
    expect(await textsIn(chatId)).toEqual(texts);
  });

  test('delivers each message once, in order, however many responses are lost', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    let calls = 0;
    browser.after = (url) => {
      if (isSend(url) && calls++ % 3 !== 2) throw new TypeError('the connection broke');
    };
    const tab = await browser.open();
    const texts = numbered(8);
    await Promise.all(texts.map((text) => tab.outbox.send(chatId, text)));
    await until('everything is sent', () => {
      tab.outbox.wake();
      return tab.outbox.items.value.length === 0;
    });
    expect(await textsIn(chatId)).toEqual(texts);
    expect(calls).toBeGreaterThan(texts.length);
  });

  test('is shared by tabs: one sends at a time, and the others take over from one that is gone', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    const [first, second] = [await browser.open(), await browser.open()];
    let running = 0;
    let most = 0;
    browser.before = async (url) => {
      if (!isSend(url)) return;
      most = Math.max(most, ++running);
      await Bun.sleep(3);
    };
    browser.after = (url) => {
      if (isSend(url)) running--;
    };
    const texts = numbered(20);
    for (const [i, text] of texts.entries()) await (i % 2 ? first : second).outbox.send(chatId, text);
    await until('the first tab sees that all is sent', () => first.outbox.items.value.length === 0);
    await until('and the second', () => second.outbox.items.value.length === 0);
    expect(await textsIn(chatId)).toEqual(texts);
    expect(most).toBe(1);
  });

  test('shows a message once while its response is on the way', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    const tab = await browser.open();
    await until('it is connected', () => tab.store.connection.value === 'live');
    await tab.openChat(chatId);
    const response = Promise.withResolvers<void>();
    browser.after = (url) => (isSend(url) ? response.promise : undefined);
    await tab.outbox.send(chatId, 'hello');
    await until('the stream has brought it', () => tab.store.peekTimeline(chatId)?.messages.length === 1);
    expect(tab.outbox.items.value).toHaveLength(1);
    expect(unsentIn(tab, chatId)).toEqual([]);
    response.resolve();
    await until('it is done', () => tab.outbox.items.value.length === 0);
    expect(tab.store.peekTimeline(chatId)?.messages).toHaveLength(1);
  });

  test('shows a message once after a reload, if only its response was lost', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    browser.after = (url) => {
      if (isSend(url)) throw new TypeError('the connection broke');
    };
    const tab = await browser.open();
    await tab.outbox.send(chatId, 'hello');
    await until('the server has it', async () => (await textsIn(chatId)).length === 1);
    browser.close();
    const gate = Promise.withResolvers<void>();
    browser.after = () => {};
    browser.before = (url) => (isSend(url) ? gate.promise : undefined);
    const again = await browser.open();
    await again.openChat(chatId);
    await until('it is loaded', () => again.outbox.items.value.length === 1);
    expect(unsentIn(again, chatId)).toEqual([]);
    gate.resolve();
    await until('everything is sent', () => again.outbox.items.value.length === 0);
    expect(await textsIn(chatId)).toEqual(['hello']);
  });

  test('finds a message again whose page went before it was stored', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    browser.isOnline = false;
    const tab = await browser.open();
    await tab.outbox.send(chatId, 'first');
    const waiting = tab.outbox.send(chatId, 'and gone').catch(() => {});
    const [entry] = [...browser.storage];
    await waiting;
    expect(browser.storage.size).toBe(0);
    if (!entry) throw new Error('nothing was kept');
    browser.close();
    // As if transactions had been lost, and as if another tab had stored one of them. Browsers keep the entries in any order.
    const item = JSON.parse(entry[1]);
    for (const [i, content] of ['lost as well', 'lost'].entries()) {
      const lost = { ...item, key: `lost${i}`, content, created_at: item.created_at + 2 - i };
      browser.storage.set(entry[0].replace(item.key, lost.key), JSON.stringify(lost));
    }
    browser.storage.set(...entry);
    browser.isOnline = true;
    const again = await browser.open();
    await until('everything is sent', async () => (await textsIn(chatId)).length === 4);
    await until('nothing is left', () => again.outbox.items.value.length === 0);
    expect(await textsIn(chatId)).toEqual(['first', 'and gone', 'lost', 'lost as well']);
    expect(browser.storage.size).toBe(0);
  });

  test('asks before it sends a message that the server may have forgotten', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    browser.isOnline = false;
    const tab = await browser.open();
    await tab.outbox.send(chatId, 'from last week');
    await tab.outbox.send(chatId, 'never mind');
    browser.close();
    const later = Date.now() + 8 * day;
    browser.now = () => later;
    browser.isOnline = true;
    const again = await browser.open();
    await until('it is loaded', () => again.outbox.items.value.length === 2);
    const [old, other] = again.outbox.items.value;
    if (!old || !other) throw new Error('nothing is there');
    expect([again.outbox.isOld(old), again.outbox.isOld(other)]).toEqual([true, true]);
    await again.outbox.send(chatId, 'new');
    await until('the new one is sent', async () => (await textsIn(chatId)).length === 1);
    await again.outbox.retry(old.seq);
    await again.outbox.discard(other.seq);
    await until('all is settled', () => again.outbox.items.value.length === 0);
    expect(await textsIn(chatId)).toEqual(['new', 'from last week']);
  });

  test('forgets a message that did arrive, and that is too old to be sent again', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    browser.after = (url) => {
      if (isSend(url)) throw new TypeError('the connection broke');
    };
    const tab = await browser.open();
    await tab.outbox.send(chatId, 'arrived');
    await until('the server has it', async () => (await textsIn(chatId)).length === 1);
    browser.close();
    const later = Date.now() + 8 * day;
    browser.now = () => later;
    browser.after = () => {};
    const again = await browser.open();
    await until('it is loaded', () => again.outbox.items.value.length === 1);
    await again.openChat(chatId);
    await until('it is gone', () => again.outbox.items.value.length === 0);
    expect(await textsIn(chatId)).toEqual(['arrived']);
  });

  test('says why a message was refused, and goes on with the others', async () => {
    const chatId = await newGroup();
    const tab = await (await newBrowser()).open();
    await tab.outbox.send(chatId + 1_000, 'to nobody');
    await tab.outbox.send(chatId, 'to somebody');
    await until('the other is sent', async () => (await textsIn(chatId)).length === 1);
    await until('one is left', () => tab.outbox.items.value.length === 1);
    expect(tab.outbox.items.value).toMatchObject([{ content: 'to nobody', refusal: { code: 'not_found' } }]);
  });
});

test('a lease is held by one, ends by itself, and survives a clock that was set back', async () => {
  const db = await openDatabase(987_654);
  let now = 1_000_000;
  const [one, other] = ['one', 'other'].map((owner) => new Lease(db, 'x', owner, () => now));
  if (!one || !other) throw new Error('no leases');
  expect(await one.take()).toBe(0);
  expect(await one.take()).toBe(0);
  expect(await other.take()).toBe(leaseMs);
  await other.release();
  expect(await other.take()).toBe(leaseMs);
  now += leaseMs;
  expect(await other.take()).toBe(0);
  expect(await one.take()).toBe(leaseMs);
  now -= 100 * leaseMs;
  expect(await one.take()).toBe(0);
  await one.release();
  expect(await other.take()).toBe(0);
  db.close();
});
