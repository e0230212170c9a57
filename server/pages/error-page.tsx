/** @jsxImportSource hono/jsx */
import { type ErrorCode, ParleyError } from '@parley/contract';
import { entriesFor, show } from './layout.tsx';
import type { PageContext } from './site.ts';

/** A link to continue at. */
interface PageLink {
  readonly href: string;
  readonly label: string;
}

/** An error whose page has its own title or link. */
export class PageError extends ParleyError {
  readonly title: string | undefined;
  readonly link: PageLink | undefined;

  constructor(code: ErrorCode, message: string, { title, link }: { title?: string; link?: PageLink }) {
    super(code, message);
    this.title = title;
    this.link = link;
  }
}

const titles: Readonly<Record<number, string>> = {
  403: 'This is not allowed',
  404: 'Page not found',
  409: 'This could not be done',
  429: 'Too many requests',
  500: 'Something went wrong',
  503: 'Temporarily unavailable',
};

/** Shows an error. The request ID of a server error leads to its log line. */
export function errorPage(c: PageContext, status: number, message: string, error?: unknown): Promise<Response> {
  const { title, link = linkBack(c) } = error instanceof PageError ? error : {};
  return show(
    c,
    { title: title ?? titles[status] ?? 'This did not work' },
    <div class="card">
      <p>{status === 500 ? 'Something went wrong on our side. Try again in a moment.' : message}</p>
      {status >= 500 && (
        <p class="muted">
          Request <code>{c.env.context.requestId}</code>
        </p>
      )}
      <p>
        <a href={link.href}>{link.label}</a>
      </p>
    </div>,
    status,
  );
}

/** Returns the section of the page if the user can see it, else the front page. */
function linkBack(c: PageContext): PageLink {
  const { own, administration } = entriesFor(c.var.who?.user);
  const section = [...own, ...administration].find(({ href }) => `${c.req.path}/`.startsWith(`${href}/`));
  return section
    ? { href: section.href, label: `Back to ${section.label}` }
    : { href: '/', label: 'Go to the front page' };
}

/** Returns the error for a form from another origin. It names the public URL if the user opened Parley at another one. */
export function foreignForm(publicUrl: URL | undefined, c: PageContext): ParleyError {
  const from = c.req.header('origin');
  const isElsewhere = from !== undefined && URL.canParse(from) && new URL(from).host === c.req.header('host');
  if (!publicUrl || !isElsewhere || from === publicUrl.origin) {
    return new ParleyError('forbidden', 'This form came from another site. Open the page here and send it again.');
  }
  const { origin } = publicUrl;
  const link = { href: `${origin}/`, label: `Go to ${origin}` };
  return new PageError('forbidden', `Parley runs at ${origin}. Open it there.`, { link });
}
