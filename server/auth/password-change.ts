import type { TokenId, UserId } from '@parley/contract';
import { deleteLinks, takeLink } from '../store/access/links.ts';
import { revokeSessionsOf } from '../store/access/sessions.ts';
import { lockTokensOf, revokeTokensOf } from '../store/access/tokens.ts';
import { findSignIn, findUser, setPassword } from '../store/access/users.ts';
import type { Tx } from '../store/engine/engine.ts';
import { endWithoutAccess } from '../store/webhooks/webhook-ends.ts';
import { hashToken } from './access-token.ts';
import { deleteAppsByToken } from './apps.ts';
import type { Arrival } from './arrivals.ts';
import { type Actor, record, type UserActor } from './audit.ts';
import { markDevice } from './device.ts';
import { linkGone, requireLink } from './links.ts';
import type { SignInServices } from './services.ts';
import { openSession } from './sessions.ts';
import { type Source, type Throttled, throttle } from './sign-in.ts';

/**
 * Sets a password. Ends every session of the user, what was registered in one, marks of known devices, and links for choosing
 * a password. A reset also ends the user's access tokens, authorizations of apps, and apps that were registered with an
 * access token: an intruder may have made them. Returns the users whose access may have ended.
 */
export async function replacePassword(
  tx: Tx,
  userId: UserId,
  passwordHash: string,
  at: number,
  /** The actor of a reset. Undefined if the user changes it and knows the old one. */
  resetBy?: Actor,
): Promise<readonly UserId[]> {
  await lockTokensOf(tx, userId);
  await setPassword(tx, userId, passwordHash);
  await (resetBy ? revokeTokensOf : revokeSessionsOf)(tx, userId, at);
  const usersOfApps = resetBy ? await deleteAppsByToken(tx, resetBy, userId, at) : [];
  await deleteLinks(tx, 'password', userId);
  await endWithoutAccess(tx, at, userId, true);
  return [userId, ...usersOfApps];
}

/** Sets a new password with a link, ends all access that the user had, and signs the user in. */
export async function resetPassword(
  services: SignInServices,
  secret: string,
  password: string,
  { address, userAgent }: Source,
): Promise<Arrival> {
  await requireLink(services, 'password', secret);
  const passwordHash = await services.passwords.hash(password);
  const { ended, ...arrival } = await services.engine.write(async (tx) => {
    const at = services.now();
    const link = await takeLink(tx, 'password', hashToken(secret), at);
    if (!link?.user_id) throw linkGone();
    await lockTokensOf(tx, link.user_id);
    const user = await findUser(tx, link.user_id);
    if (user?.disabled_at !== null) throw linkGone();
    const actor = { userId: user.user_id, appId: 0, address };
    const ended = await replacePassword(tx, user.user_id, passwordHash, at, actor);
    const session = await openSession(tx, services, user.user_id, at, userAgent);
    await record(tx, at, actor, 'password_changed', { with: 'a link' });
    return { ended, user, session, device: markDevice(services, { ...user, password_hash: passwordHash }) };
  });
  await services.ended(...ended);
  return arrival;
}

export type PasswordChange =
  | ({ readonly outcome: 'changed' } & Arrival)
  | { readonly outcome: 'wrong password' }
  | Throttled;

/** Changes the password of a signed-in user. Ends all their sessions, and opens a new one for this browser. */
export async function changePassword(
  services: SignInServices,
  actor: UserActor,
  /** The session of the request. Attempts are counted for each, so that a stolen session cannot use up those of another. */
  tokenId: TokenId,
  passwords: { readonly current: string; readonly next: string },
  { userAgent }: Source,
): Promise<PasswordChange> {
  const { engine, now } = services;
  const { userId } = actor;
  const throttled = await throttle(services, (limit) => [{ key: `password of ${userId} by ${tokenId}`, limit }]);
  if (throttled) return throttled;
  const user = await findUser(engine, userId);
  const known = user && (await findSignIn(engine, user.name));
  if (!(await services.passwords.matches(passwords.current, known?.password_hash ?? null, `user ${userId}`)))
    return { outcome: 'wrong password' };
  const passwordHash = await services.passwords.hash(passwords.next);
  const arrival = await engine.write(async (tx) => {
    const at = now();
    // Another change may have committed meanwhile. The old password must not overwrite it.
    await lockTokensOf(tx, userId);
    const still = await findSignIn(tx, user?.name ?? '');
    if (still?.password_hash !== known?.password_hash || still?.disabled_at !== null) return undefined;
    await replacePassword(tx, userId, passwordHash, at);
    await record(tx, at, actor, 'password_changed');
    const session = await openSession(tx, services, userId, at, userAgent);
    return { user: still, session, device: markDevice(services, { ...still, password_hash: passwordHash }) };
  });
  if (!arrival) return { outcome: 'wrong password' };
  await services.ended(userId);
  return { outcome: 'changed', ...arrival };
}
