import { expect, test } from 'bun:test';
import { clientBundle } from '@parley/server/pages/client-bundle.ts';
import { inChromium } from '@parley/server/test/support/chromium.ts';
import { desk, violationsOn } from './acts.ts';
import { firstScripts } from './first-load.ts';
import { chats, scene } from './scene.ts';

inChromium('a part that is not in the first load', () => {
  const stage = scene();

  test('says if it cannot be loaded, and is there once the page is loaded again', async () => {
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

  test('is shown, also if it comes between its rendering and its effects', async () => {
    const page = await stage.open('bob', '/', { ...desk, serviceWorkers: 'block' });
    await page.addInitScript(() => {
      const { requestAnimationFrame: frame, setTimeout: timer } = window;
      /** The parts are loaded after seconds. Effects begin in the next frame. */
      const seconds: (() => void)[] = [];
      const frames: (() => void)[] = [];
      let isHeld = false;
      window.requestAnimationFrame = (run) => (isHeld ? frames.push(() => run(0)) : frame(run));
      window.setTimeout = ((run: () => void, ms = 0) => {
        if (ms >= 1_000) return seconds.push(run);
        return isHeld ? frames.push(run) : timer(run, ms);
      }) as typeof timer;
      addEventListener('hold', () => {
        isHeld = true;
      });
      addEventListener('seconds', () => {
        for (const run of seconds.splice(0)) run();
      });
      addEventListener('frames', () => {
        isHeld = false;
        for (const run of frames.splice(0)) timer(run);
      });
    });
    await page.reload();
    await chats(page).waitFor();
    await page.evaluate(() => dispatchEvent(new Event('hold')));
    await page.keyboard.press('Control+k');
    await page.evaluate(() => dispatchEvent(new Event('seconds')));
    const { files } = await clientBundle()();
    const parts = [...files].flatMap(([name, { isOffline }]) => (isOffline && name.endsWith('.js') ? name : []));
    await page.evaluate((names) => Promise.all(names.map((name) => import(`/assets/client/${name}`))), parts);
    await page.evaluate(() => dispatchEvent(new Event('frames')));
    await page.getByRole('dialog').waitFor();
  });
});
