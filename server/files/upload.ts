import type { UserId } from '@parley/contract';
import type { FileRow } from '../store/files.ts';
import type { Incoming } from './incoming.ts';
import type { ReceivedFile, Uploads } from './uploads.ts';

/** A file that comes in one go: in the end it is whole, or gone. */
export class Upload {
  readonly #uploads: Uploads;
  readonly #row: FileRow;
  /** Undefined once it is closed. */
  #incoming: Incoming | undefined;
  readonly #over = Promise.withResolvers<void>();

  private constructor(uploads: Uploads, row: FileRow, incoming: Incoming) {
    this.#uploads = uploads;
    this.#row = row;
    this.#incoming = incoming;
    uploads.waitFor(this.#over.promise);
  }

  static async begin(uploads: Uploads, userId: UserId, name: string): Promise<Upload> {
    const row = await uploads.begin(userId, name, null);
    try {
      return new Upload(uploads, row, await uploads.open(row, 0));
    } catch (error) {
      await uploads.abandon(row);
      throw error;
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#incoming?.write(bytes);
  }

  async finish(): Promise<ReceivedFile> {
    return this.#uploads.seal(this.#row, await this.#close());
  }

  /** Removes what has come, unless it has become a whole file. */
  async release(): Promise<void> {
    try {
      await this.#close().catch(() => {});
      // What cannot be removed now is removed once it has expired.
      await this.#uploads.abandon(this.#row).catch(() => {});
    } finally {
      this.#over.resolve();
    }
  }

  async #close(): Promise<number> {
    const incoming = this.#incoming;
    this.#incoming = undefined;
    return (await incoming?.close()) ?? 0;
  }
}
