import {
  ParleyError,
  password as passwordRule,
  type Scope,
  scopeNames,
  type TokenId,
  userName,
} from '@parley/contract';
import type { Engine } from '../store/engine.ts';
import { findAnyonesToken, insertToken, listTokens, revokeToken, type TokenRow } from '../store/tokens.ts';
import { findUserByName, insertUser, type UserRow } from '../store/users.ts';
import { endWithoutAccess } from '../store/webhook-ends.ts';
import { formatScopes, hashToken, newPersonalToken } from './access-token.ts';

/** What an operator does straight in the database, beside a running server. Each is one short write. */
export interface Tools {
  readonly engine: Engine;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly hashPassword: (password: string) => Promise<string>;
}

export interface UserRequest {
  readonly name: string;
  readonly displayName?: string | undefined;
  readonly isAdmin: boolean;
  readonly password?: string | undefined;
}

export async function addUser(tools: Tools, request: UserRequest): Promise<UserRow> {
  const name = check(userName, request.name, 'The name');
  const password = request.password === undefined ? undefined : check(passwordRule, request.password, 'The password');
  const passwordHash = password === undefined ? null : await tools.hashPassword(password);
  const displayName = request.displayName ?? name;
  const user = await tools.engine.write((tx) =>
    insertUser(tx, { name, displayName, isAdmin: request.isAdmin, passwordHash, at: tools.now() }),
  );
  if (!user) throw new ParleyError('conflict', `The name ${name} is taken.`);
  return user;
}

export interface TokenRequest {
  readonly userName: string;
  readonly name: string;
  /** All that the user may have, where none are named. */
  readonly scopes?: readonly Scope[] | undefined;
}

/** A new token for a user; it can be read this once. */
export async function issueToken(
  tools: Tools,
  request: TokenRequest,
): Promise<{ token: TokenRow; accessToken: string }> {
  const user = await findUserByName(tools.engine, request.userName);
  if (!user || user.disabled_at !== null) {
    throw new ParleyError('not_found', `There is no user named ${request.userName}, or the user is disabled.`);
  }
  const scopes = request.scopes ?? scopeNames.filter((s) => s !== 'admin' || user.is_admin === 1);
  if (scopes.includes('admin') && user.is_admin !== 1) {
    throw new ParleyError('forbidden', `${user.name} is not an administrator, so the scope admin would do nothing.`);
  }
  const accessToken = newPersonalToken(tools.random);
  const token = await tools.engine.write((tx) =>
    insertToken(tx, {
      userId: user.user_id,
      parentId: null,
      appId: 0,
      name: request.name,
      hash: hashToken(accessToken),
      scopes: formatScopes(scopes),
      at: tools.now(),
      expiresAt: null,
    }),
  );
  return { token, accessToken };
}

/** The tokens of a user that are neither revoked nor expired. */
export async function listTokensOf(tools: Tools, userName: string): Promise<TokenRow[]> {
  const user = await findUserByName(tools.engine, userName);
  if (!user) throw new ParleyError('not_found', `There is no user named ${userName}.`);
  return listTokens(tools.engine, user.user_id, tools.now());
}

/** Revokes a token, whoever it belongs to. A running server notices within the time that it trusts what it read. */
export function withdrawToken(tools: Tools, tokenId: TokenId): Promise<TokenRow> {
  return tools.engine.write(async (tx) => {
    const token = await findAnyonesToken(tx, tokenId);
    if (!token) throw new ParleyError('not_found', `There is no access token ${tokenId}, or it is revoked already.`);
    await revokeToken(tx, token, tools.now());
    await endWithoutAccess(tx, tools.now(), token.user_id);
    return token;
  });
}

function check(
  schema: { safeParse(value: string): { success: boolean; error?: { issues: readonly { message: string }[] } } },
  value: string,
  what: string,
): string {
  const result = schema.safeParse(value);
  if (result.success) return value;
  throw new ParleyError('validation_failed', `${what} ${result.error?.issues[0]?.message ?? 'is not valid'}.`);
}
