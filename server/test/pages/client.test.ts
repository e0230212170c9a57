import { beforeAll, describe, expect, test } from 'bun:test';
import { BrowserLike, goodPassword, person } from '../support/browser-like.ts';
import { freshEnvironment } from '../support/engines.ts';
import { serverFor, startServer } from '../support/server.ts';

/** The first load may have so many bytes of script, compressed. */
const maxScript = 100_000;

describe('the page of the web client', () => {
  const server = serverFor('sqlite');
  const browser = () => new BrowserLike(server().url);
  let ada: BrowserLike;
  beforeAll(async () => {
    await person(server(), { name: 'root', admin: true });
    const { name } = await person(server(), { name: 'ada' });
    ada = browser();
    await ada.signIn(name, goodPassword);
  });
  const filesOf = (html: string) =>
    [...html.matchAll(/(?:src|href)="(\/assets\/client\/[^"]+)"/g)].map(([, path]) => path);

  test('is at the front and at the URLs of chats and messages, for signed-in people', async () => {
    for (const path of ['/', '/chats/1', '/chats/1/2', '/m/3', '/search?q=x', '/browse']) {
      const { status, html, headers } = await ada.get(path);
      expect({ path, status, client: html.includes('<div id="app"') }).toEqual({ path, status: 200, client: true });
      expect(html).toContain('data-name="ada"');
      expect(headers.get('content-security-policy')).toStartWith(
        "default-src 'none'; style-src 'self'; script-src 'self'",
      );
    }
    const { status, location } = await browser().get('/chats/1?x=1');
    expect({ status, location }).toEqual({ status: 303, location: '/sign-in?next=%2Fchats%2F1%3Fx%3D1' });
  });

  test('loads files that browsers cache for ever, compressed, and few enough', async () => {
    const { html } = await ada.get('/');
    const paths = filesOf(html);
    expect(paths.map((path) => path?.replace(/^.*\./, '')).sort()).toEqual(['css', 'js']);
    for (const path of paths) {
      const response = await fetch(`${server().url}${path}`, {
        headers: { 'accept-encoding': 'gzip' },
        decompress: false,
      });
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(response.headers.get('content-encoding')).toBe('gzip');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      const compressed = await response.bytes();
      if (path?.endsWith('.js')) expect(compressed.length).toBeLessThan(maxScript);
      const plain = await fetch(`${server().url}${path}`, { headers: { 'accept-encoding': 'identity' } });
      expect(plain.headers.get('content-encoding')).toBeNull();
      expect(await plain.bytes()).toEqual(Bun.gunzipSync(compressed));
    }
    expect((await ada.get('/assets/client/main-gone.js')).status).toBe(404);
    expect((await ada.get('/assets/client/%2e%2e%2fbuild.ts')).status).toBe(404);
  });

  test('names its scripts where an older page of it looks for a newer one', async () => {
    const response = await fetch(`${server().url}/assets/client.json`);
    const { scripts } = (await response.json()) as { scripts: string[] };
    expect(filesOf((await ada.get('/')).html)).toContain(`/assets/client/${scripts[0]}`);
    expect(response.headers.get('cache-control')).toBe('no-cache');
  });
});

test('signing out and a new password delete what the browser keeps', async () => {
  const server = await startServer(await freshEnvironment('sqlite'));
  const { name } = await person(server, { admin: true });
  const browser = new BrowserLike(server.url);
  await browser.signIn(name, goodPassword);
  const session = async () => /data-session="(\d+)"/.exec((await browser.get('/')).html)?.[1];
  const before = await session();
  const form = { current: goodPassword, password: `${goodPassword}!`, again: `${goodPassword}!` };
  const changed = await browser.post('/password', form);
  expect([changed.status, changed.headers.get('clear-site-data')]).toEqual([200, '"storage"']);
  expect(before).toBeDefined();
  expect(await session()).not.toBe(before);
  expect((await browser.post('/sign-out')).headers.get('clear-site-data')).toBe('"storage"');
  await server.stop();
});
