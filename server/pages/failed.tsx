/** @jsxImportSource hono/jsx */
import { ParleyError } from '@parley/contract';
import { entriesFor } from './layout.tsx';
import { PageRefusal, type Way } from './refusal.tsx';
import type { PageContext } from './site.tsx';

/** The error page. */

const titles: Readonly<Record<number, string>> = {
  403: 'This is not allowed',
  404: 'Page not found',
  409: 'This could not be done',
  429: 'Too many requests',
  503: 'Temporarily unavailable',
};
export const titleOf = (status: number): string =>
  titles[status] ?? (status >= 500 ? 'Something went wrong' : 'This did not work');

/** Returns the section of the page if the user can see it, else the front page. */
export function wayBack(c: PageContext): Way {
  const { own, administration } = c.var.who ? entriesFor(c.var.who.user) : { own: [], administration: [] };
  const section = [...own, ...administration].find(({ href }) => `${c.req.path}/`.startsWith(`${href}/`));
  return section
    ? { href: section.href, words: `Back to ${section.label}` }
    : { href: '/', words: 'Go to the front page' };
}

/** The error for a form from another origin. It names the public URL if the user opened Parley at another one. */
export function notOurForm(publicUrl: URL | undefined, c: PageContext): ParleyError {
  const from = c.req.header('origin');
  const isElsewhere = from !== undefined && URL.canParse(from) && new URL(from).host === c.req.header('host');
  if (!publicUrl || !isElsewhere || from === publicUrl.origin) {
    return new ParleyError('forbidden', 'This form came from another site. Open the page here and send it again.');
  }
  const { origin } = publicUrl;
  const way = { href: `${origin}/`, words: `Go to ${origin}` };
  return new PageRefusal('forbidden', `Parley runs at ${origin}. Open it there.`, { way });
}

export function Failed({ message, request, way }: { message: string; request?: string | undefined; way: Way }) {
  return (
    <div class="card">
      <p>{message}</p>
      {request && (
        <p class="muted">
          Request <code>{request}</code>
        </p>
      )}
      <p>
        <a href={way.href}>{way.words}</a>
      </p>
    </div>
  );
}
