import type { WebhookId } from '@parley/contract';
import { leaseSql } from '../../lib/lease.ts';
import { bulkStatement, type Db, type Dialect, type Tx } from '../engine/engine.ts';
import { changes, exists, values } from '../engine/query.ts';
import { type OpenDelivery, open, openColumns } from './deliveries.ts';

/** A lease expires this long after its process last renewed it. Then another process may take it. */
export const leaseMs = 5_000;

export type DownCause = 'transport' | 'responses';

export interface EndpointHealth {
  readonly down_since: number | null;
  readonly down_cause: DownCause | null;
  /** Attempts since it went down. */
  readonly probes: number;
  /** Sending resumes at this time. */
  readonly hold_until: number | null;
}

/** The state of one webhook's endpoint: which process delivers to it, and how it responds. */
export interface EndpointStateRow extends EndpointHealth {
  readonly webhook_id: WebhookId;
  /** The process that holds the lease. */
  readonly owner: string | null;
  /** The fencing number: it rises whenever the lease changes hands. */
  readonly lease_number: number;
  /** Deliveries ever created for the webhook. */
  readonly delivery_count: number;
  /** Rises when anything but the owner changes the webhook or its deliveries. */
  readonly revision: number;
  readonly due_at: number | null;
}

const columns = `endpoint_state.webhook_id, owner, lease_number, delivery_count, revision, due_at, down_since, down_cause,
  probes, hold_until`;

export const findEndpointState = (db: Db, webhookId: WebhookId): Promise<EndpointStateRow | undefined> =>
  db.get(`SELECT ${columns} FROM endpoint_state WHERE webhook_id = $1`, [webhookId]);

/**
 * The assignments that take a free lease for `owner` or renew its own. A lease that expired gets a new number even for
 * the same owner, so that nothing written under the old number passes for the new lease.
 */
const takeLease = (now: string, owner: string) => {
  const isMine = `(owner = ${owner} OR ${leaseSql.isFree(now)})`;
  return `owner = CASE WHEN ${isMine} THEN ${owner} ELSE owner END,
    lease_number = CASE WHEN ${leaseSql.isFree(now)} THEN lease_number + 1 ELSE lease_number END,
    lease_expires_at = CASE WHEN ${isMine} THEN ${now} + ${leaseMs} ELSE lease_expires_at END`;
};

/** The given rows, with their endpoint states locked in one order. Two writers that lock several would deadlock otherwise. */
const lockedFirst = ({ lockRows }: Dialect, source: string): string =>
  `(SELECT g.* FROM ${source} AS g JOIN endpoint_state d ON d.webhook_id = g.webhook_id ORDER BY d.webhook_id ${lockRows})`;

/**
 * Tests the owner of a row that was found by its id. As a plain comparison, PostgreSQL would use the index on the owner
 * and scan all rows of that owner for each given row.
 */
const ownedBy = (owner: string) => `CASE WHEN endpoint_state.owner = ${owner} THEN true ELSE false END`;

const takeDue = bulkStatement(
  { webhook_id: 'int' },
  (source, dialect) => `UPDATE endpoint_state SET ${takeLease(dialect.now, '$1')}
      FROM ${lockedFirst(dialect, source)} AS g
      WHERE endpoint_state.webhook_id = g.webhook_id AND ${leaseSql.isFree(dialect.now)} RETURNING ${columns}`,
);

const addCounts = bulkStatement(
  { webhook_id: 'int', count: 'int' },
  (source, dialect) => `UPDATE endpoint_state
      SET delivery_count = delivery_count + g.count, due_at = 0, ${takeLease(dialect.now, '$1')}
      FROM ${lockedFirst(dialect, source)} AS g WHERE endpoint_state.webhook_id = g.webhook_id
      RETURNING ${columns}`,
);

const confirm = bulkStatement(
  { webhook_id: 'int', lease_number: 'int' },
  (source, dialect) => `UPDATE endpoint_state SET ${leaseSql.extend(dialect.now, leaseMs)}
      FROM ${lockedFirst(dialect, source)} AS g
      WHERE endpoint_state.webhook_id = g.webhook_id AND endpoint_state.lease_number = g.lease_number
        AND ${ownedBy('$1')}
      RETURNING endpoint_state.webhook_id`,
);

