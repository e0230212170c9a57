import type { Tx } from '../engine/engine.ts';
import { deleteSome } from '../engine/query.ts';
import { pruneTokenUse } from './token-use.ts';

/** Expired rows are kept this long, to recognize a code or refresh token that is used again. */
const keptMs = 24 * 3_600_000;

/** The device stops polling when its code expires. For a while after that it is told so. */
const undecidedKeptMs = 3_600_000;

/** No webhook, push subscription or other token depends on the token `x`. */
const unneeded = `NOT EXISTS (SELECT 1 FROM webhooks w WHERE w.token_id = x.token_id)
  AND NOT EXISTS (SELECT 1 FROM push_subscriptions s WHERE s.token_id = x.token_id)
  AND NOT EXISTS (SELECT 1 FROM tokens t WHERE t.parent_id = x.token_id)`;

/**
 * Deletes up to `count` expired rows of each kind: codes, codes of devices, refresh tokens, tokens, sessions, grants, links, and
 * all old counts of requests. Keeps tokens that
 * a webhook or a push subscription depends on, and their grants. Returns the number of rows deleted.
 */
export async function pruneAccess(tx: Tx, now: number, count: number): Promise<number> {
  const before = now - keptMs;
  const drop = (table: string, key: string, where: string, until = before) =>
    deleteSome(tx, [table, key], `${where} LIMIT $2`, [until, count]);
  const dropped = [
    await drop('authorization_codes', 'hash', 'x.expires_at < $1'),
    await drop('device_codes', 'hash', 'x.expires_at < $1 AND x.grant_id IS NULL', now - undecidedKeptMs),
    await drop('device_codes', 'hash', 'x.expires_at < $1'),
    await drop('refresh_tokens', 'hash', 'x.expires_at < $1'),
    await drop('tokens', 'token_id', `x.kind <> 'personal' AND x.expires_at < $1 AND ${unneeded}`),
    await drop('tokens', 'token_id', `x.revoked_at < $1 AND ${unneeded}`),
    await drop(
      'grants',
      'grant_id',
      `x.expires_at < $1
         AND NOT EXISTS (SELECT 1 FROM tokens t WHERE t.grant_id = x.grant_id)
         AND NOT EXISTS (SELECT 1 FROM refresh_tokens r WHERE r.grant_id = x.grant_id)
         AND NOT EXISTS (SELECT 1 FROM authorization_codes c WHERE c.grant_id = x.grant_id)
         AND NOT EXISTS (SELECT 1 FROM device_codes d WHERE d.grant_id = x.grant_id)`,
    ),
    await drop('links', 'link_id', 'x.expires_at < $1'),
    await pruneTokenUse(tx, now),
  ];
  return dropped.reduce((sum, rows) => sum + rows, 0);
}
