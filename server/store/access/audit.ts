import type { UserId } from '@parley/contract';
import type { Db, Tx } from '../engine/engine.ts';
import { deleteSome, insertRow, value } from '../engine/query.ts';

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
  /** Only entries from this time on. */
  readonly since?: number | undefined;
  /** Only entries before this time. */
  readonly until?: number | undefined;
}

/** Ids rise with time, unless a clock is set back. By more than this it would hide entries at the ends of a span. */
const maxSetBackMs = 24 * 3_600_000;

/**
 * Returns the ids between which all entries of a span of time are. Otherwise a search for an old span, or for one without
 * matching entries, would read the whole log.
 */
async function idsOf(db: Db, { since, until }: AuditFilter): Promise<{ from?: number; to?: number }> {
  const first = (condition: string, at: number) =>
    value<number>(db, `SELECT audit_id FROM audit WHERE ${condition} LIMIT 1`, [at]);
  const none = Number.MAX_SAFE_INTEGER;
  return {
    ...(since !== undefined && { from: (await first('at >= $1 ORDER BY at', since - maxSetBackMs)) ?? none }),
    ...(until !== undefined && { to: (await first('at < $1 ORDER BY at DESC', until + maxSetBackMs)) ?? 0 }),
  };
}

/** Returns entries, newest first. */
export async function listAudit(db: Db, filter: AuditFilter, limit: number): Promise<AuditRow[]> {
  const { from, to } = await idsOf(db, filter);
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const filterBy = (condition: string, value: string | number | undefined) => {
    if (value !== undefined) conditions.push(`${condition} $${values.push(value)}`);
  };
  filterBy('a.act =', filter.act);
  filterBy('a.user_id =', filter.userId);
  filterBy('a.audit_id <', filter.beforeId);
  filterBy('a.audit_id >=', from);
  filterBy('a.audit_id <=', to);
  filterBy('a.at >=', filter.since);
  filterBy('a.at <', filter.until);
  return db.all(
    `SELECT a.audit_id, a.at, a.act, a.user_id, u.name AS user_name, a.app_id, a.address, a.details
     FROM audit a LEFT JOIN users u ON u.user_id = a.user_id
     ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''} ORDER BY a.audit_id DESC LIMIT $${values.push(limit)}`,
    values,
  );
}

export const pruneAudit = (tx: Tx, before: number, count: number): Promise<number> =>
  deleteSome(tx, ['audit', 'audit_id'], 'at < $1 ORDER BY at LIMIT $2', [before, count]);
