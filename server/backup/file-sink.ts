import type { Blobs } from '../files/storage/blobs.ts';
import type { Tx } from '../store/engine/engine.ts';
import type { Entry } from './archive-reader.ts';
import { damaged } from './failure.ts';
import { findStored } from './stored-files.ts';

/** Each seal waits several times for the disk. */
const concurrentSeals = 16;

/** Writes files into a storage. Existing objects stay untouched: they may belong to another server. */
export class FileSink {
  readonly #blobs: Blobs;
  readonly #newKey: () => string;
  readonly #sealing = new Set<Promise<void>>();
  readonly #keys = new Map<number, string>();
  #failure: { error: unknown } | undefined;
  readonly #altered = new Set<number>();

  constructor(blobs: Blobs, newKey: () => string) {
    this.#blobs = blobs;
    this.#newKey = newKey;
  }

  /** Ids of files whose bytes do not match their hash. */
  get altered(): number[] {
    return [...this.#altered].filter((fileId) => this.#keys.has(fileId));
  }

  get count(): number {
    return this.#keys.size;
  }

  async put(tx: Tx, fileId: number, entry: Entry): Promise<void> {
    const file = await findStored(tx, fileId);
    if (file?.size !== entry.size) throw damaged(`its database has no file that fits ${entry.name}`);
    if (this.#keys.has(fileId)) throw damaged(`it contains ${entry.name} twice`);
    const key = await this.#freeKey(tx, fileId, file.key);
    this.#keys.set(fileId, key);
    const hasher = new Bun.CryptoHasher('sha256');
    const writer = await this.#blobs.append(key, 0);
    try {
      for await (const bytes of entry.bytes()) {
        hasher.update(bytes);
        await writer.write(bytes);
      }
    } finally {
      await writer.close();
    }
    if (hasher.digest('hex') !== file.sha256) this.#altered.add(fileId);
    await this.#track(this.#blobs.seal(key, file.size));
  }

  /**
   * Returns the key, or a new one if it is taken: the bucket may hold the object of the original server, or of another
   * restore of the same backup. If two servers shared an object, each would delete it for the other.
   */
  async #freeKey(tx: Tx, fileId: number, key: string): Promise<string> {
    if ((await this.#blobs.sizeOf(key)) === 0) return key;
    const fresh = this.#newKey();
    await tx.run('UPDATE files SET key = $2 WHERE file_id = $1', [fileId, fresh]);
    return fresh;
  }

  async #track(seal: Promise<void>): Promise<void> {
    const sealing: Promise<void> = seal
      .catch((error: unknown) => {
        this.#failure = { error };
      })
      .finally(() => this.#sealing.delete(sealing));
    this.#sealing.add(sealing);
    if (this.#sealing.size >= concurrentSeals) await Promise.race(this.#sealing);
    if (this.#failure) throw this.#failure.error;
  }

  /** Waits until all files are durable. Removes those that are incomplete in the backup. */
  async settle(missing: readonly number[]): Promise<void> {
    await this.idle();
    if (this.#failure) throw this.#failure.error;
    for (const fileId of missing) {
      const key = this.#keys.get(fileId);
      if (key !== undefined) await this.#blobs.remove(key);
      this.#keys.delete(fileId);
    }
  }

  /** Waits for pending writes, so that none follows a cleanup. */
  async idle(): Promise<void> {
    await Promise.all(this.#sealing);
  }

  /** Removes all files written. */
  async undo(): Promise<void> {
    await this.idle();
    for (const key of this.#keys.values()) await this.#blobs.remove(key);
  }
}
