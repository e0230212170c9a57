import { type Client, connectionOf } from './client.ts';
import { ApiError, TransportError } from './errors.ts';
import type { ErrorCode } from './operations.ts';
import { reconnectDelay } from './retry.ts';
import { sendRest, UploadGone, type UploadSource } from './tus.ts';

export interface UploadProgress {
  /** The bytes that the server has. */
  readonly sent: number;
  /** The size of the file in bytes. */
  readonly total: number;
}

export interface UploadOptions {
  /** The name of the file on the server. Defaults to the name of a `File`, or `file`. */
  readonly name?: string | undefined;
  /** Resumes an upload that began earlier. If the server no longer has it, the upload starts again. */
  readonly uploadId?: string | undefined;
  /** Called with the id of a new upload. Save it, and pass it as `uploadId` to resume after a restart. */
  readonly onStart?: ((uploadId: string) => void) | undefined;
  /** Called at the start, at the end, and after each piece. */
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Called with each failure after which the upload goes on by itself. */
  readonly onRetry?: ((error: ApiError | TransportError) => void) | undefined;
  /** The bytes of one request. Smaller pieces report progress more often. Defaults to 8 MiB. */
  readonly pieceBytes?: number | undefined;
  /** The maximum number of failures in a row without progress. Defaults to 8, which takes about a minute. */
  readonly retries?: number | undefined;
  /** Stops the upload. It can be resumed. */
  readonly signal?: AbortSignal | undefined;
}

const defaultPieceBytes = 8 * 1_024 ** 2;
const retryMs = 500;
const transientCodes: readonly ErrorCode[] = ['rate_limited', 'unavailable', 'internal'];

/**
 * Uploads a file with the resumable protocol, and returns the `file_id` for `messages.send`. A broken connection resumes where
 * the server has got to. Throws `ApiError` or `TransportError`, or the reason of an aborted signal.
 */
export async function uploadFile(
  client: Client,
  file: Blob,
  options: UploadOptions = {},
): Promise<{ readonly file_id: number }> {
  const { signal, onProgress, onStart, onRetry, retries = 8 } = options;
  const connection = connectionOf(client);
  const name = options.name ?? ((file as Partial<File>).name?.split(/[/\\]/).at(-1) || 'file');
  const source = blobSource(file, options.pieceBytes ?? defaultPieceBytes);
  const session = {
    id: options.uploadId,
    begin: (id: string) => {
      session.id = id;
      onStart?.(id);
    },
  };
  let failures = 0;
  let furthest = -1;
  let isRestarted = false;
  const arrived = (sent: number) => {
    if (sent > furthest) failures = 0;
    furthest = Math.max(sent, furthest);
    onProgress?.({ sent, total: file.size });
  };
  for (;;) {
    try {
      return { file_id: await sendRest({ connection, source, name, session, signal, arrived }) };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof UploadGone && !isRestarted) {
        session.id = undefined;
        isRestarted = true;
        furthest = -1;
        continue;
      }
      if (!mayPass(error) || failures >= retries) throw error;
      onRetry?.(error);
      await connection.clock.sleep(reconnectDelay(failures++, retryMs, error), signal);
    }
  }
}

/** Returns the bytes that a file may have, or undefined if the server does not say so. */
export async function maxUploadBytes(client: Client, signal?: AbortSignal): Promise<number | undefined> {
  const { url, fetch } = connectionOf(client);
  const { headers } = await fetch(`${url}/api/uploads`, { method: 'OPTIONS', ...(signal && { signal }) });
  return Number(headers.get('tus-max-size')) || undefined;
}

function blobSource(file: Blob, pieceBytes: number): UploadSource {
  if (!Number.isSafeInteger(pieceBytes) || pieceBytes < 1)
    throw new TypeError('pieceBytes must be a positive integer.');
  // A slice without a type: the request has its own.
  return { size: file.size, pieceBytes, piece: (start, end) => ({ body: file.slice(start, end) }) };
}

const mayPass = (error: unknown): error is ApiError | TransportError =>
  error instanceof ApiError ? transientCodes.includes(error.code) : error instanceof TransportError;
