import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import type { Page } from 'playwright-core';
import { hostileNames, hostileTexts } from './hostile.ts';
import { chats, log, scene } from './scene.ts';
import { until } from './support.ts';

/** What a message may consist of. */
const allowedTags =
  'A BLOCKQUOTE BR CODE DEL EM H1 H2 H3 H4 H5 H6 HR LI OL P PRE SPAN STRONG TABLE TBODY TD TH THEAD TR UL'.split(' ');
const allowedAttributes = ['href', 'start', 'target', 'rel', 'class'];

/** Returns what is on the page and must not be. */
const strange = (page: Page) =>
  page.evaluate(
    ({ tags, attributes }) => {
      const found: string[] = [];
      for (const element of document.querySelectorAll('.markdown *')) {
        const names = element.getAttributeNames();
        const isLink = !element.hasAttribute('href') || /^(https?|mailto):/.test((element as HTMLAnchorElement).href);
        // The language of code, and the colours of its parts.
        const isClass = /^(?:|language-[\w+#.-]{1,30}|hljs-[\w -]+)$/.test(element.className);
        if (
          !isClass ||
          !tags.includes(element.tagName) ||
          names.some((name) => !attributes.includes(name)) ||
          !isLink
        ) {
          found.push(element.outerHTML.slice(0, 200));
        }
      }
      if ('broken' in window) found.push('code has run');
      if (document.querySelectorAll('#app').length !== 1) found.push('there is another app');
      if (document.querySelectorAll('main').length !== 1) found.push('something broke out');
      return found;
    },
    { tags: allowedTags, attributes: allowedAttributes },
  );

inChromium('hostile texts', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  test('change nothing and run nothing, under the real policy', async () => {
    expect(hostileTexts.length).toBeGreaterThan(200);
    const { person } = stage;
    const bob = person('bob');
    const { group } = await person('ada').ok('messages.create_group', { name: 'Trap', participants: [bob.userId] });
    for (const content of hostileTexts) await bob.ok('messages.send_message', { chat_id: group.chat_id, content });
    await person('ada').ok('messages.mark_read', { chat_id: group.chat_id });
    const page = await stage.open('ada');
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(stage.url())) elsewhere.push(request.url());
    });
    await chats(page).getByRole('link', { name: /Trap/ }).click();
    await log(page).locator('.message').first().waitFor();
    const seen = new Set<string>();
    const start = page.getByText('This is the start of the chat.');
    for (let i = 0; i < 3_000 && (await start.count()) === 0; i++) {
      const ids = await log(page).evaluate(
        async (list, step) => {
          list.scrollTop -= step;
          for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame);
          return [...list.querySelectorAll<HTMLElement>('.message')].map(({ dataset }) => dataset.message ?? '');
          // The newest ones are looked at before the first step.
        },
        i === 0 ? 0 : 500,
      );
      for (const id of ids) seen.add(id);
      expect(await strange(page)).toEqual([]);
    }
    expect(seen.size).toBe(hostileTexts.length);
    expect(elsewhere).toEqual([]);
  });

  test('are names of chats, and texts of search hits and drafts', async () => {
    const ada = stage.person('ada');
    for (const name of hostileNames) {
      const { group } = await ada.ok('messages.create_group', { name, description: name });
      await ada.ok('messages.send_message', { chat_id: group.chat_id, content: `needle ${name}` });
    }
    const page = await stage.open('ada');
    await chats(page).getByRole('link').first().waitFor();
    for (let i = 0; i < 6; i++) {
      await chats(page).getByRole('link').nth(i).click();
      await log(page).locator('.message').first().waitFor();
      await page.getByRole('textbox', { name: 'Message', exact: true }).fill(hostileNames[i] ?? '');
    }
    await until('all are indexed', async () => {
      const { messages } = await ada.ok('messages.search_messages', { query: 'needle', limit: 200 });
      return messages.length === hostileNames.length;
    });
    await page.goto(`${stage.url()}/search?q=needle+%3Cimg+%2F%3E(%5B`);
    await page.goto(`${stage.url()}/search?q=needle`);
    await page
      .getByRole('link', { name: /needle/ })
      .first()
      .waitFor();
    expect(await strange(page)).toEqual([]);
  });
});
