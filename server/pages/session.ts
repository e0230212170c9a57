import { hashToken } from '../auth/access-token.ts';
import type { Arrival } from '../auth/arrivals.ts';
import { sessionMs, signOut } from '../auth/sessions.ts';
import { cookieNames, readCookie, writeCookie } from '../http/cookies.ts';
import { isTrustworthy } from '../http/origin.ts';
import { findSessionOwner } from '../store/access/sessions.ts';
import { forgetPath } from './assets.ts';
import { withNext } from './next.ts';
import type { PageContext, SiteDeps } from './site.ts';

const deviceMs = 365 * 24 * 3_600_000;

function setCookie(c: PageContext, { publicUrl }: SiteDeps, which: 'session' | 'device', value: string, ms: number) {
  const isHttps = publicUrl?.protocol === 'https:';
  c.header('set-cookie', writeCookie(cookieNames(isHttps)[which], value, isHttps, ms), { append: true });
}

export function keepSession(c: PageContext, deps: SiteDeps, { session, device }: Arrival): void {
  setCookie(c, deps, 'session', session.secret, sessionMs);
  setCookie(c, deps, 'device', device, deviceMs);
}

/** Ends the session of the browser, if it has one. */
async function endSession(c: PageContext, { services }: SiteDeps): Promise<void> {
  const { who } = c.var;
  if (who) await signOut(services, who.actor, who.caller.tokenId);
}

/** Signs the browser out, and redirects to the sign-in page, which continues at `next`. */
export async function leave(c: PageContext, deps: SiteDeps, next = '/'): Promise<Response> {
  await endSession(c, deps);
  setCookie(c, deps, 'session', '', 0);
  forgetRecords(c);
  return c.redirect(withNext('/sign-in', next), 303);
}

/** Why the session in the browser's cookie has ended. Undefined if it has not, or if nothing is known of it. */
export async function sessionEnd(
  c: PageContext,
  { services }: SiteDeps,
): Promise<'signed out' | 'disabled' | undefined> {
  const secret = c.env.context.sessionSecret();
  if (c.var.who || secret === undefined) return undefined;
  const owner = await findSessionOwner(services.engine, hashToken(secret));
  return owner && (owner.disabled_at === null ? 'signed out' : 'disabled');
}

/** Deletes what the web client keeps in the browser, where browsers obey this header. Only for responses that no other site can cause. */
export function forgetRecords(c: PageContext): void {
  if (isTrustworthy(c.var.origin)) c.header('clear-site-data', '"storage"');
}

/**
 * Returns the script that does so on a page that a browser without a session shows: its session may have ended while no tab was open.
 * The header would also work in an image on another site, which is loaded without the cookie.
 */
export const forgetScriptFor = (c: PageContext): string | undefined => (c.var.who ? undefined : forgetPath);

/** Starts a session. The browser's earlier session ends, and the cookie is always new, so one that an attacker planted is useless. */
export async function letIn(c: PageContext, deps: SiteDeps, arrival: Arrival, next = '/'): Promise<Response> {
  const { who } = c.var;
  if (who && who.user.user_id !== arrival.user.user_id) forgetRecords(c);
  await endSession(c, deps);
  keepSession(c, deps, arrival);
  return c.redirect(next, 303);
}

/** Returns the device cookie of an earlier sign-in. */
export const deviceOf = (c: PageContext, { publicUrl }: SiteDeps): string | undefined =>
  readCookie(c.req.header('cookie') ?? null, cookieNames(publicUrl?.protocol === 'https:').device);