/** Counts new deliveries of webhooks, and takes the leases that are free. Returns the states, whoever owns them. */
export function countDeliveries(
  tx: Tx,
  owner: string,
  counts: readonly (readonly [webhookId: number, count: number])[],
): Promise<EndpointStateRow[]> {
  return tx.bulk(addCounts, counts, [owner]);
}

/** Takes the leases of these webhooks that are free, and returns them. */
export const takeLeases = (tx: Tx, owner: string, webhookIds: readonly WebhookId[]): Promise<EndpointStateRow[]> =>
  tx.bulk(
    takeDue,
    webhookIds.map((id) => [id]),
    [owner],
  );

/** Renews every lease of a process that has not expired, and returns those. */
export const renewLeases = (tx: Tx, owner: string): Promise<EndpointStateRow[]> =>
  tx.all(
    `UPDATE endpoint_state SET ${leaseSql.extend(tx.dialect.now, leaseMs)}
     FROM (SELECT d.webhook_id AS owned FROM endpoint_state d WHERE d.owner = $1 ORDER BY d.webhook_id ${tx.dialect.lockRows}) AS mine
     WHERE webhook_id = mine.owned AND lease_expires_at >= ${tx.dialect.now} RETURNING ${columns}`,
    [owner],
  );

/** Returns the states that a process holds a lease on. */
export const ownedStates = (db: Db, owner: string): Promise<EndpointStateRow[]> =>
  db.all(`SELECT ${columns} FROM endpoint_state WHERE owner = $1 AND lease_expires_at >= ${db.dialect.now}`, [owner]);

/** Returns the open deliveries of webhooks that were created after the given one of each, in the order of creation. */
export function openSince(
  db: Db,
  known: readonly { webhook_id: WebhookId; delivery_id: number }[],
): Promise<OpenDelivery[]> {
  const given = db.dialect.rows('$1', { webhook_id: 'int', delivery_id: 'int' }, 'k');
  return db.all(
    `SELECT ${openColumns} FROM ${given} JOIN deliveries d ON d.webhook_id = k.webhook_id AND d.delivery_id > k.delivery_id
     WHERE ${open} ORDER BY d.delivery_id`,
    [JSON.stringify(known)],
  );
}

/** Renews these leases, and returns the webhooks whose lease still holds. Nothing may be written under the others. */
export async function confirmLeases(
  tx: Tx,
  owner: string,
  leases: readonly (readonly [webhookId: number, leaseNumber: number])[],
): Promise<ReadonlySet<number>> {
  const held = await tx.bulk<{ webhook_id: number }>(confirm, leases, [owner]);
  return new Set(held.map((row) => row.webhook_id));
}

/** Returns webhooks that are due and that no process holds a lease on. */
export const findDue = (db: Db, now: number, limit: number): Promise<WebhookId[]> =>
  values<WebhookId>(
    db,
    `SELECT webhook_id FROM endpoint_state WHERE due_at <= $1 AND ${leaseSql.isFree(db.dialect.now)} ORDER BY due_at LIMIT $2`,
    [now, limit],
  );

export type LeaseKey = Pick<EndpointStateRow, 'webhook_id' | 'lease_number'>;

/** The part of a state that must be unchanged when its lease is released. */
export type ReleasableState = Pick<EndpointStateRow, 'webhook_id' | 'lease_number' | 'delivery_count' | 'revision'>;

/** Releases a lease until `dueAt`. Returns false if it was lost, or if the webhook has changed since it was read. */
export const releaseLease = (tx: Tx, owner: string, state: ReleasableState, dueAt: number | null): Promise<boolean> =>
  changes(
    tx,
    `UPDATE endpoint_state SET owner = NULL, ${leaseSql.release}, due_at = $6
     WHERE webhook_id = $1 AND owner = $2 AND lease_number = $3 AND delivery_count = $4 AND revision = $5`,
    [state.webhook_id, owner, state.lease_number, state.delivery_count, state.revision, dueAt],
  );

