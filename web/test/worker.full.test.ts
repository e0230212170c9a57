import { afterAll, beforeAll, expect, test } from 'bun:test';
import { appendFileSync, cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inChromium, visitors } from '@parley/server/test/support/chromium.ts';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import type { Client } from '@parley/server/test/support/client.ts';
import { freshEnvironment } from '@parley/server/test/support/engines.ts';
import { attach, type ServerProcess, spawnServer, type TestServer } from '@parley/server/test/support/server.ts';
import { inSession } from '@parley/server/test/support/visitor.ts';
import type { Page } from 'playwright-core';
import { message, stored } from './acts.ts';
import { chats, write } from './scene.ts';
import { becomes, until } from './support.ts';

const root = join(import.meta.dir, '../..');

/** Copies the source, with another client. Returns the main file of its server. */
function nextVersion(): string {
  const copy = join(temporaryFolder(), 'next');
  mkdirSync(copy);
  for (const part of ['contract', 'server', 'web', 'docs', 'package.json', 'tsconfig.json']) {
    cpSync(join(root, part), join(copy, part), {
      recursive: true,
      filter: (path) => !/\/(node_modules|test)$/.test(path),
    });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  appendFileSync(join(copy, 'web/main.tsx'), `\ndocument.documentElement.dataset.edition = 'second';\n`);
  return join(copy, 'server/main.ts');
}

/** What the browser keeps for the client. */
const keptBy = (page: Page) =>
  page.evaluate(async () => {
    const caches = await Promise.all((await self.caches.keys()).map((name) => self.caches.open(name)));
    const requests = (await Promise.all(caches.map((cache) => cache.keys()))).flat();
    return {
      paths: requests.map(({ url }) => new URL(url).pathname).sort(),
      databases: (await indexedDB.databases()).length,
      storage: Object.keys(localStorage),
      workers: (await navigator.serviceWorker.getRegistrations()).length,
    };
  });

const untilNothingIsLeft = (page: Page) =>
  becomes(() => keptBy(page), { paths: [], databases: 0, storage: [], workers: 0 });

/** Waits until the browser has the shell of the page that is open. */
const untilShellIsKept = (page: Page) =>
  until('the shell is stored', () =>
    page.evaluate(async () => {
      const { active } = await navigator.serviceWorker.ready;
      const script = document.querySelector('script')?.src ?? '';
      return active?.state === 'activated' && (await caches.match(script, { ignoreVary: true })) !== undefined;
    }),
  );

const workers = (page: Page) =>
  page.evaluate(async () => {
    const { installing, waiting, active } = await navigator.serviceWorker.ready;
    return { installing: installing?.state, waiting: waiting?.state, active: active?.state };
  });

/** Browsers end workers that have nothing to do, but not always while a debugger looks, as the one of these tests does. */
async function endWorkers(page: Page): Promise<void> {
  const debug = await page.context().newCDPSession(page);
  await debug.send('ServiceWorker.enable');
  await debug.send('ServiceWorker.stopAllWorkers');
  await debug.detach();
}

const edition = (page: Page) => page.evaluate(() => document.documentElement.dataset.edition);

inChromium('the service worker', () => {
  const visit = visitors();
  let env: Record<string, string>;
  let running: ServerProcess;
  let server: TestServer;
  let people: { readonly ada: Client; readonly bob: Client };
  let chatId: number;
  beforeAll(async () => {
    env = await freshEnvironment('sqlite');
    running = await spawnServer(env);
    env.PORT = new URL(running.url).port;
    server = await attach(running.url, env);
    people = {
      ada: await server.user('ada', { displayName: 'Ada Lovelace', admin: true }),
      bob: await server.user('bob', { displayName: 'Bob' }),
    };
    const { group } = await people.ada.ok('messages.create_group', {
      name: 'Launch',
      participants: [people.bob.userId],
    });
    chatId = group.chat_id;
    await people.bob.ok('messages.send_message', { chat_id: chatId, content: 'The plan' });
  });
  afterAll(async () => {
    await server.stop();
    await running.kill('SIGTERM');
  });
  const signIn = async (page: Page, who: Client) => {
    const { token } = await inSession(server, who);
    await page.context().addCookies([{ name: 'parley_session', value: token, url: running.url }]);
  };
  const open = async () => {
    const page = await visit();
    page.setDefaultTimeout(30_000);
    await signIn(page, people.ada);
    await page.goto(`${running.url}/chats/${chatId}`);
    await message(page, 'The plan').waitFor();
    await untilShellIsKept(page);
    return page;
  };

  test('opens the client while the server is away, and changes to a new version when there is one', async () => {
    const page = await open();
    const { paths } = await keptBy(page);
    expect(
      paths.filter((path) => !/^\/assets\/(client|shell)\/|^\/assets\/(appearance|parley|icon)[-\w]*\.\w+$/.test(path)),
    ).toEqual([]);
    const shell = paths.find((path) => path.startsWith('/assets/shell/')) ?? '';
    const html = await page.evaluate(async (path) => (await caches.match(path))?.text(), shell);
    expect(html).toContain('<div id="app"');
    expect(html).not.toMatch(/data-(name|user-id|session|display-name)|Lovelace/);
    // The records must be stored before the page goes.
    await stored(page, chatId);

    await page.context().addCookies([{ name: 'parley_theme', value: 'dark', url: running.url }]);

    await running.kill('SIGKILL');
    await page.goto(`${running.url}/chats/${chatId}`);
    await message(page, 'The plan').waitFor();
    await becomes(() => page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await page.getByText('Reconnecting…').waitFor();
    await write(page, 'Written without a server');
    await page.goto(`${running.url}/`);
    await chats(page)
      .getByRole('link', { name: /Launch/ })
      .click();
    await message(page, 'Written without a server').waitFor();
    // Pages of the account are not in it: the shell says that the server is away, and shows nothing that is stored.
    const account = await page.context().newPage();
    for (const path of ['/admin/users', '/password']) {
      await account.goto(`${running.url}${path}`);
      await account.getByRole('heading', { name: 'The server does not respond' }).waitFor();
    }
    const other = await page.context().newPage();
    await expect(other.goto(`${running.url}/sign-in`)).rejects.toThrow('ERR_CONNECTION_REFUSED');
    // The browser would load it again by itself, and the old worker would have work for as long as that takes.
    await other.close();

    running = await spawnServer(env, undefined, nextVersion());
    await until('it is sent', async () => {
      const { messages } = await people.ada.ok('messages.get_messages', { chat_id: chatId });
      return messages.some(({ content }) => content === 'Written without a server');
    });
    await account.getByRole('heading', { name: 'Change your password' }).waitFor();
    await account.close();
    expect(await edition(page)).toBeUndefined();
    await page.getByRole('button', { name: 'Reload' }).click();
    await until('the new client runs', async () => (await edition(page).catch(() => undefined)) === 'second');
    // The new worker stores its shell, and takes over once the old one has nothing to do.
    await untilShellIsKept(page);
    await until('the new worker is installed', async () => (await workers(page)).installing === undefined);
    await until('the new worker has taken over', async () => {
      const { waiting, active } = await workers(page);
      // Any request may have started the old one again.
      if (waiting) await endWorkers(page);
      return waiting === undefined && active === 'activated';
    });
    await stored(page, chatId);
    await running.kill('SIGKILL');
    await page.goto(`${running.url}/chats/${chatId}`);
    await message(page, 'The plan').waitFor();
    expect(await edition(page)).toBe('second');
    running = await spawnServer(env);
  });

  test('shows nothing of one person to another', async () => {
    const page = await open();
    await running.kill('SIGKILL');
    // The session of somebody else arrives while the server is away.
    await signIn(page, people.bob);
    await page.goto(`${running.url}/`);
    await page.getByRole('heading', { name: 'Hello, Ada Lovelace' }).waitFor();
    running = await spawnServer(env);
    await page.getByRole('heading', { name: 'Hello, Bob' }).waitFor();
    await until('the records of Ada are deleted', async () => (await keptBy(page)).databases === 1);

    // Without records there is nothing to show until the server is back.
    await untilShellIsKept(page);
    await running.kill('SIGKILL');
    await page.evaluate(async () => {
      for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name ?? '');
    });
    await page.goto(`${running.url}/`);
    await page.getByRole('heading', { name: 'The server does not respond' }).waitFor();
    // A proxy may serve files while the pages behind it are away. The page stays.
    const requests = { checks: 0, navigations: 0 };
    const proxy = Bun.serve({
      port: Number(env.PORT),
      hostname: new URL(running.url).hostname,
      fetch: (request) => {
        requests[request.headers.get('sec-fetch-mode') === 'navigate' ? 'navigations' : 'checks']++;
        const isFile = new URL(request.url).pathname.startsWith('/assets/');
        return isFile ? Response.json({ scripts: [] }) : new Response('', { status: 503 });
      },
    });
    try {
      for (let check = 1; check <= 3; check++) {
        await page.evaluate(() => dispatchEvent(new Event('online')));
        await until('it has checked', () => requests.checks >= check);
      }
      expect(requests.navigations).toBe(0);
    } finally {
      await proxy.stop(true);
    }
    running = await spawnServer(env);
    await page.getByRole('heading', { name: 'Hello, Bob' }).waitFor();

    // A session that has ended elsewhere ends at the page for signing in.
    await untilShellIsKept(page);
    // No client runs that could notice it.
    await page.evaluate(() => localStorage.setItem('parley-notifications-1', '{"isOn":true}'));
    await page.goto('about:blank');
    await page.context().clearCookies();
    await page.goto(`${running.url}/`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await untilNothingIsLeft(page);
  });

  test('opens the client while the server hangs, and leaves nothing behind at sign-out', async () => {
    const page = await open();
    // The browser deletes the shell, and the first attempt to store it again fails.
    const [worker] = page.context().serviceWorkers();
    await worker?.evaluate(async () => {
      for (const name of await caches.keys()) await caches.delete(name);
      const { addAll } = Cache.prototype;
      Cache.prototype.addAll = async () => {
        Cache.prototype.addAll = addAll;
        throw new TypeError('the server is away');
      };
    });
    const isRestored = () =>
      worker?.evaluate(() => Cache.prototype.addAll.toString().includes('[native code]')) ?? true;
    await page.reload();
    await until('storing it has failed', isRestored);
    await page.reload();
    await untilShellIsKept(page);
    await stored(page, chatId);

    // A server that accepts connections and never responds is away too.
    running.process.kill('SIGSTOP');
    await page.goto(`${running.url}/chats/${chatId}`);
    await message(page, 'The plan').waitFor();
    running.process.kill('SIGCONT');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await untilNothingIsLeft(page);
    await running.kill('SIGKILL');
    await expect(page.goto(`${running.url}/chats/${chatId}`)).rejects.toThrow('ERR_CONNECTION_REFUSED');
    running = await spawnServer(env);
  });
});
