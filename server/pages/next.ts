import type { Done } from './notices.tsx';
import type { PageContext } from './site.ts';

/** The page to continue at, always a path of ours. */

/** The page that asks for the password again. */
export const confirmPath = '/confirm-password';

/** Returns the path of a page that continues at `next`. */
export const withNext = (path: string, next: string): string =>
  next === '/' ? path : `${path}?next=${encodeURIComponent(next)}`;

/** Returns `next` if it is a path of ours, else the front page. */
export function localPath(origin: string, next: string | undefined): string {
  if (!next?.startsWith('/') || !URL.canParse(next, origin)) return '/';
  const url = new URL(next, origin);
  return url.origin === origin && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : '/';
}

/** Returns a page that continues at the requested page, or at the page of the form that was sent. `notice` says that it was not. */
export function detour(c: PageContext, page: string, notice: Done): string {
  if (c.req.method !== 'POST') {
    const { pathname, search } = new URL(c.req.url);
    return withNext(page, `${pathname}${search}`);
  }
  const path = withNext(page, formPage(c));
  return `${path}${path.includes('?') ? '&' : '?'}done=${notice}`;
}

/** Returns the page of the form by its Referer, without its notice, or the front page. */
export function formPage(c: PageContext): string {
  const { origin } = c.var;
  const referrer = c.req.header('referer') ?? '';
  if (!URL.canParse(referrer)) return '/';
  const url = new URL(referrer);
  if (url.origin !== origin) return '/';
  url.searchParams.delete('done');
  return localPath(origin, `${url.pathname}${url.search}`);
}
