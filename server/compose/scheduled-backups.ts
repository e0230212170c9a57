import { join } from 'node:path';
import { commandEnvironment, type Settings } from '../config.ts';
import { type DiskSpace, type MeasureSpace, reserveOn } from '../lib/disk-space.ts';
import { embedded } from '../lib/embedded.ts';
import { runtimeCommand } from '../lib/runtime-command.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { BackupFolder, type MadeBackup, nameAt } from './backup-folder.ts';

/** A failed backup is tried again after this time, or when the next one is due, if that is earlier. */
const retryMs = 600_000;

/** How often the free space is measured while a backup is written. */
const roomCheckMs = 200;

/** How this program runs a command of the command line. */
const program = (): string[] =>
  Bun.isStandaloneExecutable
    ? [process.execPath]
    : runtimeCommand(embedded?.cliFile ?? join(import.meta.dir, '../../cli/main.ts'));

export interface BackupDeps {
  readonly settings: Settings;
  readonly now: () => number;
  readonly measureSpace: MeasureSpace;
  /** Returns the bytes of the database and of the files that a backup contains. */
  readonly contentBytes: () => Promise<number>;
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * Backs up every so often into a folder, and removes the oldest backups there. The backup runs as a command in a process of its
 * own, so that it neither delays requests nor leaves memory behind. The names of the files say when the last one was made, so a
 * restart neither repeats nor skips one.
 */
export class ScheduledBackups {
  readonly #deps: BackupDeps;
  readonly #folder: BackupFolder;
  #running: Bun.Subprocess<'ignore', 'pipe', 'pipe'> | undefined;
  #isStopping = false;
  #triedAt: number | undefined;
  #madeAt: number | undefined;
  #failure: unknown;

  constructor(deps: BackupDeps) {
    this.#deps = deps;
    this.#folder = new BackupFolder(deps.settings.backupFolder ?? join(deps.settings.folder, 'backups'));
  }

  /** Whether the last backup failed, and none was made since. */
  get isFailing(): boolean {
    return this.#failure !== undefined;
  }

  /** Backs up if it is time. Rejects from a failed backup until one succeeds, also while it only waits. */
  async step(): Promise<void> {
    const { settings, now, metrics } = this.#deps;
    const { backupEvery: every } = settings;
    if (every === undefined) return;
    const at = now();
    if (!this.#isStopping && !this.#hasTriedWithin(this.isFailing ? Math.min(retryMs, every) : every, at)) {
      try {
        await this.#backUpIfDue(at, every);
        this.#failure = undefined;
      } catch (cause) {
        this.#triedAt = at;
        // A stop is no failure.
        if (!this.#isStopping) this.#failure = cause;
      }
    }
    metrics.backups(this.#madeAt, this.isFailing);
    if (this.isFailing) throw this.#failure;
  }

  /** Ends a backup that runs, and starts no other one. It leaves no file. */
  stop(): void {
    this.#isStopping = true;
    this.#running?.kill('SIGTERM');
  }

  /** A clock that was set back since then does not count. */
  #hasTriedWithin(ms: number, at: number): boolean {
    return this.#triedAt !== undefined && this.#triedAt <= at && at - this.#triedAt < ms;
  }

  async #backUpIfDue(at: number, every: number): Promise<void> {
    this.#folder.create();
    const last = this.#folder.list(at).at(-1);
    this.#madeAt = last?.madeAt ?? this.#madeAt;
    if (last !== undefined && at - last.madeAt < every) return;
    this.#folder.removeStaleParts(at);
    await this.#requireRoom(last);
    const name = nameAt(at);
    await this.#backUp(join(this.#folder.path, name)).catch((cause) => {
      this.#folder.removePartsOf(name);
      throw cause;
    });
    this.#triedAt = at;
    this.#madeAt = at;
    this.#folder.keep(this.#deps.settings.backupKeep, at);
  }

  /** Throws if the backup would take the reserve of its disk, which is usually the disk of the database too. */
  async #requireRoom(last: MadeBackup | undefined): Promise<void> {
    const bytes = last === undefined ? await this.#deps.contentBytes() : this.#folder.sizeOf(last);
    const space = await this.#measure();
    if (space.free - bytes < space.reserve) throw noRoom(`it needs about ${mebibytes(bytes)}`, space);
  }

  async #measure(): Promise<FolderSpace> {
    const { measureSpace, settings } = this.#deps;
    const { path } = this.#folder;
    const space = await measureSpace(path);
    return { ...space, path, reserve: reserveOn(space.total, settings.diskReserve) };
  }

  async #backUp(file: string): Promise<void> {
    if (this.#isStopping) throw new Error('the server is stopping');
    const child = Bun.spawn([...program(), 'backup', file, '--json', '--quiet'], {
      env: commandEnvironment(this.#deps.settings),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    this.#running = child;
    const [summary, complaint, code, outOfRoom] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
      this.#endWithoutRoom(child),
    ]).finally(() => {
      this.#running = undefined;
    });
    if (code !== 0) throw outOfRoom ?? new Error(`the backup failed: ${complaint.trim() || `exit code ${code}`}`);
    const { bytes, seconds } = JSON.parse(summary) as { readonly bytes: number; readonly seconds: number };
    this.#deps.log.write('info', 'backup_made', { file, bytes, seconds });
  }

  /** Ends the command if the disk gets too full: a backup can be larger than expected. Resolves when it has ended. */
  async #endWithoutRoom(child: Bun.Subprocess): Promise<Error | undefined> {
    let isOver = false;
    const over = child.exited.then(() => {
      isOver = true;
    });
    while (!isOver) {
      const space = await this.#measure().catch(() => undefined);
      if (space && space.free < space.reserve) {
        child.kill('SIGTERM');
        await over;
        return noRoom('it was ended before it was complete', space);
      }
      await Promise.race([over, Bun.sleep(roomCheckMs)]);
    }
    return undefined;
  }
}

interface FolderSpace extends DiskSpace {
  readonly path: string;
  readonly reserve: number;
}

const noRoom = (what: string, { path, free, reserve }: FolderSpace): Error =>
  new Error(
    `the backup failed: ${what}, and the disk of ${path} has ${mebibytes(free)} free, of which ${mebibytes(reserve)} stay free (PARLEY_DISK_RESERVE). Free some space, keep fewer backups (PARLEY_BACKUP_KEEP), or use another disk (PARLEY_BACKUP_FOLDER).`,
  );

const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20).toLocaleString('en')} MiB`;
