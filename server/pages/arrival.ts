import type { Arrival } from '../auth/arrivals.ts';
import { markDevice } from '../auth/device.ts';
import { signOut } from '../auth/sessions.ts';
import { keepSession } from './cookies.ts';
import type { PageContext, SiteDeps } from './site.tsx';

/** Starts a session. The browser's earlier session ends, and the cookie is always new, so one that an attacker planted is useless. */
export async function letIn(c: PageContext, deps: SiteDeps, { user, session }: Arrival, next = '/'): Promise<Response> {
  const { who } = c.var;
  if (who) await signOut(deps.services, who.actor, who.caller.tokenId);
  const { deviceKey, random } = deps.services;
  keepSession(c, deps, session, markDevice(deviceKey, user.user_id, random));
  return c.redirect(next, 303);
}
