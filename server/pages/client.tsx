/** @jsxImportSource hono/jsx */
import { readService } from '../store/access/service.ts';
import { appearanceOf } from './appearance.ts';
import { appearancePath, clientAssets, clientAssetsHash, iconPath, unreadIconPath } from './assets.ts';
import { type ClientBundle, clientBundle } from './client-bundle.ts';
import { type PageContext, requireSignedIn, type SignedIn, type Site, type SiteDeps } from './site.ts';
import { text } from './text/text.ts';

/** Paths of the web client. It reads the path itself. */
const paths = [
  '/chats/:chat',
  '/chats/:chat/:message',
  '/m/:message',
  '/search',
  '/threads',
  '/browse',
  '/settings/:section{profile|appearance|notifications|service}',
  '/docs',
  '/docs/:operation',
  '/docs/guides/:guide',
  '/console',
  '/console/webhooks',
  '/console/webhooks/:webhook',
  '/console/events',
  '/console/signatures',
  '/console/tokens',
  '/console/bots',
  '/console/bots/:bot',
  '/console/apps',
  '/console/apps/:app',
  '/console/:page{overview|people|storage|chats|audit|service}',
];

/** The colours of the bar of a browser: `--ground` of `web/ui/tokens.css`. */
const grounds = { light: '#f5f6f9', dark: '#12151c' } as const;

const manifestPath = '/assets/parley.webmanifest';

/** Serves the page of the web client and its files. Returns a function that responds with the page. */
export function clientPages(site: Site, deps: SiteDeps): (c: PageContext, who: SignedIn) => Promise<Response> {
  const bundle = clientBundle();
  const open = async (c: PageContext, who: SignedIn) => {
    c.set('hasScript', true);
    const { serviceName } = c.var;
    return c.html(await clientPage(await bundle(), { ...who, serviceName, appearance: appearanceOf(c) }));
  };
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

  // Anybody gets the same page, so the worker of one person can never show it to another with something of theirs.
  site.get('/assets/shell/:version', async (c) => {
    const { version, html } = await shellOf(await bundle());
    if (c.req.param('version') !== version) return c.notFound();
    c.set('hasScript', true);
    // The client fills it with what is private. With `no-store`, browsers do not show it again at Back. Workers can still store it.
    c.header('cache-control', 'no-store');
    return c.html(html);
  });

  // Browsers load the worker again at each start. One that differs in a byte replaces the worker.
  site.get('/assets/worker.js', async (c) => {
    const built = await bundle();
    const { version } = await shellOf(built);
    const offline = [...built.files].filter(([, { isOffline }]) => isOffline);
    const files = offline.map(([name]) => `/assets/client/${name}`);
    const shell = { version, page: `/assets/shell/${version}`, files: [...files, ...clientAssets] };
    return c.body(`const parleyShell = ${JSON.stringify(shell)};\n${built.worker}`, 200, {
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'no-cache',
      'service-worker-allowed': '/',
    });
  });

  site.get(manifestPath, async (c) => {
    const { name } = await readService(deps.services.engine);
    return c.body(JSON.stringify(manifestOf(name)), 200, {
      'content-type': 'application/manifest+json',
      'cache-control': 'no-cache',
    });
  });
  return open;
}

const manifestOf = (name: string) => ({
  name,
  short_name: name,
  id: '/',
  start_url: '/',
  scope: '/',
  display: 'standalone',
  background_color: grounds.light,
  theme_color: grounds.light,
  icons: [
    { src: iconPath('192'), sizes: '192x192', type: 'image/png' },
    { src: iconPath('512'), sizes: '512x512', type: 'image/png' },
    { src: iconPath('maskable-512'), sizes: '512x512', type: 'image/png', purpose: 'maskable' },
  ],
});

/** Returns when the colour of a scheme is that of the bar. `web/appearance.ts` changes it. */
const barMedia = (scheme: 'light' | 'dark', theme: string | undefined): string =>
  theme === undefined ? `(prefers-color-scheme: ${scheme})` : theme === scheme ? 'all' : 'not all';

/** Returns the page without a person, and a name that changes with it and with any file. */
async function shellOf(bundle: ClientBundle): Promise<{ version: string; html: string }> {
  const html = await clientPage(bundle);
  const names = [...bundle.files.keys(), clientAssetsHash];
  const hash = new Bun.CryptoHasher('sha256').update(html).update(names.join()).digest('hex').slice(0, 16);
  return { version: hash, html };
}

/** Returns the page of the client, which replaces all of the body. The heading is for browsers without scripts. */
async function clientPage(
  { scripts, styles }: ClientBundle,
  who?: Pick<SignedIn, 'user' | 'caller'> & {
    readonly serviceName: string;
    readonly appearance: Readonly<Record<string, string>>;
  },
): Promise<string> {
  const theme = who?.appearance['data-theme'];
  const person = who && {
    'data-user-id': who.user.user_id,
    'data-name': who.user.name,
    'data-display-name': who.user.display_name,
    'data-is-admin': who.user.is_admin ? 'true' : 'false',
    'data-service': who.serviceName,
    'data-session': who.caller.tokenId,
  };
  const page = (
    <html lang={text.language} {...who?.appearance}>
      <head>
        <meta charset="utf-8" />
        <meta
          name="viewport"
          content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content"
        />
        <meta name="color-scheme" content="light dark" />
        {(['light', 'dark'] as const).map((scheme) => (
          <meta name="theme-color" media={barMedia(scheme, theme)} content={grounds[scheme]} data-scheme={scheme} />
        ))}
        <meta name="robots" content="noindex" />
        <title>Parley</title>
        {!who && <script src={appearancePath} />}
        {styles.map((name) => (
          <link rel="stylesheet" href={`/assets/client/${name}`} />
        ))}
        {scripts.map((name) => (
          <script type="module" src={`/assets/client/${name}`} />
        ))}
        <link rel="icon" href="/assets/parley.svg" type="image/svg+xml" data-unread={unreadIconPath} />
        <link rel="apple-touch-icon" href={iconPath('apple-180')} />
        <link rel="manifest" href={manifestPath} />
      </head>
      <body>
        <div id="app" {...person}>
          <main class="loading">
            <h1>Parley</h1>
            <noscript>
              <p>
                {text.client.noScript((words) => (
                  <a href="/settings">{words}</a>
                ))}
              </p>
            </noscript>
          </main>
        </div>
      </body>
    </html>
  );
  return `<!doctype html>${await page}`;
}
