import { readCookie } from '../http/cookies.ts';
import type { PageContext } from './site.ts';

/** The choices of a browser, other than the default. `web/appearance.ts` writes the cookies. */
const looks = { theme: ['light', 'dark'], density: ['compact'] } as const;

/**
 * Returns the choices of a browser, as attributes of the root element. They are in the page itself, so that its first paint has
 * them, without a script.
 */
export function appearanceOf(c: PageContext): Readonly<Record<string, string>> {
  const cookies = c.req.header('cookie') ?? null;
  const chosen = Object.entries(looks).flatMap(([look, values]) => {
    const value = readCookie(cookies, `parley_${look}`);
    return values.filter((known) => known === value).map((known) => [`data-${look}`, known] as const);
  });
  return Object.fromEntries(chosen);
}
