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

interface Known {
  readonly hash: RunningHash;
  /** The number of the lease under which it was last gone on with. */
  lease: number;
}

/**
 * Hashes of uploads that are under way in this process, by key: most files need not be read again to be hashed. One that
 * went on elsewhere, or before a restart, is not here and has to be.
 */
export class Hashes {
  readonly #known = new Map<string, Known>();

  /** An upload goes on here under this lease. Where the one before was another server's, that may have written other bytes. */
  follow(key: string, lease: number): void {
    const known = this.#known.get(key);
    if (known?.lease === lease - 1) known.lease = lease;
    else this.#known.delete(key);
  }

  /** The hash of the first `size` bytes of an upload, if it is known. */
  at(key: string, size: number, lease: number): RunningHash | undefined {
    const known = size === 0 ? { hash: new RunningHash(), lease } : this.#known.get(key);
    this.#known.delete(key);
    if (known?.hash.size !== size || known.lease !== lease) return undefined;
    this.#known.set(key, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= capacity) break;
      this.#known.delete(oldest);
    }
    return known.hash;
  }

  drop(key: string): void {
    this.#known.delete(key);
  }
}
