import { createReadStream } from 'node:fs';
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { CommandContext, Output } from '../context.ts';
import { write } from '../output.ts';
import { takeResumeState } from '../resume-state.ts';

/** The destination of a download. */
export interface Sink {
  /** Bytes written so far. */
  size: number;
  /** The ETag of these bytes, to request the rest of the same file. */
  etag: string | undefined;
  /** Called before the first byte of each response. */
  begin(etag: string | undefined): Promise<void>;
  append(bytes: Uint8Array): Promise<void>;
  /** Drops all bytes: the server sends the file from its beginning. */
  restart(): Promise<void>;
  /** Returns the hash of all bytes so far. */
  sha256(): string;
}

/** The reader of standard output has closed it. */
export class ReaderGone extends Error {}

/** Returns a sink that writes to standard output, which cannot be restarted. */
export function standardOutput(stdout: Output): Sink {
  const hasher = new Bun.CryptoHasher('sha256');
  const sink: Sink = {
    size: 0,
    etag: undefined,
    begin: async (etag) => {
      sink.etag = etag;
    },
    append: async (bytes) => {
      if ((await write(stdout, bytes)) === 'reader gone') throw new ReaderGone('Standard output was closed.');
      hasher.update(bytes);
      sink.size += bytes.length;
    },
    restart: () =>
      Promise.reject(new Error('The server cannot resume the download, and the output cannot be taken back.')),
    sha256: () => hasher.copy().digest('hex'),
  };
  return sink;
}

/** A partial download. It is named `<path>.part` until it is complete, and a later run resumes it. */
export interface PartFile extends Sink, AsyncDisposable {
  /** Renames the complete file to its target. */
  finish(): Promise<void>;
  /** Removes a file with wrong bytes. */
  drop(): Promise<void>;
}

/** `expected` is the SHA-256 of the whole file. Throws if another command is downloading to the same path. */
export async function openPartFile(
  typed: string,
  expected: string,
  force: boolean,
  { cwd, env }: Pick<CommandContext, 'cwd' | 'env'>,
): Promise<PartFile> {
  const target = resolve(cwd, typed);
  const path = partOf(target);
  const state = await takeResumeState('download', { path }, env);
  if (!state) throw new Error(`Another parley command is downloading to ${partOf(typed)}.`);
  let hasher = new Bun.CryptoHasher('sha256');
  let handle: FileHandle | undefined;
  const part: PartFile = {
    size: 0,
    etag: undefined,
    begin: async (etag) => {
      part.etag = etag;
      state.write({ sha256: expected, etag });
      try {
        // Fails if something else has created the file meanwhile.
        handle ??= await open(path, 'ax');
      } catch (error) {
        state.clear();
        throw missingFolder(error, typed);
      }
    },
    append: async (bytes) => {
      await handle?.appendFile(bytes);
      hasher.update(bytes);
      part.size += bytes.length;
    },
    restart: async () => {
      await handle?.truncate(0);
      hasher = new Bun.CryptoHasher('sha256');
      part.size = 0;
    },
    sha256: () => hasher.copy().digest('hex'),
    finish: async () => {
      await handle?.sync();
      await renamePart(target, typed, force);
      state.clear();
    },
    drop: async () => {
      await rm(path, { force: true });
      state.clear();
    },
    [Symbol.asyncDispose]: async () => {
      await handle?.close();
      await state.release();
    },
  };
  try {
    if (!(await exists(path))) return part;
    const { sha256, etag } = state.read();
    if (sha256 === expected) {
      part.etag = typeof etag === 'string' ? etag : undefined;
      handle = await open(path, 'a');
      for await (const bytes of createReadStream(path)) {
        hasher.update(bytes);
        part.size += bytes.length;
      }
    } else if (force) {
      await rm(path);
    } else {
      throw new Error(`${partOf(typed)} exists and belongs to another file. Remove it, or use --force.`);
    }
    return part;
  } catch (error) {
    await part[Symbol.asyncDispose]();
    throw error;
  }
}

export const partOf = (target: string) => `${target}.part`;

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );

export const alreadyExists = (path: string) =>
  new Error(`${path} already exists. Choose another name, or use --force.`);

/** Returns a plain error if the folder of a path does not exist, or else the same error. */
export const missingFolder = (error: unknown, typed: string): unknown =>
  (error as NodeJS.ErrnoException).code === 'ENOENT' ? new Error(`There is no folder ${dirname(typed)}.`) : error;

/** Renames a part to its target. Without `force` it fails if the target exists: rename would replace it. */
export async function renamePart(target: string, typed: string, force: boolean, part = partOf(target)): Promise<void> {
  if (force) return rename(part, target);
  try {
    await link(part, target);
    await rm(part);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'EEXIST' || (await exists(target))) throw alreadyExists(typed);
    // Some file systems have no links.
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK'].includes(code)) throw error;
    await rename(part, target);
  }
}
