import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { databaseFile } from '../store/data-folder/folder.ts';
import { keyFile } from '../store/data-folder/secret-key.ts';
import { BackupError } from './failure.ts';
import { filesIn, forgetPlacing, notePlacing, takeBack } from './placing.ts';

const stagingIn = (folder: string) => join(folder, 'restore.part');

/**
 * A folder inside the data folder where a restore prepares everything, so that an interrupted restore changes nothing. The
 * caller has locked the data folder. The constructor deletes what an earlier process left.
 */
export class Staging {
  readonly folder: string;
  readonly #target: string;
  /** See `databaseId`. */
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

  /** Moves everything but the database into place. The database comes last: if it is there, the rest is. */
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
    // A server that found no database may have created folders for files.
    if (basename(path) === 'files') rmSync(place, { recursive: true, force: true });
    renameSync(path, place);
    this.#placed.push(place);
  }

  async #sync(path: string): Promise<void> {
    await using folder = await open(path, 'r');
    await folder.sync();
  }

  /** Removes everything that was moved into place. */
  undo(): void {
    for (const place of this.#placed) rmSync(place, { recursive: true, force: true });
  }

  /** Keeps the folder, because it is unknown whether the database was committed. The next restore finds out and cleans up. */
  leaveUnsettled(): void {
    this.#isUnsettled = true;
  }

  [Symbol.dispose](): void {
    if (this.#isUnsettled) return;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Throws `BackupError` if the data folder holds a database or files. Cleans up after an interrupted restore first. */
export function requireFree(folder: string, database: string): void {
  takeBack(folder, stagingIn(folder), database);
  const [existing] = existsSync(databaseFile(folder)) ? [databaseFile(folder)] : filesIn(folder);
  if (existing === undefined) return;
  throw new BackupError(`${existing} exists already. Set PARLEY_DATA to an empty folder.`);
}
