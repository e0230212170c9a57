import type { FileRow } from '../store/files/files.ts';
import type { BlobWriter } from './storage/blobs.ts';
import { type ReceivedFile, tookTooLong, type Uploader, type Uploads } from './uploads.ts';

/** A long upload extends its expiry this often. */
export const extendEveryMs = 60_000;

/** A file in one request. In the end it is complete, or removed. */
export class Upload {
  readonly #uploads: Uploads;
  readonly #row: FileRow;
  /** Undefined after close. */
  #incoming: BlobWriter | undefined;
  #extendedTo: number;
  readonly #over = Promise.withResolvers<void>();

  private constructor(uploads: Uploads, row: FileRow, incoming: BlobWriter) {
    this.#uploads = uploads;
    this.#row = row;
    this.#incoming = incoming;
    this.#extendedTo = uploads.expiry;
    uploads.waitFor(this.#over.promise);
  }

  static async begin(uploads: Uploads, uploader: Uploader, name: string, isSent: boolean): Promise<Upload> {
    // First, so that a refusal costs no statement.
    const leave = uploads.enter(uploader.ownerId);
    let row: FileRow | undefined;
    try {
      row = await uploads.begin(uploader.userId, name, isSent);
      return new Upload(uploads, row, await uploads.open(row, 0, leave));
    } catch (error) {
      leave();
      if (row) await uploads.discard(row);
      throw error;
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#extend(extendEveryMs);
    await this.#incoming?.write(bytes);
  }

  async finish(): Promise<ReceivedFile> {
    const size = await this.#close();
    await this.#extend(0);
    return this.#uploads.seal(this.#row, size);
  }

  /** Removes the bytes unless the file is complete. */
  async release(): Promise<void> {
    try {
      await this.#close().catch(() => {});
      // A failed removal is repeated once the file has expired.
      await this.#uploads.discard(this.#row).catch(() => {});
    } finally {
      this.#over.resolve();
    }
  }

  /** Extends the expiry, which otherwise marks uploads of dead servers. */
  async #extend(afterMs: number): Promise<void> {
    if (this.#uploads.expiry < this.#extendedTo + afterMs) return;
    this.#extendedTo = this.#uploads.expiry;
    if (!(await this.#uploads.extend(this.#row))) throw tookTooLong();
  }

  async #close(): Promise<number> {
    const incoming = this.#incoming;
    this.#incoming = undefined;
    return (await incoming?.close()) ?? 0;
  }
}
