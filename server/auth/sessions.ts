import { ParleyError, scopeNames, type TokenId, type UserId } from '@parley/contract';
import { browserInWords } from '../domain/user-agent.ts';
import { findSession, revokeOtherSessions, revokeSession } from '../store/access/sessions.ts';
import { insertToken, lockTokensOf, type TokenRow } from '../store/access/tokens.ts';
import type { Tx } from '../store/engine/engine.ts';
import { formatScopes, hashToken, newSecret } from './access-token.ts';
import { record, type UserActor } from './audit.ts';
import type { AccessServices } from './services.ts';

export const sessionMs = 30 * 24 * 3_600_000;

/** A new session. Its secret goes into the browser's cookie and is not stored. */
export interface Session {
  readonly secret: string;
  readonly token: TokenRow;
}

/** Creates a session. Takes `lockTokensOf` first. */
export async function openSession(
  tx: Tx,
  { random }: Pick<AccessServices, 'random'>,
  userId: UserId,
  at: number,
  /** The browser, as `cleanUserAgent` returns it. */
  userAgent: string | null = null,
): Promise<Session> {
  await lockTokensOf(tx, userId);
  const secret = newSecret('session', random);
  const token = await insertToken(tx, {
    user_id: userId,
    kind: 'session',
    parent_id: null,
    app_id: 0,
    grant_id: null,
    name: 'browser',
    hash: hashToken(secret),
    scopes: formatScopes(scopeNames),
    created_at: at,
    expires_at: at + sessionMs,
    user_agent: userAgent,
  });
  return { secret, token };
}

export async function signOut(services: AccessServices, actor: UserActor, tokenId: TokenId): Promise<void> {
  await services.engine.write(async (tx) => {
    const at = services.now();
    if (await revokeSession(tx, tokenId, at)) await record(tx, at, actor, 'signed_out');
  });
  await services.ended(actor.userId);
}

/** Signs a user out in another browser. Throws `not_found` if the session is not the user's. */
export const signOutOther = (services: AccessServices, actor: UserActor, own: TokenId, other: TokenId): Promise<void> =>
  whileSignedIn(services, actor, own, async (tx, at) => {
    const session = await findSession(tx, actor.userId, other);
    if (!session) throw new ParleyError('not_found', 'You have no such session. It may have ended long ago.');
    // One that has ended by now is what the user wants.
    if (!(await revokeSession(tx, other, at))) return;
    await record(tx, at, actor, 'signed_out', { browser: browserInWords(session.user_agent) });
  });

/** Signs a user out in all browsers except that of the session `own`. */
export const signOutOthers = (services: AccessServices, actor: UserActor, own: TokenId): Promise<void> =>
  whileSignedIn(services, actor, own, async (tx, at) => {
    const ended = await revokeOtherSessions(tx, actor.userId, own, at);
    if (ended > 0) await record(tx, at, actor, 'signed_out', { other_sessions: ended });
  });

/**
 * Runs `work` under `lockTokensOf`. Throws `unauthorized` if the session `own` has ended: of two browsers that sign each other
 * out at the same time, one stays signed in.
 */
async function whileSignedIn(
  services: AccessServices,
  actor: UserActor,
  own: TokenId,
  work: (tx: Tx, at: number) => Promise<void>,
): Promise<void> {
  const { userId } = actor;
  await services.engine.write(async (tx) => {
    await lockTokensOf(tx, userId);
    const session = await findSession(tx, userId, own);
    if (session?.revoked_at !== null) throw new ParleyError('unauthorized', 'This session has ended.');
    await work(tx, services.now());
  });
  await services.ended(userId);
}
