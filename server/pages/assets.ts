import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { clientBundle } from './client-bundle.ts';
import apple180 from './icons/apple-180.png' with { type: 'file' };
import maskable512 from './icons/maskable-512.png' with { type: 'file' };
import plain192 from './icons/plain-192.png' with { type: 'file' };
import plain512 from './icons/plain-512.png' with { type: 'file' };
import icon from './parley.svg' with { type: 'text' };
import type { Site } from './site.ts';
import style from './style.css' with { type: 'text' };

/** The script that deletes what the web client keeps in the browser: `web/forget.ts`. */
export const forgetPath = '/assets/forget.js';

/**
 * Reads the choices of this browser before the first paint, on the page that the service worker keeps: the server cannot write
 * them into that one.
 */
const appearanceScript = `for (const [, look, value] of document.cookie.matchAll(/\\bparley_(theme|density)=(light|dark|compact)\\b/g)) {
  document.documentElement.dataset[look] = value;
}
`;

/** The paths change with the content, so browsers may cache it for ever. */
function hashOf(...contents: readonly (string | Uint8Array)[]): string {
  const hasher = new Bun.CryptoHasher('sha256');
  for (const content of contents) hasher.update(content);
  return hasher.digest('hex').slice(0, 12);
}

export const stylePath = `/assets/${hashOf(style)}.css`;
export const appearancePath = `/assets/appearance-${hashOf(appearanceScript)}.js`;

/** The icon with a mark for unread messages. */
const unreadIcon = icon.replace('</svg>', '<circle cx="26" cy="6" r="6" fill="#e5484d"/></svg>');
export const unreadIconPath = '/assets/parley-unread.svg';

/** The path of an imported file is absolute, or, in a bundle, relative to this module. */
const fileOf = (imported: string): string => resolve(import.meta.dir, imported);

/** `server/test/support/draw-icons.ts` draws them from parley.svg. */
const icons = { '192': plain192, '512': plain512, 'maskable-512': maskable512, 'apple-180': apple180 } as const;
export const iconPath = (name: keyof typeof icons): string => `/assets/icon-${name}.png`;

/** The files that the web client shows without a connection, beside its own. */
const shownByClient = {
  [appearancePath]: appearanceScript,
  '/assets/parley.svg': icon,
  [unreadIconPath]: unreadIcon,
  [iconPath('192')]: readFileSync(fileOf(plain192)),
};
export const clientAssets: readonly string[] = Object.keys(shownByClient);
export const clientAssetsHash = hashOf(...Object.values(shownByClient));

export function assetPages(site: Site): void {
  const headers = (type: string, maxAge: number) => ({
    'content-type': type,
    'cache-control': `public, max-age=${maxAge}`,
  });
  site.get(stylePath, (c) => c.body(style, 200, headers('text/css; charset=utf-8', 31_536_000)));
  const script = 'text/javascript; charset=utf-8';
  site.get(appearancePath, (c) => c.body(appearanceScript, 200, headers(script, 31_536_000)));
  const bundle = clientBundle();
  site.get(forgetPath, async (c) =>
    c.body((await bundle()).forget, 200, { 'content-type': script, 'cache-control': 'no-cache' }),
  );
  for (const [path, svg] of [
    ['/assets/parley.svg', icon],
    [unreadIconPath, unreadIcon],
  ] as const)
    site.get(path, (c) => c.body(svg, 200, headers('image/svg+xml', 86_400)));
  for (const [name, file] of Object.entries(icons)) {
    const path = iconPath(name as keyof typeof icons);
    site.get(path, async (c) => c.body(await Bun.file(fileOf(file)).arrayBuffer(), 200, headers('image/png', 86_400)));
  }
}
