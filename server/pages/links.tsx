/** @jsxImportSource hono/jsx */
import { ParleyError } from '@parley/contract';
import type { Child } from 'hono/jsx';
import { checkLink } from '../auth/links.ts';
import type { LinkKind, LinkRow } from '../store/access/links.ts';
import { frontPage } from './error-page.tsx';
import { show } from './layout.tsx';
import { Notice } from './parts.tsx';
import type { PageContext, SiteDeps } from './site.ts';
import { text } from './text/text.ts';

/** A kind of links, and the page of one that does not work. */
export interface LinkPages {
  readonly kind: LinkKind;
  readonly title: string;
  readonly why: Child;
}

/** Serves a page of a link. Shows that the link does not work if it is unknown, or if `serve` throws `not_found`. */
export async function withLink(
  c: PageContext,
  { services }: SiteDeps,
  pages: LinkPages,
  serve: (secret: string, link: LinkRow) => Promise<Response>,
): Promise<Response> {
  const secret = c.req.param('secret') ?? '';
  const link = await checkLink(services, pages.kind, secret);
  try {
    if (link) return await serve(secret, link);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'not_found') throw error;
  }
  return brokenLink(c, pages);
}

/** After a double click people see only the second response, so a POST says that the first one may have worked. */
function brokenLink(c: PageContext, { title, why }: LinkPages): Promise<Response> {
  const wasSent = c.req.method === 'POST';
  const { href, label } = frontPage(c);
  return show(
    c,
    { title, plain: true },
    <>
      {wasSent && <Notice kind="good">{text.links.workedFirst({ isSignedIn: c.var.who !== undefined })}</Notice>}
      <div class="card">
        {why}
        <p>
          <a href={href} class="button">
            {label}
          </a>
        </p>
      </div>
    </>,
    404,
  );
}
