import type { Output } from '../context.ts';
import { write } from '../output.ts';
import type { Sink } from './sink.ts';

/** Whoever reads standard output has had enough. */
export class ReaderGone extends Error {}

/** Standard output, from which nothing can be taken back. */
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
    throw new Error('The server does not go on where it stopped, and what was written cannot be taken back.');
  }

  sha256(): string {
    return this.#hasher.copy().digest('hex');
  }
}
