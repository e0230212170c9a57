import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { asUnavailable } from '../failure.ts';

/**
 * Brings what was committed out of the write-ahead log into the file itself, for good. Closing a database does that as well, but says
 * nothing where it cannot: where the disk is full, say.
 */
export function emptyLog(file: string): void {
  const database = new Database(file, { readwrite: true });
  try {
    const told = database.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get();
    if (told?.busy !== 0) throw new Error(`${file} is in use`);
  } catch (error) {
    throw asUnavailable(error);
  } finally {
    database.close();
  }
}

/** A database that nobody has open any more is all in its file, so that this can be moved alone. */
export async function requireOneFile(file: string): Promise<void> {
  if (existsSync(`${file}-wal`)) throw new Error(`${file} is not all of its database`);
  await using handle = await open(file, 'r');
  await handle.sync();
}
