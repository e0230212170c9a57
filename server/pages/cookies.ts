import { type Session, sessionMs } from '../auth/sessions.ts';
import { cookieNames, readCookie, writeCookie } from '../http/cookies.ts';
import type { PageContext, SiteDeps } from './site.tsx';

const cookie = (c: PageContext, name: string): string | undefined => readCookie(c.req.header('cookie') ?? null, name);

/** Sets the cookies of a session and, if given, of a device. */
export function keepSession(c: PageContext, deps: SiteDeps, session: Session, device?: string): void {
  const isHttps = deps.publicUrl?.protocol === 'https:';
  const names = cookieNames(isHttps);
  c.header('set-cookie', writeCookie(names.session, session.secret, isHttps, sessionMs), { append: true });
  if (device !== undefined) {
    c.header('set-cookie', writeCookie(names.device, device, isHttps, deviceMs), { append: true });
  }
}

/** Returns the device cookie of an earlier sign-in. */
export const deviceOf = (c: PageContext, deps: SiteDeps): string | undefined =>
  cookie(c, cookieNames(deps.publicUrl?.protocol === 'https:').device);

const deviceMs = 365 * 24 * 3_600_000;

export function dropSession(c: PageContext, deps: SiteDeps): void {
  const isHttps = deps.publicUrl?.protocol === 'https:';
  c.header('set-cookie', writeCookie(cookieNames(isHttps).session, '', isHttps, 0), { append: true });
}
