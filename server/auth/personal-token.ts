import { ParleyError, type Scope, type TokenId, type UserId } from '@parley/contract';
import { insertToken, listTokens, revokeToken, type TokenRow } from '../store/access/tokens.ts';
import type { Tx } from '../store/engine/engine.ts';
import { endWithoutAccess } from '../store/webhooks/webhook-ends.ts';
import { formatScopes, hashToken, newSecret, type Random } from './access-token.ts';
import { type Actor, record } from './audit.ts';

/** Limited because each token has its own rate limit. */
const maxTokens = 100;

export interface TokenRequest {
  readonly userId: UserId;
  /** The token that creates it. The new one ends with it. */
  readonly parentId?: TokenId;
  readonly name: string;
  readonly scopes: Iterable<Scope>;
  /** Null if it never expires. */
  readonly expiresAt?: number | null;
  readonly at: number;
}

/** A new token, and its secret, which is not stored. */
export interface NewToken {
  readonly token: TokenRow;
  readonly accessToken: string;
}

/** Creates a personal token. The caller holds `lockTokensOf`. */
export async function makeToken(tx: Tx, random: Random, actor: Actor, request: TokenRequest): Promise<NewToken> {
  const { userId, parentId = null, name, expiresAt = null, at } = request;
  const accessToken = newSecret('personal', random);
  const token = await insertToken(tx, {
    user_id: userId,
    kind: 'personal',
    parent_id: parentId,
    app_id: 0,
    grant_id: null,
    name,
    hash: hashToken(accessToken),
    scopes: formatScopes(request.scopes),
    created_at: at,
    expires_at: expiresAt,
  });
  const { token_id } = token;
  const scopes = token.scopes.split(' ');
  await record(tx, at, actor, 'token_created', { token_id, name, user_id: userId, scopes });
  return { token, accessToken };
}

/** Throws if the user has as many tokens as allowed. The operator may create more. */
export async function requireRoomForToken(tx: Tx, userId: UserId, whose: string, at: number): Promise<void> {
  if ((await listTokens(tx, userId, at)).length >= maxTokens) {
    throw new ParleyError('conflict', `${whose} ${maxTokens} access tokens. Revoke one first.`);
  }
}

/** Revokes a token and what it created. `services.ended` must follow the commit. */
export async function withdraw(tx: Tx, actor: Actor, token: TokenRow, at: number): Promise<void> {
  const { token_id, user_id, name } = token;
  await revokeToken(tx, token, at);
  await endWithoutAccess(tx, at, user_id);
  await record(tx, at, actor, 'token_revoked', { token_id, name, user_id });
}
