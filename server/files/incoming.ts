import { freeBytes } from '../domain/free-bytes.ts';
import type { RunningHash } from './hashes.ts';
import type { BlobWriter } from './storage/blobs.ts';

export interface IncomingDeps {
  readonly writer: BlobWriter;
  /** The hash of the bytes before, if it is known. */
  readonly hash: RunningHash | undefined;
  readonly at: number;
  readonly maxBytes: number;
  readonly tooMany: () => Error;
  readonly closed: () => void;
}

/** Writes the bytes of one upload. */
export class Incoming {
  readonly #deps: IncomingDeps;
  #size: number;

  constructor(deps: IncomingDeps) {
    this.#deps = deps;
    this.#size = deps.at;
  }

  /** Frees the memory of the bytes. The caller must not read them afterwards. */
  async write(bytes: Uint8Array): Promise<void> {
    const { writer, hash, maxBytes, tooMany } = this.#deps;
    if (this.#size + bytes.length > maxBytes) throw tooMany();
    this.#size += bytes.length;
    hash?.update(bytes);
    await writer.write(bytes);
    freeBytes(bytes);
  }

  /** Must be called once, also after a failure. Returns how many bytes are durable. */
  close(): Promise<number> {
    return this.#deps.writer.close().finally(this.#deps.closed);
  }
}
