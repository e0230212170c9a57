import { afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '@parley/server/test/support/client.ts';
import { users } from '@parley/server/test/support/people.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { cleanName } from '../outbox/uploads.ts';
import { filesOf } from '../store/records.ts';
import { TestBrowser, until } from './support.ts';

const mebibyte = 1_024 ** 2;

describe('uploads', () => {
  const server = serverFor('sqlite', { PARLEY_RATE_LIMIT: 'off' });
  let ada: Client;
  const browsers: TestBrowser[] = [];
  beforeAll(async () => {
    ({ ada } = await users(server(), 'ada'));
  });
  afterEach(() => {
    for (const browser of browsers.splice(0)) {
      browser.close();
      expect(browser.errors).toEqual([]);
    }
  });
  const newBrowser = async () => {
    const browser = await TestBrowser.of(server(), 'ada', ada);
    browsers.push(browser);
    return browser;
  };
  const newGroup = async () => (await ada.ok('messages.create_group', { name: 'Launch' })).group.chat_id;
  const file = (name: string, bytes = 10) => new File([new Uint8Array(bytes).fill(97)], name);
  const isUpload = (url: string) => url.includes('/uploads');

  test('go on where the connection was cut, and become a message with all files in order', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    let pieces = 0;
    let repeated = 0;
    let furthest = -1;
    browser.before = (url, init) => {
      if (!isUpload(url) || init.method !== 'PATCH') return;
      const offset = Number(new Headers(init.headers).get('upload-offset'));
      if (offset < furthest) repeated++;
      furthest = Math.max(offset, furthest);
      if (pieces++ % 3 === 1) throw new TypeError('the connection broke');
    };
    const { uploads, outbox } = await browser.open();
    uploads.add(chatId, [file('large.txt', 2 * mebibyte)]);
    await until('it is uploaded', () => uploads.of(chatId).every(({ state }) => state.name === 'done'));
    expect(repeated).toBe(0);
    browser.before = () => {};
    uploads.add(chatId, [file('b.txt'), file('c.txt')]);
    await until('all are uploaded', () => uploads.of(chatId).every(({ state }) => state.name === 'done'));
    const files = uploads.take(chatId);
    expect(uploads.of(chatId)).toEqual([]);
    await outbox.send(chatId, 'three', null, files);
    await until('it is sent', () => outbox.items.value.length === 0);
    const { messages } = await ada.ok('messages.get_messages', { chat_id: chatId });
    const [message] = messages;
    expect(messages.length).toBe(1);
    expect(message && filesOf(message).map(({ name, size }) => [name, size])).toEqual([
      ['large.txt', 2 * mebibyte],
      ['b.txt', 10],
      ['c.txt', 10],
    ]);
  });

  test('fail after a while without a connection, and resume once it is back', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    let isCut = true;
    browser.before = (url) => {
      if (isCut && isUpload(url)) throw new TypeError('the connection broke');
    };
    const { uploads } = await browser.open();
    uploads.add(chatId, [file('late.txt')]);
    await until('it has failed', () => uploads.of(chatId)[0]?.state.name === 'failed');
    isCut = false;
    uploads.wake();
    await until('it is uploaded', () => uploads.of(chatId)[0]?.state.name === 'done');
  });

  test('survive a reload once they are uploaded, but not a day', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    const { uploads } = await browser.open();
    uploads.add(chatId, [file('kept.txt')]);
    await until('it is uploaded', () => uploads.of(chatId)[0]?.state.name === 'done');
    browser.close();
    const again = await browser.open();
    expect(again.uploads.of(chatId).map(({ name }) => name)).toEqual(['kept.txt']);
    browser.close();
    browser.now = () => Date.now() + 24 * 3_600_000;
    const late = await browser.open();
    expect(late.uploads.of(chatId)).toEqual([]);
  });

  test('do not survive their message, nor being removed', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    const { uploads, outbox } = await browser.open();
    uploads.add(chatId, [file('sent.txt'), file('removed.txt')]);
    await until('all are uploaded', () => uploads.of(chatId).every(({ state }) => state.name === 'done'));
    uploads.remove(uploads.of(chatId)[1]?.id ?? 0);
    const files = uploads.take(chatId);
    expect(files.map(({ name }) => name)).toEqual(['sent.txt']);
    await outbox.send(chatId, '', null, files);
    await until('it is sent', () => outbox.items.value.length === 0);
    browser.close();
    const again = await browser.open();
    expect(again.uploads.of(chatId)).toEqual([]);
  });

  test('are stopped by a cancel, and refuse an empty file', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    const gate = Promise.withResolvers<void>();
    browser.before = (url) => (isUpload(url) ? gate.promise : undefined);
    const { uploads } = await browser.open();
    uploads.add(chatId, [file('stopped.txt'), file('empty.txt', 0)]);
    expect(uploads.of(chatId).map(({ state }) => state.name)).toEqual(['uploading', 'failed']);
    uploads.remove(uploads.of(chatId)[0]?.id ?? 0);
    gate.resolve();
    expect(uploads.of(chatId).map(({ name }) => name)).toEqual(['empty.txt']);
  });

  test('get names that the server accepts', () => {
    expect(cleanName('plan.txt')).toBe('plan.txt');
    expect(cleanName('a/b\\c')).toBe('a_b_c');
    expect(cleanName('\u202Egnp.exe')).toBe('gnp.exe');
    expect(cleanName('..')).toBe('file');
    expect(cleanName('\u0000')).toBe('file');
    const long = cleanName(`${'ü'.repeat(300)}.pdf`);
    expect(long).toEndWith('.pdf');
    expect(new TextEncoder().encode(long).length).toBeLessThanOrEqual(255);
  });
});
