import type { UserId } from '@parley/contract';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { openSession } from '../../server/auth/sessions.ts';
import { processRuntime } from '../../server/compose.ts';
import type { TestServer } from '../../server/test/support/server.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Starts Chromium. Fails if it is not installed. */
export function launchChromium(args: readonly string[] = []): Promise<Browser> {
  const executablePath = names.map((name) => Bun.which(name)).find((path) => path !== null);
  if (!executablePath) throw new Error('This needs Chromium.');
  return chromium.launch({ executablePath, args: ['--no-sandbox', ...args] });
}

/** Returns an empty browser profile in which a user is signed in. */
export async function profileOf(
  browser: Browser,
  admin: TestServer,
  { userId, url }: { userId: number; url: string },
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const { secret } = await admin.engine.write((tx) => openSession(tx, processRuntime, userId as UserId, Date.now()));
  const context = await browser.newContext(options);
  await context.addCookies([{ name: 'parley_session', value: secret, url }]);
  return context;
}
