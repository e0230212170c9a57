import { afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '@parley/server/test/support/client.ts';
import { users } from '@parley/server/test/support/people.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { Visitor } from '@parley/server/test/support/visitor.ts';
import { Drafts } from '../outbox/drafts.ts';
import { Journal } from '../outbox/journal.ts';
import type { Session } from '../session.ts';
import { openDatabase, result, type StoreName, transact } from '../store/database.ts';
import { TestBrowser, TestStorage, until } from './support.ts';

describe('the state of the client', () => {
  const server = serverFor('sqlite');
  let ada: Client;
  let bob: Client;
  const browsers: TestBrowser[] = [];
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
  });
  afterEach(() => {
    for (const browser of browsers.splice(0)) {
      browser.close();
      expect(browser.errors).toEqual([]);
    }
  });
  const browserOf = async (user: Client, name = 'ada') => {
    const browser = await TestBrowser.of(server(), name, user);
    browsers.push(browser);
    return browser;
  };
  const newGroup = async (name: string) =>
    (await ada.ok('messages.create_group', { name, participants: [bob.userId] })).group.chat_id;
  const say = async (by: Client, chat_id: number, content: string) =>
    (await by.ok('messages.send_message', { chat_id, content })).message;
  const live = (tab: Session) => until('it is connected', () => tab.store.connection.value === 'live');
  const textsIn = (tab: Session, chatId: number) =>
    tab.store.peekTimeline(chatId)?.messages.map(({ content }) => content) ?? [];

  /** What a view can see of a chat. */
  const view = (tab: Session, chatId: number) => {
    const { activity: _, last_message: __, ...chat } = tab.store.chat(chatId) ?? {};
    return { chat, messages: tab.store.peekTimeline(chatId) };
  };

  test('after any events is the same as a fresh snapshot', async () => {
    const chatId = await newGroup('Launch');
    const tab = await (await browserOf(ada)).open();
    await live(tab);
    await tab.openChat(chatId);
    const { message_id } = await say(bob, chatId, 'one');
    const second = await say(ada, chatId, 'two');
    const third = await say(bob, chatId, 'three');
    await ada.ok('messages.edit_message', { message_id: second.message_id, content: 'two, edited' });
    await bob.ok('messages.delete_message', { message_id: third.message_id });
    await bob.ok('messages.add_reaction', { message_id, emoji: '👍' });
    await ada.ok('messages.add_reaction', { message_id, emoji: '👍' });
    await ada.ok('messages.add_reaction', { message_id, emoji: '🎉' });
    await ada.ok('messages.remove_reaction', { message_id, emoji: '🎉' });
    await ada.ok('chats.update', { chat_id: chatId, name: 'Landing', description: 'Down' });
    await ada.ok('chats.set_role', { chat_id: chatId, user_id: bob.userId, role: 'admin' });
    await bob.ok('messages.send_message', { chat_id: chatId, content: 'four', reply_to: message_id });
    const last = await say(bob, chatId, 'five');
    await until('all of it has arrived', () => tab.store.newestId(chatId) === last.message_id);

    const fresh = await (await browserOf(ada)).open({ me: tab.store.me, session: 'another' });
    await live(fresh);
    await fresh.openChat(chatId);
    await until('both are the same', () => Bun.deepEquals(view(tab, chatId), view(fresh, chatId)));
    expect(textsIn(tab, chatId)).toEqual(['one', 'two, edited', '', 'four', 'five']);
    expect(view(tab, chatId)).toMatchObject({
      chat: { name: 'Landing', description: 'Down', unread_count: 3 },
      messages: { messages: [{ reactions: [{ emoji: '👍', count: 2, reacted: true }] }, {}, {}, {}, {}] },
    });
  });

  test('shows what arrives before the response to a request that was too early to contain it', async () => {
    const chatId = await newGroup('Overtaken');
    const browser = await browserOf(ada);
    const tab = await browser.open();
    await live(tab);
    /** Lets an event arrive between the server's reading for a request and our reading of its response. */
    const overtake = (operation: string, act: () => Promise<unknown>, hasArrived: () => boolean) => {
      browser.after = async (url) => {
        if (!url.includes(operation)) return;
        browser.after = () => {};
        await act();
        await until('the event is here', hasArrived);
      };
    };
    const preview = () => tab.store.chat(chatId)?.last_message?.content;

    overtake(
      'get_messages',
      () => say(bob, chatId, 'one'),
      () => preview() === 'one',
    );
    await tab.openChat(chatId);
    expect(textsIn(tab, chatId)).toEqual(['one']);
    overtake(
      'get_messages',
      () => say(bob, chatId, 'two'),
      () => preview() === 'two',
    );
    await tab.openChat(chatId);
    expect(textsIn(tab, chatId)).toEqual(['one', 'two']);

    const root = await say(bob, chatId, 'root');
    const reply = { chat_id: chatId, content: 'reply', reply_to: root.message_id };
    overtake(
      'get_messages',
      () => bob.ok('messages.send_message', reply),
      () => preview() === 'reply',
    );
    await tab.timelines.openThread(chatId, root.message_id);
    expect(tab.store.threads.value.get(root.message_id)).toMatchObject({
      root: { reply_count: 1 },
      replies: { messages: [{ content: 'reply' }] },
    });

    overtake(
      'chats.php?action=get',
      () => say(bob, chatId, 'three'),
      () => preview() === 'three',
    );
    await tab.loader.loadChat(chatId);
    expect(tab.store.chat(chatId)).toMatchObject({ unread_count: 5, last_message: { content: 'three' } });
  });

  test('follows who joins and leaves, and the list is by activity', async () => {
    const first = await newGroup('First');
    const tab = await (await browserOf(bob, 'bob')).open();
    await live(tab);
    const second = await newGroup('Second');
    await until('the new one is there', () => tab.store.chat(second) !== undefined);
    expect(tab.store.byActivity.value[0]?.chat_id).toBe(second);
    await say(ada, first, 'hello');
    await until('the other one is first', () => tab.store.byActivity.value[0]?.chat_id === first);
    expect(tab.store.chat(first)).toMatchObject({ unread_count: 1, last_message: { content: 'hello' } });
    await ada.ok('chats.remove_participant', { chat_id: first, user_id: bob.userId });
    await until('it is gone', () => tab.store.chat(first) === undefined);
  });

  test('keeps the order of the server, and the chats that the user has archived apart', async () => {
    const [first, second, third] = [await newGroup('A'), await newGroup('B'), await newGroup('C')];
    await say(ada, first, 'newest');
    await ada.ok('chats.set_preferences', { chat_id: second, archived: true });
    const tab = await (await browserOf(ada)).open();
    await live(tab);
    const ids = (chats: readonly { chat_id: number }[]) => chats.map(({ chat_id }) => chat_id);
    const { chats } = await ada.ok('chats.list', { order: 'activity' });
    expect(ids(tab.store.byActivity.value)).toEqual(ids(chats));
    expect(ids(tab.store.byActivity.value).slice(0, 2)).toEqual([first, third]);
    expect(ids(tab.store.archived.value)).toEqual([second]);
    await ada.ok('chats.set_preferences', { chat_id: second, archived: false, pinned: true });
    await until('it is back', () => tab.store.byActivity.value[0]?.chat_id === second);
    await ada.ok('chats.set_preferences', { chat_id: second, pinned: false });
  });

  test('has all chats when the list has several pages, and starts the stream at their moment', async () => {
    const { cleo } = await users(server(), 'cleo');
    for (let i = 0; i < 210; i++) await cleo.ok('messages.create_group', { name: `Group ${i}`, participants: [] });
    const browser = await browserOf(cleo, 'cleo');
    let moment: number | undefined;
    let start: string | null = null;
    browser.before = async (url) => {
      const { searchParams } = new URL(url);
      if (searchParams.get('action') === 'stream') start = searchParams.get('after');
      // Something happens between the first page and the second.
      if (searchParams.has('after') && searchParams.get('order') === 'activity' && moment === undefined) {
        moment = (await cleo.ok('chats.list', { order: 'activity', limit: 1 })).event_id;
        await cleo.ok('messages.create_group', { name: 'In between', participants: [] });
      }
    };
    const tab = await browser.open();
    await live(tab);
    expect(Number(start)).toBe(moment ?? 0);
    await until('the new one is there', () => tab.store.chats.value.size === 211);
    expect(tab.store.byActivity.value[0]?.name).toBe('In between');
  });

  test('counts mentions, and takes new names', async () => {
    const chatId = await newGroup('Mentions');
    const tab = await (await browserOf(ada)).open();
    await live(tab);
    tab.store.user(bob.userId);
    await until('the name is there', () => tab.store.users.value.get(bob.userId)?.display_name !== undefined);
    const { user } = await ada.ok('users.me', {});
    await say(bob, chatId, `for @${user.name}`);
    const plain = await say(bob, chatId, 'for nobody');
    await until('both are counted', () => tab.store.chat(chatId)?.unread_count === 2);
    expect(tab.store.chat(chatId)?.mention_count).toBe(1);
    await bob.ok('messages.edit_message', { message_id: plain.message_id, content: `for @${user.name} too` });
    await until('the edit counts', () => tab.store.chat(chatId)?.mention_count === 2);
    await bob.ok('users.update', { display_name: 'Robert', status_text: 'Away' });
    await until('the name is new', () => tab.store.user(bob.userId)?.display_name === 'Robert');
    await ada.ok('messages.mark_read', { chat_id: chatId });
    await until('all is read', () => tab.store.chat(chatId)?.mention_count === 0);
  });

  test('shows the last state at once and without a response, then catches up', async () => {
    const chatId = await newGroup('Train');
    await say(bob, chatId, 'before');
    const browser = await browserOf(ada);
    const tab = await browser.open();
    await live(tab);
    await tab.openChat(chatId);
    tab.flush();
    await Bun.sleep(50);
    browser.close();

    await say(bob, chatId, 'while away');
    browser.isOnline = false;
    const again = await browser.open();
    expect(again.store.isReady.value).toBe(true);
    expect(again.store.chat(chatId)?.name).toBe('Train');
    await again.openChat(chatId).catch(() => {});
    expect(textsIn(again, chatId)).toEqual(['before']);
    browser.isOnline = true;
    await until('it has caught up', () => textsIn(again, chatId).includes('while away'));
    expect(textsIn(again, chatId)).toEqual(['before', 'while away']);
  });

  test('has the drafts of a page that went before they were stored', async () => {
    const [sent, begun] = [await newGroup('Sent'), await newGroup('Begun')];
    const browser = await browserOf(ada);
    const tab = await browser.open();
    tab.drafts.set({ chatId: sent }, 'a thought');
    tab.flush();
    await until('it is stored', () => browser.storage.size === 0);
    tab.drafts.set({ chatId: sent }, '');
    tab.drafts.set({ chatId: begun }, 'another thought');
    tab.flush();
    // As if the transaction were lost.
    const left = [...browser.storage];
    expect(left).toHaveLength(2);
    await until('they are stored', () => browser.storage.size === 0);
    tab.drafts.set({ chatId: sent }, 'a thought');
    tab.drafts.set({ chatId: begun }, 'anot');
    tab.flush();
    await until('it is as before', () => browser.storage.size === 0);
    browser.close();
    for (const entry of left) browser.storage.set(...entry);
    const again = await browser.open();
    expect([sent, begun].map((chatId) => again.drafts.get({ chatId }))).toEqual(['', 'another thought']);
    await until('they are stored', () => browser.storage.size === 0);
  });

  test('drops what is stored once its cursor has expired, but no draft', async () => {
    const chatId = await newGroup('Old');
    const browser = await browserOf(ada);
    const tab = await browser.open();
    await live(tab);
    tab.drafts.set({ chatId }, 'half a thought');
    tab.flush();
    await Bun.sleep(50);
    browser.close();
    // A cursor of another log, as after a restore.
    let asked = 0;
    browser.before = (url) => {
      if (!url.includes('action=stream')) return;
      asked++;
      if (asked === 1) expect(new URL(url).searchParams.get('after')).not.toBeNull();
    };
    const expired = () =>
      Response.json({ success: false, error: { code: 'cursor_expired', message: 'x' } }, { status: 410 });
    const again = await browser.open({
      fetch: async (url, init) =>
        url.includes('action=stream') && asked++ === 0
          ? expired()
          : fetch(url, {
              ...init,
              headers: { ...Object.fromEntries(new Headers(init.headers)), authorization: `Bearer ${ada.token}` },
            }),
    });
    await live(again);
    expect(asked).toBe(2);
    expect(again.store.chat(chatId)?.name).toBe('Old');
    await again.drafts.load();
    expect(again.drafts.get({ chatId })).toBe('half a thought');
  });

  test('is deleted with the session, and is not shown to the next one', async () => {
    const chatId = await newGroup('Secret');
    const browser = await browserOf(ada);
    const tab = await browser.open();
    await live(tab);
    await tab.openChat(chatId);
    tab.flush();
    await Bun.sleep(50);
    expect((await new Visitor(server().url, browser.client.token).post('/sign-out')).status).toBe(303);
    await until('the page has noticed', () => browser.endings === 1);
    expect((await indexedDB.databases()).map(({ name }) => name)).not.toContain(`parley-${ada.userId}`);
    // The page that goes now stores no draft.
    tab.drafts.set({ chatId }, 'a secret');
    tab.flush();
    expect(browser.storage.size).toBe(0);

    const next = await browserOf(ada);
    next.isOnline = false;
    const fresh = await next.open();
    expect(fresh.store.chats.value.size).toBe(0);
  });
});

