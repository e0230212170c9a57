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

/** Where somebody who had to sign in first goes on: a page again, but a form not. */
export const whereTo = (c: PageContext): string => {
  const { pathname, search } = new URL(c.req.url);
  return c.req.method === 'GET' ? `${pathname}${search}` : '/';
};
