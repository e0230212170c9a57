import { ParleyError } from '@parley/contract';

/** Stores the bytes of files, each under a random key. It knows nothing of users and chats. */
export interface Blobs {
  /** How many writers may be open: each holds a part of its blob in memory. */
  readonly concurrentWriters: number;
  /** Returns whether `size` more bytes fit, as far as the storage knows. */
  hasRoomFor(size: number): Promise<boolean>;
  /** Opens a blob that is not sealed for writing at `at`, and truncates it there. Throws if it is shorter. */
  append(key: string, at: number): Promise<BlobWriter>;
  /** Returns how many bytes of a blob are durable, or 0 if there is none. */
  sizeOf(key: string): Promise<number>;
  /** Makes a blob durable and readable, and ends writing. Can be repeated. Throws if the blob is not of this size. */
  seal(key: string, size: number): Promise<void>;
  /** Returns the bytes of a sealed blob from `start` to `end`, exclusive. Throws if they are known to be missing. */
  read(key: string, start: number, end: number): Promise<Blob | ReadableStream<Uint8Array>>;
  /** Removes a blob, sealed or not. Does nothing if there is none. */
  remove(key: string): Promise<void>;
}

/** The only writer of a blob. */
export interface BlobWriter {
  /** Callers await it before the next call, which slows the sender down. They may reuse the bytes afterwards. */
  write(bytes: Uint8Array): Promise<void>;
  /** Must be called once, also after a failed write. Returns how many bytes are durable. Throws if a buffered write failed. */
  close(): Promise<number>;
}

export const noRoom = (cause?: unknown) =>
  new ParleyError('unavailable', 'The file storage is full. Try again later.', [], cause);

/** The storage cannot be used. The message is for the operator. */
export class StorageError extends Error {}
