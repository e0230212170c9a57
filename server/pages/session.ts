import type { Arrival } from '../auth/arrivals.ts';
import { sessionMs, signOut } from '../auth/sessions.ts';
import { cookieNames, readCookie, writeCookie } from '../http/cookies.ts';
import { isTrustworthy } from '../http/origin.ts';
import { forgetPath } from './assets.ts';
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
export async function endSession(c: PageContext, { services }: SiteDeps): Promise<void> {
  const { who } = c.var;
  if (who) await signOut(services, who.actor, who.caller.tokenId);
}

export const dropSession = (c: PageContext, deps: SiteDeps): void => setCookie(c, deps, 'session', '', 0);

/** Deletes what the web client keeps in the browser, where browsers obey this header. */
export function forgetRecords(c: PageContext): void {
  if (isTrustworthy(c.var.origin)) c.header('clear-site-data', '"storage"');
}

/** Returns the script that does so elsewhere: over plain HTTP in a local network. */
export const forgetScriptFor = (c: PageContext): string | undefined =>
  isTrustworthy(c.var.origin) ? undefined : forgetPath;

/** Starts a session. The browser's earlier session ends, and the cookie is always new, so one that an attacker planted is useless. */
export async function letIn(c: PageContext, deps: SiteDeps, arrival: Arrival, next = '/'): Promise<Response> {
  await endSession(c, deps);
  keepSession(c, deps, arrival);
  return c.redirect(next, 303);
}

/** Returns the device cookie of an earlier sign-in. */
export const deviceOf = (c: PageContext, { publicUrl }: SiteDeps): string | undefined =>
  readCookie(c.req.header('cookie') ?? null, cookieNames(publicUrl?.protocol === 'https:').device);
