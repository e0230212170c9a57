import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { asUnavailable } from '../failure.ts';

/**
 * Moves everything committed from the write-ahead log into the database file. Throws if it cannot, for example on a full
 * disk. Closing the database does the same but hides failures.
 */
export function checkpoint(file: string): void {
  const database = new Database(file, { readwrite: true });
  try {
    const result = database.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get();
    if (result?.busy !== 0) throw new Error(`${file} is in use`);
  } catch (error) {
    throw asUnavailable(error);
  } finally {
    database.close();
  }
}

/** Syncs a closed database to disk. Throws if a write-ahead log is left, because the file could not be moved alone. */
export async function requireOneFile(file: string): Promise<void> {
  if (existsSync(`${file}-wal`)) throw new Error(`${file} still has a write-ahead log`);
  await using handle = await open(file, 'r');
  await handle.sync();
}
