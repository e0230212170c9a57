import { open, realpath, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';

const readBytes = 64 * 1_024;

/** The file changed after its upload began. */
export class FileChanged extends Error {}

/** Opens a file that is uploaded as it is now. Throws if it is missing, empty or not a regular file. */
export async function openLocalFile(typed: string, cwd: string) {
  const path = resolve(cwd, typed);
  const fail = (error: NodeJS.ErrnoException) => {
    const message = messages[error.code ?? ''];
    throw message === undefined ? error : new Error(`${message} ${typed}.`);
  };
  const found = await stat(path).catch(fail);
  if (found.isDirectory()) throw new Error(`${typed} is a folder.`);
  // A pipe or a device has no known size, and opening one may block.
  if (!found.isFile()) throw new Error(`${typed} is not a file.`);
  const handle = await open(path, 'r').catch(fail);
  const { size, mtimeMs: modified } = await handle.stat();
  if (size === 0) {
    await handle.close();
    throw new Error(`${typed} is empty.`);
  }
  return {
    /** The real path, by which the next run finds the upload. */
    path: await realpath(path),
    name: basename(typed),
    size,
    /** In milliseconds since 1970. */
    modified,
    /** Yields the bytes from `start` up to, but not including, `end`. Throws `FileChanged` if the file changed. */
    async *bytes(start: number, end: number): AsyncGenerator<Uint8Array, void> {
      for (let at = start; at < end; ) {
        const piece = Buffer.allocUnsafe(Math.min(readBytes, end - at));
        const { bytesRead } = await handle.read(piece, 0, piece.length, at);
        const now = await handle.stat();
        if (bytesRead === 0 || now.size !== size || now.mtimeMs !== modified) {
          throw new FileChanged(`${typed} changed during the upload. Run the command again.`);
        }
        yield piece.subarray(0, bytesRead);
        at += bytesRead;
      }
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

export type LocalFile = Awaited<ReturnType<typeof openLocalFile>>;

const messages: Readonly<Record<string, string>> = {
  ENOENT: 'There is no file',
  ENOTDIR: 'There is no file',
  EACCES: 'You may not read',
};
