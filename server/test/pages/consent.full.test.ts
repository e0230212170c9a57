import { expect, test } from 'bun:test';
import { goodPassword, person } from '../support/browser-like.ts';
import { inChromium, visitors } from '../support/chromium.ts';
import { Client } from '../support/client.ts';
import { authorizationRequest, newApp, newPkce } from '../support/oauth.ts';
import { serverFor } from '../support/server.ts';

inChromium('the consent page in a browser', () => {
  const server = serverFor('sqlite', { PARLEY_SIGN_IN_LIMIT: 'off' });
  const visit = visitors();

  test('redirects to an app that redirects again, and keeps window.opener', async () => {
    // Each hop is another origin, as far as a browser is concerned.
    using end = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => html('<h1>The app</h1>') });
    using app = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request) => {
        const { pathname, search } = new URL(request.url);
        if (pathname === '/callback') return Response.redirect(`http://localhost:${end.port}/${search}`, 302);
        return html('<a href="/go">Open</a>');
      },
    });
    const callback = `http://127.0.0.1:${app.port}/callback`;
    const bob = await person(server(), { name: 'bob' });
    const owner = new Client(server().url, '', bob.user_id);
    const registered = await newApp(server(), owner, { redirects: [callback] });
    const ask = `${server().url}/oauth/authorize?${authorizationRequest(registered, newPkce())}`;

    const opener = await visit();
    await opener.goto(`http://127.0.0.1:${app.port}/`);
    const opened = opener.waitForEvent('popup');
    await opener.evaluate((url) => void window.open(url, 'consent', 'width=500,height=700'), ask);
    const page = await opened;
    await page.fill('#name', 'bob');
    await page.fill('#password', goodPassword);
    await page.press('#password', 'Enter');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(`http://localhost:${end.port}/**`);
    expect(new URL(page.url()).searchParams.get('code')).toStartWith('oac_');
    expect(await page.evaluate(() => window.opener !== null)).toBe(true);
  });
});

const html = (body: string) => new Response(body, { headers: { 'content-type': 'text/html' } });
