import type { Output } from '../context.ts';
import { write } from '../output.ts';

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
