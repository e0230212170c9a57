import type { OperationName, UserId } from '@parley/contract';
import type { StoredResponse } from '../../domain/idempotency.ts';
import type { Db, Tx } from '../engine/engine.ts';
import { deleteSome } from '../engine/query.ts';

export interface KeyScope {
  readonly user_id: UserId;
  readonly app_id: number;
  readonly operation: OperationName;
  readonly key: string;
}

const columns = { user_id: 'int', app_id: 'int', operation: 'text', key: 'text' } as const;

export const keyName = (k: KeyScope): string => JSON.stringify([k.user_id, k.app_id, k.operation, k.key]);

/**
 * Locks the keys and returns the stored responses, by `keyName`. A key without one belongs to this transaction until it
 * ends.
 */
export async function claimKeys(tx: Tx, keys: readonly KeyScope[]): Promise<Map<string, StoredResponse>> {
  await tx.lockKeys(keys.map(keyName));
  const rows = await tx.all<KeyScope & StoredResponse>(
    `SELECT i.user_id, i.app_id, i.operation, i.key, i.fingerprint, i.response
     FROM ${tx.dialect.rows('$1', columns, 'asked')}
     JOIN idempotency i ON i.user_id = asked.user_id AND i.app_id = asked.app_id
                       AND i.operation = asked.operation AND i.key = asked.key`,
    [JSON.stringify(keys)],
  );
  return new Map(rows.map((r) => [keyName(r), r]));
}

export async function storeResponses(
  tx: Tx,
  responses: readonly (KeyScope & StoredResponse)[],
  at: number,
): Promise<void> {
  await tx.run(
    `INSERT INTO idempotency (user_id, app_id, operation, key, fingerprint, response, created_at)
     SELECT user_id, app_id, operation, key, fingerprint, response, $2
     FROM ${tx.dialect.rows('$1', { ...columns, fingerprint: 'text', response: 'text' }, 'a')}`,
    [JSON.stringify(responses), at],
  );
}

/** Deletes up to `count` responses older than `before` and returns how many. */
export function pruneResponses(db: Db, before: number, count: number): Promise<number> {
  const key = 'user_id, app_id, operation, key';
  return deleteSome(db, ['idempotency', key], 'created_at < $1 ORDER BY created_at LIMIT $2', [before, count]);
}
