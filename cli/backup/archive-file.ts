import { randomBytes } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
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

export async function openTarget(path: string, force: boolean): Promise<Target> {
  if (path === '-') return new Output();
  if (path === '') throw new Error('The backup needs a name.');
  if (!force && (await isThere(path))) throw isInTheWay(path);
  // A name of its own: another backup may be on its way to the same file.
  const part = partOf(`${path}.${randomBytes(6).toString('hex')}`);
  try {
    return new ArchiveFile(path, part, await open(part, 'wx', 0o600), force);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw isMissing ? new Error(`There is no folder ${dirname(part)}.`) : error;
  }
}

class ArchiveFile implements Target {
  readonly #path: string;
  readonly #part: string;
  readonly #handle: FileHandle;
  readonly #replaces: boolean;
  size = 0;

  constructor(path: string, part: string, handle: FileHandle, replaces: boolean) {
    this.#path = path;
    this.#part = part;
    this.#handle = handle;
    this.#replaces = replaces;
  }

  async append(bytes: Uint8Array): Promise<void> {
    await this.#handle.appendFile(bytes);
    this.size += bytes.length;
  }

  async finish(): Promise<void> {
    await this.#handle.sync();
    await this.#handle.close();
    if (this.#replaces) await rename(this.#part, this.#path);
    else await renameToNew(this.#part, this.#path);
    await using folder = await open(dirname(this.#path), 'r');
    await folder.sync();
  }

  async drop(): Promise<void> {
    await this.#handle.close().catch(() => {});
    await rm(this.#part, { force: true });
  }
}

class Output implements Target {
  size = 0;

  async append(bytes: Uint8Array): Promise<void> {
    if ((await write(process.stdout, bytes)) === 'reader gone')
      throw new ReaderGone('Nobody reads the backup any more.');
    this.size += bytes.length;
  }

  async finish(): Promise<void> {}
  async drop(): Promise<void> {}
}

/** The bytes of a backup. `read` is told how many of how many have been; of standard input nobody knows that before. */
export async function* bytesOf(path: string, read: (done: number, total?: number) => void): AsyncGenerator<Uint8Array> {
  const total = path === '-' ? undefined : (await found(path)).size;
  let done = 0;
  for await (const bytes of path === '-' ? Bun.stdin.stream() : createReadStream(path, { highWaterMark: 262_144 })) {
    yield bytes as Uint8Array;
    done += (bytes as Uint8Array).length;
    read(done, total);
  }
}

async function found(path: string): Promise<Stats> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`There is no file ${path}.`) : error;
  });
  if (!stats.isDirectory()) return stats;
  throw new Error(`${path} is a folder.`);
}
