import { Database } from 'bun:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareFolderOf } from './saved-file.ts';

/** Longer than any work that is done under a lock. */
const timeoutMs = 60_000;
const pollMs = 20;

/**
 * Runs the work while no other process does. The operating system holds the lock on an open file, taken through SQLite as for
 * the server's folder. It ends with the process, so it never goes stale. Do not open the lock file otherwise: closing it
 * anywhere in this process would release the lock. The timers are real ones, because the wait is for other processes.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  prepareFolderOf(path);
  for (const deadline = performance.now() + timeoutMs; performance.now() < deadline; await sleep(pollMs)) {
    const lock = tryLock(path);
    if (!lock) continue;
    try {
      return await work();
    } finally {
      lock.close();
    }
  }
  throw new Error(`Another parley command has held ${path} for a minute. Stop it and try again.`);
}

/** Returns the lock, which the caller closes, or undefined if another process holds it. */
export function tryLock(path: string): Database | undefined {
  const lock = new Database(path, { create: true, readwrite: true });
  try {
    lock.run('PRAGMA locking_mode = EXCLUSIVE');
    lock.run('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return undefined;
    throw error;
  }
}
