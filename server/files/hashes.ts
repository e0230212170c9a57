import { LRUCache } from 'lru-cache';

/** Many uploads are never finished, so their hashes are limited. */
const maxHashes = 10_000;

/** The SHA-256 of an upload's bytes so far. */
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
  /** The number of the lease that last used it. */
  lease: number;
}

/**
 * Hashes of unfinished uploads by key, so that most files need not be read again. A file that another server continued, or
 * that was started before a restart, is hashed from storage.
 */
export class Hashes {
  readonly #known = new LRUCache<string, Known>({ max: maxHashes });

  /** Continues under this lease. Drops the hash if another server had the lease before: it may have written bytes. */
  follow(key: string, lease: number): void {
    const known = this.#known.get(key);
    if (known?.lease === lease - 1) known.lease = lease;
    else this.#known.delete(key);
  }

  /** Returns the hash of the first `size` bytes, or undefined if it is unknown. */
  at(key: string, size: number, lease: number): RunningHash | undefined {
    const known = size === 0 ? { hash: new RunningHash(), lease } : this.#known.get(key);
    if (known?.hash.size !== size || known.lease !== lease) {
      this.#known.delete(key);
      return undefined;
    }
    this.#known.set(key, known);
    return known.hash;
  }

  drop(key: string): void {
    this.#known.delete(key);
  }
}
