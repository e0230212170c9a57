import type { FileId } from '@parley/contract';
import type { Db, Tx } from './engine.ts';
import type { Reading } from './snapshot.ts';

/** What the bytes of a file in a backup have to be. */
export interface StoredFile {
  readonly file_id: FileId;
  /** What its bytes are kept under. */
  readonly key: string;
  readonly size: number;
  readonly sha256: string;
}

const whole = 'sha256 IS NOT NULL AND is_dropped = 0';

export async function countStored(db: Reading): Promise<{ count: number; bytes: number }> {
  const [row] = await db.all<{ count: number; bytes: number }>(
    `SELECT count(*) AS count, CAST(COALESCE(sum(size), 0) AS bigint) AS bytes FROM files WHERE ${whole}`,
  );
  return row ?? { count: 0, bytes: 0 };
}

/** The files that are whole, a page at a time. */
export async function* storedFiles(db: Reading): AsyncGenerator<StoredFile[]> {
  for (let after = 0, limit = 1_000; ; ) {
    const rows = await db.all<StoredFile>(
      `SELECT file_id, key || cuts AS key, size, sha256 FROM files WHERE file_id > $1 AND ${whole} ORDER BY file_id LIMIT $2`,
      after,
      limit,
    );
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    after = rows.at(-1)?.file_id ?? after;
  }
}

/** A file whose bytes are about to be put back: in one piece, whatever it was kept in before. */
export function findStored(db: Db, fileId: number): Promise<StoredFile | undefined> {
  return db.get(`SELECT file_id, key, size, sha256 FROM files WHERE file_id = $1 AND ${whole}`, fileId);
}

/** A file whose bytes are kept under another key from now on. */
export async function moveStored(tx: Tx, fileId: number, key: string): Promise<void> {
  await tx.run('UPDATE files SET key = $2 WHERE file_id = $1', fileId, key);
}

/**
 * Forgets the uploads that no message named at this time, whole or not. Their bytes stay, in a bucket that the server which was
 * backed up may still use: there a message may name them by now, and here they would come to their end and be removed. What was to
 * be removed then already is so everywhere.
 */
export async function dropUnsent(tx: Tx, at: number): Promise<void> {
  await tx.run('DELETE FROM files WHERE is_dropped = 0 AND (sha256 IS NULL OR expires_at > $1)', at);
}

/** Those that are whole have been put back in one piece; of the others no bytes are there. */
export async function settleFiles(tx: Tx, missing: readonly number[]): Promise<void> {
  await tx.run(`DELETE FROM files WHERE NOT (${whole})`);
  await tx.run(
    `DELETE FROM files WHERE file_id IN (SELECT file_id FROM ${tx.dialect.rows('$1', { file_id: 'int' }, 'missing')})`,
    JSON.stringify(missing.map((file_id) => ({ file_id }))),
  );
  await tx.run(`UPDATE files SET cuts = '', lease_until = NULL`);
}
