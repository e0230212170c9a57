import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { databaseFile } from '../store/folder.ts';
import { keyFile } from '../store/secret-key.ts';
import { BackupError } from './failure.ts';
import { filesIn, forgetPlacing, notePlacing, takeBack } from './placing.ts';

const stagingIn = (folder: string) => join(folder, 'restore.part');

/**
 * Where a data folder is put together, within it, before it becomes one: whatever ends the work, what was there is as it was.
 * The folder has to be locked: what an earlier process has left behind is removed.
 */
export class Staging {
  readonly folder: string;
  readonly #target: string;
  /** As it is told from others. */
  readonly #database: string;
  readonly #placed: string[] = [];
  #isUnsettled = false;

  constructor(target: string, database: string) {
    this.#target = target;
    this.#database = database;
    this.folder = stagingIn(target);
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
    notePlacing(this.folder, this.#database);
    await this.#sync(this.folder);
    for (const path of [keyFile(this.folder), join(this.folder, 'files')]) if (existsSync(path)) this.#place(path);
    await this.#sync(this.#target);
  }

  async placeDatabase(): Promise<void> {
    if (existsSync(this.databaseFile)) this.#place(this.databaseFile);
    await this.#sync(this.#target);
    forgetPlacing(this.folder);
  }

  #place(path: string): void {
    const place = join(this.#target, basename(path));
    // A server that found no database here may have made folders for files.
    if (basename(path) === 'files') rmSync(place, { recursive: true, force: true });
    renameSync(path, place);
    this.#placed.push(place);
  }

  async #sync(path: string): Promise<void> {
    await using folder = await open(path, 'r');
    await folder.sync();
  }

  /** Nothing is to stay. */
  undo(): void {
    for (const place of this.#placed) rmSync(place, { recursive: true, force: true });
  }

  /** Nobody knows whether the database is there. The next restore does, and then knows from here what this one has placed. */
  leaveUnsettled(): void {
    this.#isUnsettled = true;
  }

  [Symbol.dispose](): void {
    if (this.#isUnsettled) return;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * Refuses a folder in which something is that a restore would mix with what it brings. What an interrupted restore has left there is
 * not; the database, where that is not in the folder, is known to be empty.
 */
export function requireFree(folder: string, database: string): void {
  takeBack(folder, stagingIn(folder), database);
  const [inTheWay] = existsSync(databaseFile(folder)) ? [databaseFile(folder)] : filesIn(folder);
  if (inTheWay === undefined) return;
  throw new BackupError(`${inTheWay} is there already. Restore into an empty folder: set PARLEY_DATA to one.`);
}
