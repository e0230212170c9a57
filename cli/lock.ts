import { Database } from 'bun:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareFolderOf } from './private-file.ts';

/** Longer than whoever holds the lock has for what is done under it. */
const patienceMs = 60_000;
const pauseMs = 20;

/**
 * Does the work while no other process does it. The lock is one that the operating system holds on an open file, taken
 * through SQLite as the server's is: it ends with the process, however that ends, so it never goes stale. That file is
 * not to be opened otherwise, since to close it anywhere in this process would end the lock.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  prepareFolderOf(path);
  for (const deadline = performance.now() + patienceMs; performance.now() < deadline; await sleep(pauseMs)) {
    const held = tryLock(path);
    if (!held) continue;
    try {
      return await work();
    } finally {
      held.close();
    }
  }
  throw new Error(`Another parley command has held ${path} for a minute.`);
}

/** The lock, to be closed; or undefined where another process holds it. */
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