/** Gives a lease to another process, under a new number. Returns false if it was lost, or if that process is about to end. */
export async function transferLease(
  tx: Tx,
  owner: string,
  { webhook_id, lease_number }: LeaseKey,
  to: string,
): Promise<boolean> {
  // A process that ends removes this row, and then releases its leases: this one too, because the row is locked until then.
  const isThere = await exists(tx, `SELECT 1 AS found FROM nodes d WHERE d.owner = $1 ${tx.dialect.lockRows}`, [to]);
  if (!isThere) return false;
  return changes(
    tx,
    `UPDATE endpoint_state SET owner = $4, ${leaseSql.nextNumber},
       ${leaseSql.extend(tx.dialect.now, leaseMs)}, due_at = 0
     WHERE webhook_id = $1 AND owner = $2 AND lease_number = $3`,
    [webhook_id, owner, lease_number, to],
  );
}

/** Releases every lease of a process; of all processes, if `owner` is null. */
export async function releaseAllLeases(tx: Tx, owner: string | null): Promise<void> {
  await tx.run(
    `UPDATE endpoint_state SET owner = NULL, ${leaseSql.release}
     WHERE owner IS NOT NULL AND (owner = $1 OR CAST($1 AS text) IS NULL)`,
    [owner],
  );
}

/** The caller has confirmed the lease in this transaction. */
export async function setHealth(tx: Tx, webhookId: number, health: EndpointHealth): Promise<void> {
  await tx.run(
    'UPDATE endpoint_state SET down_since = $2, down_cause = $3, probes = $4, hold_until = $5 WHERE webhook_id = $1',
    [webhookId, health.down_since, health.down_cause, health.probes, health.hold_until],
  );
}

/** This URL has responded with a 2xx. The caller has confirmed the lease in this transaction. */
export async function setConfirmedUrl(tx: Tx, webhookId: number, url: string): Promise<void> {
  await tx.run('UPDATE endpoint_state SET confirmed_url = $2 WHERE webhook_id = $1', [webhookId, url]);
}

const healthReset = 'down_since = NULL, down_cause = NULL, probes = 0, hold_until = NULL,';

/** How changes by anything but the owner of the lease affect the schedule. */
const revisions = {
  /** Read again, if there is anything to send. */
  recheck: 'due_at = CASE WHEN due_at IS NULL THEN NULL ELSE 0 END,',
  /** Forget failures and send now. */
  retry_now: `${healthReset} due_at = 0,`,
  /** Send what was added. */
  resume: 'due_at = 0,',
  /** Send nothing more. */
  stop: `${healthReset} due_at = NULL,`,
} as const;

/**
 * Makes the owner of the lease read the webhook again. Call it before changes to its deliveries: the result writer
 * confirms the lease first, and two writers that lock the same rows in another order would deadlock.
 */
export async function bumpRevision(tx: Tx, webhookId: number, revision: keyof typeof revisions): Promise<void> {
  await tx.run(`UPDATE endpoint_state SET ${revisions[revision]} revision = revision + 1 WHERE webhook_id = $1`, [
    webhookId,
  ]);
}

/**
 * Makes deliveries due now whose last attempt lies in the future, and ends holds beyond `maxHoldUntil`: the clock was
 * set back since they were written. Returns the number of webhooks affected.
 */
export async function endWaitsAfterClockSetBack(tx: Tx, now: number, maxHoldUntil: number): Promise<number> {
  const early = `SELECT r.webhook_id FROM deliveries r WHERE r.state = 'retrying' AND r.last_at > $1`;
  const webhooks = await tx.run(
    `UPDATE endpoint_state
     SET hold_until = NULL, due_at = CASE WHEN due_at IS NULL THEN NULL ELSE 0 END, revision = revision + 1
     WHERE webhook_id IN (SELECT d.webhook_id FROM endpoint_state d WHERE d.hold_until > $2 OR d.webhook_id IN (${early})
                          ORDER BY d.webhook_id ${tx.dialect.lockRows})`,
    [now, maxHoldUntil],
  );
  if (webhooks > 0) {
    await tx.run(`UPDATE deliveries SET next_at = NULL WHERE state = 'retrying' AND last_at > $1`, [now]);
  }
  return webhooks;
}
