import { type FileId, invalidField, ParleyError, type UserId } from '@parley/contract';
import { type Blobs, noRoom } from '../blobs/blobs.ts';
import { newKey } from '../blobs/key.ts';
import type { Engine } from '../store/engine.ts';
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
} from '../store/files.ts';
import { cutUpload } from '../store/upload-leases.ts';
import { Hashes, RunningHash } from './hashes.ts';
import { Incoming } from './incoming.ts';
import type { Lease } from './lease.ts';
import { headBytes, typeNamed, typeOf } from './type.ts';

export interface UploadParts {
  readonly engine: Engine;
  readonly blobs: Blobs;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  /** Bytes in a file at most. */
  readonly fileBytes: number;
  /** How long a file is kept that no message names, and an upload that does not go on. */
  readonly keptMs: number;
}

/** A file of which every byte is kept. For others it comes to be with the transaction that makes it whole. */
export interface ReceivedFile extends FileFacts {
  readonly file_id: FileId;
}

export const tooLargeFile = (most: number) =>
  new ParleyError('payload_too_large', `A file may have at most ${most} bytes.`);

/** An upload that is not done within its time is removed, whatever has come of it. */
export const tookTooLong = () => new ParleyError('conflict', 'The upload took so long that it was given up.');

/** An upload in one go that nothing has come of for so long is over: its server has died. */
const silenceMs = 15 * 60_000;

/** The number of the lease under which a file is written that is only ever one request's. */
const noLease = 0;

/** Files that one user uploads at once, at most. */
const mostAtOnce = 20;

/** Files of one user that no message names, at most. */
const mostUnsent = 200;

/**
 * How a file comes in: first its row, so that nothing is kept that is not known; then its bytes; then, once they are kept for
 * good, what they are. Until it is whole nobody sees it, and what breaks off is removed, or kept for a while to be gone on with.
 */
export class Uploads {
  readonly #parts: UploadParts;
  readonly #hashes = new Hashes();
  readonly #underWay = new Set<Promise<void>>();
  /** Whose uploads are being written, each as often as they have one. */
  readonly #writing: UserId[] = [];

  constructor(parts: UploadParts) {
    this.#parts = parts;
  }

  get mostBytes(): number {
    return this.#parts.fileBytes;
  }

  /** When a file is removed that nobody does anything with from now on. */
  get expiry(): number {
    return this.#parts.now() + this.#parts.keptMs;
  }

  /** Announces a file of a known size, which may come in pieces. Where its name is empty it gets one in the end. */
  async announce(userId: UserId, name: string, size: number): Promise<FileRow> {
    if (size > this.#parts.fileBytes) throw tooLargeFile(this.#parts.fileBytes);
    if (!(await this.#parts.blobs.hasRoomFor(size))) throw noRoom();
    return this.#begin({ userId, name, size, expiresAt: this.expiry, isCounted: true });
  }

  /** Begins a file that comes in one go. One that is sent with its message does not count among those that no message names. */
  begin(userId: UserId, name: string, isSent: boolean): Promise<FileRow> {
    return this.#begin({ userId, name, size: null, expiresAt: this.#parts.now() + silenceMs, isCounted: !isSent });
  }

  async #begin(file: {
    readonly userId: UserId;
    readonly name: string;
    readonly size: number | null;
    readonly expiresAt: number;
    readonly isCounted: boolean;
  }): Promise<FileRow> {
    const { engine, now, random } = this.#parts;
    const { userId, name, size } = file;
    const key = newKey(random);
    return engine.write(async (tx) => {
      await tx.lockKeys([`uploads of ${userId}`]);
      if (file.isCounted && (await countUnsent(tx, userId, now())) >= mostUnsent) {
        throw new ParleyError(
          'conflict',
          `You have ${mostUnsent} files that no message names. Send some of them, or wait until their time is over.`,
        );
      }
      return insertFile(tx, { key, user_id: userId, name, size, created_at: now(), expires_at: file.expiresAt });
    });
  }

  /** An upload, or the file that it has become, unless it has come to its end. */
  find(key: string): Promise<FileRow | undefined> {
    return findFileByKey(this.#parts.engine, key, this.#parts.now());
  }

  /**
   * An upload is gone on with under a lease. Where an earlier one has lapsed, its holder may still write, and what it has sent
   * may still arrive: so what counts from here on is kept where only later ones know to write. Answers undefined where the
   * lease is lost.
   */
  async follow(row: FileRow, lease: Lease): Promise<FileRow | undefined> {
    const { engine, blobs } = this.#parts;
    this.#hashes.follow(row.key, lease.number);
    if (!lease.isDoubtful) return row;
    const size = await blobs.sizeOf(row.key);
    // Behind the last byte nobody writes.
    if (size === row.size) return row;
    return engine.write((tx) => cutUpload(tx, row.file_id, lease.number, size));
  }

  /** Goes on with an upload, of which so many bytes are kept. */
  async open(row: FileRow, at: number, lease = noLease): Promise<Incoming> {
    const leave = this.#enter(row.user_id);
    const writer = await this.#parts.blobs.append(row.key, at).catch((error: unknown) => {
      leave();
      throw error;
    });
    return new Incoming({
      writer,
      hash: this.#hashes.at(row.key, at, lease),
      at,
      most: row.size ?? this.#parts.fileBytes,
      tooMany: () => tooLargeFile(this.#parts.fileBytes),
      closed: leave,
    });
  }

  /** Counts an upload that is being written, until what it answers is called. */
  #enter(userId: UserId): () => void {
    const { writersAtOnce } = this.#parts.blobs;
    const own = this.#writing.filter((writing) => writing === userId).length;
    if (own >= Math.min(mostAtOnce, writersAtOnce) || this.#writing.length >= writersAtOnce) {
      throw new ParleyError('unavailable', 'Too many files are being uploaded at once. Try again in a moment.');
    }
    this.#writing.push(userId);
    return () => void this.#writing.splice(this.#writing.indexOf(userId), 1);
  }

