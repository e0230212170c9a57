import { freeBytes } from '../../domain/free-bytes.ts';
import type { BlobWriter } from './blobs.ts';

/** A buffer starts at this size and doubles, so a small file uses little memory. */
const firstBufferBytes = 64 * 1024;

/** How an adapter stores pieces. */
export interface Pieces {
  /** The size of every piece but the last. */
  readonly bytes: number;
  readonly concurrentStores: number;
  /** Stores a piece at an offset of the blob. The bytes are reused afterwards. */
  store(piece: Uint8Array, offset: number): Promise<void>;
  /** Called once after the last piece, with the size of the blob, or without it if a piece failed. Returns the durable bytes. */
  finish(size: number | undefined): Promise<number>;
}

/** Collects writes into pieces, and fills the next piece while earlier ones are stored. */
export class PieceWriter implements BlobWriter {
  readonly #pieces: Pieces;
  readonly #storing = new Set<Promise<void>>();
  readonly #spare: Uint8Array[] = [];
  #buffer: Uint8Array;
  #filled: number;
  #offset: number;
  #changed = false;
  #failure: { readonly error: unknown; isReported: boolean } | undefined;

  /** `begun` holds the stored bytes of the piece at `offset`. They are stored again with the next ones. */
  constructor(pieces: Pieces, offset: number, begun: Uint8Array = new Uint8Array()) {
    this.#pieces = pieces;
    this.#offset = offset;
    this.#buffer = begun;
    this.#filled = begun.length;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let taken = 0; taken < bytes.length; ) {
      this.#throwFailure();
      taken += this.#take(bytes.subarray(taken));
      if (this.#filled === this.#pieces.bytes) await this.#send();
    }
  }

  async close(): Promise<number> {
    if (this.#changed) await this.#send();
    await Promise.all(this.#storing);
    for (const buffer of [this.#buffer, ...this.#spare]) freeBytes(buffer);
    const finishing = this.#pieces.finish(this.#failure ? undefined : this.#offset + this.#filled);
    if (!this.#failure || this.#failure.isReported) return finishing;
    // The first failure says more than one of `finish`.
    await finishing.catch(() => {});
    throw this.#failure.error;
  }

  #throwFailure(): void {
    if (!this.#failure) return;
    this.#failure.isReported = true;
    throw this.#failure.error;
  }

  #take(bytes: Uint8Array): number {
    const count = Math.min(bytes.length, this.#pieces.bytes - this.#filled);
    this.#makeRoom(this.#filled + count);
    this.#buffer.set(bytes.subarray(0, count), this.#filled);
    this.#filled += count;
    this.#changed = true;
    return count;
  }

  #makeRoom(needed: number): void {
    if (needed <= this.#buffer.length) return;
    const doubled = Math.max(needed, this.#buffer.length * 2, firstBufferBytes);
    const larger = new Uint8Array(Math.min(doubled, this.#pieces.bytes));
    larger.set(this.#buffer.subarray(0, this.#filled));
    freeBytes(this.#buffer);
    this.#buffer = larger;
  }

  async #send(): Promise<void> {
    while (this.#storing.size >= this.#pieces.concurrentStores) await Promise.race(this.#storing);
    // A piece after a failed one would leave a gap.
    if (this.#failure) return;
    const buffer = this.#buffer;
    const sending = this.#pieces
      .store(buffer.subarray(0, this.#filled), this.#offset)
      .catch((error: unknown) => {
        this.#failure ??= { error, isReported: false };
      })
      .then(() => {
        this.#storing.delete(sending);
        this.#spare.push(buffer);
      });
    this.#storing.add(sending);
    this.#offset += this.#filled;
    this.#buffer = this.#spare.pop() ?? new Uint8Array(buffer.length);
    this.#filled = 0;
    this.#changed = false;
  }
}
