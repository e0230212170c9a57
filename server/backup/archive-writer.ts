import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import { endOfTar, headerOf, paddingAfter } from './tar.ts';

/** Receives the bytes of an archive in order. The writer waits for the promise. */
export type Sink = (bytes: Uint8Array) => Promise<void>;

const zeros = new Uint8Array(65_536);

/** Writes a backup as a stream: a compressed tar archive whose last entry holds the hash of everything before it. */
export class ArchiveWriter {
  readonly #input = new PassThrough();
  readonly #hasher = new Bun.CryptoHasher('sha256');
  readonly #seconds: number;
  readonly #written: Promise<void>;

  constructor(sink: Sink, at: number, signal: AbortSignal) {
    this.#seconds = Math.floor(at / 1_000);
    const drain = async (compressed: AsyncIterable<Uint8Array>) => {
      for await (const bytes of compressed) await sink(bytes);
    };
    this.#written = pipeline(this.#input, createZstdCompress(), drain, { signal });
    // The next write throws the error.
    this.#written.catch(() => {});
  }

  async add(name: string, content: string | Uint8Array): Promise<void> {
    const bytes = Buffer.from(content);
    await this.#write(headerOf(name, bytes.length, this.#seconds));
    await this.#write(bytes);
    await this.#write(paddingAfter(bytes.length));
  }

  /**
   * Adds an entry of a known size. Returns false if there were fewer bytes: the entry is then filled with zeros and must not
   * be used.
   */
  async addStream(name: string, size: number, parts: AsyncIterable<Uint8Array>): Promise<boolean> {
    await this.#write(headerOf(name, size, this.#seconds));
    const left = await this.#copy(parts, size);
    for (let missing = left; missing > 0; missing -= zeros.length) {
      await this.#write(zeros.subarray(0, Math.min(missing, zeros.length)));
    }
    await this.#write(paddingAfter(size));
    return left === 0;
  }

  /** Returns the number of missing bytes. */
  async #copy(parts: AsyncIterable<Uint8Array>, size: number): Promise<number> {
    let left = size;
    for await (const part of parts) {
      const bytes = part.subarray(0, left);
      left -= bytes.length;
      await this.#write(bytes);
    }
    return left;
  }

  /** `missing`: ids of files that are absent or incomplete. */
  async finish(missing: readonly number[]): Promise<void> {
    await this.add('missing.json', `${JSON.stringify(missing)}\n`);
    await this.add('end.json', `${JSON.stringify({ sha256: this.#hasher.copy().digest('hex') })}\n`);
    await this.#write(endOfTar);
    this.#input.end();
    await this.#written;
  }

  /** Stops writing. The archive is unusable. */
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
    // The error of the pipeline tells more than the failed write.
    await Promise.race([this.#written, taken.catch((error) => this.#written.then(() => Promise.reject(error)))]);
  }
}
