import { Readable } from 'node:stream';
import type { LocalFile } from './local-file.ts';

/**
 * What is sent in one request at most. Few large ones are better for the server, whose memory a file of 1 GiB took to 134 MB
 * in pieces of 16 MiB, 109 MB in those of 64 MiB and 92 MB in one. But what stands before a server often refuses more than
 * 100 MB at once.
 */
export const pieceBytes = 64 * 1_024 ** 2;

/**
 * Hands a file to the tus client piece by piece. Its own way to do so waits for ever for the rest of a file that was cut
 * short, and ends the process where reading fails.
 */
export class PieceSource {
  readonly size: number;
  readonly #file: LocalFile;
  readonly #failed: (error: Error) => void;

  /** `failed` is told why a piece cannot be read to its end. */
  constructor(file: LocalFile, failed: (error: Error) => void) {
    this.size = file.size;
    this.#file = file;
    this.#failed = failed;
  }

  async slice(start: number, end: number): Promise<{ value: Readable & { size: number }; done: boolean }> {
    const piece = Readable.from(this.#file.bytes(start, end), { objectMode: false });
    piece.on('error', this.#failed);
    return { value: Object.assign(piece, { size: end - start }), done: end >= this.size };
  }

  /** The file is closed by whoever has opened it. */
  close(): void {}
}
