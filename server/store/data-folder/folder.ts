import { Database } from 'bun:sqlite';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** A problem with the data folder that the operator has to fix. The message is for them. */
export class FolderError extends Error {}

export const databaseFile = (folder: string) => join(folder, 'parley.sqlite');

/** Creates the data folder if it is missing, readable only by its owner. */
export function prepareFolder(folder: string): void {
  try {
    if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new FolderError(`Cannot create the data folder ${folder}: ${(error as Error).message}`);
  }
}

/**
 * Locks the folder against a second server and returns a function that unlocks it. SQLite takes the lock on an open file,
 * so the operating system releases it when the process ends, and it never goes stale.
 */
export function lockFolder(folder: string): () => void {
  const file = join(folder, 'server.lock');
  let lock: Database | undefined;
  try {
    lock = new Database(file, { create: true, readwrite: true });
    lock.run('PRAGMA locking_mode = EXCLUSIVE');
    lock.run('BEGIN EXCLUSIVE');
    chmodSync(file, 0o600);
  } catch (error) {
    lock?.close();
    if ((error as { code?: string }).code === 'SQLITE_BUSY') {
      throw new FolderError(
        `Another Parley server is using the data folder ${folder}. Stop it, or set PARLEY_DATA to another folder.`,
      );
    }
    throw new FolderError(`Cannot use the data folder ${folder}: ${(error as Error).message}`);
  }
  const held = lock;
  return () => held.close();
}
