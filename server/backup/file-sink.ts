import type { Blobs } from '../blobs/blobs.ts';
import type { Tx } from '../store/engine.ts';
import type { Entry } from './archive-reader.ts';
import { damaged } from './failure.ts';
import { findStored, moveStored } from './stored-files.ts';

/** Files that are made to last at once: each waits several times for the disk. */
const atOnce = 16;

/** Puts the bytes of files into a storage. What is there already is left alone: it may be another server's. */
export class FileSink {
  readonly #blobs: Blobs;
  readonly #newKey: () => string;
  readonly #lasting = new Set<Promise<void>>();
  readonly #keys = new Map<number, string>();
  #fault: { error: unknown } | undefined;
  readonly #altered = new Set<number>();

  constructor(blobs: Blobs, newKey: () => string) {
    this.#blobs = blobs;
    this.#newKey = newKey;
  }

  /** Those whose bytes are not the ones that once came, by their ids. */
  get altered(): number[] {
    return [...this.#altered].filter((fileId) => this.#keys.has(fileId));
  }

  get count(): number {
    return this.#keys.size;
  }

  async put(tx: Tx, fileId: number, entry: Entry): Promise<void> {
    const file = await findStored(tx, fileId);
    if (file?.size !== entry.size) throw damaged(`${entry.name} is no file that its database knows`);
    if (this.#keys.has(fileId)) throw damaged(`it has ${entry.name} twice`);
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
    await this.#last(this.#blobs.seal(key, file.size));
  }

  /**
   * In a bucket there may be bytes under the same key: of the server that was backed up, or of another that was restored from the same
   * backup. Were they shared, each of the two would remove them for the other.
   */
  async #freeKey(tx: Tx, fileId: number, key: string): Promise<string> {
    if ((await this.#blobs.sizeOf(key)) === 0) return key;
    const own = this.#newKey();
    await moveStored(tx, fileId, own);
    return own;
  }

  async #last(sealing: Promise<void>): Promise<void> {
    const lasting: Promise<void> = sealing
      .catch((error: unknown) => {
        this.#fault = { error };
      })
      .finally(() => this.#lasting.delete(lasting));
    this.#lasting.add(lasting);
    if (this.#lasting.size >= atOnce) await Promise.race(this.#lasting);
    if (this.#fault) throw this.#fault.error;
  }

  /** All of them are kept for good, but those that turned out not to be in the backup as a whole. */
  async settle(missing: readonly number[]): Promise<void> {
    await this.rest();
    if (this.#fault) throw this.#fault.error;
    for (const fileId of missing) {
      const key = this.#keys.get(fileId);
      if (key !== undefined) await this.#blobs.remove(key);
      this.#keys.delete(fileId);
    }
  }

  /** Nothing is written any more: what is under way would otherwise come after whatever cleans up. */
  async rest(): Promise<void> {
    await Promise.all(this.#lasting);
  }

  /** Removes everything again that was put here. */
  async undo(): Promise<void> {
    await this.rest();
    for (const key of this.#keys.values()) await this.#blobs.remove(key);
  }
}
