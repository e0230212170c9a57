import type { FileId, UserId } from '@parley/contract';
import { leaseSql } from '../../lib/lease.ts';
import { addFileBytes } from '../access/owner-use.ts';
import { bulkStatement, type Db, type Engine, type Tx } from '../engine/engine.ts';
import { changes, exists, insertRow, number } from '../engine/query.ts';

export interface FileRow {
  readonly file_id: FileId;
  /** The storage key of its bytes. The part before the first dot is the id of the upload and never changes. */
  readonly key: string;
  readonly user_id: UserId;
  readonly name: string;
  readonly mime_type: string | null;
  readonly size: number | null;
  readonly sha256: string | null;
  /** Of an upright image that can be decoded. */
  readonly width: number | null;
  readonly height: number | null;
  /** In bytes. Null if it is not made yet, 0 if it cannot be made. */
  readonly thumbnail_size: number | null;
  readonly created_at: number;
  readonly expires_at: number | null;
}

/** Known once the file is complete. */
export interface FileFacts {
  readonly name: string;
  readonly mime_type: string;
  readonly size: number;
  readonly sha256: string;
  /** Of an image. */
  readonly width?: number | null | undefined;
  readonly height?: number | null | undefined;
}

export type CompleteFile = FileRow & Pick<FileFacts, 'name' | 'mime_type' | 'size' | 'sha256'>;

export const isComplete = (row: FileRow): row is CompleteFile => row.sha256 !== null;

const names = [
  ...['file_id', 'key', 'user_id', 'name', 'mime_type', 'size', 'sha256', 'width', 'height', 'thumbnail_size'],
  ...['created_at', 'expires_at'],
];
const columns = names.map((name) => (name === 'key' ? 'f.key || f.segments AS key' : `f.${name}`)).join(', ');

/** The columns for RETURNING. */
export const returned = names.map((name) => (name === 'key' ? 'key || segments AS key' : name)).join(', ');

const newColumns = ['key', 'user_id', 'name', 'size', 'created_at', 'expires_at'] as const;

export const insertFile = (tx: Tx, file: Pick<FileRow, (typeof newColumns)[number]>): Promise<FileRow> =>
  insertRow(tx, 'files', newColumns, file, returned);

/** Counts the files of a user that no message uses, complete or not. */
export const countUnsent = (db: Db, userId: UserId, now: number): Promise<number> =>
  number(db, 'SELECT count(*) AS total FROM files WHERE user_id = $1 AND expires_at > $2', [userId, now]);

/** SQL: the file is neither deleted nor expired. */
const isAlive = 'f.is_dropped = 0 AND (f.expires_at IS NULL OR f.expires_at > $2)';

export const findFile = (db: Db, fileId: FileId, now: number): Promise<FileRow | undefined> =>
  db.get(`SELECT ${columns} FROM files f WHERE f.file_id = $1 AND ${isAlive}`, [fileId, now]);

export const findFileByKey = (db: Db, key: string, now: number): Promise<FileRow | undefined> =>
  db.get(`SELECT ${columns} FROM files f WHERE f.key = $1 AND ${isAlive}`, [key, now]);

/** Returns true if the user is in a chat where a message uses the file. */
export const isSharedWith = (db: Db, fileId: FileId, userId: UserId): Promise<boolean> =>
  exists(
    db,
    `SELECT 1 AS found FROM (
       SELECT chat_id FROM messages WHERE file_id = $1 UNION ALL SELECT chat_id FROM message_files WHERE file_id = $1
     ) AS m
     JOIN members w ON w.chat_id = m.chat_id AND w.user_id = $2 AND w.left_event IS NULL LIMIT 1`,
    [fileId, userId],
  );

/** Returns the files that are complete and not expired, by id. */
export async function findCompleteFiles(
  db: Db,
  fileIds: readonly FileId[],
  now: number,
): Promise<Map<FileId, CompleteFile>> {
  const rows = await db.all<CompleteFile>(
    `SELECT ${columns} FROM ${db.dialect.rows('$1', { file_id: 'int' }, 'asked')}
     JOIN files f ON f.file_id = asked.file_id WHERE f.sha256 IS NOT NULL AND ${isAlive}`,
    [JSON.stringify(fileIds.map((file_id) => ({ file_id }))), now],
  );
  return new Map(rows.map((row) => [row.file_id, row]));
}

/**
 * Marks a file as complete and releases its lease. Returns false if it was deleted or completed meanwhile, or if the lease
 * is lost. An upload in a single request has no lease, which is number 0.
 */
export function completeFile(
  tx: Tx,
  fileId: FileId,
  facts: FileFacts,
  expiresAt: number | null,
  lease = 0,
): Promise<boolean> {
  return changes(
    tx,
    `UPDATE files SET name = $2, mime_type = $3, size = $4, sha256 = $5, expires_at = $6, width = $8, height = $9,
       ${leaseSql.release}
     WHERE file_id = $1 AND is_dropped = 0 AND sha256 IS NULL AND lease_number = $7`,
    [
      ...[fileId, facts.name, facts.mime_type, facts.size, facts.sha256, expiresAt, lease],
      ...[facts.width ?? null, facts.height ?? null],
    ],
  );
}

