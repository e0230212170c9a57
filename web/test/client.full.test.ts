import { afterEach, describe, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { describeUnless, require } from '@parley/server/test/support/requirements.ts';
import { Visitor } from '@parley/server/test/support/visitor.ts';
import type { Locator, Page } from 'playwright-core';
import { groupWith, message, say, stored, violationsOn } from './acts.ts';
import { chats, composer, log, networkAddress, scene, texts, write } from './scene.ts';
import { becomes, until } from './support.ts';

/** What people do in a chat, in two browsers. */
function conversation(address?: string): void {
  const stage = scene({ address });
  afterEach(() => stage.expectNoFaults());

  test('a message that one person writes is on the screen of the other', async () => {
    const chatId = await groupWith(stage, 'Launch');
    const [ada, bob] = [await stage.open('ada'), await stage.open('bob', `/chats/${chatId}`)];
    await chats(ada)
      .getByRole('link', { name: /Launch/ })
      .click();
    await write(ada, 'Hello **Bob**');
    await message(bob, 'Hello Bob').waitFor();
    await becomes(() => message(bob, 'Hello Bob').locator('strong').innerText(), 'Bob');
    await composer(bob).fill('Hello Ada');
    await composer(bob).press('Enter');
    await message(ada, 'Hello Ada').waitFor();
    await becomes(() => texts(ada), ['Hello Bob', 'Hello Ada']);
    await becomes(() => composer(ada).inputValue(), '');
  });

  test('messages are edited, answered, reacted to and deleted, and everyone sees it', async () => {
    const chatId = await groupWith(stage, 'Changes');
    const [ada, bob] = [await stage.open('ada', `/chats/${chatId}`), await stage.open('bob', `/chats/${chatId}`)];
    await write(ada, 'Frist');
    // It has an id once the server has it.
    await log(ada).locator('.message[data-message]', { hasText: 'Frist' }).waitFor();
    await composer(ada).press('ArrowUp');
    await ada.getByRole('textbox', { name: 'Edit message' }).fill('First');
    await ada.keyboard.press('Enter');
    await message(bob, /First.*edited/s).waitFor();

    await message(bob, 'First').hover();
    await bob.getByRole('button', { name: 'React' }).click();
    await bob.getByRole('dialog', { name: 'Add a reaction' }).getByRole('button', { name: 'thumbsup' }).click();
    const reaction = message(ada, 'First').getByRole('button', { name: '👍 1' });
    await reaction.waitFor();
    await reaction.click();
    await message(bob, 'First').getByRole('button', { name: '👍 2' }).hover();
    const tip = bob.getByRole('tooltip', { name: 'You and Ada Lovelace' });
    await tip.waitFor();
    const [said, of] = [
      await tip.boundingBox(),
      await message(bob, 'First').getByRole('button', { name: '👍 2' }).boundingBox(),
    ];
    expect(Math.abs((said?.y ?? 0) + (said?.height ?? 0) - (of?.y ?? 0))).toBeLessThan(20);
    await message(bob, 'First').getByRole('button', { name: 'React' }).click();
    await bob.getByRole('searchbox', { name: 'Find an emoji by name' }).fill('rocke');
    await bob.getByRole('button', { name: 'rocket' }).waitFor();
    await bob.keyboard.press('Enter');
    await message(ada, 'First').getByRole('button', { name: '🚀 1' }).waitFor();

    await message(bob, 'First').hover();
    await bob.getByRole('button', { name: 'Reply' }).click();
    await write(bob, 'An answer');
    expect(await message(ada, 'An answer').locator('.quote').innerText()).toContain('First');

    await message(ada, 'First').first().hover();
    await ada.getByRole('button', { name: 'Delete', exact: true }).click();
    const question = ada.getByRole('dialog', { name: 'Delete message' });
    await question.getByRole('button', { name: 'Delete' }).click();
    await message(bob, 'This message was deleted').waitFor();
    await becomes(() => texts(bob), ['An answer']);
  });

  test('what was written without a connection survives a reload, and arrives once and in order', async () => {
    const chatId = await groupWith(stage, 'Train');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await write(ada, 'before');
    await message(ada, 'before').waitFor();
    await until('it is sent', async () => (await ada.getByText('Sending…').count()) === 0);
    await stored(ada, chatId);
    // The page itself still loads; a service worker would keep it.
    await ada.route('**/api/**', (route) => route.abort());
    for (const text of ['one', 'two', 'three']) await write(ada, text);
    await ada.reload();
    await message(ada, 'three').waitFor();
    await becomes(() => texts(ada), ['before', 'one', 'two', 'three']);
    await write(ada, 'four');
    await ada.unroute('**/api/**');
    await until('all is sent', async () => (await ada.getByText('Sending…').count()) === 0);
    const { messages } = await stage.person('ada').ok('messages.get_messages', { chat_id: chatId });
    expect(messages.map(({ content }) => content)).toEqual(['before', 'one', 'two', 'three', 'four']);
  });

  test('a page that goes in the middle of a send loses and doubles nothing', async () => {
    const chatId = await groupWith(stage, 'Tunnel');
    await say(stage.person('bob'), chatId, 'zero');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await message(ada, 'zero').waitFor();
    await stored(ada, chatId);
    await ada.route('**/api/**', (route) => route.abort());
    // It does not get as far as to note that the messages are in the outbox.
    await ada.evaluate(() => {
      Storage.prototype.removeItem = () => {};
    });
    for (const text of ['one', 'two']) await write(ada, text);
    await becomes(() => texts(ada), ['zero', 'one', 'two']);
    await ada.reload();
    await becomes(() => texts(ada), ['zero', 'one', 'two']);
    await ada.unroute('**/api/**');
    await until('all is sent', async () => (await ada.getByText('Sending…').count()) === 0);
    const { messages } = await stage.person('ada').ok('messages.get_messages', { chat_id: chatId });
    expect(messages.map(({ content }) => content)).toEqual(['zero', 'one', 'two']);
    await becomes(() => ada.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('unsent'))), []);
  });

  test('signing out leaves nothing in the browser', async () => {
    const chatId = await groupWith(stage, 'Secret');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await write(ada, 'a secret');
    await until('it is stored', () =>
      ada.evaluate(async () => (await indexedDB.databases()).some(({ name }) => name?.startsWith('parley-'))),
    );
    // The client would ask what to do about it.
    await message(ada, 'a secret').waitFor();
    await until('it is sent', async () => (await ada.getByText('Sending…').count()) === 0);
    await ada.getByRole('button', { name: 'Sign out' }).click();
    await ada.getByRole('heading', { name: 'Sign in' }).waitFor();
    await becomes(() => ada.evaluate(async () => (await indexedDB.databases()).length), 0);
    await ada.goBack();
    await ada.getByRole('heading', { name: 'Sign in' }).waitFor();
    // A call may have been on its way when the session ended.
    stage.expectNoFaults(/status of 401/);
  });

  test('signing out on a page of the account leaves nothing either', async () => {
    const chatId = await groupWith(stage, 'Elsewhere');
    await stage.person('bob').ok('messages.send_message', { chat_id: chatId, content: 'a secret' });
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await message(ada, 'a secret').waitFor();
    await stored(ada, chatId);
    await ada.goto(`${stage.url()}/settings`);
    await ada.getByRole('button', { name: 'Sign out' }).click();
    await ada.getByRole('heading', { name: 'Sign in' }).waitFor();
    await until('it is deleted', () => ada.evaluate(async () => (await indexedDB.databases()).length === 0));
  });

  test('a session that ended while no tab was open leaves nothing either', async () => {
    const chatId = await groupWith(stage, 'Away');
    await stage.person('bob').ok('messages.send_message', { chat_id: chatId, content: 'a secret' });
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await message(ada, 'a secret').waitFor();
    await stored(ada, chatId);
    await ada.goto('about:blank');
    const [cookie] = await ada.context().cookies();
    expect((await new Visitor(stage.url(), cookie?.value).post('/sign-out')).status).toBe(303);
    await ada.goto(stage.url());
    await ada.getByRole('heading', { name: 'Sign in' }).waitFor();
    await until('it is deleted', () => ada.evaluate(async () => (await indexedDB.databases()).length === 0));
  });
}

