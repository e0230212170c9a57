import { type FileId, invalidField, ParleyError, type UserId } from '@parley/contract';
import type { FileRow } from '../store/files/files.ts';
import { type Lease, lostLease } from './lease.ts';
import { checkName, lastOf } from './name.ts';
import { extendEveryMs } from './upload.ts';
import { moreThanAnnounced, type Uploads } from './uploads.ts';

/** The body of a request. Another request can end it early. */
export interface UploadBody {
  /** Returns the next bytes, or undefined at the end. Throws if the client disconnects. */
  next(): Promise<Uint8Array | undefined>;
  /** Ends the body, or fails it with the error. */
  stop(error?: Error): void;
}

type AnnouncedRow = FileRow & { readonly size: number };

/** An upload in several requests, as one of these requests sees it. */
export class ResumableUpload {
  readonly #uploads: Uploads;
  #row: AnnouncedRow;
  #expiresAt: number;
  #isComplete: boolean;
  #lease: Lease | undefined;

  private constructor(uploads: Uploads, row: AnnouncedRow) {
    this.#uploads = uploads;
    this.#row = row;
    this.#expiresAt = row.expires_at ?? 0;
    this.#isComplete = row.sha256 !== null;
  }

  /** Starts an upload of a known size. Throws for an empty file or a bad name. */
  static async create(uploads: Uploads, userId: UserId, filename: string, size: number): Promise<ResumableUpload> {
    if (size === 0) throw invalidField('file', 'is empty');
    const name = lastOf(filename);
    checkName(name, 'filename');
    return new ResumableUpload(uploads, { ...(await uploads.announce(userId, name, size)), size });
  }

  /** Finds an upload by its key. An absent one and another user's throw the same `not_found`. */
  static async access(uploads: Uploads, userId: UserId, key: string): Promise<ResumableUpload> {
    const row = await uploads.find(key);
    if (!row || row.user_id !== userId || !isAnnounced(row)) throw noUpload();
    return new ResumableUpload(uploads, row);
  }

  get row(): AnnouncedRow {
    return this.#row;
  }

  get expiresAt(): number {
    return this.#expiresAt;
  }

  /** Undefined until all bytes are stored. */
  get fileId(): FileId | undefined {
    return this.#isComplete ? this.#row.file_id : undefined;
  }

  /** Takes over the upload under a lease. Throws if the lease is lost already. */
  async resume(lease: Lease): Promise<void> {
    this.#lease = lease;
    if (this.#isComplete) return;
    const row = await this.#uploads.follow(this.#row, lease);
    if (!row || !isAnnounced(row)) throw lostLease();
    this.#row = row;
  }

  /** Returns how many bytes are stored. Completes the file if it has all: the client believes that it is done then. */
  async offset(): Promise<number> {
    if (this.#isComplete) return this.#row.size;
    const offset = await this.#uploads.sizeOf(this.#row);
    if (offset === this.#row.size) await this.#complete();
    return offset;
  }

  /** Stores bytes at the offset, and returns the new one. `checkAccess` throws once the caller's access has ended. */
  async append(
    offset: number,
    body: UploadBody,
    ownerId: UserId,
    checkAccess: () => Promise<unknown>,
  ): Promise<number> {
    if (this.#isComplete) {
      if ((await body.next())?.length) throw moreThanAnnounced();
      return offset;
    }
    const kept = await this.#store(offset, body, ownerId, checkAccess);
    await checkAccess();
    if (kept === this.#row.size) await this.#complete();
    // Another server may have continued from a lower offset if the lease was lost.
    else if (this.#lease && !(await this.#lease.release())) throw await this.#lost();
    return kept;
  }

  /** Throws `conflict` if the upload is a file already. */
  async remove(): Promise<void> {
    if (this.#isComplete) throw new ParleyError('conflict', 'This upload is complete. It is a file now.');
    if (!(await this.#uploads.abandon(this.#row, this.#lease?.number))) throw lostLease();
  }

  async #store(
    offset: number,
    body: UploadBody,
    ownerId: UserId,
    checkAccess: () => Promise<unknown>,
  ): Promise<number> {
    const leave = this.#uploads.enter(ownerId);
    const lease = this.#lease;
    const incoming = await this.#extend()
      .then(() => this.#uploads.open(this.#row, offset, leave, lease?.number))
      .catch((error: unknown) => {
        leave();
        throw error;
      });
    // An idle client sends nothing that would end the wait for its next bytes.
    lease?.whenLost((error) => body.stop(error));
    try {
      for (let bytes = await body.next(); bytes; bytes = await body.next()) {
        lease?.check();
        if (this.#uploads.expiry >= this.#expiresAt + extendEveryMs) {
          await checkAccess();
          await this.#extend();
        }
        await incoming.write(bytes);
      }
    } catch (error) {
      // The next request resumes after the bytes that are stored.
      await incoming.close().catch(() => {});
      throw lease?.isLost ? await this.#lost() : error;
    }
    return incoming.close();
  }

  async #extend(): Promise<void> {
    this.#expiresAt = this.#uploads.expiry;
    if (!(await this.#uploads.extend(this.#row))) throw await this.#lost();
  }

  async #complete(): Promise<void> {
    const file = await this.#uploads
      .seal(this.#row, this.#row.size, this.#lease?.number)
      .catch(async (error: unknown) => {
        // Another server that took over may have changed the stored bytes.
        throw (await this.#lease?.release()) === false ? await this.#lost() : error;
      });
    if (!(await this.#uploads.complete(file, this.#lease?.number))) throw await this.#lost();
    this.#lease?.fulfil();
    this.#isComplete = true;
  }

  /** Returns why the upload is no longer ours. If it was removed, the bytes written since are removed here. */
  async #lost(): Promise<Error> {
    return (await this.#uploads.clearUp(this.#row)) ? noUpload() : lostLease();
  }
}

const isAnnounced = (row: FileRow): row is AnnouncedRow => row.size !== null;

const noUpload = () => new ParleyError('not_found', 'There is no such upload, or it is not yours, or it has expired.');
