import { scopeNames, type TokenId, type UserId } from '@parley/contract';
import { insertToken, lockTokensOf, revokeSession, type TokenRow } from '../store/access/tokens.ts';
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
