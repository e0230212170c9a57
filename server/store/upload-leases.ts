import type { FileId } from '@parley/contract';
import type { Db, Tx } from './engine.ts';
import { type FileRow, isFree, written } from './files.ts';

/** An upload that can be resumed is written to under a lease, each with the next number: whoever has another has lost it. */
export interface LeaseRow {
  readonly file_id: FileId;
  readonly lease_number: number;
  /** An earlier lease has lapsed, and its holder may not have noticed. */
  readonly is_doubtful: number;
}

/** Takes an upload that nobody writes to. Where somebody does, it is left a word that it is wanted. */
export async function takeUpload(tx: Tx, key: string, leaseMs: number): Promise<LeaseRow | 'held' | 'gone'> {
  const { now } = tx.dialect;
  const taken = await tx.get<LeaseRow>(
    `UPDATE files SET lease_number = lease_number + 1, lease_until = ${now} + $2, is_wanted = 0,
       is_doubtful = CASE WHEN lease_until IS NULL THEN is_doubtful ELSE 1 END
     WHERE key = $1 AND is_dropped = 0 AND ${isFree(tx)} RETURNING file_id, lease_number, is_doubtful`,
    key,
    leaseMs,
  );
  if (taken) return taken;
  const held = await tx.get<{ is_wanted: number }>(
    'SELECT is_wanted FROM files WHERE key = $1 AND is_dropped = 0',
    key,
  );
  if (!held) return 'gone';
  if (held.is_wanted === 0) await tx.run('UPDATE files SET is_wanted = 1 WHERE key = $1', key);
  return 'held';
}

/**
 * Holds on to an upload, also where the lease has lapsed and nobody has taken it. Answers whether somebody waits for it;
 * undefined: it is lost.
 */
export function renewUpload(
  tx: Tx,
  fileId: FileId,
  lease: number,
  leaseMs: number,
): Promise<{ is_wanted: number } | undefined> {
  return tx.get(
    `UPDATE files SET lease_until = ${tx.dialect.now} + $3
     WHERE file_id = $1 AND lease_number = $2 AND lease_until IS NOT NULL AND is_dropped = 0 RETURNING is_wanted`,
    fileId,
    lease,
    leaseMs,
  );
}

/** Lets go of an upload that nothing more is written to under this lease. Answers false where it was lost before. */
export async function freeUpload(tx: Tx, fileId: FileId, lease: number): Promise<boolean> {
  const changed = await tx.run(
    'UPDATE files SET lease_until = NULL WHERE file_id = $1 AND lease_number = $2 AND lease_until IS NOT NULL',
    fileId,
    lease,
  );
  return changed > 0;
}

/** Nobody else can have leases on this database. `inDoubt`: what they have sent to the storage may still arrive there. */
export async function freeAllUploads(db: Db, inDoubt: boolean): Promise<void> {
  await db.run(
    `UPDATE files SET lease_until = NULL, is_doubtful = CASE WHEN $1 = 1 THEN 1 ELSE is_doubtful END
     WHERE expires_at IS NOT NULL AND lease_until IS NOT NULL`,
    inDoubt ? 1 : 0,
  );
}

/** From this offset on the bytes are kept under another name. Answers undefined where the lease is lost. */
export function cutUpload(tx: Tx, fileId: FileId, lease: number, offset: number): Promise<FileRow | undefined> {
  return tx.get(
    `UPDATE files SET cuts = cuts || CAST($3 AS text), is_doubtful = 0
     WHERE file_id = $1 AND lease_number = $2 AND is_dropped = 0 AND sha256 IS NULL RETURNING ${written}`,
    fileId,
    lease,
    `.${offset}`,
  );
}
