import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const namePattern = /^parley-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.backup$/;

/** The command writes to such a file until the backup is complete. */
const partPattern = /^(parley-[\dT-]+Z\.backup)\.[0-9a-f]{12}\.part$/;

/** A partial file that was not written to for so long belongs to a command that was killed. */
const stalePartMs = 6 * 3_600_000;

/** The name has the time, without colons, which some file systems refuse. */
export const nameAt = (ms: number): string =>
  `parley-${new Date(ms).toISOString().slice(0, 19).replaceAll(':', '-')}Z.backup`;

/** A backup that the server made by itself. */
export interface MadeBackup {
  readonly name: string;
  /** In milliseconds since 1970. */
  readonly madeAt: number;
}

/** The folder of the backups that the server makes by itself. Other files in it are left alone. */
export class BackupFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  create(): void {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
  }

  /** Returns the backups, the oldest first. Those from after `now` come from a clock that was wrong, and do not count. */
  list(now: number): MadeBackup[] {
    return readdirSync(this.path)
      .filter((name) => namePattern.test(name))
      .map((name) => ({ name, madeAt: Date.parse(name.replace(namePattern, '$1T$2:$3:$4Z')) }))
      .filter(({ madeAt }) => madeAt <= now)
      .sort((a, b) => a.madeAt - b.madeAt);
  }

  sizeOf({ name }: MadeBackup): number {
    return statSync(join(this.path, name)).size;
  }

  /** Removes the oldest backups until `count` are left. */
  keep(count: number, now: number): void {
    for (const { name } of this.list(now).slice(0, -count)) this.#remove(name);
  }

  /** Removes what killed commands have left. */
  removeStaleParts(now: number): void {
    for (const name of this.#parts()) {
      const changedAt = statSync(join(this.path, name), { throwIfNoEntry: false })?.mtimeMs;
      if (changedAt !== undefined && now - changedAt > stalePartMs) this.#remove(name);
    }
  }

  /** Removes what the command that made this backup has left. Call it only after the command has ended. */
  removePartsOf(backup: string): void {
    for (const name of this.#parts()) if (partPattern.exec(name)?.[1] === backup) this.#remove(name);
  }

  #parts(): string[] {
    return readdirSync(this.path).filter((name) => partPattern.test(name));
  }

  #remove(name: string): void {
    rmSync(join(this.path, name), { force: true });
  }
}
