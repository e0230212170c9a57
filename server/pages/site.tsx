/** @jsxImportSource hono/jsx */
import { errors, ParleyError, type UserId } from '@parley/contract';
import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import { matchedRoutes } from 'hono/route';
import type { SignUpPolicy } from '../auth/arrivals.ts';
import type { Actor } from '../auth/audit.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import type { Caller } from '../auth/caller.ts';
import type { OAuth } from '../auth/oauth/oauth.ts';
import type { SignInServices } from '../auth/services.ts';
import type { Source } from '../auth/sign-in.ts';
import { limitKey } from '../http/address.ts';
import type { Connections } from '../http/admission.ts';
import { asParleyError, failure } from '../http/answer.ts';
import { cookieNames, readCookie } from '../http/cookies.ts';
import { isSameOrigin, originOf } from '../http/origin.ts';
import type { Allowance, RateLimiter } from '../http/rate-limit.ts';
import { hasUnreadBody } from '../http/unread-body.ts';
import type { Handlers, Services } from '../operations/operation.ts';
import { findUser, type UserRow } from '../store/users.ts';
import { Failed, notOurForm, titleOf, wayBack } from './failed.tsx';
import { type Form, readForm } from './form.ts';
import { Layout } from './layout.tsx';
import { signInFirst } from './next.ts';
import { protect } from './protection.ts';
import { PageRefusal } from './refusal.tsx';

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
  readonly limiter: RateLimiter | undefined;
  /** The service has its first administrator: nobody else is to become one by the link. */
  readonly setUpDone: () => void;
  /** Notes a fault of ours, which nobody outside is told the cause of. */
  readonly fault: (requestId: string, page: string, cause: unknown) => void;
  /** Notes that a page was looked at, or a form sent. */
  readonly note: (visit: Visit) => void;
}

export interface Visit {
  readonly requestId: string;
  readonly method: string;
  readonly page: string;
  readonly status: number;
  readonly seconds: number;
  readonly userId: UserId | undefined;
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
    /** What the visitor may still do; undefined: whatever they like. */
    allowance: Allowance | undefined;
    /** Where a form on this page may lead beside ourselves, in the end. */
    formTargets: readonly string[];
    /** What was sent, where something was. */
    form: Form;
  };
}

export type PageContext = Context<Env>;
export type Site = Hono<Env>;

/** The pages, in the frame that all of them share: who looks, protection against other sites, faults. */
export function buildSite(parts: SiteParts, register: (site: Site) => void): Site {
  const site = new Hono<Env>();
  const isHttps = parts.publicUrl?.protocol === 'https:';
  const { session: sessionCookie } = cookieNames(isHttps);

  // Two: where the second refuses, the first still finishes the answer.
  site.use(async (c, next) => {
    const started = performance.now();
    c.set('requestId', parts.requestId());
    c.set('address', parts.addressOf(c.req.raw, c.env));
    c.set('origin', originOf(parts.publicUrl, c.req.raw));
    c.set('formTargets', []);
    await next();
    protect(c, isHttps);
    if (hasUnreadBody(c.req.raw, c.res.status)) c.header('connection', 'close');
    parts.note({
      requestId: c.var.requestId,
      method: c.req.method,
      page: pageOf(c),
      status: c.res.status,
      seconds: (performance.now() - started) / 1_000,
      userId: c.var.who?.user.user_id,
    });
  });

  site.use(async (c, next) => {
    // The style comes even where the database is away, so that the page that says so can be read.
    const secret = readCookie(c.req.header('cookie') ?? null, sessionCookie);
    if (!c.req.path.startsWith('/assets/')) await meet(parts, c, secret);
    // Where there is no page there is no form either: whoever sends something there is told so.
    if (c.req.method === 'POST' && pageOf(c) !== 'none') {
      if (!isSameOrigin(parts.publicUrl, c.req.raw)) throw notOurForm(parts.publicUrl, c);
      c.set('form', await readForm(c.req.raw));
      // Once more: a form takes as long to arrive as its sender likes, and access that ended meanwhile is over.
      c.set('who', await whoIs(parts, c.var.address, secret));
    }
    await next();
  });

  site.onError((thrown, c) => {
    const error = asParleyError(thrown);
    const { status } = errors[error.code];
    if (status >= 500) parts.fault(c.var.requestId, pageOf(c), error.cause ?? thrown);
    if (thrown instanceof SignInNeeded) return c.redirect(signInFirst(c), 303);
    if (error.code === 'unavailable') c.header('retry-after', '1');
    if (error.code === 'rate_limited') c.header('retry-after', String(c.var.allowance?.retrySeconds ?? 1));
    return show(
      c,
      { title: (thrown instanceof PageRefusal && thrown.title) || titleOf(status) },
      <Failed
        message={error.message}
        request={status >= 500 ? c.var.requestId : undefined}
        way={(thrown instanceof PageRefusal && thrown.way) || wayBack(c)}
      />,
      status,
    );
  });

  site.notFound((c) => {
    if (!wantsPage(c))
      return failure(nothingHere(), { requestId: c.var.requestId, fromBrowser: c.req.raw.headers.has('origin') });
    return show(
      c,
      { title: titleOf(404) },
      <Failed message="There is no page at this address." way={wayBack(c)} />,
      404,
    );
  });

  register(site);
  return site;
}

