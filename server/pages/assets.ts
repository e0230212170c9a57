import lists from './lists.css' with { type: 'text' };
import icon from './parley.svg' with { type: 'text' };
import type { Site } from './site.tsx';
import style from './style.css' with { type: 'text' };

const styles = `${style}\n${lists}`;

/** The path changes with the content, so browsers may cache it for ever. */
export const stylePath = `/assets/${new Bun.CryptoHasher('sha256').update(styles).digest('hex').slice(0, 12)}.css`;

export function assetPages(site: Site): void {
  const kept = (type: string, seconds: number) => ({
    'content-type': type,
    'cache-control': `public, max-age=${seconds}`,
  });
  site.get(stylePath, (c) => c.body(styles, 200, kept('text/css; charset=utf-8', 31_536_000)));
  site.get('/assets/parley.svg', (c) => c.body(icon, 200, kept('image/svg+xml', 86_400)));
}
