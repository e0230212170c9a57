import type { Db, Tx } from '../engine/engine.ts';
import { changes, insertRow } from '../engine/query.ts';

/** Authorization codes and refresh tokens, which an app may use once. Only their hashes are stored. */

export interface CodeRow {
  readonly hash: string;
  readonly grant_id: number;
  readonly redirect: string;
  readonly challenge: string;
  readonly expires_at: number;
  readonly used_at: number | null;
}

export type RefreshRow = Omit<CodeRow, 'redirect' | 'challenge'>;

export async function insertCode(tx: Tx, code: Omit<CodeRow, 'used_at'>): Promise<void> {
  await insertRow(tx, 'authorization_codes', ['hash', 'grant_id', 'redirect', 'challenge', 'expires_at'], code);
}

/** Also finds a used code, so that reuse is detected. */
export const findCode = (db: Db, hash: string): Promise<CodeRow | undefined> =>
  db.get('SELECT hash, grant_id, redirect, challenge, expires_at, used_at FROM authorization_codes WHERE hash = $1', [
    hash,
  ]);

export async function insertRefreshToken(tx: Tx, token: Omit<RefreshRow, 'used_at'>): Promise<void> {
  await insertRow(tx, 'refresh_tokens', ['hash', 'grant_id', 'expires_at'], token);
}

/** Also finds a used token, so that reuse is detected. */
export const findRefreshToken = (db: Db, hash: string): Promise<RefreshRow | undefined> =>
  db.get('SELECT hash, grant_id, expires_at, used_at FROM refresh_tokens WHERE hash = $1', [hash]);

/** Returns true for exactly one of any number of concurrent callers. */
export function consume(
  tx: Tx,
  table: 'authorization_codes' | 'refresh_tokens' | 'device_codes',
  hash: string,
  at: number,
): Promise<boolean> {
  return changes(tx, `UPDATE ${table} SET used_at = $2 WHERE hash = $1 AND used_at IS NULL`, [hash, at]);
}
