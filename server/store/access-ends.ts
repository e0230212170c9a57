import type { Tx } from './engine.ts';

/** How long what has ended is kept after its end: a code or refresh token that comes again must still be known. */
const afterMs = 24 * 3_600_000;

/** Nothing stands on the token `x` any more. */
const unneeded = `NOT EXISTS (SELECT 1 FROM webhooks w WHERE w.token_id = x.token_id)
  AND NOT EXISTS (SELECT 1 FROM tokens t WHERE t.parent_id = x.token_id)`;

/**
 * Drops up to `count` of each kind of what has ended: codes, refresh tokens, tokens, sessions, grants, links. A token that a
 * webhook stands on stays, and so does its grant. Answers how many rows went.
 */
export async function pruneAccess(tx: Tx, now: number, count: number): Promise<number> {
  const before = now - afterMs;
  const drop = (table: string, key: string, where: string) =>
    tx.run(
      `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} x WHERE ${where} LIMIT $2)`,
      before,
      count,
    );
  const dropped = [
    await drop('authorization_codes', 'hash', 'x.expires_at < $1'),
    await drop('refresh_tokens', 'hash', 'x.expires_at < $1'),
    await drop('tokens', 'token_id', `x.kind <> 'personal' AND x.expires_at < $1 AND ${unneeded}`),
    await drop('tokens', 'token_id', `x.revoked_at < $1 AND ${unneeded}`),
    await drop(
      'grants',
      'grant_id',
      `x.expires_at < $1
         AND NOT EXISTS (SELECT 1 FROM tokens t WHERE t.grant_id = x.grant_id)
         AND NOT EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.grant_id = x.grant_id)
         AND NOT EXISTS (SELECT 1 FROM authorization_codes c WHERE c.grant_id = x.grant_id)`,
    ),
    await drop('links', 'link_id', 'x.expires_at < $1'),
  ];
  return dropped.reduce((sum, rows) => sum + rows, 0);
}
