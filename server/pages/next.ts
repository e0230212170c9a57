import type { Done } from './notices.tsx';
import type { PageContext } from './site.tsx';

/** Where somebody goes on to when a page is done: always a path of ours. */

/** The address of a page that leads on to another when it is done. */
export const withNext = (path: string, next: string): string =>
  next === '/' ? path : `${path}?next=${encodeURIComponent(next)}`;

/** A path of ours to go on to, out of what a query or a form names; anything else is the front page. */
export function localPath(origin: string, next: string | undefined): string {
  if (!next?.startsWith('/') || !URL.canParse(next, origin)) return '/';
  const url = new URL(next, origin);
  return url.origin === origin && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : '/';
}

/** Where somebody signs in first, and then goes on: to the page that was asked for, or the one with the form that was sent. */
export function signInFirst(c: PageContext): string {
  if (c.req.method !== 'POST') {
    const { pathname, search } = new URL(c.req.url);
    return withNext('/sign-in', `${pathname}${search}`);
  }
  const path = withNext('/sign-in', formPage(c));
  return `${path}${path.includes('?') ? '&' : '?'}done=${'signed-out' satisfies Done}`;
}

/** The page that a form was sent from, as browsers tell it. What it said to have been done is not said again. */
function formPage(c: PageContext): string {
  const { origin } = c.var;
  const referrer = c.req.header('referer') ?? '';
  if (!URL.canParse(referrer)) return '/';
  const url = new URL(referrer);
  if (url.origin !== origin) return '/';
  url.searchParams.delete('done');
  return localPath(origin, `${url.pathname}${url.search}`);
}
