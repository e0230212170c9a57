/** @jsxImportSource hono/jsx */
import { type ErrorCode, errors, ParleyError } from '@parley/contract';
import { entriesFor, show } from './layout.tsx';
import { formPage, localPath } from './next.ts';
import type { PageContext } from './site.ts';
import { text } from './text/text.ts';

const words = text.errors;

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

/** Shows an error and the next step. The request ID of a server error leads to its log line. */
export function errorPage(c: PageContext, error: ParleyError): Promise<Response> {
  const { status } = errors[error.code];
  const { title, link = nextStep(c, status) } = error instanceof PageError ? error : {};
  return show(
    c,
    { title: title ?? words.titles[status] ?? words.otherTitle },
    <div class="card">
      <p>{messageFor(error, c.env.context.allowance?.retrySeconds)}</p>
      {status >= 500 && <p class="muted">{words.tellAdministrator(<code>{c.env.context.requestId}</code>)}</p>}
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
  if (code === 'internal') return words.internal;
  if (code === 'rate_limited') return words.rateLimited(text.common.wait(retrySeconds));
  // A dependency is away, such as the database. As a rule it comes back without anybody's help.
  if (code === 'unavailable' && cause !== undefined) return words.unavailable;
  return message;
}

/** Returns the link to try again, or where a person can go on instead. */
function nextStep(c: PageContext, status: number): PageLink {
  if (status !== 429 && status < 500) return linkBack(c);
  if (c.req.method !== 'POST') {
    const { pathname, search } = new URL(c.req.url);
    return { href: localPath(c.var.origin, `${pathname}${search}`), label: text.common.tryAgain };
  }
  const form = formPage(c);
  return form === '/' ? linkBack(c) : { href: form, label: words.backToForm };
}

/** Returns the section of the page if the user can see it, else the front page. */
function linkBack(c: PageContext): PageLink {
  const { own, administration } = entriesFor(c.var.who?.user);
  const section = [...own, ...administration].find(({ href }) => `${c.req.path}/`.startsWith(`${href}/`));
  const isThere = section?.href === c.req.path && c.req.method === 'GET';
  return section && !isThere ? { href: section.href, label: words.backTo(section.label) } : frontPage(c);
}

/** Returns the link to the front page, under the name that it has for this visitor. */
export const frontPage = (c: PageContext): PageLink =>
  c.var.who ? { href: '/', label: text.common.goToChats } : { href: '/sign-in', label: text.common.signIn };

/** Returns the error for a form from another origin. It names the public URL if the user opened Parley at another one. */
export function foreignForm(publicUrl: URL | undefined, c: PageContext): ParleyError {
  const from = c.req.header('origin');
  const isElsewhere = from !== undefined && URL.canParse(from) && new URL(from).host === c.req.header('host');
  if (!publicUrl || !isElsewhere || from === publicUrl.origin) {
    return new ParleyError('forbidden', words.foreignForm);
  }
  const { origin } = publicUrl;
  const link = { href: `${origin}/`, label: words.goTo(origin) };
  return new PageError('forbidden', words.runsAt(origin), { link });
}