/** The page as it is registered: in its address there may be a secret. */
const pageOf = (c: PageContext): string => matchedRoutes(c).findLast(({ path }) => path !== '/*')?.path ?? 'none';

const nothingHere = () =>
  new ParleyError('not_found', 'There is nothing at this address. The API is at /api/<resource>.php?action=<action>.');

/** Whether a person looks, and not a program. */
export const wantsPage = (c: PageContext): boolean => (c.req.header('accept') ?? '').includes('text/html');

/** Sees who looks, and whether they have looked too often. Whoever has no session counts by address. */
async function meet(parts: SiteParts, c: PageContext, secret: string | undefined): Promise<void> {
  const { address } = c.var;
  const who = await whoIs(parts, address, secret);
  c.set('who', who);
  c.set('allowance', parts.limiter?.take(who?.caller.tokenId ?? limitKey(address)));
  const { allowance } = c.var;
  if (allowance && !allowance.allowed) {
    throw new ParleyError('rate_limited', `That was too much at once. Try again in ${allowance.retrySeconds} s.`);
  }
}

async function whoIs(parts: SiteParts, address: string, secret: string | undefined): Promise<SignedIn | undefined> {
  if (secret === undefined) return undefined;
  try {
    const caller = await parts.authenticator.authenticate({ secret, isSession: true }, () => {});
    const user = await findUser(parts.services.engine, caller.userId);
    if (!user || user.disabled_at !== null) return undefined;
    return { user, caller, actor: { userId: user.user_id, appId: 0, address } };
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'unauthorized') return undefined;
    throw error;
  }
}

/** What a page is about, and where it stands in the navigation. */
export interface PageHead {
  readonly title: string;
  /** The title as it stands above the page, where that is more than words. */
  readonly heading?: Child;
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

/** Whoever is signed in; anybody else is led to sign in, and back. */
export function requireSignedIn(c: PageContext): SignedIn {
  const { who } = c.var;
  if (!who) throw new SignInNeeded();
  return who;
}

export function requireAdministrator(c: PageContext): SignedIn {
  const who = requireSignedIn(c);
  if (!who.user.is_admin) throw new ParleyError('forbidden', 'Only an administrator may see this page.');
  return who;
}

/** Thrown where only somebody who is signed in can go on. */
export class SignInNeeded extends ParleyError {
  constructor() {
    super('unauthorized', 'Sign in first.');
  }
}

/** The fields of the form that was sent. */
export const formOf = (c: PageContext): Form => c.var.form;

/** Where somebody comes from who tries to get in. */
export const sourceOf = (c: PageContext): Source => ({
  address: c.var.address,
  limitKey: limitKey(c.var.address),
});
