import { type Contract, ParleyError, type UserId } from '@parley/contract';
import { type Context, Hono } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Actor } from '../auth/audit.ts';
import type { Caller } from '../auth/caller.ts';
import type { SignUpPolicy } from '../auth/links.ts';
import type { OAuth } from '../auth/oauth/oauth.ts';
import { RecentPasswordNeeded } from '../auth/recent-password.ts';
import type { SignInServices } from '../auth/services.ts';
import type { Source } from '../auth/sign-in.ts';
import { cleanUserAgent } from '../domain/user-agent.ts';
import { networksOf } from '../http/client-ip.ts';
import { isSameOrigin, originOf } from '../http/origin.ts';
import type { PipelineDeps } from '../http/pipeline.ts';
import type { RequestContext } from '../http/request-context.ts';
import { asParleyError, failure } from '../http/responses.ts';
import type { Handlers, Services } from '../operations/operation.ts';
import { readService } from '../store/access/service.ts';
import { findUser, type UserRow } from '../store/access/users.ts';
import { errorPage, foreignForm } from './error-page.tsx';
import { type Form, readForm } from './form.ts';
import { confirmPath, detour } from './next.ts';
import { nothingHere } from './programs.ts';
import { protect } from './protection.ts';
import { text } from './text/text.ts';

export interface SiteDeps extends PipelineDeps {
  readonly services: Services & SignInServices;
  readonly contract: Contract;
  readonly handlers: Handlers;
  readonly oauth: OAuth;
  readonly signUp: SignUpPolicy;
  readonly version: string;
  /** Called once the first administrator exists: the set-up link must not work again. */
  readonly setUpDone: () => void;
}

/** The user of a browser's session. */
export interface SignedIn {
  readonly user: UserRow;
  readonly caller: Caller;
  readonly actor: Actor & { readonly userId: UserId };
}

export interface Env {
  Bindings: { readonly context: RequestContext };
  Variables: {
    readonly origin: string;
    who: SignedIn | undefined;
    /** The name of this service, or of the product if the database is away. */
    serviceName: string;
    /** Other sites that a form on this page may lead to. */
    formTargets: readonly string[];
    /** True on a page with a script: the web client, and sign-in where it must delete what the client keeps. */
    hasScript: boolean;
    /** The form of a POST. */
    form: Form;
  };
}

export type PageContext = Context<Env>;
export type Site = Hono<Env>;

/** Builds the site. All pages share authentication, protection against other sites, and the error page. */
export function buildSite(deps: SiteDeps, register: (site: Site) => void): Site {
  const site = new Hono<Env>();
  const { publicUrl, services } = deps;

  // Two handlers: the first finishes the response also if the second throws.
  site.use(async (c, next) => {
    const { context } = c.env;
    context.operation = 'page';
    context.clientIp();
    c.set('origin', originOf(publicUrl, c.req.raw));
    c.set('serviceName', 'Parley');
    c.set('formTargets', []);
    c.set('hasScript', false);
    await next();
    context.page = pageOf(c);
    protect(c, publicUrl?.protocol === 'https:');
  });

  site.use(async (c, next) => {
    const { context } = c.env;
    // Assets need no database, so the page that reports its failure has its style.
    if (!c.req.path.startsWith('/assets/')) {
      const who = await authenticate(services, context);
      c.set('who', who);
      if (who) context.admit(who.caller, []);
      else context.countClient();
      // Without a database, forms still come back with what was typed.
      const service = await readService(services.engine).catch(() => undefined);
      if (service) c.set('serviceName', service.name);
    }
    // A POST to an unknown path gets the 404 page.
    if (c.req.method === 'POST' && pageOf(c) !== 'none') {
      if (!isSameOrigin(publicUrl, c.req.raw)) throw foreignForm(publicUrl, c);
      c.set('form', await readForm(c.req.raw));
      // Again, because access may have ended while the form arrived.
      c.set('who', await authenticate(services, context));
    }
    await next();
  });

  site.onError((thrown, c) => {
    if (thrown instanceof ParleyError && thrown.code === 'unauthorized')
      return c.redirect(detour(c, '/sign-in', 'signed-out'), 303);
    if (thrown instanceof RecentPasswordNeeded) return c.redirect(detour(c, confirmPath, 'not-sent'), 303);
    const error = asParleyError(thrown);
    c.env.context.error = error;
    return errorPage(c, error);
  });

  site.notFound((c) => (wantsPage(c) ? errorPage(c, noPage()) : failure(nothingHere(), c.env.context)));

  register(site);
  return site;
}

/** Returns the route of the page. The path itself may contain a secret. */
const pageOf = (c: PageContext): string => matchedRoutes(c).findLast(({ path }) => path !== '/*')?.path ?? 'none';

const noPage = () => new ParleyError('not_found', text.errors.noPage);

/** Browsers ask for HTML. Programs do not. */
export const wantsHtml = ({ headers }: Request): boolean => (headers.get('accept') ?? '').includes('text/html');

export const wantsPage = (c: PageContext): boolean => wantsHtml(c.req.raw);

/** Returns the user of the session, or undefined if there is none or the user is disabled. */
async function authenticate({ engine }: SiteDeps['services'], context: RequestContext): Promise<SignedIn | undefined> {
  const caller = await context.authenticateSession();
  const user = caller && (await findUser(engine, caller.userId));
  if (!user || user.disabled_at !== null) return undefined;
  return { user, caller, actor: { userId: user.user_id, appId: 0, address: context.clientIp() } };
}

/** Returns the signed-in user. Redirects anybody else to the sign-in page, which returns here. */
export function requireSignedIn(c: PageContext): SignedIn {
  const { who } = c.var;
  if (!who) throw new ParleyError('unauthorized', text.errors.signInFirst);
  return who;
}

export function requireAdministrator(c: PageContext): SignedIn {
  const who = requireSignedIn(c);
  if (!who.user.is_admin) throw new ParleyError('forbidden', text.errors.onlyAdministrators);
  return who;
}

/** Returns the client, as the limits of sign-in and sign-up know it. */
export function sourceOf(c: PageContext): Source {
  const address = c.env.context.clientIp();
  return { address, networks: networksOf(address), userAgent: cleanUserAgent(c.req.header('user-agent')) };
}
