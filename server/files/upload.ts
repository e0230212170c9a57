import type { UserId } from '@parley/contract';
import type { FileRow } from '../store/files.ts';
import type { Incoming } from './incoming.ts';
import { type ReceivedFile, tookTooLong, type Uploads } from './uploads.ts';

/** How often an upload that goes on and on is kept for longer. */
export const extendEveryMs = 60_000;

/** A file that comes in one go: in the end it is whole, or gone. */
export class Upload {
  readonly #uploads: Uploads;
  readonly #row: FileRow;
  /** Undefined once it is closed. */
  #incoming: Incoming | undefined;
  #extended = performance.now();
  readonly #over = Promise.withResolvers<void>();

  private constructor(uploads: Uploads, row: FileRow, incoming: Incoming) {
    this.#uploads = uploads;
    this.#row = row;
    this.#incoming = incoming;
    uploads.waitFor(this.#over.promise);
  }

  static async begin(uploads: Uploads, userId: UserId, name: string, isSent: boolean): Promise<Upload> {
    const row = await uploads.begin(userId, name, isSent);
    try {
      return new Upload(uploads, row, await uploads.open(row, 0));
    } catch (error) {
      await uploads.discard(row);
      throw error;
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#goOn(extendEveryMs);
    await this.#incoming?.write(bytes);
  }

  async finish(): Promise<ReceivedFile> {
    const size = await this.#close();
    await this.#goOn(0);
    return this.#uploads.seal(this.#row, size);
  }

  /** Removes what has come, unless it has become a whole file. */
  async release(): Promise<void> {
    try {
      await this.#close().catch(() => {});
      // What cannot be removed now is removed once it has expired.
      await this.#uploads.discard(this.#row).catch(() => {});
    } finally {
      this.#over.resolve();
    }
  }

  /** So that nobody takes it for one whose server has died. */
  async #goOn(afterMs: number): Promise<void> {
    if (performance.now() - this.#extended < afterMs) return;
    this.#extended = performance.now();
    if (!(await this.#uploads.extend(this.#row))) throw tookTooLong();
  }

  async #close(): Promise<number> {
    const incoming = this.#incoming;
    this.#incoming = undefined;
    return (await incoming?.close()) ?? 0;
  }
}
