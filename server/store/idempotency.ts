import type { OperationName, UserId } from '@parley/contract';
import type { KeptAnswer } from '../domain/idempotency.ts';
import type { Db, Tx } from './engine.ts';

/** What a key is scoped to. */
export interface KeyScope {
  readonly user_id: UserId;
  readonly app_id: number;
  readonly operation: OperationName;
  readonly key: string;
}

const columns = { user_id: 'int', app_id: 'int', operation: 'text', key: 'text' } as const;

export const keyName = (k: KeyScope): string => JSON.stringify([k.user_id, k.app_id, k.operation, k.key]);

/**
 * The answers kept under these keys, by `keyName`. The keys are locked first: until this transaction ends, nobody else
 * answers under them, so what is not found here is this transaction's to create.
 */
export async function claimKeys(tx: Tx, keys: readonly KeyScope[]): Promise<Map<string, KeptAnswer>> {
  await tx.lockKeys(keys.map(keyName));
  const rows = await tx.all<KeyScope & KeptAnswer>(
    `SELECT i.user_id, i.app_id, i.operation, i.key, i.fingerprint, i.answer
     FROM ${tx.dialect.rows('$1', columns, 'asked')}
     JOIN idempotency i ON i.user_id = asked.user_id AND i.app_id = asked.app_id
                       AND i.operation = asked.operation AND i.key = asked.key`,
    JSON.stringify(keys),
  );
  return new Map(rows.map((r) => [keyName(r), r]));
}

export async function keepAnswers(tx: Tx, answers: readonly (KeyScope & KeptAnswer)[], at: number): Promise<void> {
  await tx.run(
    `INSERT INTO idempotency (user_id, app_id, operation, key, fingerprint, answer, created_at)
     SELECT user_id, app_id, operation, key, fingerprint, answer, $2
     FROM ${tx.dialect.rows('$1', { ...columns, fingerprint: 'text', answer: 'text' }, 'a')}`,
    JSON.stringify(answers),
    at,
  );
}

/** Drops up to `count` answers older than `before`; answers how many. */
export function pruneAnswers(db: Db, before: number, count: number): Promise<number> {
  return db.run(
    `DELETE FROM idempotency WHERE (user_id, app_id, operation, key) IN (
       SELECT user_id, app_id, operation, key FROM idempotency WHERE created_at < $1 ORDER BY created_at LIMIT $2
     )`,
    before,
    count,
  );
}
