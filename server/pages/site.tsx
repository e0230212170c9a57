/** @jsxImportSource hono/jsx */
import { errors, ParleyError, type UserId } from '@parley/contract';
import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import type { SignUpPolicy } from '../auth/arrivals.ts';
import type { Actor } from '../auth/audit.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import type { Caller } from '../auth/caller.ts';
import type { OAuth } from '../auth/oauth/oauth.ts';
import type { SignInServices } from '../auth/services.ts';
import { type Session, sessionMs } from '../auth/sessions.ts';
import type { Source } from '../auth/sign-in.ts';
import { limitKey } from '../http/address.ts';
import { asParleyError, failure } from '../http/answer.ts';
import { type Connections, hasUnreadBody } from '../http/api.ts';
import { cookieNames, readCookie, writeCookie } from '../http/cookies.ts';
import { isSameOrigin, originOf } from '../http/origin.ts';
import type { Handlers, Services } from '../operations/operation.ts';
import { findUser, type UserRow } from '../store/users.ts';
import { type Form, readForm } from './form.ts';
import { Layout } from './layout.tsx';

/** What the pages need from the process around them. */
export interface SiteParts {
  readonly services: Services & SignInServices;
  readonly handlers: Handlers;
  readonly authenticator: Authenticator;
  readonly oauth: OAuth;
  readonly publicUrl: URL | undefined;
  readonly signUp: SignUpPolicy;
  readonly version: string;
  readonly requestId: () => string;
  readonly addressOf: (request: Request, connections: Connections) => string;
  /** The service has its first administrator: nobody else is to become one by the link. */
  readonly setUpDone: () => void;
  /** Notes a fault of ours, which nobody outside is told the cause of. */
  readonly fault: (requestId: string, path: string, cause: unknown) => void;
}

/** Whoever looks at a page. */
export interface SignedIn {
  readonly user: UserRow;
  readonly caller: Caller;
  readonly actor: Actor & { readonly userId: UserId };
}

export interface Env {
  Bindings: Connections;
  Variables: {
    readonly requestId: string;
    readonly address: string;
    readonly origin: string;
    who: SignedIn | undefined;
    /** Where a form on this page may lead beside ourselves, in the end. */
    formTargets: readonly string[];
  };
}

export type PageContext = Context<Env>;
export type Site = Hono<Env>;

/** The pages, in the frame that all of them share: who looks, protection against other sites, faults. */
export function buildSite(parts: SiteParts, register: (site: Site) => void): Site {
  const site = new Hono<Env>();
  const isHttps = parts.publicUrl?.protocol === 'https:';
  const names = cookieNames(isHttps);

  site.use(async (c, next) => {
    c.set('requestId', parts.requestId());
    c.set('address', parts.addressOf(c.req.raw, c.env));
    c.set('origin', originOf(parts.publicUrl, c.req.raw));
    c.set('formTargets', []);
    // The style comes even where the database is away, so that the page that says so can be read.
    if (!c.req.path.startsWith('/assets/')) c.set('who', await whoIs(parts, c, cookie(c, names.session)));
    if (c.req.method === 'POST' && !isSameOrigin(parts.publicUrl, c.req.raw)) {
      throw new ParleyError(
        'forbidden',
        'This form was not sent from a page of ours. Open the page here, and send it again.',
      );
    }
    await next();
    protect(c, isHttps);
    if (hasUnreadBody(c.req.raw)) c.header('connection', 'close');
  });

  site.onError((thrown, c) => {
    const error = asParleyError(thrown);
    const { status } = errors[error.code];
    if (status >= 500) parts.fault(c.var.requestId, c.req.path, error.cause ?? thrown);
    // Also where the frame itself refuses, and the rest of it is not reached.
    protect(c, isHttps);
    if (hasUnreadBody(c.req.raw, error)) c.header('connection', 'close');
    if (thrown instanceof SignInNeeded) return c.redirect(withNext('/sign-in', whereTo(c)), 303);
    if (error.code === 'unavailable') c.header('retry-after', '1');
    return show(
      c,
      { title: title(status) },
      <Failed message={error.message} request={status >= 500 ? c.var.requestId : undefined} />,
      status,
    );
  });

  site.notFound((c) => {
    if (!wantsPage(c))
      return failure(nothingHere(), { requestId: c.var.requestId, fromBrowser: c.req.raw.headers.has('origin') });
    return show(c, { title: title(404) }, <Failed message="There is no page at this address." />, 404);
  });

  register(site);
  return site;
}

const nothingHere = () =>
  new ParleyError('not_found', 'There is nothing at this address. The API is at /api/<resource>.php?action=<action>.');

function Failed({ message, request }: { message: string; request?: string | undefined }) {
  return (
    <div class="card">
      <p>{message}</p>
      {request && (
        <p class="muted">
          Request <code>{request}</code>
        </p>
      )}
      <p>
        <a href="/">Go to the front page</a>
      </p>
    </div>
  );
}

/** Whether a person looks, and not a program. */
export const wantsPage = (c: PageContext): boolean => (c.req.header('accept') ?? '').includes('text/html');

