import type { FileOperationName, OperationName, Output, StreamOperationName } from '@parley/contract';
import type { LiveStream } from '../domain/live.ts';
import type { CompleteFile } from '../store/files/files.ts';

/** The result of an operation: an object, JSON text, the bytes of a file, or a stream of events. */
export type Result<N extends OperationName> = N extends FileOperationName
  ? Download
  : N extends StreamOperationName
    ? Live
    : Output<N> | PreparedJson<N>;

/**
 * A response body that is JSON text already. The hot paths make it from stored text, because parsing that text and writing it
 * again would be most of their work.
 */
export class PreparedJson<N extends OperationName> {
  declare readonly operation: N;
  /** The whole body, with a newline at the end. A cached one is the same string each time, so it is not built again. */
  readonly body: string;

  constructor(fields: string) {
    this.body = `{"success":true,${fields}}\n`;
  }
}

/** The facts about the bytes of a file that a response states. */
export type Downloaded = Pick<CompleteFile, 'name' | 'mime_type' | 'size' | 'sha256' | 'created_at'> & {
  /** True if the bytes at this URL never change, and its readers may keep them. */
  readonly isImmutable?: boolean;
};

/** The bytes of a file. */
export class Download {
  readonly file: Downloaded;
  /** Returns the bytes from `start` up to, but not including, `end`. */
  readonly read: (start: number, end: number) => Promise<Blob | ReadableStream<Uint8Array>>;

  constructor(file: Downloaded, read: Download['read']) {
    this.file = file;
    this.read = read;
  }
}

/** A stream of events, which lasts until the client or the server ends it. */
export class Live {
  readonly stream: LiveStream;

  constructor(stream: LiveStream) {
    this.stream = stream;
  }
}
