import { afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '@parley/server/test/support/client.ts';
import { users } from '@parley/server/test/support/people.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { Journal } from '../outbox/journal.ts';
import { type NewUnsent, pendingFilesOf } from '../outbox/outbox.ts';
import { cleanName } from '../outbox/uploads.ts';
import type { Session } from '../session.ts';
import { result, transact } from '../store/database.ts';
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
    uploads.add({ chatId }, [file('large.txt', 2 * mebibyte)]);
    await until('it is uploaded', () => uploads.of({ chatId }).every(({ state }) => state.name === 'done'));
    expect(repeated).toBe(0);
    browser.before = () => {};
    uploads.add({ chatId }, [file('b.txt'), file('c.txt')]);
    await until('all are uploaded', () => uploads.of({ chatId }).every(({ state }) => state.name === 'done'));
    const files = uploads.take({ chatId });
    expect(uploads.of({ chatId })).toEqual([]);
    await outbox.send(chatId, 'three', { files });
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
    uploads.add({ chatId }, [file('late.txt')]);
    await until('it has failed', () => uploads.of({ chatId })[0]?.state.name === 'failed');
    isCut = false;
    uploads.wake();
    await until('it is uploaded', () => uploads.of({ chatId })[0]?.state.name === 'done');
  });

  test('survive a reload once they are uploaded, but not a day', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    const { uploads } = await browser.open();
    uploads.add({ chatId }, [file('kept.txt')]);
    await until('it is uploaded', () => uploads.of({ chatId })[0]?.state.name === 'done');
    browser.close();
    const again = await browser.open();
    expect(again.uploads.of({ chatId }).map(({ name }) => name)).toEqual(['kept.txt']);
    browser.close();
    browser.now = () => Date.now() + 24 * 3_600_000;
    const late = await browser.open();
    expect(late.uploads.of({ chatId })).toEqual([]);
  });

  test('are in a message only, if its page went before it was stored', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    const { uploads } = await browser.open();
    uploads.add({ chatId }, [file('sent.txt')]);
    await until('it is uploaded', () => uploads.of({ chatId })[0]?.state.name === 'done');
    const files = uploads.take({ chatId });
    browser.close();
    const item = { key: 'gone', chat_id: chatId, content: '', reply_to: null, files, after: 0, refusal: null };
    const journal = new Journal<NewUnsent>(browser.storage, 'unsent', browser.client.token);
    journal.add({ ...item, created_at: Date.now() });
    const again = await browser.open();
    expect(again.uploads.of({ chatId })).toEqual([]);
    await until('it is sent', async () => {
      const { messages } = await ada.ok('messages.get_messages', { chat_id: chatId });
      return messages.some((message) => filesOf(message)[0]?.name === 'sent.txt');
    });
  });

  test('do not survive their message, nor being removed', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    const { uploads, outbox } = await browser.open();
    uploads.add({ chatId }, [file('sent.txt'), file('removed.txt')]);
    await until('all are uploaded', () => uploads.of({ chatId }).every(({ state }) => state.name === 'done'));
    uploads.remove(uploads.of({ chatId })[1]?.key ?? '');
    const files = uploads.take({ chatId });
    expect(files.map(({ name }) => name)).toEqual(['sent.txt']);
    await outbox.send(chatId, '', { files });
    await until('it is sent', () => outbox.items.value.length === 0);
    browser.close();
    const again = await browser.open();
    expect(again.uploads.of({ chatId })).toEqual([]);
  });

  test('are stopped by a cancel, and refuse an empty file', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    const gate = Promise.withResolvers<void>();
    browser.before = (url) => (isUpload(url) ? gate.promise : undefined);
    const { uploads } = await browser.open();
    uploads.add({ chatId }, [file('stopped.txt'), file('empty.txt', 0)]);
    expect(uploads.of({ chatId }).map(({ state }) => state.name)).toEqual(['uploading', 'failed']);
    uploads.remove(uploads.of({ chatId })[0]?.key ?? '');
    gate.resolve();
    expect(uploads.of({ chatId }).map(({ name }) => name)).toEqual(['empty.txt']);
  });

  const send = ({ uploads, outbox }: Session, chatId: number, content: string, files: readonly File[] = []) => {
    uploads.add({ chatId }, files);
    return outbox.send(chatId, content, { files: uploads.take({ chatId }) });
  };
  const sentIn = async (chat_id: number) =>
    (await ada.ok('messages.get_messages', { chat_id })).messages.map((message) => [
      message.content,
      ...filesOf(message).map(({ name, size }) => `${name} ${size}`),
    ]);
  const bytesIn = ({ db }: Session) =>
    transact(db, ['bytes'], 'readonly', (store) => result(store('bytes').getAllKeys()));
  /** Holds up uploads of one file until the returned function is called. */
  const hold = (browser: TestBrowser, name: string) => {
    const gate = Promise.withResolvers<void>();
    browser.before = (url, init) => {
      const named = atob(new Headers(init.headers).get('upload-metadata')?.split(' ')[1] ?? '');
      return isUpload(url) && named === name ? gate.promise : undefined;
    };
    return gate.resolve;
  };

  test('hold up their message and other files, but no text, and survive a reload with it', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    let release = hold(browser, 'slow.txt');
    const tab = await browser.open();
    await send(tab, chatId, 'with a file', [file('slow.txt', mebibyte), file('quick.txt')]);
    expect(tab.uploads.of({ chatId })).toEqual([]);
    await send(tab, chatId, 'later, with another', [file('other.txt')]);
    await send(tab, chatId, 'only text');
    const pending = () => tab.outbox.items.value.flatMap(pendingFilesOf).map(({ name }) => name);
    await until('the other files are uploaded', () => pending().join() === 'slow.txt');
    await until('the text is sent', () => tab.outbox.items.value.length === 2);
    expect(tab.outbox.items.value.map(({ content }) => content)).toEqual(['with a file', 'later, with another']);
    await until('only its bytes are kept', async () => (await bytesIn(tab)).length === 1);
    browser.close();
    release();
    release = hold(browser, 'slow.txt');
    // Two tabs find it. One of them uploads it.
    const [again, second] = [await browser.open(), await browser.open()];
    await until('it is uploading', () => [again, second].some(({ uploads }) => uploads.items.value.length === 1));
    expect(again.uploads.items.value.length + second.uploads.items.value.length).toBe(1);
    release();
    await until('everything is sent', () => [again, second].every(({ outbox }) => outbox.items.value.length === 0));
    expect(await sentIn(chatId)).toEqual([
      ['only text'],
      ['with a file', `slow.txt ${mebibyte}`, 'quick.txt 10'],
      ['later, with another', 'other.txt 10'],
    ]);
    await until('the bytes are deleted', async () => (await bytesIn(again)).length === 0);
  });

  test('of a message are cancelled, retried, or put back to the composer', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    hold(browser, 'stuck.txt');
    const tab = await browser.open();
    const stuck = () => tab.outbox.items.value.flatMap(pendingFilesOf);
    const cancelAll = () => Promise.all(stuck().map(({ key }) => tab.outbox.changeFile(key, () => undefined)));
    await send(tab, chatId, '', [file('stuck.txt')]);
    await cancelAll();
    expect(tab.outbox.items.value).toEqual([]);
    await send(tab, chatId, 'without', [file('stuck.txt')]);
    await cancelAll();
    await until('the rest is sent', () => tab.outbox.items.value.length === 0);
    expect(tab.uploads.items.value).toEqual([]);

    const refusal = Response.json({ success: false, error: { code: 'conflict', message: 'No.' } }, { status: 409 });
    browser.respond = (url) => (isUpload(url) ? refusal.clone() : undefined);
    await send(tab, chatId, 'refused', [file('refused.txt')]);
    await until('it has failed', () => stuck()[0]?.problem !== undefined);
    const [item] = tab.outbox.items.value;
    if (!item) throw new Error('nothing is there');
    expect(tab.outbox.isOnItsWay(item)).toBe(false);
    browser.respond = () => undefined;
    await tab.outbox.retry(item.seq);
    await until('it is sent', async () => (await sentIn(chatId)).length === 2);
    expect(await sentIn(chatId)).toEqual([['without'], ['refused', 'refused.txt 10']]);

    await send(tab, chatId, 'again', [file('stuck.txt'), file('small.txt')]);
    await until('one is uploaded', () => stuck().length === 1);
    const [back] = tab.outbox.items.value;
    if (!back) throw new Error('nothing is there');
    await tab.uploads.putBack({ chatId }, back.files ?? [], back.created_at);
    await tab.outbox.discard(back.seq);
    const tray = () => tab.uploads.of({ chatId }).map(({ name, state }) => `${name} ${state.name}`);
    expect(tray().sort()).toEqual(['small.txt done', 'stuck.txt uploading']);
  });

  test('of a message are missed if their bytes are gone', async () => {
    const chatId = await newGroup();
    const browser = await newBrowser();
    hold(browser, 'lost.txt');
    const tab = await browser.open();
    await send(tab, chatId, 'the text stays', [file('lost.txt')]);
    await transact(tab.db, ['bytes'], 'readwrite', (store) => void store('bytes').clear());
    browser.close();
    const again = await browser.open();
    const lost = () => again.outbox.items.value.flatMap(pendingFilesOf);
    await until('it says so', () => lost()[0]?.is_lost === true);
    await again.outbox.changeFile(lost()[0]?.key ?? '', () => undefined);
    await until('the text is sent', async () => (await sentIn(chatId)).length === 1);
    expect(await sentIn(chatId)).toEqual([['the text stays']]);
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
