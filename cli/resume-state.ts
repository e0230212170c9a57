import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Environment } from './context.ts';
import { tryLock, withLock } from './lock.ts';
import { SavedFile } from './saved-file.ts';

/**
 * Returns the saved position of an interrupted transfer, or undefined if another process holds it: two would write into the
 * same transfer.
 */
export function takeResumeState(name: string, key: object, env: Environment) {
  const file = new SavedFile('state', name, JSON.stringify(key), env);
  // A process that waits for a lock file while it is removed would hold a lock that others do not see.
  const serialized = <T>(work: () => Promise<T>) => withLock(join(dirname(file.path), 'transfers.lock'), work);
  return serialized(async () => {
    const lock = tryLock(file.lockPath);
    if (!lock) return undefined;
    return {
      /** Returns the saved fields, or none if the file is missing or damaged. */
      read: () => file.read() ?? {},
      write: (state: object) => file.write({ ...state, ...key }),
      clear: () => void file.remove(),
      /** Lets other processes take it. */
      release: () =>
        serialized(async () => {
          lock.close();
          rmSync(file.lockPath, { force: true });
        }),
    };
  });
}
