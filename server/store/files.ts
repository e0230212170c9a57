import type { FileId, UserId } from '@parley/contract';
import type { Db, RowWork, Tx } from './engine.ts';

export interface FileRow {
  readonly file_id: FileId;
  /** What its bytes are kept under. Up to the first dot it is what an upload is asked for with, and never changes. */
  readonly key: string;
  readonly user_id: UserId;
  readonly name: string;
  readonly mime_type: string | null;
  readonly size: number | null;
  readonly sha256: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
}

/** What is known of a file once all of it is there. */
export interface FileFacts {
  readonly name: string;
  readonly mime_type: string;
  readonly size: number;
  readonly sha256: string;
}

export type WholeFile = FileRow & FileFacts;

export const isWhole = (row: FileRow): row is WholeFile => row.sha256 !== null;

const names = ['file_id', 'key', 'user_id', 'name', 'mime_type', 'size', 'sha256', 'created_at', 'expires_at'];
const columns = names.map((name) => (name === 'key' ? 'f.key || f.cuts AS key' : `f.${name}`)).join(', ');

/** What a statement that writes gives of a row. */
export const written = names.map((name) => (name === 'key' ? 'key || cuts AS key' : name)).join(', ');

export function insertFile(
  tx: Tx,
  file: Pick<FileRow, 'key' | 'user_id' | 'name' | 'size' | 'created_at' | 'expires_at'>,
): Promise<FileRow | undefined> {
  return tx.get(
    `INSERT INTO files (key, user_id, name, size, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${written}`,
    file.key,
    file.user_id,
    file.name,
    file.size,
    file.created_at,
    file.expires_at,
  );
}

/** Files of a user that no message names, whole or not. */
export async function countUnsent(db: Db, userId: UserId, now: number): Promise<number> {
  const row = await db.get<{ total: number }>(
    'SELECT count(*) AS total FROM files WHERE user_id = $1 AND expires_at > $2',
    userId,
    now,
  );
  return row?.total ?? 0;
}

/** A file that has not come to its end. */
const living = 'f.is_dropped = 0 AND (f.expires_at IS NULL OR f.expires_at > $2)';

export function findFile(db: Db, fileId: FileId, now: number): Promise<FileRow | undefined> {
  return db.get(`SELECT ${columns} FROM files f WHERE f.file_id = $1 AND ${living}`, fileId, now);
}

export function findFileByKey(db: Db, key: string, now: number): Promise<FileRow | undefined> {
  return db.get(`SELECT ${columns} FROM files f WHERE f.key = $1 AND ${living}`, key, now);
}

/** Whether somebody is in a chat where a message names the file. */
export async function isSharedWith(db: Db, fileId: FileId, userId: UserId): Promise<boolean> {
  const row = await db.get(
    `SELECT 1 AS found FROM messages m
     JOIN members w ON w.chat_id = m.chat_id AND w.user_id = $2 AND w.left_event IS NULL
     WHERE m.file_id = $1 LIMIT 1`,
    fileId,
    userId,
  );
  return row !== undefined;
}

/** Those of the files that are whole and have not come to their end. */
export async function findWholeFiles(db: Db, fileIds: readonly FileId[], now: number): Promise<Map<FileId, WholeFile>> {
  const rows = await db.all<WholeFile>(
    `SELECT ${columns} FROM ${db.dialect.rows('$1', { file_id: 'int' }, 'asked')}
     JOIN files f ON f.file_id = asked.file_id WHERE f.sha256 IS NOT NULL AND ${living}`,
    JSON.stringify(fileIds.map((file_id) => ({ file_id }))),
    now,
  );
  return new Map(rows.map((row) => [row.file_id, row]));
}

/**
 * A file is whole, and nobody has to hold it any more. Answers false where it was dropped meanwhile, is whole already, or
 * somebody else has taken the lease under which it was written; what came in one go has none, which is number 0.
 */
export async function completeFile(
  tx: Tx,
  fileId: FileId,
  facts: FileFacts,
  expiresAt: number | null,
  lease = 0,
): Promise<boolean> {
  const changed = await tx.run(
    `UPDATE files SET name = $2, mime_type = $3, size = $4, sha256 = $5, expires_at = $6, lease_until = NULL
     WHERE file_id = $1 AND is_dropped = 0 AND sha256 IS NULL AND lease_number = $7`,
    fileId,
    facts.name,
    facts.mime_type,
    facts.size,
    facts.sha256,
    expiresAt,
    lease,
  );
  return changed > 0;
}

