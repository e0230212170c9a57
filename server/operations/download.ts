import type { CompleteFile } from '../store/files/files.ts';

/** An answer that is the bytes of a file. */
export class Download {
  readonly file: CompleteFile;
  /** The bytes from `start` up to, but not including, `end`. */
  readonly read: (start: number, end: number) => Promise<Blob | ReadableStream<Uint8Array>>;

  constructor(file: CompleteFile, read: Download['read']) {
    this.file = file;
    this.read = read;
  }
}
