import { type Session, sessionMs } from '../auth/sessions.ts';
import { cookieNames, readCookie, writeCookie } from '../http/cookies.ts';
import type { PageContext, SiteParts } from './site.tsx';

const cookie = (c: PageContext, name: string): string | undefined => readCookie(c.req.header('cookie') ?? null, name);

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

const deviceMs = 365 * 24 * 3_600_000;

export function dropSession(c: PageContext, parts: SiteParts): void {
  const isHttps = parts.publicUrl?.protocol === 'https:';
  c.header('set-cookie', writeCookie(cookieNames(isHttps).session, '', isHttps, 0), { append: true });
}
