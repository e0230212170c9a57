import type { FileId, UserId } from '@parley/contract';
import type { Engine } from '../store/engine/engine.ts';
import { type CompleteFile, setThumbnailSize } from '../store/files/files.ts';
import { type Pictures, UnusablePicture } from './pictures.ts';
import type { Blobs } from './storage/blobs.ts';

export interface ThumbnailsDeps {
  readonly engine: Engine;
  readonly blobs: Blobs;
  readonly pictures: Pictures;
}

export interface Thumbnail {
  readonly size: number;
  /** Returns the bytes from `start` up to, but not including, `end`. */
  readonly read: (start: number, end: number) => ReturnType<Blobs['read']>;
}

/** The key of a thumbnail. It is stored beside its file, and removed with it. */
export const thumbnailKey = (fileKey: string): string => `${fileKey.split('.', 1)[0]}-t`;

/** Thumbnails of images. Each is made when it is first asked for, and stored. */
export class Thumbnails {
  readonly #deps: ThumbnailsDeps;
  readonly #making = new Map<FileId, Promise<Uint8Array>>();

  constructor(deps: ThumbnailsDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the thumbnail of an image, or undefined if it has none. `ownerId` is the person who asks. `beforeMaking` is called
   * if this request is the one that makes it, and may throw.
   */
  async of(file: CompleteFile, ownerId: UserId, beforeMaking: () => void): Promise<Thumbnail | undefined> {
    const { file_id, key, thumbnail_size: size } = file;
    if (size === 0) return undefined;
    if (size !== null) return { size, read: (start, end) => this.#deps.blobs.read(thumbnailKey(key), start, end) };
    let making = this.#making.get(file_id);
    if (!making) {
      beforeMaking();
      making = this.#make(file, ownerId).finally(() => this.#making.delete(file_id));
      this.#making.set(file_id, making);
    }
    try {
      const bytes = await making;
      return {
        size: bytes.length,
        read: async (start, end) => new Blob([Uint8Array.from(bytes.subarray(start, end))]),
      };
    } catch (error) {
      if (!(error instanceof UnusablePicture)) throw error;
      await setThumbnailSize(this.#deps.engine, file_id, 0);
      return undefined;
    }
  }

  async #make({ file_id, key, size }: CompleteFile, ownerId: UserId): Promise<Uint8Array> {
    const { blobs, pictures } = this.#deps;
    const made = await pictures.thumbnail(ownerId, async () => new Response(await blobs.read(key, 0, size)).bytes());
    // A thumbnail that cannot be stored now is made again by the next request.
    await this.#store(file_id, thumbnailKey(key), made).catch(() => {});
    return made;
  }

  async #store(fileId: FileId, key: string, bytes: Uint8Array): Promise<void> {
    const { engine, blobs } = this.#deps;
    // A server that stopped here, or another one, may have stored it.
    await blobs.remove(key);
    const writer = await blobs.append(key, 0);
    try {
      await writer.write(bytes);
    } finally {
      await writer.close();
    }
    await blobs.seal(key, bytes.length);
    // The file may have been removed meanwhile.
    if (!(await setThumbnailSize(engine, fileId, bytes.length))) await blobs.remove(key);
  }
}
