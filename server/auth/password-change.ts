import type { TokenId, UserId } from '@parley/contract';
import { deleteLinks, takeLink } from '../store/access/links.ts';
import { takeAttempt } from '../store/access/throttles.ts';
import { lockTokensOf, revokeSessionsOf } from '../store/access/tokens.ts';
import { findSignIn, findUser, setPassword } from '../store/access/users.ts';
import type { Tx } from '../store/engine/engine.ts';
import { endWithoutAccess } from '../store/webhooks/webhook-ends.ts';
import { hashToken } from './access-token.ts';
import type { Arrival } from './arrivals.ts';
import { type Actor, record } from './audit.ts';
import { linkGone, requireLink } from './links.ts';
import type { AccessServices, SignInServices } from './services.ts';
import { openSession, type Session } from './sessions.ts';

/**
 * Gives somebody another password, and ends what the old one opened: every session, what was
 * registered in one, and links for choosing another.
 */
export async function replacePassword(tx: Tx, userId: UserId, passwordHash: string, at: number): Promise<void> {
  await lockTokensOf(tx, userId);
  await setPassword(tx, userId, passwordHash);
  await revokeSessionsOf(tx, userId, at);
  await deleteLinks(tx, 'password', userId);
  await endWithoutAccess(tx, at, userId, true);
}

/** Chooses a new password with a link for it. */
export async function resetPassword(
  services: AccessServices,
  secret: string,
  password: string,
  address: string,
): Promise<Arrival> {
  await requireLink(services, 'password', secret);
  const passwordHash = await services.passwords.hash(password);
  const arrival = await services.engine.write(async (tx) => {
    const at = services.now();
    const link = await takeLink(tx, 'password', hashToken(secret), at);
    if (!link?.user_id) throw linkGone();
    await lockTokensOf(tx, link.user_id);
    const user = await findUser(tx, link.user_id);
    if (!user || user.disabled_at !== null) throw linkGone();
    await replacePassword(tx, user.user_id, passwordHash, at);
    const session = await openSession(tx, services, user.user_id, at);
    await record(tx, at, { userId: user.user_id, appId: 0, address }, 'password_changed', { with: 'a link' });
    return { user, session };
  });
  await services.ended(arrival.user.user_id);
  return arrival;
}

export type PasswordChange =
  | { readonly outcome: 'changed'; readonly session: Session }
  | { readonly outcome: 'wrong password' }
  | { readonly outcome: 'throttled'; readonly retrySeconds: number };

/** Somebody who is signed in chooses another password; every other browser is signed out. */
export async function changePassword(
  services: SignInServices,
  actor: Actor & { userId: UserId },
  /** The session that asks: whoever has stolen another one is not to use up the attempts of this. */
  tokenId: TokenId,
  passwords: { readonly current: string; readonly next: string },
): Promise<PasswordChange> {
  const { engine, now, signInLimit } = services;
  const { userId } = actor;
  if (signInLimit) {
    const wait = await engine.write((tx) => takeAttempt(tx, `password of ${userId} by ${tokenId}`, signInLimit, now()));
    if (wait > 0) return { outcome: 'throttled', retrySeconds: Math.ceil(wait / 1_000) };
  }
  const user = await findUser(engine, userId);
  const known = user && (await findSignIn(engine, user.name));
  if (!(await services.passwords.matches(passwords.current, known?.password_hash ?? null)))
    return { outcome: 'wrong password' };
  const passwordHash = await services.passwords.hash(passwords.next);
  const session = await engine.write(async (tx) => {
    const at = now();
    // Once more: whoever knows only the old password must not win against the change that made it old.
    await lockTokensOf(tx, userId);
    const still = await findSignIn(tx, user?.name ?? '');
    if (still?.password_hash !== known?.password_hash || still?.disabled_at !== null) return undefined;
    await replacePassword(tx, userId, passwordHash, at);
    await record(tx, at, actor, 'password_changed');
    return openSession(tx, services, userId, at);
  });
  if (!session) return { outcome: 'wrong password' };
  await services.ended(userId);
  return { outcome: 'changed', session };
}
