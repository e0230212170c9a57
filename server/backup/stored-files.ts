import { leaseSql } from '../lib/lease.ts';
import type { Db, Queryable, Tx } from '../store/engine/engine.ts';
import type { CompleteFile } from '../store/files/files.ts';

/** A complete file, and the expected size and hash of its bytes. */
export type StoredFile = Pick<CompleteFile, 'file_id' | 'key' | 'size' | 'sha256'>;

const isComplete = 'sha256 IS NOT NULL AND is_dropped = 0';

export async function countStored(db: Queryable): Promise<{ count: number; bytes: number }> {
  const [row] = await db.all<{ count: number; bytes: number }>(
    `SELECT count(*) AS count, CAST(COALESCE(sum(size), 0) AS bigint) AS bytes FROM files WHERE ${isComplete}`,
  );
  return row ?? { count: 0, bytes: 0 };
}

/** Yields the complete files, a page at a time. */
export async function* storedFiles(db: Queryable): AsyncGenerator<StoredFile[]> {
  for (let after = 0, limit = 1_000; ; ) {
    const rows = await db.all<StoredFile>(
      `SELECT file_id, key || segments AS key, size, sha256 FROM files WHERE file_id > $1 AND ${isComplete} ORDER BY file_id LIMIT $2`,
      [after, limit],
    );
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    after = rows.at(-1)?.file_id ?? after;
  }
}

/** Finds a file to restore. Its key names one object, even if the original was stored in segments. */
export const findStored = (db: Db, fileId: number): Promise<StoredFile | undefined> =>
  db.get(`SELECT file_id, key, size, sha256 FROM files WHERE file_id = $1 AND ${isComplete}`, [fileId]);

/**
 * Deletes the rows of uploads that no message used at this time, but not their bytes. The original server may still use
 * the same bucket, and a message there may use them by now. With their rows, this server would delete them at expiry.
 */
export async function forgetUnsent(tx: Tx, at: number): Promise<void> {
  await tx.run('DELETE FROM files WHERE is_dropped = 0 AND (sha256 IS NULL OR expires_at > $1)', [at]);
}

/** Deletes the rows of files without bytes. The restored files are in one piece each. */
export async function settleFiles(tx: Tx, missing: readonly number[]): Promise<void> {
  await tx.run(`DELETE FROM files WHERE NOT (${isComplete})`);
  await tx.run(
    `DELETE FROM files WHERE file_id IN (SELECT file_id FROM ${tx.dialect.rows('$1', { file_id: 'int' }, 'missing')})`,
    [JSON.stringify(missing.map((file_id) => ({ file_id })))],
  );
  await tx.run(`UPDATE files SET segments = '', ${leaseSql.release}`);
}

/** Thumbnails are in no backup. They are made again. */
export async function forgetThumbnails(tx: Tx): Promise<void> {
  await tx.run('UPDATE files SET thumbnail_size = NULL');
}
