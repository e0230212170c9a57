import { Readable } from 'node:stream';
import type { LocalFile } from './local-file.ts';

/**
 * The maximum size of one request. Large requests are better for the server: a file of 1 GiB took its memory to 134 MB in
 * pieces of 16 MiB, 109 MB in pieces of 64 MiB and 92 MB in one piece. But proxies often refuse more than 100 MB.
 */
export const pieceBytes = 64 * 1_024 ** 2;

/**
 * Returns a tus file source that reads a file in pieces, and calls `failed` if reading fails. The client's own source waits
 * forever for the rest of a truncated file, and ends the process if reading fails.
 */
export const pieceSource = (file: LocalFile, failed: (error: Error) => void) => ({
  size: file.size,
  slice: async (start: number, end: number) => {
    const piece = Readable.from(file.bytes(start, end), { objectMode: false });
    piece.on('error', failed);
    return { value: Object.assign(piece, { size: end - start }), done: end >= file.size };
  },
  // The command closes the file.
  close: () => {},
});
