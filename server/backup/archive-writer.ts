import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import { endOfTar, headerOf, paddingAfter } from './tar.ts';

/** Takes the bytes of an archive, in their order; what it answers is waited for. */
export type Sink = (bytes: Uint8Array) => Promise<void>;

const nothing = new Uint8Array(65_536);

/**
 * Writes a backup: a tape archive, compressed, whose last entry tells the hash of all before it. Nothing is held in memory but what is
 * on its way.
 */
export class ArchiveWriter {
  readonly #input = new PassThrough();
  readonly #hasher = new Bun.CryptoHasher('sha256');
  readonly #seconds: number;
  readonly #written: Promise<void>;

  constructor(sink: Sink, at: number, signal: AbortSignal) {
    this.#seconds = Math.floor(at / 1_000);
    const take = async (compressed: AsyncIterable<Uint8Array>) => {
      for await (const bytes of compressed) await sink(bytes);
    };
    this.#written = pipeline(this.#input, createZstdCompress(), take, { signal });
    // Whoever writes next is told.
    this.#written.catch(() => {});
  }

  async add(name: string, content: string | Uint8Array): Promise<void> {
    const bytes = Buffer.from(content);
    await this.#write(headerOf(name, bytes.length, this.#seconds));
    await this.#write(bytes);
    await this.#write(paddingAfter(bytes.length));
  }

  /**
   * Adds an entry whose size is known before its bytes are. Answers false where there were fewer: what stands there then is filled
   * up, and must not be used.
   */
  async addStream(name: string, size: number, parts: AsyncIterable<Uint8Array>): Promise<boolean> {
    await this.#write(headerOf(name, size, this.#seconds));
    const left = await this.#copy(parts, size);
    for (let missing = left; missing > 0; missing -= nothing.length) {
      await this.#write(nothing.subarray(0, Math.min(missing, nothing.length)));
    }
    await this.#write(paddingAfter(size));
    return left === 0;
  }

  /** Answers how many bytes there were too few. */
  async #copy(parts: AsyncIterable<Uint8Array>, size: number): Promise<number> {
    let left = size;
    for await (const part of parts) {
      const bytes = part.subarray(0, left);
      left -= bytes.length;
      await this.#write(bytes);
    }
    return left;
  }

  /** With the ids of files that are not in it, or not whole. */
  async finish(missing: readonly number[]): Promise<void> {
    await this.add('missing.json', `${JSON.stringify(missing)}\n`);
    await this.add('end.json', `${JSON.stringify({ sha256: this.#hasher.copy().digest('hex') })}\n`);
    await this.#write(endOfTar);
    this.#input.end();
    await this.#written;
  }

  /** Nothing more is written; what was is of no use. */
  async abandon(): Promise<void> {
    this.#input.destroy();
    await this.#written.catch(() => {});
  }

  async #write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#hasher.update(bytes);
    const taken = new Promise<void>((resolve, reject) => {
      this.#input.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
    // What has ended the writing tells more than that nobody takes the bytes.
    await Promise.race([this.#written, taken.catch((error) => this.#written.then(() => Promise.reject(error)))]);
  }
}
