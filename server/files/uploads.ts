import { type FileId, invalidField, ParleyError, type UserId } from '@parley/contract';
import { freeBytes } from '../domain/free-bytes.ts';
import { type Quotas, requireWithin } from '../domain/quotas.ts';
import { FairSlots } from '../lib/fair-slots.ts';
import { addFileBytes } from '../store/access/owner-use.ts';
import type { Engine } from '../store/engine/engine.ts';
import {
  completeFile,
  countUnsent,
  dropUnfinished,
  extendFile,
  type FileFacts,
  type FileRow,
  findFile,
  findFileByKey,
  forgetFile,
  insertFile,
  isCompleteFile,
  isKept,
  isKnown,
  setFileSize,
} from '../store/files/files.ts';
import { startSegment } from '../store/files/upload-leases.ts';
import { Hashes, RunningHash } from './hashes.ts';
import type { Lease } from './lease.ts';
import { type Dimensions, dimensionsOf, pictureHeadBytes } from './pictures.ts';
import { type Blobs, type BlobWriter, noRoom } from './storage/blobs.ts';
import { newKey } from './storage/key.ts';
import { headBytes, typeNamed, typeOf } from './type.ts';

export interface UploadsDeps {
  readonly engine: Engine;
  readonly blobs: Blobs;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  /** The largest file. */
  readonly fileBytes: number;
  /** How long a file without a message, and an unfinished upload, are kept. */
  readonly keptMs: number;
  readonly quotas: Quotas;
  /** Throws `unavailable` while the database must not grow. */
  readonly requireRoom: () => void;
}

/** A file whose bytes are all durable. A later transaction completes it, and makes it visible. */
export interface ReceivedFile extends FileFacts {
  readonly file_id: FileId;
}

export const tooLargeFile = (maxBytes: number) =>
  new ParleyError('payload_too_large', `A file may have at most ${maxBytes} bytes.`);

export const moreThanAnnounced = () =>
  new ParleyError('payload_too_large', 'The body has more bytes than Upload-Length announced.');

export const tookTooLong = () =>
  new ParleyError('conflict', 'The upload expired before it was complete. Upload the file again.');

/** An upload in one request expires after this time without bytes: its server has died. */
const idleMs = 15 * 60_000;

/** The lease number of an upload in one request. */
const noLease = 0;

/** The user who uploads, and the person behind that user. */
export interface Uploader {
  readonly userId: UserId;
  readonly ownerId: UserId;
}

/** Concurrent uploads of one person, with their bots. */
const maxConcurrent = 20;

/** Files of one user without a message. */
const maxUnsent = 200;

/**
 * Stores files: the row first, so that no blob is without one; then the bytes; then, once the bytes are durable, the hash and
 * the type. A file is invisible until it is complete. An interrupted upload is removed, or kept for a while to be resumed.
 */
export class Uploads {
  readonly #deps: UploadsDeps;
  readonly #hashes = new Hashes();
  readonly #running = new Set<Promise<unknown>>();
  /** Uploads that are being written, by owner. */
  readonly #slots: FairSlots<UserId>;

  constructor(deps: UploadsDeps) {
    this.#deps = deps;
    this.#slots = new FairSlots(deps.blobs.concurrentWriters);
  }

  get maxBytes(): number {
    return this.#deps.fileBytes;
  }

  /** When a file that is unused from now on is removed. */
  get expiry(): number {
    return this.#deps.now() + this.#deps.keptMs;
  }

