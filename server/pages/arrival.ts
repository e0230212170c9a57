import type { Arrival } from '../auth/arrivals.ts';
import { markDevice } from '../auth/device.ts';
import { signOut } from '../auth/sessions.ts';
import { keepSession } from './cookies.ts';
import type { PageContext, SiteParts } from './site.tsx';

/**
 * Lets somebody in who has just proved who they are. Whatever session the browser had before ends, and the cookie is always a
 * new one: one that somebody else has put there, or still knows, is worth nothing.
 */
export async function letIn(
  c: PageContext,
  parts: SiteParts,
  { user, session }: Arrival,
  next = '/',
): Promise<Response> {
  const { who } = c.var;
  if (who) await signOut(parts.services, who.actor, who.caller.tokenId);
  const { deviceKey, random } = parts.services;
  keepSession(c, parts, session, markDevice(deviceKey, user.user_id, random));
  return c.redirect(next, 303);
}
