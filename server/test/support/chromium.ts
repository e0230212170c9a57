import { afterAll, beforeAll } from 'bun:test';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { describeUnless, require } from './requirements.ts';

const executable = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
  .map((name) => Bun.which(name))
  .find((path) => path !== null);

const chromiumMissing = require(executable !== undefined, 'Chromium', 'chromium');

/** Describes behaviour that needs a real browser. */
export function inChromium(name: string, suite: () => void): void {
  describeUnless(chromiumMissing, name, suite);
}

/** Starts one browser for a suite. Each visit has its own empty cookie jar. */
export function visitors(): (options?: BrowserContextOptions) => Promise<Page> {
  let browser: Browser | undefined;
  const contexts: BrowserContext[] = [];
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executable ?? '', args: ['--no-sandbox'], timeout: 120_000 });
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
