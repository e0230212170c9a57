import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Environment } from './context.ts';
import { tryLock, withLock } from './lock.ts';
import { SavedFile } from './saved-file.ts';

/** The position at which an interrupted transfer resumes. One process holds it at a time: two would write into the same transfer. */
export interface ResumeState {
  /** Returns the saved fields, or none if the file is missing or damaged. */
  read(): Readonly<Record<string, unknown>>;
  write(state: object): void;
  clear(): void;
  /** Lets other processes take it. */
  release(): Promise<void>;
}

/** Returns the state under this key, or undefined if another process holds it. */
export function takeResumeState(name: string, key: object, env: Environment): Promise<ResumeState | undefined> {
  const file = new SavedFile('state', name, JSON.stringify(key), env);
  // A process that waits for a lock file while it is removed would hold a lock that others do not see.
  const serialized = <T>(work: () => Promise<T>) => withLock(join(dirname(file.path), 'transfers.lock'), work);
  return serialized(async () => {
    const lock = tryLock(file.lockPath);
    if (!lock) return undefined;
    return {
      read: () => file.read() ?? {},
      write: (state) => file.write({ ...state, ...key }),
      clear: () => void file.remove(),
      release: () =>
        serialized(async () => {
          lock.close();
          rmSync(file.lockPath, { force: true });
        }),
    };
  });
}