const clearingExpiry = bulkStatement(
  { file_id: 'int' },
  (source) => `UPDATE files SET expires_at = NULL WHERE file_id IN (SELECT file_id FROM ${source} AS used)`,
);

/** Messages use these files now. The caller holds the event lock, as for `releaseFile` and `dropEndedFiles`. */
export async function keepFiles(tx: Tx, fileIds: readonly FileId[]): Promise<void> {
  await tx.bulk(
    clearingExpiry,
    fileIds.map((fileId) => [fileId]),
  );
}

/** A message stopped using this file. The file expires if no other message uses it. */
export async function releaseFile(tx: Tx, fileId: FileId, at: number): Promise<void> {
  await tx.run(
    `UPDATE files SET expires_at = $2
     WHERE file_id = $1 AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.file_id = $1)
       AND NOT EXISTS (SELECT 1 FROM message_files m WHERE m.file_id = $1)`,
    [fileId, at],
  );
}

/** Sets the size of an upload that did not announce it. Returns false if the upload was removed. */
export const setFileSize = (tx: Tx, fileId: FileId, size: number): Promise<boolean> =>
  changes(tx, 'UPDATE files SET size = $2 WHERE file_id = $1 AND size IS NULL AND is_dropped = 0', [fileId, size]);

export const extendFile = (db: Db, fileId: FileId, expiresAt: number): Promise<boolean> =>
  changes(db, 'UPDATE files SET expires_at = $2 WHERE file_id = $1 AND expires_at IS NOT NULL AND is_dropped = 0', [
    fileId,
    expiresAt,
  ]);

/** Returns false if the file is removed, or is being removed. */
export const setThumbnailSize = (db: Db, fileId: FileId, size: number): Promise<boolean> =>
  changes(db, 'UPDATE files SET thumbnail_size = $2 WHERE file_id = $1 AND is_dropped = 0', [fileId, size]);

export type Dropped = Pick<FileRow, 'file_id' | 'key' | 'width'>;

export function isCompleteFile(db: Db, fileId: FileId): Promise<boolean> {
  const sql = 'SELECT 1 AS found FROM files WHERE file_id = $1 AND sha256 IS NOT NULL';
  return exists(db, sql, [fileId]);
}

/** Returns true if the file has a row, in any state. */
export const isKnown = (db: Db, fileId: FileId): Promise<boolean> =>
  exists(db, 'SELECT 1 AS found FROM files WHERE file_id = $1', [fileId]);

/** Returns true if the file exists and is not being deleted. */
export const isKept = (db: Db, fileId: FileId): Promise<boolean> =>
  exists(db, 'SELECT 1 AS found FROM files WHERE file_id = $1 AND is_dropped = 0', [fileId]);

/** Marks an incomplete file for deletion. Returns false if it is complete or gone, or if the lease is lost. */
export const dropUnfinished = (db: Db, fileId: FileId, at: number, lease: number): Promise<boolean> =>
  changes(
    db,
    `UPDATE files SET is_dropped = 1, expires_at = $2
     WHERE file_id = $1 AND sha256 IS NULL AND (is_dropped = 1 OR lease_number = $3)`,
    [fileId, at, lease],
  );

/** SQL: the last lease was released or has expired. */
const isExpired = (db: Db): string => `expires_at <= $1 AND ${leaseSql.isFree(db.dialect.now)}`;

export const hasEndedFiles = (db: Db, now: number): Promise<boolean> =>
  exists(db, `SELECT 1 AS found FROM files WHERE ${isExpired(db)} LIMIT 1`, [now]);

/** Marks up to `count` expired files for deletion and returns them, together with those marked before. */
export async function dropEndedFiles(tx: Tx, now: number, count: number): Promise<Dropped[]> {
  // Takes the event lock, so that no message starts to use a file before the commit.
  await tx.takeIds({ messages: 0, events: 0 });
  return tx.all(
    `UPDATE files SET is_dropped = 1 WHERE file_id IN (
       SELECT file_id FROM files WHERE ${isExpired(tx)} ORDER BY expires_at LIMIT $2
     ) AND ${isExpired(tx)} RETURNING file_id, key || segments AS key, width`,
    [now, count],
  );
}

/** Postpones the deletion of these files. */
export async function postponeDeletion(
  db: Db,
  files: readonly Pick<Dropped, 'file_id'>[],
  expiresAt: number,
): Promise<void> {
  await db.run(
    `UPDATE files SET expires_at = $2 WHERE is_dropped = 1 AND file_id IN (
       SELECT file_id FROM ${db.dialect.rows('$1', { file_id: 'int' }, 'postponed')}
     )`,
    [JSON.stringify(files.map(({ file_id }) => ({ file_id }))), expiresAt],
  );
}

/** Deletes the row of a file whose bytes are deleted, and counts them no longer. */
export function forgetFile(engine: Engine, fileId: FileId): Promise<void> {
  return engine.write(async (tx) => {
    const sql = 'DELETE FROM files WHERE file_id = $1 AND is_dropped = 1 RETURNING user_id, size';
    const file = await tx.get<Pick<FileRow, 'user_id' | 'size'>>(sql, [fileId]);
    if (file?.size) await addFileBytes(tx, file.user_id, -file.size);
  });
}
