import type { FileId } from '@parley/contract';
import { leaseSql } from '../../lib/lease.ts';
import type { Db, Tx } from '../engine/engine.ts';
import { changes, rowReader } from '../engine/query.ts';
import { type FileRow, returned } from './files.ts';

/** A lease on a resumable upload. Each lease gets the next number, and only the holder of the latest may write. */
export interface LeaseRow {
  readonly file_id: FileId;
  readonly lease_number: number;
  /** An earlier lease has expired, and its holder may still write. */
  readonly is_doubtful: boolean;
}
const leases = rowReader<LeaseRow>('is_doubtful');
const wanted = rowReader<{ is_wanted: boolean }>('is_wanted');

/** Takes the lease if it is free. Otherwise tells its holder, through `is_wanted`, that another request waits. */
export async function takeUpload(tx: Tx, key: string, leaseMs: number): Promise<LeaseRow | 'held' | 'gone'> {
  const { now } = tx.dialect;
  const taken = await leases.get(
    tx,
    `UPDATE files SET ${leaseSql.nextNumber}, ${leaseSql.extend(now, '$2')}, is_wanted = 0,
       is_doubtful = CASE WHEN lease_expires_at = 0 THEN is_doubtful ELSE 1 END
     WHERE key = $1 AND is_dropped = 0 AND ${leaseSql.isFree(now)} RETURNING file_id, lease_number, is_doubtful`,
    [key, leaseMs],
  );
  if (taken) return taken;
  const held = await wanted.get(tx, 'SELECT is_wanted FROM files WHERE key = $1 AND is_dropped = 0', [key]);
  if (!held) return 'gone';
  if (!held.is_wanted) await tx.run('UPDATE files SET is_wanted = 1 WHERE key = $1', [key]);
  return 'held';
}

/**
 * Extends the lease, even an expired one that nobody has taken. Returns whether another request waits for it, or undefined
 * if it is lost.
 */
export function renewUpload(
  tx: Tx,
  fileId: FileId,
  lease: number,
  leaseMs: number,
): Promise<{ is_wanted: boolean } | undefined> {
  return wanted.get(
    tx,
    `UPDATE files SET ${leaseSql.extend(tx.dialect.now, '$3')}
     WHERE file_id = $1 AND lease_number = $2 AND lease_expires_at > 0 AND is_dropped = 0 RETURNING is_wanted`,
    [fileId, lease, leaseMs],
  );
}

/** Releases the lease. Returns false if it was lost before. */
export const freeUpload = (tx: Tx, fileId: FileId, lease: number): Promise<boolean> =>
  changes(
    tx,
    `UPDATE files SET ${leaseSql.release} WHERE file_id = $1 AND lease_number = $2 AND lease_expires_at > 0`,
    [fileId, lease],
  );

/** Releases all leases, when no other server uses this database. `inDoubt`: bytes of their holders may still arrive in the storage. */
export async function freeAllUploads(db: Db, inDoubt: boolean): Promise<void> {
  await db.run(
    `UPDATE files SET ${leaseSql.release}, is_doubtful = CASE WHEN $1 = 1 THEN 1 ELSE is_doubtful END
     WHERE expires_at IS NOT NULL AND lease_expires_at > 0`,
    [inDoubt ? 1 : 0],
  );
}

/** Starts a new segment: bytes from this offset on get another key. Returns undefined if the lease is lost. */
export const startSegment = (tx: Tx, fileId: FileId, lease: number, offset: number): Promise<FileRow | undefined> =>
  tx.get(
    `UPDATE files SET segments = segments || CAST($3 AS text), is_doubtful = 0
     WHERE file_id = $1 AND lease_number = $2 AND is_dropped = 0 AND sha256 IS NULL RETURNING ${returned}`,
    [fileId, lease, `.${offset}`],
  );
