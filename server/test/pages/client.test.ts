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
    for (const path of ['/', '/chats/1', '/chats/1/2', '/m/3', '/search?q=x', '/browse', '/settings/profile']) {
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

  test('has the appearance that somebody chose in this browser, as all pages have', async () => {
    const rootOf = async (who: BrowserLike, path: string) => /<html[^>]*>/.exec((await who.get(path)).html)?.[0];
    const looks = new BrowserLike(server().url);
    await looks.signIn('ada', goodPassword);
    for (const path of ['/', '/settings', '/password']) expect(await rootOf(looks, path)).toBe('<html lang="en">');
    looks.cookies.set('parley_theme', 'dark');
    looks.cookies.set('parley_density', 'compact');
    for (const path of ['/', '/settings', '/password'])
      expect(await rootOf(looks, path)).toBe('<html lang="en" data-theme="dark" data-density="compact">');
    // Colours of the bar of the browser.
    expect((await looks.get('/')).html).toMatch(/media="not all" content="#f5f6f9".*media="all" content="#12151c"/);
    looks.cookies.set('parley_theme', 'sepia"><script>');
    expect(await rootOf(looks, '/')).toBe('<html lang="en" data-density="compact">');
    expect((await looks.get('/settings/nothing')).status).toBe(404);
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

  test('can be installed, and has a worker whose shell names nobody', async () => {
    const get = async (path: string) => {
      const response = await fetch(`${server().url}${path}`);
      const { headers } = response;
      return { response, kept: headers.get('cache-control'), type: headers.get('content-type') };
    };
    const { html, headers } = await ada.get('/');
    expect(headers.get('content-security-policy')).toContain("worker-src 'self'; manifest-src 'self'");
    const manifest = await get(/rel="manifest" href="([^"]+)"/.exec(html)?.[1] ?? '');
    expect([manifest.type, manifest.kept]).toEqual(['application/manifest+json', 'no-cache']);
    const { name, start_url, display, icons } = (await manifest.response.json()) as Record<string, unknown>;
    expect({ name, start_url, display }).toEqual({ name: 'Parley', start_url: '/', display: 'standalone' });
    for (const { src, sizes } of icons as { src: string; sizes: string }[]) {
      const icon = await get(src);
      expect([icon.type, icon.kept]).toEqual(['image/png', 'public, max-age=86400']);
      // Bytes 16 to 24 of a PNG are its width and its height.
      const header = new DataView(await icon.response.arrayBuffer());
      expect(`${header.getUint32(16)}x${header.getUint32(20)}`).toBe(sizes);
    }

    const worker = await get('/assets/worker.js');
    expect([worker.type, worker.kept]).toEqual(['text/javascript; charset=utf-8', 'no-cache']);
    expect(worker.response.headers.get('service-worker-allowed')).toBe('/');
    const [, shell = '{}'] = /^const parleyShell = (.+);/.exec(await worker.response.text()) ?? [];
    const { page, files } = JSON.parse(shell) as { page: string; files: string[] };
    for (const file of files) expect((await get(file)).response.status).toBe(200);
    const anonymous = await (await get(page)).response.text();
    expect(filesOf(anonymous)).toEqual(filesOf(html));
    expect(anonymous).not.toMatch(/data-(user|name|session|display|service|is-admin)/);
    expect((await ada.get(page)).html).toBe(anonymous);
    // Browsers would show it again at Back, with the chats of somebody who has signed out.
    expect((await get(page)).kept).toBe('no-store');
    expect((await get('/assets/shell/another')).response.status).toBe(404);
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

  // So does somebody else who signs in. The same person keeps everything.
  const [one, other] = [await person(server), await person(server)];
  const signIn = async (as: string) => (await browser.signIn(as, goodPassword)).headers.get('clear-site-data');
  expect([await signIn(one.name), await signIn(one.name), await signIn(other.name)]).toEqual([null, null, '"storage"']);
  await server.stop();
});
