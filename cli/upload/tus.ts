import { TransportError } from '@parley-chat/sdk';
import { readResponse } from '@parley-chat/sdk/response.ts';
import { getToken } from '@parley-chat/sdk/token.ts';
import type { Connection } from '../connection.ts';
import type { LocalFile } from './local-file.ts';
import type { UploadSession } from './session.ts';

/** The server does not have the upload. */
export class UploadGone extends Error {}

/**
 * The maximum size of one request. Large requests are better for the server: a file of 1 GiB took its memory to 134 MB in
 * pieces of 16 MiB, 109 MB in pieces of 64 MiB and 92 MB in one piece. But proxies often refuse more than 100 MB.
 */
const pieceBytes = 64 * 1_024 ** 2;

/** Statuses below 500 that are temporary. The next HEAD request returns the server's offset. */
const transient: readonly number[] = [408, 409, 423, 425, 429];

export interface Sending {
  readonly connection: Pick<Connection, 'server' | 'access'>;
  readonly file: LocalFile;
  readonly name: string;
  readonly session: UploadSession;
  readonly signal: AbortSignal;
  /** Called with the bytes from the start that are sent, also before they arrive. */
  readonly sent: (bytes: number) => void;
  /** Called with the bytes from the start that the server has. */
  readonly arrived: (bytes: number) => void;
}

/** Sends the missing part of a file with the tus protocol, version 1.0.0. Returns the id of the file. */
export async function sendRest(sending: Sending): Promise<number> {
  const { file, name, session, sent, arrived } = sending;
  const metadata = `filename ${Buffer.from(name).toString('base64')}`;
  const creation = { 'upload-length': String(file.size), 'upload-metadata': metadata };
  let response = await (session.id === undefined ? request(sending, 'POST', creation) : request(sending, 'HEAD'));
  if (session.id === undefined) session.begin(idIn(response));
  for (let before = -1; ; ) {
    const offset = offsetIn(response, before);
    arrived(offset);
    const fileId = Number(response.headers.get('parley-file-id'));
    if (fileId > 0 && Number.isSafeInteger(fileId)) return fileId;
    if (offset >= file.size) throw new TransportError('The response is not from Parley: it has no file id.');
    const end = Math.min(offset + pieceBytes, file.size);
    const headers = {
      'upload-offset': String(offset),
      'content-type': 'application/offset+octet-stream',
      'content-length': String(end - offset),
    };
    let fault: unknown;
    const body = async function* () {
      let at = offset;
      try {
        for await (const bytes of file.bytes(offset, end)) {
          yield bytes;
          at += bytes.length;
          sent(at);
        }
      } catch (error) {
        fault = error;
        throw error;
      }
    };
    response = await request(sending, 'PATCH', headers, body).catch((error) => {
      // A failure to read the file is reported unchanged.
      throw fault ?? error;
    });
    before = offset;
  }
}

/** Only the id counts: the server may return another host, and the token goes only to the configured one. */
function idIn({ headers }: Response): string {
  const [id] = /[\w-]+$/.exec(headers.get('location') ?? '') ?? [];
  if (id === undefined) throw new TransportError('The response does not name the new upload.');
  return id;
}

/** A response to POST has no offset: nothing is sent yet. */
function offsetIn({ status, headers }: Response, before: number): number {
  const offset = Number(headers.get('upload-offset') ?? (status === 201 ? 0 : Number.NaN));
  if (!Number.isSafeInteger(offset) || offset <= before)
    throw new TransportError('The response has no new upload offset.');
  return offset;
}

/** Sends a request, and once more if the server refuses the token and there is another. */
async function request(
  { connection, session, signal }: Sending,
  method: 'POST' | 'HEAD' | 'PATCH',
  headers: Readonly<Record<string, string>> = {},
  body?: () => AsyncGenerator<Uint8Array, void>,
): Promise<Response> {
  const { server, access } = connection;
  const url = `${server}/api/uploads${method === 'POST' ? '' : `/${session.id}`}`;
  const attempt = async (token: string) => {
    try {
      return await fetch(url, {
        method,
        headers: { 'tus-resumable': '1.0.0', authorization: `Bearer ${token}`, ...headers },
        redirect: 'manual',
        signal,
        ...(body && { body: body() as unknown as BodyInit }),
      });
    } catch (error) {
      signal.throwIfAborted();
      throw new TransportError(`Cannot reach Parley at ${server}: ${(error as Error).message}`, { cause: error });
    }
  };
  const token = await getToken(access.token, signal);
  let response = await attempt(token);
  if (response.status === 401) {
    const other = await getToken(access.token, signal, token);
    if (other !== token) response = await attempt(other);
  }
  if (!response.ok) throw await refusalOf(method, response);
  return response;
}

/** Returns the error of a response as the SDK would throw it. */
async function refusalOf(method: string, response: Response): Promise<Error> {
  const { status } = response;
  if (method !== 'POST' && (status === 404 || status === 410)) return new UploadGone('The server has no such upload.');
  // A response to HEAD has no error body.
  if (method === 'HEAD' && status === 401) return new Error('The server refused the access token.');
  const text = await response.text();
  try {
    if (method !== 'HEAD') readResponse(response, text);
    return new TransportError(`The server did not return the upload offset: HTTP ${status}.`, { status });
  } catch (error) {
    const { message, retryAfter } = error as TransportError;
    if (method !== 'POST' && status === 409) return new TransportError(message, { status, retryAfter });
    const isFinal = status < 500 && !transient.includes(status);
    return error instanceof TransportError && isFinal ? new Error(message) : (error as Error);
  }
}
