import type { Database } from 'bun:sqlite';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Environment } from './context.ts';
import { tryLock, withLock } from './lock.ts';
import { privateFolder, readIfThere, writePrivately } from './private-file.ts';

/**
 * Where a transfer stands, kept between the runs of a command in a file of its own. While a process has it, no other has:
 * two that went on from the same place would disturb each other.
 */
export class KeptState {
  readonly #path: string;
  readonly #lock: Database;
  readonly #key: object;

  private constructor(path: string, lock: Database, key: object) {
    this.#path = path;
    this.#lock = lock;
    this.#key = key;
  }

  /** Takes what is kept under a key; answers undefined where another process has it. */
  static async take(kind: string, key: object, env: Environment): Promise<KeptState | undefined> {
    const name = createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 16);
    const path = join(privateFolder('state', env), `${kind}-${name}.json`);
    return oneAtATime(path, async () => {
      const lock = tryLock(lockOf(path));
      return lock && new KeptState(path, lock, key);
    });
  }

  /** What was kept. What is damaged counts as nothing: it only says where to go on. */
  read(): Readonly<Record<string, unknown>> {
    try {
      const kept: unknown = JSON.parse(readIfThere(this.#path) ?? '');
      return typeof kept === 'object' && kept !== null ? (kept as Record<string, unknown>) : {};
    } catch (error) {
      if (error instanceof SyntaxError) return {};
      throw error;
    }
  }

  write(state: object): void {
    writePrivately(this.#path, `${JSON.stringify({ ...state, ...this.#key })}\n`);
  }

  forget(): void {
    rmSync(this.#path, { force: true });
  }

  /** Leaves it to others. */
  release(): Promise<void> {
    return oneAtATime(this.#path, async () => {
      this.#lock.close();
      rmSync(lockOf(this.#path), { force: true });
    });
  }
}

const lockOf = (path: string) => path.replace(/json$/, 'lock');

/** So nobody waits at a lock's file while it is removed, and then holds one that others do not see. */
const oneAtATime = <T>(path: string, work: () => Promise<T>): Promise<T> =>
  withLock(join(dirname(path), 'transfers.lock'), work);
