import { ParleyError } from '@parley/contract';

/**
 * Where the bytes of files are kept, each file's under a random key of its own. It knows nothing of users and chats: what a
 * key stands for, the database knows.
 */
export interface Blobs {
  /** Writers that may be open at once: each holds some of its blob in memory. */
  readonly writersAtOnce: number;
  /** Whether there is room for so many bytes more, as far as that can be told. */
  hasRoomFor(size: number): Promise<boolean>;
  /** Goes on with a blob that is not sealed, at the size that it has so far, or at less: what is beyond is cut off. At 0 it is new. */
  append(key: string, at: number): Promise<BlobWriter>;
  /** How many bytes of a blob are kept for good, sealed or not; 0 where there is none. */
  sizeOf(key: string): Promise<number>;
  /**
   * The blob is whole, and this is its size: nothing is written to it any more, and it can be read. Done for good when it
   * answers; doing it again changes nothing. Throws where what is kept is not of this size.
   */
  seal(key: string, size: number): Promise<void>;
  /**
   * The bytes of a sealed blob from `start` up to, but not including, `end`. Throws where they are not there, as far as that
   * can be told before they are sent.
   */
  read(key: string, start: number, end: number): Promise<Blob | ReadableStream<Uint8Array>>;
  /** Sealed or not; where there is none, nothing happens. */
  remove(key: string): Promise<void>;
}

/** One writer of a blob; there is never a second beside it. */
export interface BlobWriter {
  /** To be waited for before the next, which also slows down whoever sends. The bytes are the writer's only until then. */
  write(bytes: Uint8Array): Promise<void>;
  /**
   * To be called once, whether or not writing went well. Answers how many bytes of the blob are then kept for good; throws what
   * has gone wrong since the last write, because writes are gathered.
   */
  close(): Promise<number>;
}

export const noRoom = (cause?: unknown) =>
  new ParleyError('unavailable', 'The storage for files is full. Try again later.', [], cause);

/** The storage cannot be used; its message is a plain line for the operator. */
export class StorageError extends Error {}
