import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { CommandContext } from '../context.ts';
import { alreadyExists, exists, missingFolder, partOf, renamePart, standardOutput } from '../download/sink.ts';

/**
 * Opens the destination of a backup: a path, or - for standard output. A file gets its name once it is complete and on disk.
 * `drop` removes the partial file.
 */
export async function openTarget(typed: string, force: boolean, { cwd, stdout }: CommandContext) {
  if (typed === '-') {
    return { append: standardOutput(stdout).append, finish: async () => {}, drop: async () => {} };
  }
  if (typed === '') throw new Error('The backup needs a file name.');
  const path = resolve(cwd, typed);
  if (!force && (await exists(path))) throw alreadyExists(typed);
  // A random name, because another backup to the same file may be running.
  const part = partOf(`${path}.${randomBytes(6).toString('hex')}`);
  const handle = await open(part, 'wx', 0o600).catch((error) => {
    throw missingFolder(error, typed);
  });
  return {
    append: (bytes: Uint8Array) => handle.appendFile(bytes),
    finish: async () => {
      await handle.sync();
      await handle.close();
      await renamePart(path, typed, force, part);
      await using folder = await open(dirname(path), 'r');
      await folder.sync();
    },
    drop: async () => {
      await handle.close().catch(() => {});
      await rm(part, { force: true });
    },
  };
}

/** Yields the bytes of a backup, and reports how many were read. The total of standard input is unknown. */
export async function* bytesOf(
  typed: string,
  { cwd, stdin }: Pick<CommandContext, 'cwd' | 'stdin'>,
  read: (done: number, total?: number) => void,
): AsyncGenerator<Uint8Array> {
  const path = resolve(cwd, typed);
  const total = typed === '-' ? undefined : await sizeOf(typed, path);
  let done = 0;
  for await (const bytes of typed === '-' ? stdin : createReadStream(path, { highWaterMark: 262_144 })) {
    yield bytes as Uint8Array;
    done += (bytes as Uint8Array).length;
    read(done, total);
  }
}

async function sizeOf(typed: string, path: string): Promise<number> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Error(`There is no file ${typed}.`) : error;
  });
  if (!stats.isDirectory()) return stats.size;
  throw new Error(`${typed} is a folder.`);
}
