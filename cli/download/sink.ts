import type { Output } from '../context.ts';
import { write } from '../output.ts';

/** The destination of a download. */
export interface Sink {
  /** Bytes written so far. */
  readonly size: number;
  /** The ETag of these bytes, to request the rest of the same file. */
  readonly etag: string | undefined;
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

/** Writes to standard output, which cannot be restarted. */
export class StandardOutput implements Sink {
  readonly #stdout: Output;
  readonly #hasher = new Bun.CryptoHasher('sha256');
  size = 0;
  etag: string | undefined;

  constructor(stdout: Output) {
    this.#stdout = stdout;
  }

  async begin(etag: string | undefined): Promise<void> {
    this.etag = etag;
  }

  async append(bytes: Uint8Array): Promise<void> {
    if ((await write(this.#stdout, bytes)) === 'reader gone') throw new ReaderGone();
    this.#hasher.update(bytes);
    this.size += bytes.length;
  }

  async restart(): Promise<void> {
    throw new Error('The server cannot resume the download, and written output cannot be taken back. Start it again.');
  }

  sha256(): string {
    return this.#hasher.copy().digest('hex');
  }
}
