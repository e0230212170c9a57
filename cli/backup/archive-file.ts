import { randomBytes } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { CommandContext, Output } from '../context.ts';
import { isInTheWay, isThere, partOf, renameToNew } from '../download/part-file.ts';
import { ReaderGone } from '../download/stdout.ts';
import { write } from '../output.ts';

/** A backup that is being written: to a file that gets its name once all of it is on disk, or to standard output. */
export interface Target {
  readonly size: number;
  append(bytes: Uint8Array): Promise<void>;
  /** Everything has been written. */
  finish(): Promise<void>;
  /** Nothing of it stays. */
  drop(): Promise<void>;
}

/** `typed` is a path, or - for standard output. */
export async function openTarget(typed: string, force: boolean, context: CommandContext): Promise<Target> {
  if (typed === '-') return new StandardOutput(context.stdout);
  if (typed === '') throw new Error('The backup needs a name.');
  const path = resolve(context.cwd, typed);
  if (!force && (await isThere(path))) throw isInTheWay(typed);
  // A name of its own: another backup may be on its way to the same file.
  const part = partOf(`${path}.${randomBytes(6).toString('hex')}`);
  try {
    return new ArchiveFile({ typed, path, part, force }, await open(part, 'wx', 0o600));
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw isMissing ? new Error(`There is no folder ${dirname(typed)}.`) : error;
  }
}

interface Place {
  readonly typed: string;
  readonly path: string;
  /** The name that the file has until all of it is there. */
  readonly part: string;
  readonly force: boolean;
}

class ArchiveFile implements Target {
  readonly #place: Place;
  readonly #handle: FileHandle;
  size = 0;

  constructor(place: Place, handle: FileHandle) {
    this.#place = place;
    this.#handle = handle;
  }

  async append(bytes: Uint8Array): Promise<void> {
    await this.#handle.appendFile(bytes);
    this.size += bytes.length;
  }

  async finish(): Promise<void> {
    await this.#handle.sync();
    await this.#handle.close();
    const { typed, path, part, force } = this.#place;
    if (force) await rename(part, path);
    else await renameToNew(part, path, typed);
    await using folder = await open(dirname(path), 'r');
    await folder.sync();
  }

  async drop(): Promise<void> {
    await this.#handle.close().catch(() => {});
    await rm(this.#place.part, { force: true });
  }
}

class StandardOutput implements Target {
  readonly #stdout: Output;
  size = 0;

  constructor(stdout: Output) {
    this.#stdout = stdout;
  }

  async append(bytes: Uint8Array): Promise<void> {
    if ((await write(this.#stdout, bytes)) === 'reader gone') throw new ReaderGone('Nobody reads the backup any more.');
    this.size += bytes.length;
  }

  async finish(): Promise<void> {}
  async drop(): Promise<void> {}
}

/** The bytes of a backup. `read` is told how many of how many have been; of standard input nobody knows that before. */
export async function* bytesOf(
  typed: string,
  { cwd, stdin }: Pick<CommandContext, 'cwd' | 'stdin'>,
  read: (done: number, total?: number) => void,
): AsyncGenerator<Uint8Array> {
  const path = resolve(cwd, typed);
  const total = typed === '-' ? undefined : (await found(typed, path)).size;
  let done = 0;
  for await (const bytes of typed === '-' ? stdin : createReadStream(path, { highWaterMark: 262_144 })) {
    yield bytes as Uint8Array;
    done += (bytes as Uint8Array).length;
    read(done, total);
  }
}

async function found(typed: string, path: string): Promise<Stats> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`There is no file ${typed}.`) : error;
  });
  if (!stats.isDirectory()) return stats;
  throw new Error(`${typed} is a folder.`);
}
