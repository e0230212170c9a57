import { afterAll, beforeAll, expect } from 'bun:test';
import { networkInterfaces } from 'node:os';
import { addUser, issueToken } from '@parley/server/auth/administer.ts';
import { visitors } from '@parley/server/test/support/chromium.ts';
import { Client } from '@parley/server/test/support/client.ts';
import { type Environment, freshEnvironment } from '@parley/server/test/support/engines.ts';
import { startServer, type TestServer } from '@parley/server/test/support/server.ts';
import { inSession } from '@parley/server/test/support/visitor.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';

/** An IPv4 address of this machine that is not loopback. Browsers treat pages there as those of any other host. */
export const networkAddress = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === 'IPv4' && !address.internal)?.address;

const names = { ada: 'Ada Lovelace', bob: 'Bob', cleo: 'Cleo' } as const;
export type Who = keyof typeof names;

/** A server with three people, and a browser. */
export function scene({ address = '127.0.0.1', hasNotifications = false, env = {} as Environment } = {}) {
  const visit = visitors({ hasNotifications });
  let server: TestServer | undefined;
  const people = new Map<Who, Client>();
  const faults: string[] = [];
  beforeAll(async () => {
    const own = { ...(await freshEnvironment('sqlite')), HOST: address, PARLEY_RATE_LIMIT: 'off' };
    server = await startServer({ ...own, ...env });
    for (const [name, displayName] of Object.entries(names)) {
      const user = await addUser(server.tools, { name, displayName, isAdmin: name === 'ada' });
      const { accessToken } = await issueToken(server.tools, { userName: name, name: 'test' });
      people.set(name as Who, new Client(server.url, accessToken, user.user_id));
    }
  });
  afterAll(() => server?.stop());
  const running = () => {
    if (!server) throw new Error('the server has not been started yet');
    return server;
  };
  /** Opens the client in a tab. Errors of its console are faults. */
  const load = async (page: Page, path: string): Promise<Page> => {
    // Catches hangs, and nothing else.
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => faults.push(`${error.stack}`));
    page.on('console', (message) => {
      // A call that a test cuts off is one too.
      const isCut = /ERR_FAILED|ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_REFUSED/.test(message.text());
      if (message.type() === 'error' && !isCut) faults.push(message.text());
    });
    page.on('dialog', (dialog) => {
      faults.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(`${running().url}${path}`);
    return page;
  };
  return {
    server: running,
    url: () => running().url,
    person: (who: Who): Client => {
      const client = people.get(who);
      if (!client) throw new Error(`there is no ${who}`);
      return client;
    },
    /** Opens the client as a person, in a browser of their own. */
    open: async (who: Who, path = '/', options: BrowserContextOptions = {}): Promise<Page> => {
      const page = await visit(options);
      const client = people.get(who) as Client;
      const { token } = await inSession(running(), client);
      await page.context().addCookies([{ name: 'parley_session', value: token, url: running().url }]);
      return load(page, path);
    },
    /** Opens another tab in the browser of a page. */
    openTab: async (page: Page, path: string): Promise<Page> => load(await page.context().newPage(), path),
    /** Fails if there was a fault, except for those that the test provokes. */
    expectNoFaults: (except = /^$/) => expect(faults.splice(0).filter((fault) => !except.test(fault))).toEqual([]),
  };
}

export const chats = (page: Page) => page.getByRole('navigation', { name: 'Chats' });
export const log = (page: Page) => page.getByRole('log', { name: 'Messages' });
export const composer = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });

export async function write(page: Page, text: string): Promise<void> {
  await composer(page).fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

/** The texts of the messages that are on the page, from the top. */
export const texts = (page: Page): Promise<string[]> => log(page).locator('.message .markdown').allInnerTexts();
