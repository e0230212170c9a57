import type { BlobWriter } from '../blobs/blobs.ts';
import { usedUp } from '../domain/used-up.ts';
import type { RunningHash } from './hashes.ts';

/** Takes in bytes of one upload. */
export class Incoming {
  readonly #writer: BlobWriter;
  readonly #hash: RunningHash | undefined;
  readonly #most: number;
  readonly #tooMany: () => Error;
  #size: number;

  constructor(writer: BlobWriter, hash: RunningHash | undefined, at: number, most: number, tooMany: () => Error) {
    this.#writer = writer;
    this.#hash = hash;
    this.#size = at;
    this.#most = most;
    this.#tooMany = tooMany;
  }

  /** Uses the bytes up: nobody may look at them afterwards. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#size + bytes.length > this.#most) throw this.#tooMany();
    this.#size += bytes.length;
    this.#hash?.update(bytes);
    await this.#writer.write(bytes);
    usedUp(bytes);
  }

  /** To be called once, also after a failure. Answers how many bytes are kept for good. */
  close(): Promise<number> {
    return this.#writer.close();
  }
}