  /** Starts an upload of a known size in several requests. Throws if the file is too large or the storage is full. */
  async announce(userId: UserId, name: string, size: number): Promise<FileRow> {
    if (size > this.#deps.fileBytes) throw tooLargeFile(this.#deps.fileBytes);
    if (!(await this.#deps.blobs.hasRoomFor(size))) throw noRoom();
    return this.#begin({ userId, name, size, expiresAt: this.expiry, isCounted: true });
  }

  /** Starts an upload in one request. A file that is sent with its message does not count as unsent. */
  begin(userId: UserId, name: string, isSent: boolean): Promise<FileRow> {
    return this.#begin({ userId, name, size: null, expiresAt: this.#deps.now() + idleMs, isCounted: !isSent });
  }

  async #begin(file: {
    readonly userId: UserId;
    readonly name: string;
    readonly size: number | null;
    readonly expiresAt: number;
    readonly isCounted: boolean;
  }): Promise<FileRow> {
    const { engine, now, random, quotas, requireRoom } = this.#deps;
    const { userId, name, size } = file;
    requireRoom();
    const key = newKey(random);
    return engine.write(async (tx) => {
      await tx.lockKeys([`uploads of ${userId}`]);
      if (file.isCounted && (await countUnsent(tx, userId, now())) >= maxUnsent) {
        throw new ParleyError(
          'conflict',
          `You have ${maxUnsent} files without a message. Send some of them, or wait until they expire.`,
        );
      }
      // The size of an upload in one request is counted when it is known. One more byte must fit now.
      const bytes = await addFileBytes(tx, userId, size ?? 0);
      requireWithin(quotas, 'fileBytes', size === null ? bytes + 1 : bytes);
      return insertFile(tx, { key, user_id: userId, name, size, created_at: now(), expires_at: file.expiresAt });
    });
  }

  /** Returns an upload or a complete file, or undefined if there is none or it has expired. */
  find(key: string): Promise<FileRow | undefined> {
    return findFileByKey(this.#deps.engine, key, this.#deps.now());
  }

  /**
   * Continues an upload under a lease. The holder of an expired lease may still write, and its writes may arrive late. So
   * the upload then continues in a new segment, which that holder does not know. Returns undefined if the lease is lost.
   */
  async follow(row: FileRow, lease: Lease): Promise<FileRow | undefined> {
    const { engine, blobs } = this.#deps;
    this.#hashes.follow(row.key, lease.number);
    if (!lease.isDoubtful) return row;
    const size = await blobs.sizeOf(row.key);
    // No write can follow the last byte.
    if (size === row.size) return row;
    return engine.write((tx) => startSegment(tx, row.file_id, lease.number, size));
  }

  /** Opens an upload for writing after its first `at` bytes. A write frees the memory of its bytes. */
  async open(row: FileRow, at: number, leave: () => void, lease = noLease): Promise<BlobWriter> {
    const writer = await this.#deps.blobs.append(row.key, at);
    const hash = this.#hashes.at(row.key, at, lease);
    const { fileBytes } = this.#deps;
    let size = at;
    return {
      write: async (bytes) => {
        size += bytes.length;
        if (size > (row.size ?? fileBytes)) throw row.size === null ? tooLargeFile(fileBytes) : moreThanAnnounced();
        hash?.update(bytes);
        await writer.write(bytes);
        freeBytes(bytes);
      },
      close: () => writer.close().finally(leave),
    };
  }

  /** Counts an open upload until the returned function is first called. Throws `unavailable` if there are too many. */
  enter(ownerId: UserId): () => void {
    if (this.#slots.heldBy(ownerId) >= maxConcurrent || !this.#slots.mayTake(ownerId)) {
      throw new ParleyError('unavailable', 'Too many files are being uploaded. Try again in a moment.');
    }
    this.#slots.take(ownerId);
    let isOpen = true;
    return () => {
      if (isOpen) this.#slots.release(ownerId);
      isOpen = false;
    };
  }

  /** Returns how many bytes of an upload are durable. */
  sizeOf(row: FileRow): Promise<number> {
    return this.#deps.blobs.sizeOf(row.key);
  }

  /** Extends the expiry of an upload. Returns false if it was removed. */
  extend(row: FileRow): Promise<boolean> {
    const expiresAt = row.size === null ? this.#deps.now() + idleMs : this.expiry;
    return extendFile(this.#deps.engine, row.file_id, expiresAt);
  }

  /** Seals the bytes, and returns the hash and the type. */
  async seal(row: FileRow, size: number, lease = noLease): Promise<ReceivedFile> {
    const { engine, blobs, now, quotas } = this.#deps;
    if (size === 0) throw invalidField('file', 'is empty');
    if (!(await findFile(engine, row.file_id, now()))) throw tookTooLong();
    if (row.size === null) {
      await engine.write(async (tx) => {
        if (!(await setFileSize(tx, row.file_id, size))) throw tookTooLong();
        requireWithin(quotas, 'fileBytes', await addFileBytes(tx, row.user_id, size));
      });
    }
    await blobs.seal(row.key, size);
    const sha256 = this.#hashes.at(row.key, size, lease)?.digest() ?? (await this.#hash(row.key, size));
    this.#hashes.drop(row.key);
    const head = await new Response(await blobs.read(row.key, 0, Math.min(size, headBytes))).bytes();
    const found = await typeOf(head);
    const { file_id, name } = row;
    const facts = { name: name || `file.${found.extension}`, mime_type: typeNamed(found.type, name), size, sha256 };
    return { file_id, ...facts, ...(found.type.startsWith('image/') && (await this.#dimensions(row.key, size))) };
  }

  /** Completes a file in a transaction of its own. Returns false if it was removed or another request took over. */
  complete(file: ReceivedFile, lease = noLease): Promise<boolean> {
    return this.#deps.engine.write((tx) => completeFile(tx, file.file_id, file, this.expiry, lease));
  }

  /**
   * Removes an upload. Returns false if it is complete, or another request has the lease. A failed removal is repeated once
   * the upload has expired.
   */
  async abandon({ file_id, key }: Pick<FileRow, 'file_id' | 'key'>, lease = noLease): Promise<boolean> {
    const { engine, blobs, now } = this.#deps;
    this.#hashes.drop(key);
    // An upload that was removed meanwhile may have received bytes since.
    if (!(await dropUnfinished(engine, file_id, now(), lease)) && (await isKnown(engine, file_id))) return false;
    await blobs.remove(key);
    await forgetFile(engine, file_id);
    return true;
  }

  /** Removes an upload in one request. The bytes go first: they may fill the disk that the database needs. */
  async discard(row: FileRow): Promise<void> {
    const { engine, blobs } = this.#deps;
    const { file_id, key } = row;
    this.#hashes.drop(key);
    if (await isCompleteFile(engine, file_id)) return;
    await blobs.remove(key);
    await this.abandon(row);
  }

  /** Removes bytes that were written after another request removed the upload. Returns false if it still exists. */
  async clearUp({ file_id, key }: FileRow): Promise<boolean> {
    const { engine, blobs } = this.#deps;
    if (await isKept(engine, file_id)) return false;
    await blobs.remove(key);
    await forgetFile(engine, file_id);
    return true;
  }

  /** Makes the stop of the server wait for this work. */
  waitFor(work: Promise<unknown>): void {
    this.#running.add(work);
    const done = () => this.#running.delete(work);
    void work.then(done, done);
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #dimensions(key: string, size: number): Promise<Dimensions | undefined> {
    const head = await this.#deps.blobs.read(key, 0, Math.min(size, pictureHeadBytes));
    return dimensionsOf(await new Response(head).bytes());
  }

  async #hash(key: string, size: number): Promise<string> {
    const hash = new RunningHash();
    for await (const bytes of new Response(await this.#deps.blobs.read(key, 0, size)).body ?? []) hash.update(bytes);
    return hash.digest();
  }
}
