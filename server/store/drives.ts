import type { WebhookId } from '@parley/contract';
import { type OpenDelivery, open, openColumns } from './deliveries.ts';
import { type BulkStatement, type Db, type Dialect, perDialect, type Tx } from './engine.ts';

/** A process may drive a webhook for this long after it last said so; then another may take it over. */
export const leaseMs = 5_000;

export type DownCause = 'transport' | 'answers';

export interface EndpointHealth {
  readonly down_since: number | null;
  readonly down_cause: DownCause | null;
  /** Attempts since it is down. */
  readonly probes: number;
  /** Until when the whole endpoint is left alone. */
  readonly hold_until: number | null;
}

export interface DriveRow extends EndpointHealth {
  readonly webhook_id: WebhookId;
  readonly owner: string | null;
  readonly lease_number: number;
  readonly filled: number;
  readonly revision: number;
  readonly due_at: number | null;
}

const columns = `webhook_id, owner, lease_number, filled, revision, due_at, down_since, down_cause, probes, hold_until`;

export function findDrive(db: Db, webhookId: WebhookId): Promise<DriveRow | undefined> {
  return db.get(`SELECT ${columns} FROM drives WHERE webhook_id = $1`, webhookId);
}

/**
 * What a statement on `drives` sets to take a webhook for `owner`, or to keep it: who lets a lease lapse gets a new
 * number with the next one, so that nothing written under the old one passes for the new.
 */
const taking = (now: string, owner: string) => {
  const lapsed = `(lease_until < ${now} OR owner IS NULL)`;
  const mine = `(owner = ${owner} OR ${lapsed})`;
  return `owner = CASE WHEN ${mine} THEN ${owner} ELSE owner END,
    lease_number = CASE WHEN ${lapsed} THEN lease_number + 1 ELSE lease_number END,
    lease_until = CASE WHEN ${mine} THEN ${now} + ${leaseMs} ELSE lease_until END`;
};

/** Takes a webhook that nobody drives. */
export function takeLease(tx: Tx, webhookId: WebhookId, owner: string): Promise<DriveRow | undefined> {
  return tx.get(
    `UPDATE drives SET ${taking(tx.dialect.now, '$2')} WHERE webhook_id = $1 AND (lease_until < ${tx.dialect.now} OR owner IS NULL)
     RETURNING ${columns}`,
    webhookId,
    owner,
  );
}

/** The given rows with their drives locked in one order: two that lock several would otherwise wait for each other. */
const lockedFirst = ({ lockRows }: Dialect, source: string): string =>
  `(SELECT g.* FROM ${source} AS g JOIN drives d ON d.webhook_id = g.webhook_id ORDER BY d.webhook_id ${lockRows})`;

/**
 * Whose a drive is, once it was found by its id. Put plainly, PostgreSQL would take the owner for what finds it best, and go through
 * all that are held, for each row.
 */
const ownedBy = (owner: string) => `CASE WHEN drives.owner = ${owner} THEN true ELSE false END`;

const filling = perDialect(
  (dialect): BulkStatement => ({
    columns: { webhook_id: 'int', count: 'int' },
    statements: [
      (source) => `UPDATE drives SET filled = filled + g.count, due_at = 0, ${taking(dialect.now, '$1')}
      FROM ${lockedFirst(dialect, source)} AS g WHERE drives.webhook_id = g.webhook_id
      RETURNING drives.webhook_id, owner, lease_number, filled, revision, due_at, down_since, down_cause, probes, hold_until`,
    ],
  }),
);

const confirming = perDialect(
  (dialect): BulkStatement => ({
    columns: { webhook_id: 'int', lease_number: 'int' },
    statements: [
      (source) => `UPDATE drives SET lease_until = ${dialect.now} + ${leaseMs}
      FROM ${lockedFirst(dialect, source)} AS g
      WHERE drives.webhook_id = g.webhook_id AND drives.lease_number = g.lease_number AND ${ownedBy('$1')}
      RETURNING drives.webhook_id`,
    ],
  }),
);

/** Says that deliveries were made for webhooks, and takes those that nobody drives. */
export function noteFilled(
  tx: Tx,
  owner: string,
  counts: readonly (readonly [webhookId: number, count: number])[],
): Promise<DriveRow[]> {
  return tx.bulk(filling(tx), counts, owner);
}

/** Holds on to everything that a process drives, and answers what that is. */
export function renewLeases(tx: Tx, owner: string): Promise<DriveRow[]> {
  return tx.all(
    `UPDATE drives SET lease_until = ${tx.dialect.now} + ${leaseMs}
     FROM (SELECT d.webhook_id AS held FROM drives d WHERE d.owner = $1 ORDER BY d.webhook_id ${tx.dialect.lockRows}) AS mine
     WHERE webhook_id = mine.held AND lease_until >= ${tx.dialect.now} RETURNING ${columns}`,
    owner,
  );
}

