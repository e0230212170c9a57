import { type FileId, invalidField, ParleyError, type UserId } from '@parley/contract';
import type { Blobs } from '../blobs/blobs.ts';
import type { Engine } from '../store/engine.ts';
import {
  completeFile,
  countUnsent,
  dropUnfinished,
  extendFile,
  type FileFacts,
  type FileRow,
  findFileByKey,
  forgetFile,
  insertFile,
  isKnown,
} from '../store/files.ts';
import { Hashes, RunningHash } from './hashes.ts';
import { Incoming } from './incoming.ts';
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

/** An upload that is not done within its time is removed, whatever has come of it. */
export const tookTooLong = () => new ParleyError('conflict', 'The upload took so long that it was given up.');

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

  /** Announces a file. Where its name is empty it gets one in the end. */
  async begin(userId: UserId, name: string, size: number | null): Promise<FileRow> {
    const { engine, now, random, fileBytes } = this.#parts;
    if (size !== null && size > fileBytes) throw this.#tooLarge();
    const key = Buffer.from(random(18)).toString('base64url');
    const row = await engine.write(async (tx) => {
      await tx.lockKeys([`uploads of ${userId}`]);
      if ((await countUnsent(tx, userId, now())) >= mostUnsent) {
        throw new ParleyError(
          'conflict',
          `You have ${mostUnsent} files that no message names. Send some of them first.`,
        );
      }
      return insertFile(tx, { key, user_id: userId, name, size, created_at: now(), expires_at: this.expiry });
    });
    if (!row) throw new Error('a file was not written down');
    return row;
  }

  /** A file that has not come to its end, whole or not. */
  find(key: string): Promise<FileRow | undefined> {
    return findFileByKey(this.#parts.engine, key, this.#parts.now());
  }

  /** Goes on with an upload, of which so many bytes are kept. */
  async open(row: FileRow, at: number): Promise<Incoming> {
    const writer = await this.#parts.blobs.append(row.key, at);
    const most = row.size ?? this.#parts.fileBytes;
    return new Incoming(writer, this.#hashes.at(row.key, at), at, most, () => this.#tooLarge());
  }

  /** How many bytes of an upload are kept. */
  sizeOf(row: FileRow): Promise<number> {
    return this.#parts.blobs.sizeOf(row.key);
  }

  /** An upload goes on, and is kept for longer. Answers false where it has come to its end. */
  extend(row: FileRow): Promise<boolean> {
    return extendFile(this.#parts.engine, row.file_id, this.expiry);
  }

  /** All bytes have come: they stay as they are, and are looked at. */
  async seal(row: FileRow, size: number): Promise<ReceivedFile> {
    const { blobs } = this.#parts;
    if (size === 0) throw invalidField('file', 'is empty');
    if (!(await this.find(row.key))) throw tookTooLong();
    await blobs.seal(row.key, size);
    const sha256 = this.#hashes.at(row.key, size)?.digest() ?? (await this.#hash(row.key, size));
    this.#hashes.drop(row.key);
    const head = await new Response(await blobs.read(row.key, 0, Math.min(size, headBytes))).bytes();
    const found = await typeOf(head);
    const { file_id, name } = row;
    return { file_id, name: name || `file.${found.extension}`, mime_type: typeNamed(found.type, name), size, sha256 };
  }

  /** Makes a file whole that no other transaction does. Answers false where it was dropped meanwhile. */
  async complete(row: FileRow, file: ReceivedFile): Promise<boolean> {
    const isDone = await this.#parts.engine.write((tx) => completeFile(tx, file.file_id, file, this.expiry));
    if (isDone) return true;
    // Another process may have been faster.
    return (await this.find(row.key))?.sha256 === file.sha256;
  }

  /** Removes an upload, unless it has become a whole file. What cannot be removed now is removed with what has ended. */
  async abandon({ file_id, key }: Pick<FileRow, 'file_id' | 'key'>): Promise<void> {
    const { engine, blobs, now } = this.#parts;
    this.#hashes.drop(key);
    // What has been removed meanwhile may have been written to since.
    if (!(await dropUnfinished(engine, file_id, now())) && (await isKnown(engine, file_id))) return;
    await blobs.remove(key);
    await forgetFile(engine, file_id);
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

  #tooLarge(): ParleyError {
    return new ParleyError('payload_too_large', `A file may have at most ${this.#parts.fileBytes} bytes.`);
  }
}