inChromium('a conversation', () => conversation());

const networkMissing = require(networkAddress !== undefined, 'a network address', 'a network interface');
inChromium('a conversation over plain HTTP in a local network', () =>
  describeUnless(networkMissing, 'at an address of this machine', () => conversation(networkAddress)),
);

inChromium('the client', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  test('starts a direct chat, a group and a channel, which others find and join', async () => {
    const ada = await stage.open('ada');
    const create = async (kind: string, act: string, name: string, fill: () => Promise<void>) => {
      await ada.getByRole('button', { name: 'New chat' }).click();
      await ada.getByText(kind, { exact: true }).click();
      await fill();
      await ada.getByRole('button', { name: act }).click();
      await ada.getByRole('heading', { name, level: 1 }).waitFor();
    };
    const choose = async (name: string) => {
      await ada.getByLabel('People', { exact: true }).fill(name);
      await ada.getByRole('list', { name: 'People found' }).getByRole('button', { name }).click();
    };
    await create('Direct', 'Start the chat', 'Bob', () => choose('Bob'));
    await create('Group', 'Create the group', 'Garden', async () => {
      await ada.getByLabel('Name', { exact: true }).fill('Garden');
      await choose('Bob');
      await choose('Cleo');
    });
    await create('Channel', 'Create the channel', 'News', () => ada.getByLabel('Name', { exact: true }).fill('News'));
    await write(ada, 'Read all about it');

    const cleo = await stage.open('cleo', '/browse');
    await cleo.getByRole('button', { name: 'Join' }).click();
    await message(cleo, 'Read all about it').waitFor();
    await cleo.getByText('Only the owner and admins write in this channel.').waitFor();
    await becomes(() => chats(cleo).getByRole('link').count(), 2);
  });

  test('finds messages and shows a hit in its place', async () => {
    const chatId = await groupWith(stage, 'Archive');
    const bob = stage.person('bob');
    for (let i = 0; i < 120; i++) {
      await bob.ok('messages.send_message', { chat_id: chatId, content: i === 5 ? 'a needle' : `hay ${i}` });
    }
    const ada = await stage.open('ada');
    const box = ada.getByRole('searchbox', { name: 'Search', exact: true });
    await until('it is indexed', async () => {
      const { messages } = await stage.person('ada').ok('messages.search_messages', { query: 'needle' });
      return messages.length === 1;
    });
    await box.fill('needle');
    await box.press('Enter');
    await ada.getByRole('link', { name: /a needle/ }).click();
    await message(ada, 'a needle').waitFor();
    expect((await texts(ada)).includes('hay 119')).toBe(false);
    await ada.getByRole('button', { name: 'Newest messages' }).click();
    await message(ada, 'hay 119').waitFor();
  });

  test('scrolls to the first of many messages and back, without gaps, and with few of them on the page', async () => {
    const chatId = await groupWith(stage, 'Long');
    const bob = stage.person('bob');
    const count = 1_000;
    for (let i = 0; i < count; i += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, j) =>
          bob.ok('messages.send_message', { chat_id: chatId, content: `number ${i + j}` }),
        ),
      );
    }
    const start = 'This is the start of the chat.';
    await stage.person('ada').ok('messages.mark_read', { chat_id: chatId });
    const page = await stage.open('ada', `/chats/${chatId}`);
    await log(page).locator('.message').first().waitFor();
    const idsOnPage = () =>
      log(page)
        .locator('.message')
        .evaluateAll((rows) => rows.map((row) => Number((row as HTMLElement).dataset.message)));
    // In the page: three calls from here for each step would take longer than the steps.
    const looks = await log(page).evaluate(async (list, start) => {
      const ids = () =>
        [...list.querySelectorAll<HTMLElement>('.message')].map(({ dataset }) => Number(dataset.message));
      const isAtStart = () => list.textContent?.includes(start);
      const looks = [ids()];
      // The limit catches hangs, and nothing else.
      for (const limit = performance.now() + 90_000; performance.now() < limit && !isAtStart(); ) {
        // Less than half of what is shown, so that every message is on the page at some step.
        list.scrollTop -= 200;
        for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame);
        looks.push(ids());
      }
      return looks;
    }, start);
    const seen = new Set(looks.flat());
    for (const ids of looks) {
      expect(ids.length).toBeLessThan(80);
      expect(ids).toEqual([...ids].sort((a, b) => a - b));
    }
    await page.getByText(start).waitFor();
    const ids = [...seen].sort((a, b) => a - b);
    expect(ids.at(-1)).toBe((ids[0] ?? 0) + count - 1);
    const gaps = ids.filter((id, i) => i > 0 && id !== (ids[i - 1] ?? 0) + 1);
    expect(gaps).toEqual([]);
    await page.getByRole('button', { name: 'Newest messages' }).click();
    await until('the newest are shown', async () => (await idsOnPage()).at(-1) === ids.at(-1));
  });

  test('shows what it knows before any response arrives', async () => {
    const chatId = await groupWith(stage, 'Known');
    await stage.person('bob').ok('messages.send_message', { chat_id: chatId, content: 'already here' });
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await message(ada, 'already here').waitFor();
    await stored(ada, chatId);
    await ada.route('**/api/**', (route) => route.abort());
    await ada.reload();
    await message(ada, 'already here').waitFor();
    await chats(ada).getByRole('link', { name: /Known/ }).waitFor();
  });

  test('goes to a chat and back with the keyboard alone, and marks it as read', async () => {
    const chatId = await groupWith(stage, 'Keyboard');
    await stage.person('bob').ok('messages.send_message', { chat_id: chatId, content: 'unread' });
    const ada = await stage.open('ada');
    await chats(ada)
      .getByRole('link', { name: /Keyboard.*1 unread/s })
      .waitFor();
    await ada.keyboard.press('Control+k');
    await ada.getByRole('dialog', { name: 'Go to a chat' }).waitFor();
    await ada.keyboard.type('keyb');
    await ada.keyboard.press('Enter');
    await message(ada, 'unread').waitFor();
    await until('it is read', async () => {
      const { chat } = await stage.person('ada').ok('chats.get', { chat_id: chatId });
      return chat.unread_count === 0;
    });
    await ada.keyboard.type('typed without a click');
    await ada.keyboard.press('Enter');
    await message(ada, 'typed without a click').waitFor();
    await ada.keyboard.press('Escape');
    await becomes(() => composer(ada).evaluate((field) => field === document.activeElement), true);
    await ada.keyboard.press('Alt+ArrowDown');
    await until('another chat is open', async () => !ada.url().endsWith(`/chats/${chatId}`));
  });

  describe('breaks no rule of accessibility and fits the screen, at a desk and on a phone, light and dark', () => {
    const wide = { width: 1280, height: 800 };
    const screens = [wide, { width: 390, height: 844 }, { width: 320, height: 568 }];
    const dialog = (page: Page) => page.getByRole('dialog');
    const home = async () => '/';
    const inChat = async () => `/chats/${await populated()}`;
    /** Where a state is, and how it comes about. What is returned is on the screen then. */
    const states: Readonly<Record<string, readonly [() => Promise<string>, (page: Page) => Promise<Locator>]>> = {
      'the list': [home, async (page) => chats(page).getByRole('link').first()],
      'a chat': [inChat, async (page) => log(page).locator('.message').last()],
      browsing: [async () => '/browse', async (page) => page.getByRole('heading', { name: 'Browse channels' })],
      'a search': [
        async () => '/search?q=hello',
        async (page) => page.getByRole('heading', { name: 'Search messages' }),
      ],
      'a new chat': [
        home,
        async (page) => {
          await page.getByRole('button', { name: 'New chat' }).click();
          return dialog(page);
        },
      ],
      'the people': [
        inChat,
        async (page) => {
          await page.getByRole('button', { name: 'People' }).click();
          return page.getByRole('list', { name: 'Participants' }).getByText('Bob', { exact: true });
        },
      ],
      'the switcher': [
        home,
        async (page) => {
          await chats(page).getByRole('link').first().waitFor();
          await page.keyboard.press('Control+k');
          return dialog(page);
        },
      ],
      'the help': [
        home,
        async (page) => {
          await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
          return dialog(page);
        },
      ],
    };
    let chatId: number | undefined;
    const populated = async () => {
      if (chatId !== undefined) return chatId;
      chatId = await groupWith(stage, 'Everything');
      const [ada, bob] = [stage.person('ada'), stage.person('bob')];
      const said = [
        'hello',
        '# Heading\n\n> quote\n\n- list\n\n`code` and\n\n```\nfenced\n```',
        '| a | b |\n| - | - |\n| 1 | 2 |',
        'x'.repeat(400),
        'שלום עולם',
        '😀',
      ];
      for (const content of said) await bob.ok('messages.send_message', { chat_id: chatId, content });
      const { message: last } = await ada.ok('messages.send_message', { chat_id: chatId, content: 'mine' });
      await bob.ok('messages.add_reaction', { message_id: last.message_id, emoji: '👍' });
      const gone = await ada.ok('messages.send_message', {
        chat_id: chatId,
        content: 'gone',
        reply_to: last.message_id,
      });
      await ada.ok('messages.delete_message', { message_id: gone.message.message_id });
      return chatId;
    };

    let page: Page | undefined;
    test.each(Object.entries(states))('%s', async (_, [path, act]) => {
      const address = `${stage.url()}${await path()}`;
      await populated();
      page ??= await stage.open('ada', '/', { bypassCSP: true });
      await page.setViewportSize(wide);
      await page.goto(address);
      const shown = await act(page);
      const faults: string[] = [];
      for (const screen of screens) {
        await page.setViewportSize(screen);
        await shown.waitFor();
        for (const fault of await violationsOn(page)) faults.push(`${screen.width} wide: ${fault}`);
      }
      expect(faults).toEqual([]);
    });
  });
});