/** Everything that a process drives, as it is now. */
export function drivesOf(db: Db, owner: string): Promise<DriveRow[]> {
  return db.all(`SELECT ${columns} FROM drives WHERE owner = $1 AND lease_until >= ${db.dialect.now}`, owner);
}

/** What is open of the deliveries that were made for webhooks after one of each, in the order in which they were made. */
export function openSince(
  db: Db,
  known: readonly { webhook_id: WebhookId; delivery_id: number }[],
): Promise<OpenDelivery[]> {
  const given = db.dialect.rows('$1', { webhook_id: 'int', delivery_id: 'int' }, 'k');
  return db.all(
    `SELECT ${openColumns} FROM ${given} JOIN deliveries d ON d.webhook_id = k.webhook_id AND d.delivery_id > k.delivery_id
     WHERE ${open} ORDER BY d.delivery_id`,
    JSON.stringify(known),
  );
}

/** Holds on to these leases, and answers which of them are still one's own: nothing else may be written under the others. */
export async function confirmLeases(
  tx: Tx,
  owner: string,
  leases: readonly (readonly [webhookId: number, leaseNumber: number])[],
): Promise<ReadonlySet<number>> {
  const held = await tx.bulk<{ webhook_id: number }>(confirming(tx), leases, owner);
  return new Set(held.map((row) => row.webhook_id));
}

/** Webhooks that have something to do and nobody who does it. */
export async function findDue(db: Db, now: number, limit: number): Promise<WebhookId[]> {
  const rows = await db.all<{ webhook_id: WebhookId }>(
    `SELECT webhook_id FROM drives
     WHERE due_at <= $1 AND (lease_until < ${db.dialect.now} OR owner IS NULL) ORDER BY due_at LIMIT $2`,
    now,
    limit,
  );
  return rows.map((row) => row.webhook_id);
}

/** Lets go of a webhook until something is due, unless there is something new by now. */
export async function releaseLease(
  tx: Tx,
  owner: string,
  drive: Pick<DriveRow, 'webhook_id' | 'lease_number' | 'filled' | 'revision'>,
  dueAt: number | null,
): Promise<boolean> {
  const released = await tx.run(
    `UPDATE drives SET owner = NULL, lease_until = 0, due_at = $6
     WHERE webhook_id = $1 AND owner = $2 AND lease_number = $3 AND filled = $4 AND revision = $5`,
    drive.webhook_id,
    owner,
    drive.lease_number,
    drive.filled,
    drive.revision,
    dueAt,
  );
  return released > 0;
}

/** Hands a webhook over to another process, under a new number: it is that one's at once, and is looked at in any case. */
export async function passLease(
  tx: Tx,
  owner: string,
  { webhook_id, lease_number }: Pick<DriveRow, 'webhook_id' | 'lease_number'>,
  to: string,
): Promise<boolean> {
  const passed = await tx.run(
    `UPDATE drives SET owner = $4, lease_number = lease_number + 1, lease_until = ${tx.dialect.now} + ${leaseMs}, due_at = 0
     WHERE webhook_id = $1 AND owner = $2 AND lease_number = $3`,
    webhook_id,
    owner,
    lease_number,
    to,
  );
  return passed > 0;
}

/** Lets go of everything at once: the process ends, or it is the only one and has just started. */
export async function releaseAll(tx: Tx, owner: string | null): Promise<void> {
  await tx.run(
    `UPDATE drives SET owner = NULL, lease_until = 0 WHERE owner IS NOT NULL AND (owner = $1 OR CAST($1 AS text) IS NULL)`,
    owner,
  );
}

/** Under the drive's own lease, which has just been confirmed. */
export async function setHealth(tx: Tx, webhookId: number, health: EndpointHealth): Promise<void> {
  await tx.run(
    'UPDATE drives SET down_since = $2, down_cause = $3, probes = $4, hold_until = $5 WHERE webhook_id = $1',
    webhookId,
    health.down_since,
    health.down_cause,
    health.probes,
    health.hold_until,
  );
}

const forgiven = 'down_since = NULL, down_cause = NULL, probes = 0, hold_until = NULL,';

/** What somebody else than its owner may do to a drive. */
const revisions = {
  'looked at again': 'due_at = CASE WHEN due_at IS NULL THEN NULL ELSE 0 END,',
  'tried at once': `${forgiven} due_at = 0,`,
  continued: 'due_at = 0,',
  'left alone': `${forgiven} due_at = NULL,`,
} as const;

/**
 * Has whoever drives a webhook see what was changed about it. Comes before changes to its deliveries: whoever writes down results
 * confirms the lease first, and two that lock the same rows in another order would wait for each other.
 */
export async function noteRevision(tx: Tx, webhookId: number, revision: keyof typeof revisions): Promise<void> {
  await tx.run(`UPDATE drives SET ${revisions[revision]} revision = revision + 1 WHERE webhook_id = $1`, webhookId);
}
