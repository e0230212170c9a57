import { afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '@parley/server/test/support/client.ts';
import { users } from '@parley/server/test/support/people.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { inSession, Visitor } from '@parley/server/test/support/visitor.ts';
import { systemClock } from '@parley-chat/sdk/clock.ts';
import { leaseMs } from '../outbox/lease.ts';
import { idleMs } from '../presence.ts';
import type { Session, SessionOptions } from '../session.ts';
import { deleteDatabases, openDatabase, transact } from '../store/database.ts';
import { TestBrowser, until } from './support.ts';

const isStream = (url: string) => url.includes('action=stream');

/** Whoever waits for a retry waits for ever. */
const stuck = { ...systemClock, sleep: (_: number, signal?: AbortSignal) => systemClock.sleep(3_600_000, signal) };

describe('the tabs of one browser', () => {
  const server = serverFor('sqlite', { PARLEY_RATE_LIMIT: 'off' });
  let ada: Client;
  let bob: Client;
  let chatId: number;
  let browser: TestBrowser;
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
    chatId = (await ada.ok('messages.create_direct', { user_id: bob.userId })).chat.chat_id;
  });
  afterEach(() => {
    browser.close();
    expect(browser.errors).toEqual([]);
  });
  const say = async (content: string) => (await bob.ok('messages.send_message', { chat_id: chatId, content })).message;
  const live = (tab: Session) => until('it is connected', () => tab.store.connection.value === 'live');
  const textsIn = (tab: Session) => tab.store.peekTimeline(chatId)?.messages.map(({ content }) => content) ?? [];
  const shows = (tab: Session, text: string) => until(`it shows ${text}`, () => textsIn(tab).includes(text));

  /** Opens tabs one after the other, each with the chat. The first one leads. */
  const openTabs = async (count: number, options: Partial<SessionOptions> = {}) => {
    browser = await TestBrowser.of(server(), 'ada', ada);
    const tabs: Session[] = [];
    for (let i = 0; i < count; i++) {
      const tab = await browser.open(options);
      await live(tab);
      await tab.openChat(chatId);
      tabs.push(tab);
    }
    return tabs as [Session, Session, Session];
  };
  const leadersOf = (tabs: readonly Session[]) => tabs.filter((tab) => tab.tabs.isLeader);

  /** What all tabs show must be what the server has. */
  const expectSame = async (tabs: readonly Session[]) => {
    const { messages } = await ada.ok('messages.get_messages', { chat_id: chatId, limit: 50 });
    for (const tab of tabs) {
      await shows(tab, messages.at(-1)?.content ?? '');
      expect(textsIn(tab).slice(-messages.length)).toEqual(messages.map(({ content }) => content));
    }
  };

  test('have one stream, and all of them get its events and signals', async () => {
    let streams = 0;
    const tabs = await openTabs(3);
    browser.before = (url) => {
      if (isStream(url)) streams++;
    };
    expect(leadersOf(tabs)).toEqual([tabs[0]]);
    await bob.ok('chats.typing', { chat_id: chatId });
    for (const tab of tabs) {
      await until('bob types', () => tab.store.typing.value.get(chatId)?.includes(bob.userId) === true);
    }
    for (const text of ['one', 'two', 'three']) await say(text);
    await tabs[2].outbox.send(chatId, 'from the third tab');
    for (const tab of tabs) await shows(tab, 'from the third tab');
    await expectSame(tabs);
    for (const { store } of tabs) expect(store.chat(chatId)?.unread_count).toBe(3);
    // A marker is not in the log.
    await ada.ok('messages.mark_read', { chat_id: chatId });
    for (const { store } of tabs) await until('it is read', () => store.chat(chatId)?.unread_count === 0);
    expect(streams).toBe(0);
  });

  test('go on without a gap when the leader closes', async () => {
    const [first, second, third] = await openTabs(3);
    await say('before');
    for (const tab of [first, second, third]) await shows(tab, 'before');
    // Nobody has the stream while this is written.
    const gate = Promise.withResolvers<void>();
    browser.before = (url) => (isStream(url) ? gate.promise : undefined);
    first.stop();
    await say('in between');
    gate.resolve();
    for (const tab of [second, third]) await shows(tab, 'in between');
    expect(leadersOf([second, third])).toHaveLength(1);
    await say('after');
    await expectSame([second, third]);
  });

  test('take over from a leader that is frozen, which follows once it is back', async () => {
    const [first, second, third] = await openTabs(3);
    const thaw = browser.freeze(first);
    second.tabs.check();
    await say('while it is frozen');
    // It did not answer, so the next look ends its lead, though its lease goes on.
    second.tabs.check();
    await until('another tab leads', () => second.tabs.isLeader);
    for (const tab of [second, third]) await shows(tab, 'while it is frozen');
    thaw();
    first.tabs.check();
    await until('it follows', () => !first.tabs.isLeader);
    await say('back');
    await expectSame([first, second, third]);
    expect(leadersOf([first, second, third])).toEqual([second]);
  });

  test('leave the lead to a tab that answers, however long its lease is over', async () => {
    const [first, second] = await openTabs(2);
    const later = Date.now() + 10 * leaseMs;
    browser.now = () => later;
    let answers = 0;
    const channel = new BroadcastChannel(`parley-stream-${ada.userId}`);
    channel.addEventListener('message', ({ data }) => {
      if (data.kind === 'report') answers++;
    });
    for (let i = 0; i < 3; i++) {
      // A tab may also report by itself.
      const before = answers;
      second.tabs.check();
      await until('it is answered', () => answers > before);
    }
    channel.close();
    expect(leadersOf([first, second])).toEqual([first]);
  });

  test('find out who leads if two of them do', async () => {
    const tabs = await openTabs(3);
    // As if the row were lost: the browser deletes it late, or fails.
    const db = await openDatabase(ada.userId);
    await transact(db, ['leases'], 'readwrite', (store) => void store('leases').delete('stream'));
    db.close();
    const another = await browser.open();
    await live(another);
    await another.openChat(chatId);
    await say('for everybody');
    for (const tab of [...tabs, another]) await shows(tab, 'for everybody');
    await until('one leads', () => leadersOf([...tabs, another]).length === 1);
    await say('and once more');
    await expectSame([...tabs, another]);
  });

  test('read what they missed from the log', async () => {
    const [first, second] = await openTabs(2);
    const thaw = browser.freeze(second);
    for (const text of ['missed 1', 'missed 2']) await say(text);
    await shows(first, 'missed 2');
    thaw();
    expect(textsIn(second)).not.toContain('missed 1');
    let gaps = 0;
    browser.before = (url) => {
      if (url.includes('events.php?action=list')) gaps++;
    };
    await say('not missed');
    await shows(second, 'not missed');
    await expectSame([first, second]);
    expect(gaps).toBe(1);
  });

  test('show together that the connection is lost, and reconnect at once when the network is back', async () => {
    const tabs = await openTabs(2, { clock: stuck });
    const [first, second] = tabs;
    browser.isOnline = false;
    first.sync.reconnect();
    for (const { store } of tabs) await until('it is lost', () => store.connection.value === 'lost');
    let caughtUp = 0;
    browser.before = (url) => {
      if (url.includes('chats.php?action=list')) caughtUp++;
    };
    await say('while it was lost');
    browser.isOnline = true;
    // Only the leader has something to reconnect.
    second.sync.reconnect();
    first.sync.reconnect();
    for (const tab of tabs) await live(tab);
    expect(caughtUp).toBeGreaterThanOrEqual(2);
    await expectSame(tabs);
  });

  test('reconnect though the browser delays the timers of the leader, if another one asks', async () => {
    const tabs = await openTabs(2, { clock: stuck });
    browser.isOnline = false;
    tabs[0].sync.reconnect();
    for (const { store } of tabs) await until('it is lost', () => store.connection.value === 'lost');
    browser.isOnline = true;
    const later = Date.now() + 60_000;
    browser.now = () => later;
    tabs[1].tabs.check();
    for (const tab of tabs) await live(tab);
  });

  test('notice by a call without a response that the connection is lost', async () => {
    const tabs = await openTabs(2);
    const later = Date.now() + 60_000;
    browser.now = () => later;
    browser.isOnline = false;
    await expect(tabs[1].client.users.me({})).rejects.toThrow();
    for (const { store } of tabs) await until('it is lost', () => store.connection.value === 'lost');
    browser.isOnline = true;
    for (const tab of tabs) await live(tab);
    await say('again');
    await expectSame(tabs);
  });

  test('load everything again if their cursors have expired', async () => {
    const tabs = await openTabs(2);
    let expirations = 0;
    const asked = new Set<string>();
    browser.respond = (url) => {
      const kind = ['events.php?action=stream', 'events.php?action=list'].find((part) => url.includes(part));
      if (!kind || asked.has(kind)) return undefined;
      asked.add(kind);
      expirations++;
      return Response.json({ success: false, error: { code: 'cursor_expired', message: 'x' } }, { status: 410 });
    };
    tabs[0].sync.reconnect();
    await until('both have noticed', () => expirations === 2);
    for (const tab of tabs) {
      await live(tab);
      await tab.openChat(chatId);
    }
    await say('in the new log');
    await expectSame(tabs);
  });

  test('all end with the session', async () => {
    const tabs = await openTabs(3);
    expect((await new Visitor(server().url, browser.client.token).post('/sign-out')).status).toBe(303);
    await until('all have noticed', () => browser.endings === tabs.length);
    expect((await indexedDB.databases()).map(({ name }) => name)).not.toContain(`parley-${ada.userId}`);
  });

  test('end once the records are deleted in another tab and the session is over', async () => {
    const tabs = await openTabs(3);
    await deleteDatabases();
    expect((await new Visitor(server().url, browser.client.token).post('/sign-out')).status).toBe(303);
    await until('all have noticed', () => browser.endings === tabs.length);
  });

  test('hide everything as soon as one of them has signed out, and go on if the server does not respond', async () => {
    const happened: string[] = [];
    const [first, second] = await openTabs(2, {
      ending: () => happened.push('hidden'),
      forget: async () => void happened.push('deleted'),
      ended: (isAsked) => happened.push(isAsked ? 'asked' : 'told'),
    });
    browser.isOnline = false;
    await expect(first.signOut()).rejects.toThrow('did not respond');
    browser.isOnline = true;
    browser.respond = (url) => (url.endsWith('/sign-out') ? new Response('', { status: 502 }) : undefined);
    await expect(first.signOut()).rejects.toThrow('did not sign the user out');
    browser.respond = () => undefined;
    expect(happened).toEqual([]);
    await say('still here');
    await expectSame([first, second]);

    await first.signOut();
    expect(happened[0]).toBe('hidden');
    await until('both have ended', () => ['asked', 'told'].every((end) => happened.includes(end)));
    expect(happened.filter((what) => what === 'hidden')).toHaveLength(2);
    expect((await indexedDB.databases()).map(({ name }) => name)).not.toContain(`parley-${ada.userId}`);
  });

  test('end when somebody else has signed in, and send nothing in their name', async () => {
    const [tab] = await openTabs(1);
    const { token } = await inSession(server(), bob);
    browser.isOnline = false;
    await tab.outbox.send(chatId, 'by ada');
    Object.assign(browser.client, { token });
    browser.isOnline = true;
    tab.outbox.wake();
    await until('it has ended', () => browser.endings === 1);
    const { messages } = await ada.ok('messages.get_messages', { chat_id: chatId });
    expect(messages.map(({ content }) => content)).not.toContain('by ada');
    expect((await bob.ok('users.me', {})).user.user_id).toBe(bob.userId);
  });

  test('tell the server together whether somebody is there, whichever leads', async () => {
    const [first, second] = await openTabs(2);
    const presence = async () => (await bob.ok('users.presence', { user_ids: [ada.userId] })).presence[0]?.presence;
    await until('ada is online', async () => (await presence()) === 'online');
    const later = Date.now() + idleMs;
    browser.now = () => later;
    first.idle.check();
    second.idle.check();
    await until('ada is away', async () => (await presence()) === 'away');
    first.stop();
    await until('the other one leads', () => second.tabs.isLeader && second.store.connection.value === 'live');
    expect(await presence()).toBe('away');
    second.idle.touch();
    await until('ada is back', async () => (await presence()) === 'online');
  });
});
