import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { inChromium, visitors } from '../support/chromium.ts';
import { Client } from '../support/client.ts';
import { type EngineName, type Environment, freshEnvironment, onPostgres } from '../support/engines.ts';
import { type ServerProcess, spawnServer } from '../support/server.ts';

const password = 'a rather long sentence';

/** A program on the same machine, which waits for the browser to come back. */
class Callback {
  readonly #server: ReturnType<typeof Bun.serve>;
  readonly #arrived = Promise.withResolvers<URL>();

  constructor() {
    const { resolve } = this.#arrived;
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: (request) => {
        const url = new URL(request.url);
        if (url.pathname === '/callback') resolve(url);
        return new Response('<!doctype html><title>Back</title><h1>Back in the app</h1>', {
          headers: { 'content-type': 'text/html' },
        });
      },
    });
  }

  get address(): string {
    return `http://127.0.0.1:${this.#server.port}/callback`;
  }

  get arrived(): Promise<URL> {
    return this.#arrived.promise;
  }

  stop(): Promise<void> {
    return this.#server.stop(true);
  }
}

/** Returns the URL of an authorization request, with its verifier and state. */
function newRequest(server: string, clientId: string, redirect: string, scope: string) {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(8).toString('hex');
  const address = new URL('/oauth/authorize', server);
  address.search = String(
    new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirect,
      scope,
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }),
  );
  return { verifier, state, address: address.href };
}

