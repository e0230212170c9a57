/** @jsxImportSource hono/jsx */
import { type ErrorCode, errors, ParleyError } from '@parley/contract';
import { entriesFor, show } from './layout.tsx';
import { formPage, localPath } from './next.ts';
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
  503: 'This does not work right now',
};

/** Shows an error and the next step. The request ID of a server error leads to its log line. */
export function errorPage(c: PageContext, error: ParleyError): Promise<Response> {
  const { status } = errors[error.code];
  const { title, link = nextStep(c, status) } = error instanceof PageError ? error : {};
  return show(
    c,
    { title: title ?? titles[status] ?? 'This did not work' },
    <div class="card">
      <p>{messageFor(error, c.env.context.allowance?.retrySeconds)}</p>
      {status >= 500 && (
        <p class="muted">
          If it still does not work in a few minutes, tell an administrator, with this code:{' '}
          <code>{c.env.context.requestId}</code>
        </p>
      )}
      <p>
        <a href={link.href} class="button">
          {link.label}
        </a>
      </p>
    </div>,
    status,
  );
}

/** Returns the message of an error for a page: without words from inside the server. */
export function messageFor({ code, message, cause }: ParleyError, retrySeconds = 1): string {
  if (code === 'internal') return 'This is our fault, not yours. Try again in a moment.';
  if (code === 'rate_limited')
    return `Too many requests came from your browser or your network. Try again in ${waitInWords(retrySeconds)}.`;
  // A dependency is away, such as the database. As a rule it comes back without anybody's help.
  if (code === 'unavailable' && cause !== undefined) return 'The server is busy or restarting. Try again in a moment.';
  return message;
}

export const waitInWords = (seconds: number): string =>
  seconds < 90 ? `${seconds} ${seconds === 1 ? 'second' : 'seconds'}` : `${Math.ceil(seconds / 60)} minutes`;

/** Returns the link to try again, or where a person can go on instead. */
function nextStep(c: PageContext, status: number): PageLink {
  if (status !== 429 && status < 500) return linkBack(c);
  if (c.req.method !== 'POST') {
    const { pathname, search } = new URL(c.req.url);
    return { href: localPath(c.var.origin, `${pathname}${search}`), label: 'Try again' };
  }
  const form = formPage(c);
  return form === '/' ? linkBack(c) : { href: form, label: 'Back to the form' };
}

/** Returns the section of the page if the user can see it, else the front page. */
function linkBack(c: PageContext): PageLink {
  const { own, administration } = entriesFor(c.var.who?.user);
  const section = [...own, ...administration].find(({ href }) => `${c.req.path}/`.startsWith(`${href}/`));
  const isThere = section?.href === c.req.path && c.req.method === 'GET';
  return section && !isThere ? { href: section.href, label: `Back to ${section.label}` } : frontPage(c);
}

/** Returns the link to the front page, under the name that it has for this visitor. */
export const frontPage = (c: PageContext): PageLink =>
  c.var.who ? { href: '/', label: 'Go to your chats' } : { href: '/sign-in', label: 'Sign in' };

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
