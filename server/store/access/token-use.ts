import type { TokenId, UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';

const dayMs = 86_400_000;

/** The days since 1970, in UTC. */
export const dayOf = (time: number): number => Math.floor(time / dayMs);

/** Returns the start of a day. */
export const startOfDay = (day: number): number => day * dayMs;

/** Requests are counted for this many days. */
export const usageDays = 30;

/** The requests with a token since the last time that they were stored. */
export interface TokenUse {
  readonly token_id: TokenId;
  /** The last of them. */
  readonly at: number;
  readonly requests: number;
}

/** Also sets `last_used_at` of the grants, which outlive their tokens. */
export async function recordTokenUses(tx: Tx, uses: readonly TokenUse[]): Promise<void> {
  const rows = JSON.stringify(uses.map((use) => ({ ...use, day: dayOf(use.at) })));
  const seen = tx.dialect.rows('$1', { token_id: 'int', at: 'int', day: 'int', requests: 'int' }, 'seen');
  await tx.run(
    `UPDATE grants SET last_used_at = used.at FROM (
       SELECT t.grant_id, max(seen.at) AS at FROM ${seen} JOIN tokens t ON t.token_id = seen.token_id
       WHERE t.grant_id IS NOT NULL GROUP BY t.grant_id
     ) used WHERE grants.grant_id = used.grant_id`,
    [rows],
  );
  await tx.run(`UPDATE tokens SET last_used_at = seen.at FROM ${seen} WHERE tokens.token_id = seen.token_id`, [rows]);
  await tx.run(
    `INSERT INTO token_use (token_id, day, requests)
     SELECT seen.token_id, seen.day, seen.requests FROM ${seen} JOIN tokens t ON t.token_id = seen.token_id
     WHERE t.kind = 'personal'
     ON CONFLICT (token_id, day) DO UPDATE SET requests = token_use.requests + excluded.requests`,
    [rows],
  );
}

export interface TokenUseRow {
  readonly token_id: TokenId;
  readonly day: number;
  readonly requests: number;
}

/** Returns the requests by day with the tokens of a user and of the user's bots, that are not revoked. */
export const listTokenUse = (db: Db, userId: UserId, since: number): Promise<TokenUseRow[]> =>
  db.all(
    `SELECT n.token_id, n.day, n.requests FROM users u
     JOIN tokens t ON t.user_id = u.user_id AND t.kind = 'personal' AND t.revoked_at IS NULL
     JOIN token_use n ON n.token_id = t.token_id
     WHERE (u.user_id = $1 OR u.owner_id = $1) AND n.day > $2 ORDER BY n.token_id, n.day`,
    [userId, since],
  );

export const pruneTokenUse = (tx: Tx, now: number): Promise<number> =>
  tx.run('DELETE FROM token_use WHERE day <= $1', [dayOf(now) - usageDays]);
