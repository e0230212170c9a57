import { afterEach, describe, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { describeUnless, require } from '@parley/server/test/support/requirements.ts';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { chats, composer, log, networkAddress, scene, texts, write } from './scene.ts';
import { until } from './support.ts';

const groupWith = async ({ person }: ReturnType<typeof scene>, name: string) =>
  (await person('ada').ok('messages.create_group', { name, participants: [person('bob').userId] })).group.chat_id;

const message = (page: Page, text: string | RegExp) => log(page).locator('.message', { hasText: text });

/** Waits until the newest message of a chat is stored in the browser. */
const stored = (page: Page, chatId: number) =>
  until('it is stored', () =>
    page.evaluate(
      (chat) =>
        new Promise<boolean>((resolve) => {
          const opening = indexedDB.open(`parley-${document.getElementById('app')?.dataset.userId}`);
          opening.onsuccess = () => {
            const asking = opening.result.transaction('timelines').objectStore('timelines').get(chat);
            asking.onsuccess = () => {
              opening.result.close();
              resolve((asking.result?.messages.length ?? 0) > 0);
            };
          };
        }),
      chatId,
    ),
  );

/** What people do in a chat, in two browsers. */
function conversation(address?: string): void {
  const stage = scene(address);
  afterEach(() => stage.expectNoFaults());

  test('a message that one person writes is on the screen of the other', async () => {
    const chatId = await groupWith(stage, 'Launch');
    const [ada, bob] = [await stage.open('ada'), await stage.open('bob', `/chats/${chatId}`)];
    await chats(ada)
      .getByRole('link', { name: /Launch/ })
      .click();
    await write(ada, 'Hello **Bob**');
    await message(bob, 'Hello Bob').waitFor();
    expect(await message(bob, 'Hello Bob').locator('strong').innerText()).toBe('Bob');
    await composer(bob).fill('Hello Ada');
    await composer(bob).press('Enter');
    await message(ada, 'Hello Ada').waitFor();
    expect(await texts(ada)).toEqual(['Hello Bob', 'Hello Ada']);
    expect(await composer(ada).inputValue()).toBe('');
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
    await bob.getByRole('dialog', { name: 'Add a reaction' }).getByRole('button', { name: '👍' }).click();
    const reaction = message(ada, 'First').getByRole('button', { name: '👍 1' });
    await reaction.waitFor();
    await reaction.click();
    await message(bob, 'First').getByRole('button', { name: '👍 2' }).waitFor();

    await message(bob, 'First').hover();
    await bob.getByRole('button', { name: 'Reply' }).click();
    await write(bob, 'An answer');
    expect(await message(ada, 'An answer').locator('.quote').innerText()).toContain('First');

    await message(ada, 'First').first().hover();
    await ada.getByRole('button', { name: 'Delete', exact: true }).click();
    const question = ada.getByRole('dialog', { name: 'Delete message' });
    await question.getByRole('button', { name: 'Delete' }).click();
    await message(bob, 'This message was deleted').waitFor();
    expect(await texts(bob)).toEqual(['An answer']);
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
    expect(await texts(ada)).toEqual(['before', 'one', 'two', 'three']);
    await write(ada, 'four');
    await ada.unroute('**/api/**');
    await until('all is sent', async () => (await ada.getByText('Sending…').count()) === 0);
    const { messages } = await stage.person('ada').ok('messages.get_messages', { chat_id: chatId });
    expect(messages.map(({ content }) => content)).toEqual(['before', 'one', 'two', 'three', 'four']);
  });

  test('signing out leaves nothing in the browser', async () => {
    const chatId = await groupWith(stage, 'Secret');
    const ada = await stage.open('ada', `/chats/${chatId}`);
    await write(ada, 'a secret');
    await until('it is stored', () =>
      ada.evaluate(async () => (await indexedDB.databases()).some(({ name }) => name?.startsWith('parley-'))),
    );
    await ada.getByRole('button', { name: 'Sign out' }).click();
    await ada.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await ada.evaluate(async () => (await indexedDB.databases()).length)).toBe(0);
    await ada.goBack();
    await ada.getByRole('heading', { name: 'Sign in' }).waitFor();
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
    expect(await chats(cleo).getByRole('link').count()).toBe(2);
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
    const { messages } = await bob.ok('messages.get_messages', { chat_id: chatId, after_id: 0, limit: 1 });
    const first = messages[0]?.content ?? '';
    await stage.person('ada').ok('messages.mark_read', { chat_id: chatId });
    const page = await stage.open('ada', `/chats/${chatId}`);
    await log(page).locator('.message').first().waitFor();
    const idsOnPage = () =>
      log(page)
        .locator('.message')
        .evaluateAll((rows) => rows.map((row) => Number((row as HTMLElement).dataset.message)));
    const seen = new Set<number>();
    const look = async () => {
      const ids = await idsOnPage();
      expect(ids.length).toBeLessThan(80);
      expect(ids).toEqual([...ids].sort((a, b) => a - b));
      for (const id of ids) seen.add(id);
    };
    await look();
    for (let i = 0; i < 900 && (await message(page, new RegExp(`${first}$`)).count()) === 0; i++) {
      await log(page).evaluate(async (list) => {
        // Less than half of what is shown, so that every message is on the page at some step.
        list.scrollTop -= 200;
        for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame);
      });
      await look();
    }
    await page.getByText('This is the start of the chat.').waitFor();
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
    expect(await composer(ada).evaluate((field) => field === document.activeElement)).toBe(true);
    await ada.keyboard.press('Alt+ArrowDown');
    await until('another chat is open', async () => !ada.url().endsWith(`/chats/${chatId}`));
  });

  describe('breaks no rule of accessibility and fits the screen, at a desk and on a phone, light and dark', () => {
    const screens = [
      { width: 1280, height: 800 },
      { width: 390, height: 844 },
      { width: 320, height: 568 },
    ];
    const openers: Readonly<Record<string, (page: Page) => Promise<void>>> = {
      'the list': async () => {},
      'a chat': async (page) => {
        await page.goto(`${stage.url()}/chats/${await populated()}`);
        await log(page).locator('.message').first().waitFor();
      },
      browsing: async (page) => {
        await page.goto(`${stage.url()}/browse`);
        await page.getByRole('heading', { name: 'Browse channels' }).waitFor();
      },
      'a search': async (page) => {
        await page.goto(`${stage.url()}/search?q=hello`);
        await page.getByRole('heading', { name: 'Search messages' }).waitFor();
      },
      'a new chat': async (page) => {
        await page.goto(stage.url());
        await page.getByRole('button', { name: 'New chat' }).click();
      },
      'the people': async (page) => {
        await page.goto(`${stage.url()}/chats/${await populated()}`);
        await page.getByRole('button', { name: 'People' }).click();
        await page.getByRole('list', { name: 'Participants' }).getByText('Bob', { exact: true }).waitFor();
      },
      'the switcher': async (page) => {
        await page.goto(stage.url());
        await chats(page).getByRole('link').first().waitFor();
        await page.keyboard.press('Control+k');
      },
      'the help': async (page) => {
        await page.goto(stage.url());
        await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
      },
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

    test.each(Object.keys(openers))('%s', async (name) => {
      const faults: string[] = [];
      await populated();
      for (const screen of screens) {
        const page = await stage.open('ada', '/', { viewport: screen, bypassCSP: true });
        await chats(page).waitFor();
        await openers[name]?.(page);
        await page.addScriptTag({ content: axe.source });
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
          for (const { id, nodes } of violations) {
            faults.push(`${colorScheme}, ${screen.width} wide: ${id} ${nodes.map((node) => node.html).join(' ')}`);
          }
        }
        const isWider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        if (isWider) faults.push(`wider than the screen of ${screen.width}`);
        await page.context().close();
      }
      expect(faults).toEqual([]);
    });
  });
});
