import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';

const readBytes = 64 * 1_024;

/** The file changed after its upload began. */
export class FileChanged extends Error {}

/** A local file that is uploaded as it was when it was opened. */
export class LocalFile {
  readonly #handle: FileHandle;
  readonly #typed: string;
  /** The real path, by which the next run finds the upload. */
  readonly path: string;
  readonly name: string;
  readonly size: number;
  /** In milliseconds since 1970. */
  readonly modified: number;

  private constructor(handle: FileHandle, typed: string, path: string, facts: { size: number; mtimeMs: number }) {
    this.#handle = handle;
    this.#typed = typed;
    this.path = path;
    this.name = basename(typed);
    this.size = facts.size;
    this.modified = facts.mtimeMs;
  }

  static async open(typed: string, cwd: string): Promise<LocalFile> {
    const path = resolve(cwd, typed);
    try {
      const found = await stat(path);
      if (found.isDirectory()) throw new Error(`${typed} is a folder.`);
      // A pipe or a device has no known size, and opening one may block.
      if (!found.isFile()) throw new Error(`${typed} is not a file.`);
      const handle = await open(path, 'r');
      const facts = await handle.stat();
      if (facts.size > 0) return new LocalFile(handle, typed, await realpath(path), facts);
      await handle.close();
    } catch (error) {
      throw plainError(typed, error);
    }
    throw new Error(`${typed} is empty.`);
  }

  /** Yields the bytes from `start` up to, but not including, `end`. Throws `FileChanged` if the file changed. */
  async *bytes(start: number, end: number): AsyncGenerator<Uint8Array, void> {
    for (let at = start; at < end; ) {
      const piece = Buffer.allocUnsafe(Math.min(readBytes, end - at));
      const { bytesRead } = await this.#handle.read(piece, 0, piece.length, at);
      const { size, mtimeMs } = await this.#handle.stat();
      if (bytesRead === 0 || size !== this.size || mtimeMs !== this.modified) {
        throw new FileChanged(`${this.#typed} changed during the upload. Run the command again.`);
      }
      yield piece.subarray(0, bytesRead);
      at += bytesRead;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#handle.close();
  }
}

const messages: Readonly<Record<string, string>> = {
  ENOENT: 'There is no file',
  ENOTDIR: 'There is no file',
  EACCES: 'You may not read',
};

function plainError(typed: string, error: unknown): unknown {
  const message = messages[(error as NodeJS.ErrnoException).code ?? ''];
  return message === undefined ? error : new Error(`${message} ${typed}.`);
}