const naming: RowWork = {
  columns: { file_id: 'int' },
  statements: [
    (source) => `UPDATE files SET expires_at = NULL WHERE file_id IN (SELECT file_id FROM ${source} AS named)`,
  ],
};

/** Messages name these files. Under the event lock, as `releaseFile` and `dropEndedFiles`: so none of them passes the other. */
export async function keepFiles(tx: Tx, fileIds: readonly FileId[]): Promise<void> {
  await tx.each(
    naming,
    fileIds.map((fileId) => [fileId]),
  );
}

/** A message has ceased to name this file: if none does any more, it has come to its end. */
export async function releaseFile(tx: Tx, fileId: FileId, at: number): Promise<void> {
  await tx.run(
    `UPDATE files SET expires_at = $2
     WHERE file_id = $1 AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.file_id = $1)`,
    fileId,
    at,
  );
}

export async function extendFile(db: Db, fileId: FileId, expiresAt: number): Promise<boolean> {
  const changed = await db.run(
    'UPDATE files SET expires_at = $2 WHERE file_id = $1 AND expires_at IS NOT NULL AND is_dropped = 0',
    fileId,
    expiresAt,
  );
  return changed > 0;
}

export type Dropped = Pick<FileRow, 'file_id' | 'key'>;

export async function isWholeFile(db: Db, fileId: FileId): Promise<boolean> {
  const sql = 'SELECT 1 AS found FROM files WHERE file_id = $1 AND sha256 IS NOT NULL';
  return (await db.get(sql, fileId)) !== undefined;
}

/** Whether there is such a file, in whatever state. */
export async function isKnown(db: Db, fileId: FileId): Promise<boolean> {
  return (await db.get('SELECT 1 AS found FROM files WHERE file_id = $1', fileId)) !== undefined;
}

/** Whether there is such a file that is not being removed. */
export async function isKept(db: Db, fileId: FileId): Promise<boolean> {
  return (await db.get('SELECT 1 AS found FROM files WHERE file_id = $1 AND is_dropped = 0', fileId)) !== undefined;
}

/** Drops a file that has not become whole. Answers false where it has, is gone, or is somebody else's to write. */
export async function dropUnfinished(db: Db, fileId: FileId, at: number, lease: number): Promise<boolean> {
  const changed = await db.run(
    `UPDATE files SET is_dropped = 1, expires_at = $2
     WHERE file_id = $1 AND sha256 IS NULL AND (is_dropped = 1 OR lease_number = $3)`,
    fileId,
    at,
    lease,
  );
  return changed > 0;
}

/** Nobody writes to the upload: the last lease was given back, or has lapsed. */
export const isFree = ({ dialect }: Db): string => `(lease_until IS NULL OR lease_until < ${dialect.now})`;

const ended = (db: Db): string => `expires_at <= $1 AND ${isFree(db)}`;

export async function hasEndedFiles(db: Db, now: number): Promise<boolean> {
  return (await db.get(`SELECT 1 AS found FROM files WHERE ${ended(db)} LIMIT 1`, now)) !== undefined;
}

/** Drops up to `count` files that have come to their end, and names those again that were dropped and are still kept. */
export async function dropEndedFiles(tx: Tx, now: number, count: number): Promise<Dropped[]> {
  // The event lock: no message comes to name a file between the verdict and the commit.
  await tx.takeIds({ messages: 0, events: 0 });
  return tx.all(
    `UPDATE files SET is_dropped = 1 WHERE file_id IN (
       SELECT file_id FROM files WHERE ${ended(tx)} ORDER BY expires_at LIMIT $2
     ) AND ${ended(tx)} RETURNING file_id, key || cuts AS key`,
    now,
    count,
  );
}

/** Those of the files that are still there are to be removed later. */
export async function putOff(db: Db, files: readonly Dropped[], expiresAt: number): Promise<void> {
  await db.run(
    `UPDATE files SET expires_at = $2 WHERE is_dropped = 1 AND file_id IN (
       SELECT file_id FROM ${db.dialect.rows('$1', { file_id: 'int' }, 'left_over')}
     )`,
    JSON.stringify(files.map(({ file_id }) => ({ file_id }))),
    expiresAt,
  );
}

/** Its bytes are gone, and so is what was known of them. */
export async function forgetFile(db: Db, fileId: FileId): Promise<void> {
  await db.run('DELETE FROM files WHERE file_id = $1 AND is_dropped = 1', fileId);
}
