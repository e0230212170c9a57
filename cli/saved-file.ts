import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { parseObject } from '@parley-chat/sdk/response.ts';
import type { Environment } from './context.ts';

/** XDG base directories: the variable, and the default below the home folder. */
const baseDirectories = {
  config: ['XDG_CONFIG_HOME', '.config'],
  state: ['XDG_STATE_HOME', '.local/state'],
} as const;

/** A JSON file that commands keep between runs. It may hold secrets, so only its owner may read it. */
export class SavedFile {
  readonly path: string;

  /** The file name holds a hash of `key`, so each key has its own file. */
  constructor(directory: keyof typeof baseDirectories, name: string, key: string, env: Environment) {
    const hash = createHash('sha256').update(key).digest('hex').slice(0, 16);
    this.path = join(privateFolder(directory, env), `${name}-${hash}.json`);
  }

  get lockPath(): string {
    return this.path.replace(/json$/, 'lock');
  }

  /** Returns the saved object, `{}` if the file is damaged, or undefined if there is no file. */
  read(): Readonly<Record<string, unknown>> | undefined {
    try {
      return parseObject(readFileSync(this.path, 'utf8')) ?? {};
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Replaces the file. Readers find the old or the new content, also after a crash. */
  write(value: object): void {
    prepareFolderOf(this.path);
    const draft = `${this.path}.${process.pid}`;
    // A draft that a crash left behind would keep its mode.
    rmSync(draft, { force: true });
    writeFileSync(draft, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(draft, this.path);
  }

  /** Returns whether there was a file. */
  remove(): boolean {
    const existed = existsSync(this.path);
    rmSync(this.path, { force: true });
    return existed;
  }
}

/** XDG says to ignore a relative path. */
function privateFolder(directory: keyof typeof baseDirectories, env: Environment): string {
  const [variable, fallback] = baseDirectories[directory];
  const chosen = env[variable];
  return join(chosen && isAbsolute(chosen) ? chosen : join(env.HOME || homedir(), fallback), 'parley');
}

export function prepareFolderOf(path: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // An existing folder may have another mode.
  chmodSync(folder, 0o700);
}