test('a journal keeps what is newer than what was stored, and passes over what is damaged', () => {
  const storage = new TestStorage();
  const journal = new Journal<{ key: string; text: string }>(storage, 'draft', '1');
  const old = { key: 'chat 1', text: 'old' };
  const changed = { ...old, text: 'changed' };
  journal.add(old);
  journal.add(changed);
  journal.remove(old);
  storage.set('parley-draft 1 chat 2', '{');
  expect(journal.all()).toEqual([changed]);
  journal.remove(changed);
  expect(journal.all()).toEqual([]);
  expect(new Journal(storage, 'draft', '2').all()).toEqual([]);
  expect(storage.size).toBe(0);
});

test('an upgrade of the database keeps what people wrote, and loads the rest again', async () => {
  const name = 'parley-987656';
  const opening = indexedDB.open(name, 3);
  opening.onupgradeneeded = () => {
    const { result: old } = opening;
    for (const store of ['meta', 'chats', 'drafts', 'outbox', 'uploads', 'leases']) {
      const keyPath = { chats: 'chat_id', outbox: 'seq', uploads: 'file_id' }[store];
      const made = old.createObjectStore(store, keyPath ? { keyPath, autoIncrement: store === 'outbox' } : {});
      if (store === 'outbox') made.createIndex('key', 'key', { unique: true });
    }
    const tx = opening.transaction as IDBTransaction;
    tx.objectStore('meta').put('session', 'session');
    tx.objectStore('meta').put(12, 'cursor');
    tx.objectStore('chats').put({ chat_id: 1 });
    tx.objectStore('drafts').put('of a chat', 5);
    tx.objectStore('drafts').put('of a thread', -6);
    tx.objectStore('outbox').put({ key: 'k', content: 'unsent' });
    tx.objectStore('uploads').put({ file_id: 8, chat_id: -6, name: 'a.txt' });
  };
  (await result(opening)).close();
  const db = await openDatabase(987_656);
  const all = (store: StoreName) =>
    transact(db, [store], 'readonly', (open) => result<unknown[]>(open(store).getAll()));
  const drafts = new Drafts(db, new Journal(new TestStorage(), 'draft', ''), () => {});
  await drafts.load();
  expect([drafts.get({ chatId: 5 }), drafts.get({ chatId: 5, threadId: 6 })]).toEqual(['of a chat', 'of a thread']);
  expect(drafts.inChat(5).map(([key]) => key)).toEqual(['chat 5']);
  expect(await all('outbox')).toMatchObject([{ key: 'k', content: 'unsent' }]);
  expect(await all('uploads')).toEqual([{ file_id: 8, conversation: 'thread 6', name: 'a.txt' }]);
  expect([await all('meta'), await all('chats')]).toEqual([['session'], []]);
  db.close();
});

test('a transaction that fails for reasons of the browser is repeated twice', async () => {
  const db = await openDatabase(987_655);
  let failures = 0;
  const failing = (times: number) =>
    new Proxy(db, {
      get: (target, name) => {
        if (name === 'transaction' && failures < times) {
          return () => {
            failures++;
            throw new DOMException('The browser is busy with itself.', 'UnknownError');
          };
        }
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  const write = (to: IDBDatabase) => transact(to, ['meta'], 'readwrite', (store) => void store('meta').put(1, 'x'));
  await write(failing(2));
  expect(failures).toBe(2);
  failures = 0;
  await expect(write(failing(3))).rejects.toThrow('busy');
  db.close();
});
