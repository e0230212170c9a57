import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { Environment } from './context.ts';

/** Files that hold secrets of whoever runs the command: nobody else may read them. */

const homes = {
  config: ['XDG_CONFIG_HOME', '.config'],
  state: ['XDG_STATE_HOME', '.local/state'],
} as const;

/** Our folder, as the XDG base directories have it: an address that is not absolute counts as none. */
export function privateFolder(kind: keyof typeof homes, env: Environment): string {
  const [variable, usual] = homes[kind];
  const chosen = env[variable];
  return join(chosen && isAbsolute(chosen) ? chosen : join(env.HOME || homedir(), usual), 'parley');
}

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function prepareFolderOf(path: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // It may have been there before, with a mode of somebody's choice.
  chmodSync(folder, 0o700);
}

/** Whoever reads the file at any time, or after a crash, finds the old text or the new one. */
export function writePrivately(path: string, text: string): void {
  prepareFolderOf(path);
  const draft = `${path}.${process.pid}`;
  // One that a crash left behind would keep its mode.
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
  renameSync(draft, path);
}
