import { ParleyError, type Scope, type TokenId, type UserId } from '@parley/contract';
import { insertToken, listTokens, revokeToken, type TokenRow } from '../store/access/tokens.ts';
import type { Tx } from '../store/engine/engine.ts';
import { endWithoutAccess } from '../store/webhooks/webhook-ends.ts';
import { formatScopes, hashToken, newSecret, type Random } from './access-token.ts';
import { type Actor, record } from './audit.ts';

/** Tokens of one user at most: each has a rate limit of its own. */
const mostTokens = 100;

export interface TokenRequest {
  readonly userId: UserId;
  /** The token that asks for it, and takes it along when it ends. */
  readonly parentId?: TokenId;
  readonly name: string;
  readonly scopes: Iterable<Scope>;
  /** Null: never. */
  readonly expiresAt?: number | null;
  readonly at: number;
}

/** A new token, and what is told of it this once. */
export interface NewToken {
  readonly token: TokenRow;
  readonly accessToken: string;
}

/** Makes a personal token. Under `lockTokensOf` its user. */
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

/** Refuses one token too many. The operator is not bound by it. */
export async function requireRoomForToken(tx: Tx, userId: UserId, whose: string, at: number): Promise<void> {
  if ((await listTokens(tx, userId, at)).length >= mostTokens) {
    throw new ParleyError('conflict', `${whose} ${mostTokens} access tokens. Revoke one first.`);
  }
}

/** Revokes a token and what it created. `services.ended` must follow the commit. */
export async function withdraw(tx: Tx, actor: Actor, token: TokenRow, at: number): Promise<void> {
  const { token_id, user_id, name } = token;
  await revokeToken(tx, token, at);
  await endWithoutAccess(tx, at, user_id);
  await record(tx, at, actor, 'token_revoked', { token_id, name, user_id });
}
