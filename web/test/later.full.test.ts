import { expect, test } from 'bun:test';
import { clientBundle } from '@parley/server/pages/client-bundle.ts';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { desk, violationsOn } from './acts.ts';
import { firstScripts } from './first-load.ts';
import { chats, scene } from './scene.ts';

inChromium('a part that cannot be loaded', () => {
  const stage = scene();

  test('says so, and is there once the page is loaded again', async () => {
    const first = firstScripts(await clientBundle()());
    const page = await stage.open('bob', '/', { ...desk, serviceWorkers: 'block' });
    await page.route(/\/assets\/client\/.*\.js$/, (route) =>
      first.has(route.request().url().replace(/^.*\//, '')) ? route.continue() : route.abort(),
    );
    await page.reload();
    await chats(page).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'This view could not be loaded' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goto(`${stage.url()}/browse`);
    await page.getByRole('heading', { name: 'This view could not be loaded' }).waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.unroute(/\/assets\/client\/.*\.js$/);
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'No public channels yet' }).waitFor();
    stage.expectNoFaults();
  });
});
