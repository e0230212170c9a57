import type { TokenId, UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { changes } from '../engine/query.ts';

/** Sessions are tokens of the kind `session`. */
export interface SessionRow {
  readonly token_id: TokenId;
  /** The User-Agent header of the browser. Null if it is not known. */
  readonly user_agent: string | null;
  readonly created_at: number;
  /** Written late: the last minutes may be missing. */
  readonly last_used_at: number | null;
}

const columns = 'token_id, user_agent, created_at, last_used_at';

/** Returns up to `count` sessions of a user that have not ended: `own` first, then those that were used last. */
export const listSessions = (
  db: Db,
  userId: UserId,
  own: TokenId,
  { now, count }: { readonly now: number; readonly count: number },
): Promise<SessionRow[]> =>
  db.all(
    `SELECT ${columns} FROM tokens
     WHERE user_id = $1 AND kind = 'session' AND revoked_at IS NULL AND expires_at > $3
     ORDER BY CASE WHEN token_id = $2 THEN 0 ELSE 1 END, COALESCE(last_used_at, created_at) DESC, token_id DESC LIMIT $4`,
    [userId, own, now, count],
  );

/** Finds a session of a user, also one that has ended. */
export const findSession = (
  db: Db,
  userId: UserId,
  tokenId: TokenId,
): Promise<(SessionRow & { readonly revoked_at: number | null }) | undefined> =>
  db.get(`SELECT ${columns}, revoked_at FROM tokens WHERE user_id = $1 AND token_id = $2 AND kind = 'session'`, [
    userId,
    tokenId,
  ]);

/** Finds out whose session this was, also after its end. */
export const findSessionOwner = (db: Db, hash: string): Promise<{ readonly disabled_at: number | null } | undefined> =>
  db.get(
    `SELECT u.disabled_at FROM tokens t JOIN users u ON u.user_id = t.user_id WHERE t.hash = $1 AND t.kind = 'session'`,
    [hash],
  );

/** Signs a user out of every browser. */
export async function revokeSessionsOf(tx: Tx, userId: UserId, at: number): Promise<void> {
  await tx.run(`UPDATE tokens SET revoked_at = $2 WHERE user_id = $1 AND kind = 'session' AND revoked_at IS NULL`, [
    userId,
    at,
  ]);
}

/** Signs a user out of every browser except one. Returns the number of sessions that ended. */
export const revokeOtherSessions = (tx: Tx, userId: UserId, kept: TokenId, at: number): Promise<number> =>
  tx.run(
    `UPDATE tokens SET revoked_at = $3
     WHERE user_id = $1 AND kind = 'session' AND token_id <> $2 AND revoked_at IS NULL AND expires_at > $3`,
    [userId, kept, at],
  );

/** Returns false if the session had ended already. */
export const revokeSession = (tx: Tx, tokenId: TokenId, at: number): Promise<boolean> =>
  changes(tx, `UPDATE tokens SET revoked_at = $2 WHERE token_id = $1 AND kind = 'session' AND revoked_at IS NULL`, [
    tokenId,
    at,
  ]);
