/** @jsxImportSource hono/jsx */
import { type ClientBundle, clientBundle } from './client-bundle.ts';
import { type PageContext, requireSignedIn, type SignedIn, type Site, type SiteDeps } from './site.ts';

/** Paths of the web client. It reads the path itself. */
const paths = ['/chats/:chat', '/chats/:chat/:message', '/m/:message', '/search', '/threads', '/browse'];

/** Serves the page of the web client and its files. Returns a function that responds with the page. */
export function clientPages(site: Site, deps: SiteDeps): (c: PageContext, who: SignedIn) => Promise<Response> {
  const bundle = clientBundle();
  const open = async (c: PageContext, who: SignedIn) => clientPage(c, deps, await bundle(), who);
  for (const path of paths) site.get(path, (c) => open(c, requireSignedIn(c)));

  // A client that was loaded earlier finds out here that there is a newer one.
  site.get('/assets/client.json', async (c) => {
    const { scripts } = await bundle();
    return c.json({ scripts }, 200, { 'cache-control': 'no-cache' });
  });

  site.get('/assets/client/:file', async (c) => {
    const file = (await bundle()).files.get(c.req.param('file'));
    if (!file) return c.notFound();
    const isGzip = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '');
    return c.body(isGzip ? file.gzipped : file.bytes, 200, {
      'content-type': file.type,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(isGzip && { 'content-encoding': 'gzip' }),
    });
  });
  return open;
}

/** The client takes over all of it. The heading is for browsers without scripts. */
async function clientPage(
  c: PageContext,
  { version }: SiteDeps,
  { scripts, styles }: ClientBundle,
  { user, caller }: SignedIn,
): Promise<Response> {
  c.set('hasScript', true);
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>Parley</title>
        {styles.map((name) => (
          <link rel="stylesheet" href={`/assets/client/${name}`} />
        ))}
        {scripts.map((name) => (
          <script type="module" src={`/assets/client/${name}`} />
        ))}
        <link rel="icon" href="/assets/parley.svg" type="image/svg+xml" />
      </head>
      <body>
        <div
          id="app"
          data-user-id={user.user_id}
          data-name={user.name}
          data-display-name={user.display_name}
          data-is-admin={user.is_admin ? 'true' : 'false'}
          data-session={caller.tokenId}
          data-version={version}
        >
          <main class="loading">
            <h1>Parley</h1>
            <noscript>
              <p>
                Chats need JavaScript. <a href="/settings">Your account</a> works without.
              </p>
            </noscript>
          </main>
        </div>
      </body>
    </html>
  );
  return c.html(`<!doctype html>${await page}`);
}
