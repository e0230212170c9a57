import { afterEach, expect, test } from 'bun:test';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import type { Page } from 'playwright-core';
import { groupWith, message, say } from './acts.ts';
import { composer, scene, texts, write } from './scene.ts';
import { becomes, until } from './support.ts';

inChromium('eight tabs of one person over HTTP/1.1, which has six connections to a host', () => {
  const stage = scene();
  afterEach(() => stage.expectNoFaults());

  const openStreams = async () => {
    const metrics = await (await fetch(`${stage.url()}/metrics`)).text();
    return Number(/^parley_streams (\d+)$/m.exec(metrics)?.[1]);
  };
  const areShown = async (pages: readonly Page[], expected: readonly string[]) => {
    for (const page of pages) {
      await message(page, expected.at(-1) ?? '').waitFor();
      await becomes(() => texts(page), [...expected]);
    }
  };

  test('share one stream, also after its tab is closed and after the network was away', async () => {
    const bob = stage.person('bob');
    const chatId = await groupWith(stage, 'Tabs');
    const path = `/chats/${chatId}`;
    const first = await stage.open('ada', path);
    const others: Page[] = [];
    for (let i = 0; i < 7; i++) others.push(await stage.openTab(first, path));
    for (const page of [first, ...others]) await composer(page).waitFor();

    await say(bob, chatId, 'to all');
    await areShown([first, ...others], ['to all']);
    await write(others.at(-1) as Page, 'from the eighth');
    await areShown([first, ...others], ['to all', 'from the eighth']);
    expect(await openStreams()).toBe(1);

    await first.close();
    await say(bob, chatId, 'after the first');
    await areShown(others, ['to all', 'from the eighth', 'after the first']);
    await until('another tab has the stream', async () => (await openStreams()) === 1);

    await others[0]?.context().setOffline(true);
    for (const page of others) await page.getByText('Reconnecting…').waitFor();
    await say(bob, chatId, 'in a tunnel');
    await others[0]?.context().setOffline(false);
    await areShown(others, ['to all', 'from the eighth', 'after the first', 'in a tunnel']);
    await until('there is one stream again', async () => (await openStreams()) === 1);
  });
});
