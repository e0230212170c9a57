import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../config.ts';
import { embedded } from '../lib/embedded.ts';
import { runtimeCommand } from '../lib/runtime-command.ts';
import type { Log } from '../observe/log.ts';

/** A failed backup is tried again after this time, or when the next one is due, if that is earlier. */
const retryMs = 600_000;

const namePattern = /^parley-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.backup$/;

/** The name has the time, without colons, which some file systems refuse. */
export const nameAt = (ms: number): string =>
  `parley-${new Date(ms).toISOString().slice(0, 19).replaceAll(':', '-')}Z.backup`;

const timeOf = (name: string): number => Date.parse(name.replace(namePattern, '$1T$2:$3:$4Z'));

/** How this program runs a command of the command line. */
const program = (): string[] =>
  Bun.isStandaloneExecutable
    ? [process.execPath]
    : runtimeCommand(embedded?.cliFile ?? join(import.meta.dir, '../../cli/main.ts'));

interface BackupDeps {
  readonly settings: Settings;
  readonly now: () => number;
  readonly log: Log;
}

/**
 * Backs up every so often into a folder, and removes the oldest backups there. The backup runs as a command in a process of its
 * own, so that it neither delays requests nor leaves memory behind. The names of the files say when the last one was made, so a
 * restart neither repeats nor skips one.
 */
export class ScheduledBackups {
  readonly #deps: BackupDeps;
  readonly #folder: string;
  #running: Bun.Subprocess<'ignore', 'pipe', 'pipe'> | undefined;
  #notBefore = 0;

  constructor(deps: BackupDeps) {
    this.#deps = deps;
    this.#folder = deps.settings.backupFolder ?? join(deps.settings.folder, 'backups');
  }

  /** Backs up if it is time. Rejects if the backup fails. */
  async step(): Promise<void> {
    const { settings, now } = this.#deps;
    const { backupEvery: every } = settings;
    const at = now();
    if (every === undefined || at < this.#notBefore) return;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const last = this.#backups().at(-1);
    // A backup of the future comes from a clock that was wrong.
    if (last !== undefined && at - timeOf(last) < every && timeOf(last) <= at) return;
    this.#notBefore = at + Math.min(retryMs, every);
    await this.#backUp(join(this.#folder, nameAt(at)));
    this.#notBefore = 0;
    for (const name of this.#backups().slice(0, -settings.backupKeep)) rmSync(join(this.#folder, name));
  }

  /** Ends a backup that runs. It leaves no file. */
  stop(): void {
    this.#running?.kill('SIGTERM');
  }

  async #backUp(file: string): Promise<void> {
    const child = Bun.spawn([...program(), 'backup', file, '--json', '--quiet'], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    this.#running = child;
    const [summary, complaint, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]).finally(() => {
      this.#running = undefined;
    });
    if (code !== 0) throw new Error(`the backup failed: ${complaint.trim() || `exit code ${code}`}`);
    const { bytes, seconds } = JSON.parse(summary) as { readonly bytes: number; readonly seconds: number };
    this.#deps.log.write('info', 'backup_made', { file, bytes, seconds });
  }

  /** Returns the names of the backups, the oldest first. */
  #backups(): string[] {
    return readdirSync(this.#folder)
      .filter((name) => namePattern.test(name))
      .sort();
  }
}