async function exchange(server: string, form: Record<string, string>): Promise<Record<string, unknown>> {
  const response = await fetch(`${server}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  return { status: response.status, ...((await response.json()) as object) };
}

async function setUp(page: Page, env: Environment): Promise<void> {
  await page.goto(readFileSync(join(env.PARLEY_DATA ?? '', 'setup-link'), 'utf8').trim());
  await page.getByLabel('Name', { exact: true }).fill('ada');
  await page.getByLabel('Display name').fill('Ada Lovelace');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByLabel('Password, again').fill(password);
  await page.getByRole('button', { name: 'Set up' }).click();
  await page.getByRole('navigation', { name: 'Chats' }).waitFor();
}

async function registerApp(page: Page, server: string, redirect: string): Promise<string> {
  await page.goto(`${server}/console/apps`);
  await page.getByRole('button', { name: 'New app' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Night Porter');
  await page.getByRole('textbox', { name: 'Redirect URLs' }).fill(redirect);
  await page.getByLabel('In a browser or on the device of its user').check();
  await page.getByRole('button', { name: 'Register' }).click();
  await page.getByRole('heading', { name: 'Night Porter' }).waitFor();
  return (await page.locator('code', { hasText: /^app_/ }).first().innerText()).trim();
}

function wholeWay(engine: EngineName): void {
  const visit = visitors();
  let env: Environment;
  let server: ServerProcess;
  beforeAll(async () => {
    env = await freshEnvironment(engine);
    server = await spawnServer(env);
  });
  afterAll(() => server?.kill('SIGTERM'));

  test('from the set-up link to a message that an app sent with the token it was allowed', async () => {
    const page = await visit();
    await setUp(page, env);
    await page.goto(`${server.url}/settings`);
    await page.getByRole('heading', { name: 'Hello, Ada Lovelace' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();

    await page.getByLabel('Name').fill('ada');
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Chats' }).waitFor();

    const callback = new Callback();
    try {
      const clientId = await registerApp(page, server.url, 'http://127.0.0.1/callback');
      const scope = 'messages:read messages:write chats:read chats:write';
      const request = newRequest(server.url, clientId, callback.address, scope);
      await page.goto(request.address);
      const text = await page.getByRole('main').innerText();
      expect(text).toContain('Night Porter');
      expect(text).toContain('ada');
      expect(text).toContain('Send, edit and delete messages');
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByRole('heading', { name: 'Back in the app' }).waitFor();

      const { searchParams } = await callback.arrived;
      expect(searchParams.get('state')).toBe(request.state);
      expect(searchParams.get('iss')).toBe(server.url);
      const { access_token, status } = await exchange(server.url, {
        grant_type: 'authorization_code',
        client_id: clientId,
        code: searchParams.get('code') ?? '',
        redirect_uri: callback.address,
        code_verifier: request.verifier,
      });
      expect(status).toBe(200);

      const app = new Client(server.url, String(access_token), 1);
      const { group } = await app.ok('messages.create_group', { name: 'Launch', participants: [] });
      await app.ok('messages.send_message', { chat_id: group.chat_id, content: 'The app was here' });
      const { messages } = await app.ok('messages.get_messages', { chat_id: group.chat_id });
      expect(messages.map(({ content, user_id }) => [content, user_id])).toEqual([['The app was here', 1]]);

      await page.goto(`${server.url}/console/tokens`);
      await page.getByRole('button', { name: 'End the access of Night Porter' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'End its access', exact: true }).click();
      await page.getByText('The app has no access any more.').waitFor();
      expect(await app.refused('users.me', {})).toBe('unauthorized');
    } finally {
      await callback.stop();
    }
  });
}

inChromium('a person in a browser (SQLite)', () => wholeWay('sqlite'));
onPostgres('a person in a browser', () => inChromium('on PostgreSQL', () => wholeWay('postgres')));

inChromium('the pages', () => {
  const visit = visitors();
  let env: Environment;
  let server: ServerProcess;
  let cookies: Awaited<ReturnType<ReturnType<Page['context']>['cookies']>>;
  let clientId: string;
  beforeAll(async () => {
    env = await freshEnvironment('sqlite');
    server = await spawnServer(env);
    const page = await visit();
    await setUp(page, env);
    clientId = await registerApp(page, server.url, 'https://app.example/callback');
    await page.goto(`${server.url}/settings`);
    cookies = await page.context().cookies();
  });
  afterAll(() => server?.kill('SIGTERM'));

  const signedIn = async (options: Parameters<typeof visit>[0] = {}) => {
    const page = await visit(options);
    await page.context().addCookies(cookies);
    return page;
  };
  const consent = () => newRequest(server.url, clientId, 'https://app.example/callback', 'messages:read admin').address;

  const deviceConsent = 'the consent page of a device';
  /** Enters the code of a device that has just started. */
  const openDevice = async (page: Page) => {
    const form = new URLSearchParams({ client_id: clientId, scope: 'messages:read admin' });
    const response = await fetch(`${server.url}/oauth/device_authorization`, { method: 'POST', body: form });
    const { verification_uri_complete } = (await response.json()) as { verification_uri_complete: string };
    await page.goto(verification_uri_complete);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Allow' }).waitFor();
  };

  const open = ['/sign-in', '/sign-up', '/setup/none', '/invitation/none', '/password-link/none', '/nothing'];
  const own = ['/settings', '/sessions', '/password', '/device'];
  const administration = ['/admin/users', '/admin/users/1'];

  describe('break no rule of accessibility and fit the screen, at a desk and on a phone, light and dark', () => {
    const screens = [
      { width: 1280, height: 800 },
      { width: 390, height: 844 },
    ];
    let stranger: Page;
    let ada: Page;
    beforeAll(async () => {
      stranger = await visit({ bypassCSP: true });
      ada = await signedIn({ bypassCSP: true });
    });

    test.each([...open, ...own, ...administration, 'the consent page', deviceConsent])('%s', async (path) => {
      const page = open.includes(path) ? stranger : ada;
      if (path === deviceConsent) await openDevice(page);
      else await page.goto(path === 'the consent page' ? consent() : new URL(path, server.url).href);
      await page.addScriptTag({ content: axe.source });
      const faults: string[] = [];
      for (const screen of screens) {
        await page.setViewportSize(screen);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const { violations } = await page.evaluate(
            // Only colours differ in the dark.
            (only) => (globalThis as unknown as { axe: typeof axe }).axe.run(only),
            colorScheme === 'dark' ? { runOnly: ['color-contrast'] } : {},
          );
          for (const { id, nodes } of violations)
            faults.push(`${colorScheme}, ${screen.width} wide: ${id} ${nodes.map((n) => n.html).join(' ')}`);
        }
        const isWider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        if (isWider) faults.push(`wider than the screen of ${screen.width}`);
      }
      expect(faults).toEqual([]);
    });
  });

  test('fit the narrowest phone', async () => {
    const page = await signedIn({ viewport: { width: 320, height: 568 } });
    const wide: string[] = [];
    for (const address of [...own, ...administration, consent()]) {
      await page.goto(new URL(address, server.url).href);
      if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) wide.push(address);
    }
    expect(wide).toEqual([]);
  });

  test('show all of a secret or a link on a phone', async () => {
    const page = await signedIn({ viewport: { width: 390, height: 844 } });
    await page.goto(`${server.url}/admin/users/1`);
    await page.getByRole('button', { name: 'Create a password link' }).click();
    const link = page.getByLabel('Send this only to');
    expect(await link.inputValue()).toStartWith(`${server.url}/password-link/`);
    const hidden = await link.evaluate((e) => [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight]);
    expect(hidden).toEqual([0, 0]);
    await link.press('Control+a');
    const selected = await page.evaluate(() => getSelection()?.toString());
    expect(selected).toBe(await link.inputValue());
  });

  test('need no script, and obey their own content security policy', async () => {
    const page = await signedIn();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    for (const address of [...own, ...administration, consent()]) {
      const response = await page.goto(new URL(address, server.url).href);
      expect(response?.status()).toBe(200);
      expect(await page.locator('script, [style], [onclick]').count()).toBe(0);
      expect(await page.locator('h1').count()).toBe(1);
    }
    expect(complaints).toEqual([]);
  });

  test('cannot be framed by other sites', async () => {
    const page = await signedIn();
    const other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () =>
        new Response(
          `<!doctype html><title>Elsewhere</title><iframe src="${consent().replaceAll('&', '&amp;')}"></iframe>`,
          {
            headers: { 'content-type': 'text/html' },
          },
        ),
    });
    try {
      await page.goto(`http://localhost:${other.port}/`);
      await page.waitForLoadState('networkidle');
      const framed = page.frames().filter((frame) => frame !== page.mainFrame());
      for (const frame of framed) expect(await frame.getByRole('button', { name: 'Allow' }).count()).toBe(0);
      expect(framed).toHaveLength(1);
    } finally {
      await other.stop(true);
    }
  });

  describe('of another site', () => {
    /** A page elsewhere that sends a form of ours as soon as it is opened. */
    const elsewhere = (action: string, fields: Record<string, string>) => {
      const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
      const form = `<form method="post" action="${action.replaceAll('&', '&amp;')}">${inputs.join('')}</form>`;
      return Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: () =>
          new Response(`<!doctype html><title>Elsewhere</title>${form}<script>document.forms[0].submit()</script>`, {
            headers: { 'content-type': 'text/html' },
          }),
      });
    };

    // `localhost` is another site than 127.0.0.1; another port of 127.0.0.1 is the same site, where cookies go along.
    for (const host of ['localhost', '127.0.0.1']) {
      test(`at ${host} cannot allow an app`, async () => {
        const page = await signedIn();
        const other = elsewhere(consent(), { decision: 'allow', user: '1' });
        try {
          const refusal = page.waitForResponse((response) => response.url().includes('/oauth/authorize'));
          await page.goto(`http://${host}:${other.port}/`);
          expect((await refusal).status()).toBe(403);
          await page.getByText('This form came from another site').waitFor();
        } finally {
          await other.stop(true);
        }
      });

      test(`at ${host} cannot create a user`, async () => {
        const page = await signedIn();
        const other = elsewhere(`${server.url}/admin/users/new`, { name: 'smuggled' });
        try {
          const refusal = page.waitForResponse((response) => response.url().endsWith('/admin/users/new'));
          await page.goto(`http://${host}:${other.port}/`);
          expect((await refusal).status()).toBe(403);
          const ada = await signedIn();
          await ada.goto(`${server.url}/admin/users`);
          expect(await ada.getByText('smuggled').count()).toBe(0);
        } finally {
          await other.stop(true);
        }
      });
    }

    test('cannot read the API with the cookie of its visitor', async () => {
      const page = await signedIn();
      const other = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: () =>
          new Response('<!doctype html><title>Elsewhere</title>', { headers: { 'content-type': 'text/html' } }),
      });
      try {
        await page.goto(`http://127.0.0.1:${other.port}/`);
        const seen = await page.evaluate(async (url) => {
          const withCookie = await fetch(url, { credentials: 'include' }).then(
            (response) => response.status,
            () => 'refused by the browser',
          );
          const without = await fetch(url).then((response) => response.status);
          return { withCookie, without };
        }, `${server.url}/api/users.php?action=me`);
        expect(seen).toEqual({ withCookie: 'refused by the browser', without: 401 });
      } finally {
        await other.stop(true);
      }
    });
  });

  test('let a page of ours call the API with the cookie', async () => {
    const page = await signedIn({ bypassCSP: true });
    await page.goto(`${server.url}/sessions`);
    const answer = await page.evaluate(async () => {
      const response = await fetch('/api/users.php?action=me');
      return (await response.json()) as { user: { name: string } };
    });
    expect(answer.user.name).toBe('ada');
  });

  test('can be used with the keyboard alone: sign in, make a token, allow an app', async () => {
    const page = await visit();
    const { keyboard } = page;
    /** Goes on with Tab until something with this name has the focus. */
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 60; presses++) {
        const focused = await page.evaluate(() => {
          const element = document.activeElement;
          const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : undefined;
          return (label ?? element?.textContent ?? '').trim();
        });
        if (focused === name) return;
        await keyboard.press('Tab');
      }
      throw new Error(`nothing named ${name} can be reached`);
    };
    await page.goto(`${server.url}/console/tokens`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await keyboard.type('ada');
    await keyboard.press('Tab');
    await keyboard.type(password);
    await keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Access tokens', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'New token' }).waitFor();
    await tabTo('New token');
    await keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Create an access token' }).waitFor();
    await keyboard.type('by hand');
    await tabTo('Read only');
    await keyboard.press('Space');
    await keyboard.press('Enter');
    const token = page.getByRole('textbox', { name: 'Access token' });
    await token.waitFor();
    expect(await token.inputValue()).toStartWith('pat_');

    const callback = new Callback();
    try {
      const request = newRequest(server.url, 'parley-cli', callback.address, 'messages:read');
      await page.goto(request.address);
      await tabTo('Allow');
      await keyboard.press('Enter');
      expect((await callback.arrived).searchParams.get('code')).toStartWith('oac_');
    } finally {
      await callback.stop();
    }
  });
});
