import icon from './parley.svg' with { type: 'text' };
import type { Site } from './site.ts';
import style from './style.css' with { type: 'text' };

/** The path changes with the content, so browsers may cache it for ever. */
export const stylePath = `/assets/${new Bun.CryptoHasher('sha256').update(style).digest('hex').slice(0, 12)}.css`;

export function assetPages(site: Site): void {
  const headers = (type: string, maxAge: number) => ({
    'content-type': type,
    'cache-control': `public, max-age=${maxAge}`,
  });
  site.get(stylePath, (c) => c.body(style, 200, headers('text/css; charset=utf-8', 31_536_000)));
  site.get('/assets/parley.svg', (c) => c.body(icon, 200, headers('image/svg+xml', 86_400)));
}