const titles: Readonly<Record<number, string>> = {
  403: 'This is not allowed',
  404: 'There is nothing here',
  409: 'This does not fit',
  429: 'Too many attempts',
  503: 'Not available at the moment',
};
const title = (status: number): string =>
  titles[status] ?? (status >= 500 ? 'Something went wrong' : 'This did not work');

/** Without inline script or style, in nobody's frame, and kept by no cache: pages show what only one person may see. */
function protect(c: PageContext, isHttps: boolean): void {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    `form-action ${["'self'", ...c.var.formTargets].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  c.header('content-security-policy', policy.join('; '));
  c.header('x-frame-options', 'DENY');
  c.header('x-content-type-options', 'nosniff');
  // Not `no-referrer`: that would have browsers hide the origin of a form from us too.
  c.header('referrer-policy', 'same-origin');
  c.header('cross-origin-opener-policy', inWindows.has(c.req.path) ? 'unsafe-none' : 'same-origin');
  if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
  if (isHttps) c.header('strict-transport-security', 'max-age=31536000');
  c.header('x-request-id', c.var.requestId);
}

/** Apps open these in a window of their own, and wait for it to come back to them: it must not lose sight of its opener. */
const inWindows: ReadonlySet<string> = new Set(['/oauth/authorize', '/sign-in', '/sign-out', '/sign-up']);

/** Where somebody who had to sign in first goes on: a page again, but a form not. */
const whereTo = (c: PageContext): string => {
  const { pathname, search } = new URL(c.req.url);
  return c.req.method === 'GET' ? `${pathname}${search}` : '/';
};

const cookie = (c: PageContext, name: string): string | undefined => readCookie(c.req.header('cookie') ?? null, name);

async function whoIs(parts: SiteParts, c: PageContext, secret: string | undefined): Promise<SignedIn | undefined> {
  if (secret === undefined) return undefined;
  try {
    const caller = await parts.authenticator.authenticateSession(secret, () => {});
    const user = await findUser(parts.services.engine, caller.userId);
    if (!user || user.disabled_at !== null) return undefined;
    return { user, caller, actor: { userId: user.user_id, appId: 0, address: c.var.address } };
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'unauthorized') return undefined;
    throw error;
  }
}

/** What a page is about, and where it stands in the navigation. */
export interface PageHead {
  readonly title: string;
  /** The address of the entry of the navigation that it belongs to. */
  readonly section?: string;
  /** Without the navigation: there is one thing to be done here. */
  readonly plain?: boolean;
}

/** Answers a page. */
export async function show(c: PageContext, head: PageHead, body: Child, status = 200): Promise<Response> {
  const page = (
    <Layout head={head} user={c.var.who?.user}>
      {body}
    </Layout>
  );
  return c.html(`<!doctype html>${await page}`, status as 200);
}

/** The address of a page that leads on to another when it is done. */
export const withNext = (path: string, next: string): string =>
  next === '/' ? path : `${path}?next=${encodeURIComponent(next)}`;

/** Whoever is signed in; anybody else is led to sign in, and back. */
export function requireSignedIn(c: PageContext): SignedIn {
  const { who } = c.var;
  if (!who) throw new SignInNeeded();
  return who;
}

export function requireAdministrator(c: PageContext): SignedIn {
  const who = requireSignedIn(c);
  if (who.user.is_admin !== 1) throw new ParleyError('forbidden', 'Only an administrator may see this page.');
  return who;
}

/** Thrown where only somebody who is signed in can go on. */
export class SignInNeeded extends ParleyError {
  constructor() {
    super('unauthorized', 'Sign in first.');
  }
}

/** The fields of a form that was sent. */
export const formOf = (c: PageContext): Promise<Form> => readForm(c.req.raw);

/** A path of ours to go on to, out of what a query or a form names; anything else is the front page. */
export function localPath(origin: string, next: string | undefined): string {
  if (!next?.startsWith('/') || !URL.canParse(next, origin)) return '/';
  const url = new URL(next, origin);
  return url.origin === origin && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : '/';
}

/** Signs the browser in: from now on it sends the cookie of this session. */
export function keepSession(c: PageContext, parts: SiteParts, session: Session, device?: string): void {
  const isHttps = parts.publicUrl?.protocol === 'https:';
  const names = cookieNames(isHttps);
  c.header('set-cookie', writeCookie(names.session, session.secret, isHttps, sessionMs), { append: true });
  if (device !== undefined) {
    c.header('set-cookie', writeCookie(names.device, device, isHttps, deviceMs), { append: true });
  }
}

/** The mark that the browser kept from an earlier sign-in. */
export const deviceOf = (c: PageContext, parts: SiteParts): string | undefined =>
  cookie(c, cookieNames(parts.publicUrl?.protocol === 'https:').device);

/** Where somebody comes from who tries to get in. */
export const sourceOf = (c: PageContext): Source => ({
  address: c.var.address,
  limitKey: limitKey(c.var.address),
});

const deviceMs = 365 * 24 * 3_600_000;

export function dropSession(c: PageContext, parts: SiteParts): void {
  const isHttps = parts.publicUrl?.protocol === 'https:';
  c.header('set-cookie', writeCookie(cookieNames(isHttps).session, '', isHttps, 0), { append: true });
}
