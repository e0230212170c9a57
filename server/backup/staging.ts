import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { databaseFile } from '../store/folder.ts';
import { keyFile } from '../store/secret-key.ts';
import { BackupError } from './failure.ts';

/**
 * Where a data folder is put together, within it, before it becomes one: whatever ends the work, what was there is as it was.
 * The folder has to be locked: what an earlier process has left behind is removed.
 */
export class Staging {
  readonly folder: string;
  readonly #target: string;
  readonly #placed: string[] = [];

  constructor(target: string) {
    this.#target = target;
    this.folder = join(target, 'restore.part');
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder, { mode: 0o700 });
  }

  get databaseFile(): string {
    return databaseFile(this.folder);
  }

  keepKey(text: string): void {
    writeFileSync(keyFile(this.folder), text, { mode: 0o600, flush: true });
  }

  /** Everything but the database, which comes last: where that is, the rest is. */
  async placeRest(): Promise<void> {
    for (const path of [keyFile(this.folder), join(this.folder, 'files')]) if (existsSync(path)) this.#place(path);
    await this.#sync();
  }

  async placeDatabase(): Promise<void> {
    if (existsSync(this.databaseFile)) this.#place(this.databaseFile);
    await this.#sync();
  }

  #place(path: string): void {
    const place = join(this.#target, basename(path));
    // A server that found no database here may have made folders for files.
    if (basename(path) === 'files') rmSync(place, { recursive: true, force: true });
    renameSync(path, place);
    this.#placed.push(place);
  }

  async #sync(): Promise<void> {
    await using folder = await open(this.#target, 'r');
    await folder.sync();
  }

  /** Nothing is to stay. */
  undo(): void {
    for (const place of this.#placed) rmSync(place, { recursive: true, force: true });
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Refuses a folder in which something is that a restore would mix with what it brings. */
export function requireFree(folder: string): void {
  const inTheWay = existsSync(databaseFile(folder)) ? databaseFile(folder) : firstFileIn(join(folder, 'files'));
  if (inTheWay === undefined) return;
  throw new BackupError(`${inTheWay} is there already. Restore into an empty folder: set PARLEY_DATA to one.`);
}

function firstFileIn(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  if (!statSync(folder).isDirectory()) return folder;
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).find((entry) => entry.isFile());
  return found && join(found.parentPath, found.name);
}
