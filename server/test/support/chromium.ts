import { afterAll, beforeAll } from 'bun:test';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { describeUnless, require } from './requirements.ts';

export const executable = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
  .map((name) => Bun.which(name))
  .find((path) => path !== null);

const chromiumMissing = require(executable !== undefined, 'Chromium', 'chromium');

/** Describes behaviour that needs a real browser. */
export function inChromium(name: string, suite: () => void): void {
  describeUnless(chromiumMissing, name, suite);
}

/**
 * Chromium builds the popup of its address bar as two pages in each new window, which nobody sees in a test. They take half
 * of the processor time of a window: 0.6 of 1.2 s. A second list replaces that of Playwright, so the rest is its list.
 */
const disabledFeatures = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
  ...['AimEnabled', 'AvoidCorsURLLoaderRestartOnRedirect', 'AvoidUnnecessaryBeforeUnloadCheckSync'],
  ...['DestroyProfileOnBrowserClose', 'HttpsFirstBalancedModeAutoEnable', 'HttpsUpgrades', 'LensOverlay'],
  ...['MediaRouter', 'NetworkTimeServiceQuerying', 'OptimizationHints', 'PaintHolding', 'PreconnectToSearch'],
  ...['ThirdPartyStoragePartitioning'],
];

/**
 * The same browser without windows and menus. Pages are the same and take less processor time, but it has no notifications and
 * no badges.
 */
const shell = Bun.which('chromium-headless-shell') ?? executable;

/** Starts one browser for a suite. Each visit has its own empty cookie jar. */
export function visitors({ hasNotifications = false } = {}): (options?: BrowserContextOptions) => Promise<Page> {
  let browser: Browser | undefined;
  const contexts: BrowserContext[] = [];
  beforeAll(async () => {
    const args = ['--no-sandbox', `--disable-features=${disabledFeatures.join(',')}`];
    browser = await chromium.launch({
      executablePath: (hasNotifications ? executable : shell) ?? '',
      args,
      timeout: 120_000,
    });
  });
  afterAll(async () => {
    for (const context of contexts) await context.close();
    await browser?.close();
  });
  return async (options = {}) => {
    if (!browser) throw new Error('the browser has not been started yet');
    const context = await browser.newContext(options);
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    return page;
  };
}
