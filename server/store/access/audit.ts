import type { UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { deleteSome, insertRow } from '../engine/query.ts';

export interface AuditRow {
  readonly audit_id: number;
  readonly at: number;
  readonly act: string;
  readonly user_id: UserId | null;
  /** Null if the user is unknown. */
  readonly user_name: string | null;
  readonly app_id: number;
  readonly address: string | null;
  /** A JSON object. */
  readonly details: string;
}

export async function insertAudit(tx: Tx, entry: Omit<AuditRow, 'audit_id' | 'user_name'>): Promise<void> {
  await insertRow(tx, 'audit', ['at', 'act', 'user_id', 'app_id', 'address', 'details'], entry);
}

export interface AuditFilter {
  readonly act?: string | undefined;
  readonly userId?: UserId | undefined;
  /** Only entries before this one. */
  readonly beforeId?: number | undefined;
}

/** Returns entries, newest first. */
export function listAudit(db: Db, filter: AuditFilter, limit: number): Promise<AuditRow[]> {
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const filterBy = (condition: string, value: string | number | undefined) => {
    if (value !== undefined) conditions.push(`${condition} $${values.push(value)}`);
  };
  filterBy('a.act =', filter.act);
  filterBy('a.user_id =', filter.userId);
  filterBy('a.audit_id <', filter.beforeId);
  return db.all(
    `SELECT a.audit_id, a.at, a.act, a.user_id, u.name AS user_name, a.app_id, a.address, a.details
     FROM audit a LEFT JOIN users u ON u.user_id = a.user_id
     ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''} ORDER BY a.audit_id DESC LIMIT $${values.push(limit)}`,
    values,
  );
}

export const pruneAudit = (tx: Tx, before: number, count: number): Promise<number> =>
  deleteSome(tx, ['audit', 'audit_id'], 'at < $1 ORDER BY at LIMIT $2', [before, count]);
