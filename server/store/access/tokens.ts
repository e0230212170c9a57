import type { TokenId, UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { insertRow, rowReader, values } from '../engine/query.ts';

/** `session`: held in a browser's cookie. A session is not accepted as a bearer token, nor a bearer token as a session. */
export type TokenKind = 'personal' | 'oauth' | 'session';

export interface TokenRow {
  readonly token_id: TokenId;
  readonly user_id: UserId;
  readonly kind: TokenKind;
  readonly app_id: number;
  readonly name: string;
  readonly scopes: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
}

const newColumns = ['user_id', 'kind', 'app_id', 'name', 'scopes', 'created_at', 'expires_at'] as const;
const names = ['token_id', ...newColumns, 'last_used_at'];
const columns = names.map((name) => `t.${name}`).join(', ');

type TokenOfUser = TokenRow & { readonly is_admin: boolean; readonly owner_id: UserId };
const tokensOfUsers = rowReader<TokenOfUser>('is_admin');

/** Finds a token that is not revoked, of a user who is not disabled. The caller checks whether it has expired. */
export const findTokenByHash = (db: Db, hash: string): Promise<TokenOfUser | undefined> =>
  tokensOfUsers.get(
    db,
    `SELECT ${columns}, u.is_admin, COALESCE(u.owner_id, u.user_id) AS owner_id FROM tokens t JOIN users u ON u.user_id = t.user_id
     WHERE t.hash = $1 AND t.revoked_at IS NULL AND u.disabled_at IS NULL`,
    [hash],
  );

/** Returns the tokens that give access now. */
export async function validTokens(db: Db, tokenIds: readonly TokenId[], now: number): Promise<Set<TokenId>> {
  return new Set(
    await values<TokenId>(
      db,
      `SELECT t.token_id FROM ${db.dialect.rows('$1', { token_id: 'int' }, 'asked')}
     JOIN tokens t ON t.token_id = asked.token_id JOIN users u ON u.user_id = t.user_id
     WHERE t.revoked_at IS NULL AND u.disabled_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > $2)`,
      [JSON.stringify(tokenIds.map((token_id) => ({ token_id }))), now],
    ),
  );
}

export const findToken = (db: Db, userId: UserId, tokenId: TokenId): Promise<TokenRow | undefined> =>
  db.get(`SELECT ${columns} FROM tokens t WHERE t.user_id = $1 AND t.token_id = $2 AND t.revoked_at IS NULL`, [
    userId,
    tokenId,
  ]);

/** For operators: finds a token of any user. */
export const findAnyonesToken = (db: Db, tokenId: TokenId): Promise<TokenRow | undefined> =>
  db.get(`SELECT ${columns} FROM tokens t WHERE t.token_id = $1 AND t.revoked_at IS NULL`, [tokenId]);

/** Returns the personal tokens that are neither revoked nor expired. */
export const listTokens = (db: Db, userId: UserId, now: number): Promise<TokenRow[]> =>
  db.all(
    `SELECT ${columns} FROM tokens t
     WHERE t.user_id = $1 AND t.kind = 'personal' AND t.revoked_at IS NULL
       AND (t.expires_at IS NULL OR t.expires_at > $2) ORDER BY t.token_id`,
    [userId, now],
  );

export interface NewToken extends Omit<TokenRow, 'token_id' | 'last_used_at'> {
  readonly hash: string;
  /** The token that created it. */
  readonly parent_id: TokenId | null;
  /** The grant behind an app's token. */
  readonly grant_id: number | null;
  /** The browser of a session, if it is known. */
  readonly user_agent?: string | null;
}

export const insertToken = (tx: Tx, token: NewToken): Promise<TokenRow> =>
  insertRow(
    tx,
    'tokens',
    [...newColumns, 'hash', 'parent_id', 'grant_id', 'user_agent'],
    { user_agent: null, ...token },
    names.join(', '),
  );

/** Locks creating and revoking tokens of these users, so that no token is created with one that is being revoked. */
export const lockTokensOf = (tx: Tx, ...userIds: readonly UserId[]): Promise<void> =>
  tx.lockKeys(userIds.map((userId) => `tokens of ${userId}`));

/** Revokes a token and all its descendants, so that a thief keeps nothing. Takes `lockTokensOf` first. */
export async function revokeToken(tx: Tx, { token_id, user_id }: TokenRow, at: number): Promise<void> {
  await lockTokensOf(tx, user_id);
  await tx.run(
    `WITH RECURSIVE family (token_id) AS (
       SELECT CAST($1 AS bigint)
       UNION ALL SELECT t.token_id FROM tokens t JOIN family f ON t.parent_id = f.token_id
     )
     UPDATE tokens SET revoked_at = $2 WHERE token_id IN (SELECT token_id FROM family) AND revoked_at IS NULL`,
    [token_id, at],
  );
}

/** Revokes the oldest tokens of a grant, so that at most `kept` are valid. The caller holds `lockTokensOf` the user. */
export async function revokeOldTokens(tx: Tx, grantId: number, kept: number, at: number): Promise<void> {
  const live = 'grant_id = $1 AND revoked_at IS NULL AND expires_at > $2';
  await tx.run(
    `UPDATE tokens SET revoked_at = $2 WHERE ${live} AND token_id <= (
       SELECT token_id FROM tokens WHERE ${live} ORDER BY token_id DESC LIMIT 1 OFFSET $3
     )`,
    [grantId, at, kept],
  );
}

/** Revokes all access of a user: tokens, sessions and grants of apps. */
export async function revokeTokensOf(tx: Tx, userId: UserId, at: number): Promise<void> {
  await tx.run('UPDATE grants SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL', [userId, at]);
  await tx.run('UPDATE tokens SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL', [userId, at]);
}
