import type { Readable } from 'node:stream';
import { type FileId, invalidField, ParleyError, type UserId } from '@parley/contract';
import { DataStore, Upload } from '@tus/server';
import type { FileRow } from '../store/files.ts';
import { type Lease, lostHold } from './lease.ts';
import { checkName, lastOf } from './name.ts';
import { extendEveryMs } from './upload.ts';
import type { Uploads } from './uploads.ts';

/** Whoever makes the request. */
export interface TusCaller {
  /** Asked while a body comes and once it has come, and throws where the caller's access has ended meanwhile. */
  stillAllowed(): Promise<void>;
  /** Told whenever some of a body has come. */
  goesOn(): void;
}

/** An upload whose size was announced. */
type Announced = FileRow & { readonly size: number };

/**
 * What the library of the tus protocol asks of a storage, for one request of one user. The library holds the lock of the
 * upload around everything here but `access` and `abandon`, and with it, unless the request makes the upload, the lease.
 */
export class TusStore extends DataStore {
  readonly #uploads: Uploads;
  readonly #userId: UserId;
  readonly #request: TusCaller;
  #lease: Lease | undefined;
  #row: Announced | undefined;
  #expiresAt = 0;
  #fileId: FileId | undefined;

  constructor(uploads: Uploads, userId: UserId, request: TusCaller) {
    super();
    this.#uploads = uploads;
    this.#userId = userId;
    this.#request = request;
  }

  /** The file that the upload has become, if all of it is there. */
  get fileId(): FileId | undefined {
    return this.#fileId;
  }

  /** When the upload is removed unless it goes on. */
  get expiresAt(): number {
    return this.#expiresAt;
  }

  /** From here on the upload is this request's, and what it writes depends on that. */
  hold(lease: Lease): void {
    this.#lease = lease;
  }

  /** The one door from a key to an upload: absent and somebody else's give the same answer. */
  async access(key: string): Promise<Announced> {
    const row = await this.#uploads.find(key);
    if (!row || row.user_id !== this.#userId || !isAnnounced(row)) throw noUpload();
    return this.#know(row);
  }

  override async create(upload: Upload): Promise<Upload> {
    const { size = 0, metadata } = upload;
    if (size === 0) throw invalidField('file', 'is empty');
    const name = lastOf(metadata?.filename ?? '');
    checkName(name, 'filename');
    const row = this.#know({ ...(await this.#uploads.announce(this.#userId, name, size)), size });
    // From here on the library goes by it.
    upload.id = row.key;
    return upload;
  }

  override async getUpload(key: string): Promise<Upload> {
    const row = await this.#follow(await this.access(key));
    const { size, name } = row;
    const offset = this.#fileId === undefined ? await this.#uploads.sizeOf(row) : size;
    // A client that is told of every byte believes that it is done.
    if (offset === size) await this.#finish(row);
    return new Upload({ id: key, size, offset, ...(name !== '' && { metadata: { filename: name } }) });
  }

  override async write(stream: Readable, key: string, offset: number): Promise<number> {
    const row = this.#row ?? (await this.access(key));
    if (this.#fileId !== undefined) {
      // Nothing is missing: the library lets no byte through, and complains of any that comes.
      await stream.toArray();
      return offset;
    }
    const kept = await this.#append(row, stream, offset);
    await this.#request.stillAllowed();
    if (kept === row.size) await this.#finish(row);
    // What is told is what is kept: so nobody else may have gone on from less.
    else if (this.#lease && !(await this.#lease.release())) throw await this.#gone(row);
    return kept;
  }

  override async remove(key: string): Promise<void> {
    const row = await this.access(key);
    if (this.#fileId !== undefined) throw new ParleyError('conflict', 'This upload has become a file.');
    if (!(await this.#uploads.abandon(row, this.#lease?.number))) throw lostHold();
  }

  /** Removes what `create` has begun: without an answer nobody can go on with it. */
  async abandon(): Promise<void> {
    if (this.#row) await this.#uploads.abandon(this.#row);
  }

  #know(row: Announced): Announced {
    this.#row = row;
    this.#expiresAt = row.expires_at ?? 0;
    this.#fileId = row.sha256 === null ? undefined : row.file_id;
    return row;
  }

  async #follow(row: Announced): Promise<Announced> {
    if (!this.#lease || this.#fileId !== undefined) return row;
    const followed = await this.#uploads.follow(row, this.#lease);
    if (!followed || !isAnnounced(followed)) throw lostHold();
    return this.#know(followed);
  }

  async #append(row: Announced, stream: Readable, offset: number): Promise<number> {
    await this.#extend(row);
    const lease = this.#lease;
    const incoming = await this.#uploads.open(row, offset, lease?.number);
    // Its sender may be silent, and would be waited for.
    lease?.whenLost((error) => stream.destroy(error));
    try {
      for await (const bytes of stream) {
        this.#request.goesOn();
        lease?.check();
        if (this.#uploads.expiry >= this.#expiresAt + extendEveryMs) {
          await this.#request.stillAllowed();
          await this.#extend(row);
        }
        await incoming.write(bytes);
      }
    } catch (error) {
      // What has come is kept, and gone on with.
      await incoming.close().catch(() => {});
      throw lease?.isLost ? await this.#gone(row) : error;
    }
    return incoming.close();
  }

  async #extend(row: Announced): Promise<void> {
    this.#expiresAt = this.#uploads.expiry;
    if (!(await this.#uploads.extend(row))) throw await this.#gone(row);
  }

  /** Somebody else goes on with the upload; or has removed it, and what was written since has nobody but us. */
  async #gone(row: Announced): Promise<Error> {
    return (await this.#uploads.clearUp(row)) ? noUpload() : lostHold();
  }

  async #finish(row: Announced): Promise<void> {
    if (this.#fileId !== undefined) return;
    const file = await this.#uploads.seal(row, row.size, this.#lease?.number).catch(async (error: unknown) => {
      // Whoever has taken the upload over meanwhile may have changed what is kept of it.
      throw (await this.#lease?.release()) === false ? await this.#gone(row) : error;
    });
    if (!(await this.#uploads.complete(file, this.#lease?.number))) throw await this.#gone(row);
    this.#lease?.fulfil();
    this.#fileId = row.file_id;
  }
}

const isAnnounced = (row: FileRow): row is Announced => row.size !== null;

const noUpload = () =>
  new ParleyError('not_found', 'There is no such upload, or it is not yours, or its time is over.');
