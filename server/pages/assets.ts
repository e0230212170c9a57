import icon from './parley.svg' with { type: 'text' };
import type { Site } from './site.ts';
import style from './style.css' with { type: 'text' };

/** Deletes what the web client keeps in the browser. `web/store/database.ts` names its databases. */
const forgetScript = `for (const { name } of await indexedDB.databases()) {
  if (name?.startsWith('parley-')) indexedDB.deleteDatabase(name);
}
`;

/** The paths change with the content, so browsers may cache it for ever. */
const hashOf = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 12);
export const stylePath = `/assets/${hashOf(style)}.css`;
export const forgetPath = `/assets/${hashOf(forgetScript)}.js`;

export function assetPages(site: Site): void {
  const headers = (type: string, maxAge: number) => ({
    'content-type': type,
    'cache-control': `public, max-age=${maxAge}`,
  });
  site.get(stylePath, (c) => c.body(style, 200, headers('text/css; charset=utf-8', 31_536_000)));
  site.get(forgetPath, (c) => c.body(forgetScript, 200, headers('text/javascript; charset=utf-8', 31_536_000)));
  site.get('/assets/parley.svg', (c) => c.body(icon, 200, headers('image/svg+xml', 86_400)));
}