  /** How many bytes of an upload are kept. */
  sizeOf(row: FileRow): Promise<number> {
    return this.#parts.blobs.sizeOf(row.key);
  }

  /** An upload goes on, and is kept for longer. Answers false where it has come to its end. */
  extend(row: FileRow): Promise<boolean> {
    const expiresAt = row.size === null ? this.#parts.now() + silenceMs : this.expiry;
    return extendFile(this.#parts.engine, row.file_id, expiresAt);
  }

  /** All bytes have come: they stay as they are, and are looked at. */
  async seal(row: FileRow, size: number, lease = noLease): Promise<ReceivedFile> {
    const { engine, blobs, now } = this.#parts;
    if (size === 0) throw invalidField('file', 'is empty');
    if (!(await findFile(engine, row.file_id, now()))) throw tookTooLong();
    await blobs.seal(row.key, size);
    const sha256 = this.#hashes.at(row.key, size, lease)?.digest() ?? (await this.#hash(row.key, size));
    this.#hashes.drop(row.key);
    const head = await new Response(await blobs.read(row.key, 0, Math.min(size, headBytes))).bytes();
    const found = await typeOf(head);
    const { file_id, name } = row;
    return { file_id, name: name || `file.${found.extension}`, mime_type: typeNamed(found.type, name), size, sha256 };
  }

  /** Makes a file whole that no other transaction does. Answers false where it was dropped or taken over meanwhile. */
  complete(file: ReceivedFile, lease = noLease): Promise<boolean> {
    return this.#parts.engine.write((tx) => completeFile(tx, file.file_id, file, this.expiry, lease));
  }

  /**
   * Removes an upload, unless it has become a whole file, or is another's to write: then it answers false. What cannot be
   * removed now is removed with what has ended.
   */
  async abandon({ file_id, key }: Pick<FileRow, 'file_id' | 'key'>, lease = noLease): Promise<boolean> {
    const { engine, blobs, now } = this.#parts;
    this.#hashes.drop(key);
    // What has been removed meanwhile may have been written to since.
    if (!(await dropUnfinished(engine, file_id, now(), lease)) && (await isKnown(engine, file_id))) return false;
    await blobs.remove(key);
    await forgetFile(engine, file_id);
    return true;
  }

  /**
   * The same for an upload in one go, of which nobody but its request can make a whole file. Here the bytes go first: they
   * may be what keeps the database from writing anything.
   */
  async discard(row: FileRow): Promise<void> {
    const { engine, blobs } = this.#parts;
    const { file_id, key } = row;
    this.#hashes.drop(key);
    if (await isCompleteFile(engine, file_id)) return;
    await blobs.remove(key);
    await this.abandon(row);
  }

  /** Removes what was written to an upload that others have removed meanwhile. Answers false where it is still there. */
  async clearUp({ file_id, key }: FileRow): Promise<boolean> {
    const { engine, blobs } = this.#parts;
    if (await isKept(engine, file_id)) return false;
    await blobs.remove(key);
    await forgetFile(engine, file_id);
    return true;
  }

  /** Something is under way that must not be left half done when the server stops. */
  waitFor(work: Promise<void>): void {
    this.#underWay.add(work);
    const done = () => this.#underWay.delete(work);
    void work.then(done, done);
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  async #hash(key: string, size: number): Promise<string> {
    const hash = new RunningHash();
    for await (const bytes of new Response(await this.#parts.blobs.read(key, 0, size)).body ?? []) hash.update(bytes);
    return hash.digest();
  }
}
