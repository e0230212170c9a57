/** Uploads that are remembered at most: many are never finished. */
const capacity = 10_000;

/** The SHA-256 of the bytes of an upload so far. */
export class RunningHash {
  readonly #hasher = new Bun.CryptoHasher('sha256');
  #size = 0;

  get size(): number {
    return this.#size;
  }

  update(bytes: Uint8Array): void {
    this.#hasher.update(bytes);
    this.#size += bytes.length;
  }

  digest(): string {
    return this.#hasher.copy().digest('hex');
  }
}

/**
 * Hashes of uploads that are under way in this process, by key: most files need not be read again to be hashed. One that
 * went on elsewhere, or before a restart, is not here and has to be.
 */
export class Hashes {
  readonly #hashes = new Map<string, RunningHash>();

  /** The hash of the first `size` bytes of an upload, if it is known. */
  at(key: string, size: number): RunningHash | undefined {
    const known = size === 0 ? new RunningHash() : this.#hashes.get(key);
    this.#hashes.delete(key);
    if (known?.size !== size) return undefined;
    this.#hashes.set(key, known);
    for (const oldest of this.#hashes.keys()) {
      if (this.#hashes.size <= capacity) break;
      this.#hashes.delete(oldest);
    }
    return known;
  }

  drop(key: string): void {
    this.#hashes.delete(key);
  }
}
