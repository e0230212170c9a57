import { Database } from 'bun:sqlite';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Something about the data folder that the operator has to mend; its message is a plain line for them. */
export class FolderError extends Error {}

export const databaseFile = (folder: string) => join(folder, 'parley.sqlite');

/** Makes the data folder where it is missing, readable by its owner alone. */
export function prepareFolder(folder: string): void {
  try {
    if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new FolderError(`Cannot create the data folder ${folder}: ${(error as Error).message}`);
  }
}

/**
 * Keeps a second server off the folder for as long as this process lives. The lock is one that the operating system
 * holds on an open file, taken through SQLite: it ends with the process, however that ends, and never goes stale.
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
        `Another Parley server is using the data folder ${folder}. Stop it, or give this one another folder with PARLEY_DATA.`,
      );
    }
    throw new FolderError(`Cannot use the data folder ${folder}: ${(error as Error).message}`);
  }
  const held = lock;
  return () => held.close();
}
