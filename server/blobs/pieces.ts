import { freeBytes } from '../domain/free-bytes.ts';
import type { BlobWriter } from './blobs.ts';

/** A buffer starts at this size and doubles, so that a small file costs little. */
const firstBufferBytes = 64 * 1024;

/** How an adapter takes what is written. */
export interface Pieces {
  /** The size of every piece but the last. */
  readonly bytes: number;
  /** How many may be on their way at once. */
  readonly atOnce: number;
  /** Stores a piece that begins at this offset of the blob. The bytes are its own until it answers. */
  store(piece: Uint8Array, offset: number): Promise<void>;
  /**
   * Comes once, after the last piece, with the size that the blob has then; without it, where storing failed. Answers how
   * many bytes are kept for good.
   */
  finish(size: number | undefined): Promise<number>;
}

/** Gathers what is written into pieces, and fills the next while those before it are stored. */
export class PieceWriter implements BlobWriter {
  readonly #pieces: Pieces;
  readonly #underWay = new Set<Promise<void>>();
  readonly #spare: Uint8Array[] = [];
  #buffer: Uint8Array;
  #filled: number;
  #offset: number;
  #changed = false;
  #failure: { readonly error: unknown; told: boolean } | undefined;

  /** `begun` is what is stored of the piece at `offset` already; it is stored once more with what follows. */
  constructor(pieces: Pieces, offset: number, begun: Uint8Array = new Uint8Array()) {
    this.#pieces = pieces;
    this.#offset = offset;
    this.#buffer = begun;
    this.#filled = begun.length;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let taken = 0; taken < bytes.length; ) {
      this.#tellFailure();
      taken += this.#take(bytes.subarray(taken));
      if (this.#filled === this.#pieces.bytes) await this.#send();
    }
  }

  async close(): Promise<number> {
    if (this.#changed) await this.#send();
    await Promise.all(this.#underWay);
    for (const buffer of [this.#buffer, ...this.#spare]) freeBytes(buffer);
    const finishing = this.#pieces.finish(this.#failure ? undefined : this.#offset + this.#filled);
    if (!this.#failure || this.#failure.told) return finishing;
    // Whatever goes wrong now, the first failure says more.
    await finishing.catch(() => {});
    throw this.#failure.error;
  }

  #tellFailure(): void {
    if (!this.#failure) return;
    this.#failure.told = true;
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
    while (this.#underWay.size >= this.#pieces.atOnce) await Promise.race(this.#underWay);
    // Nothing is stored behind a gap.
    if (this.#failure) return;
    const buffer = this.#buffer;
    const sending = this.#pieces
      .store(buffer.subarray(0, this.#filled), this.#offset)
      .catch((error: unknown) => {
        this.#failure ??= { error, told: false };
      })
      .then(() => {
        this.#underWay.delete(sending);
        this.#spare.push(buffer);
      });
    this.#underWay.add(sending);
    this.#offset += this.#filled;
    this.#buffer = this.#spare.pop() ?? new Uint8Array(buffer.length);
    this.#filled = 0;
    this.#changed = false;
  }
}
