import type { BlobWriter } from '../blobs/blobs.ts';
import { freeBytes } from '../domain/free-bytes.ts';
import type { RunningHash } from './hashes.ts';

export interface IncomingParts {
  readonly writer: BlobWriter;
  /** Of what has come before, where that is known. */
  readonly hash: RunningHash | undefined;
  /** Bytes that are there, and that there may be. */
  readonly at: number;
  readonly most: number;
  readonly tooMany: () => Error;
  readonly closed: () => void;
}

/** Takes in bytes of one upload. */
export class Incoming {
  readonly #parts: IncomingParts;
  #size: number;

  constructor(parts: IncomingParts) {
    this.#parts = parts;
    this.#size = parts.at;
  }

  /** Uses the bytes up: nobody may look at them afterwards. */
  async write(bytes: Uint8Array): Promise<void> {
    const { writer, hash, most, tooMany } = this.#parts;
    if (this.#size + bytes.length > most) throw tooMany();
    this.#size += bytes.length;
    hash?.update(bytes);
    await writer.write(bytes);
    freeBytes(bytes);
  }

  /** To be called once, also after a failure. Answers how many bytes are kept for good. */
  close(): Promise<number> {
    return this.#parts.writer.close().finally(this.#parts.closed);
  }
}
