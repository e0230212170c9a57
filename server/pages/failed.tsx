/** @jsxImportSource hono/jsx */
import { ParleyError } from '@parley/contract';
import { entriesFor } from './layout.tsx';
import { PageRefusal, type Way } from './refusal.tsx';
import type { PageContext } from './site.tsx';

/** What people see where something did not work. */

const titles: Readonly<Record<number, string>> = {
  403: 'This is not allowed',
  404: 'There is nothing here',
  409: 'This does not fit',
  429: 'Too many attempts',
  503: 'Not available at the moment',
};
export const titleOf = (status: number): string =>
  titles[status] ?? (status >= 500 ? 'Something went wrong' : 'This did not work');

/** The section that a page belongs to, where whoever looks can see it; else the front page. */
export function wayBack(c: PageContext): Way {
  const { own, administration } = c.var.who ? entriesFor(c.var.who.user) : { own: [], administration: [] };
  const section = [...own, ...administration].find(({ href }) => `${c.req.path}/`.startsWith(`${href}/`));
  return section
    ? { href: section.href, words: `Back to ${section.label}` }
    : { href: '/', words: 'Go to the front page' };
}

/** Why a form is not taken. Where it came from a page of ours at another address than the public one, it says which that is. */
export function notOurForm(publicUrl: URL | undefined, c: PageContext): ParleyError {
  const from = c.req.header('origin');
  const isElsewhere = from !== undefined && URL.canParse(from) && new URL(from).host === c.req.header('host');
  if (!publicUrl || !isElsewhere || from === publicUrl.origin) {
    return new ParleyError(
      'forbidden',
      'This form was not sent from a page of ours. Open the page here, and send it again.',
    );
  }
  const { origin } = publicUrl;
  const way = { href: `${origin}/`, words: `Go to ${origin}` };
  return new PageRefusal('forbidden', `Parley is used at ${origin}. Open it there.`, { way });
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
