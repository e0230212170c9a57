import { afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '@parley/server/test/support/client.ts';
import { users } from '@parley/server/test/support/people.ts';
import { serverFor } from '@parley/server/test/support/server.ts';
import { idleMs } from '../presence.ts';
import { TestBrowser, until } from './support.ts';

describe('presence and typing', () => {
  const server = serverFor('sqlite');
  let ada: Client;
  let bob: Client;
  let chatId: number;
  const browsers: TestBrowser[] = [];
  beforeAll(async () => {
    ({ ada, bob } = await users(server(), 'ada', 'bob'));
    chatId = (await ada.ok('messages.create_direct', { user_id: bob.userId })).chat.chat_id;
  });
  afterEach(() => {
    for (const browser of browsers.splice(0)) {
      browser.close();
      expect(browser.errors).toEqual([]);
    }
  });
  const open = async (user: Client, name: string) => {
    const browser = await TestBrowser.of(server(), name, user);
    browsers.push(browser);
    const tab = await browser.open();
    await until('it is connected', () => tab.store.connection.value === 'live');
    return { browser, tab };
  };
  const presenceOfBob = async () => (await ada.ok('users.presence', { user_ids: [bob.userId] })).presence[0]?.presence;

  test('say that the user is away once all their tabs are idle, and online again', async () => {
    const { browser, tab } = await open(bob, 'bob');
    await until('bob is online', async () => (await presenceOfBob()) === 'online');
    const second = await browser.open();
    const later = Date.now() + idleMs;
    browser.now = () => later;
    // One of the tabs is used, and the other one learns of it.
    let told = 0;
    const channel = new BroadcastChannel(`parley-active-${bob.userId}`);
    channel.addEventListener('message', () => told++);
    second.idle.touch();
    await until('it is told', () => told === 1);
    tab.idle.check();
    second.idle.check();
    expect(await presenceOfBob()).toBe('online');
    channel.close();
    browser.now = () => later + idleMs;
    tab.idle.check();
    second.idle.check();
    await until('bob is away', async () => (await presenceOfBob()) === 'away');
    tab.idle.touch();
    await until('bob is back', async () => (await presenceOfBob()) === 'online');
  });

  test('forget who types at their next message', async () => {
    const { tab } = await open(ada, 'ada');
    const typing = () => tab.store.typing.value.get(chatId) ?? [];
    await bob.ok('chats.typing', { chat_id: chatId });
    await until('bob types', () => typing().includes(bob.userId));
    await bob.ok('messages.send_message', { chat_id: chatId, content: 'done' });
    await until('bob is done', () => typing().length === 0);
    await ada.ok('chats.typing', { chat_id: chatId });
    const { message } = await bob.ok('messages.send_message', { chat_id: chatId, content: 'later' });
    await until('it has arrived', () => tab.store.newestId(chatId) === message.message_id);
    expect(typing()).toEqual([]);
  });
});
