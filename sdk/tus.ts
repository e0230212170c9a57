import type { Connection } from './client.ts';
import { innermost, TransportError } from './errors.ts';
import { readResponse } from './response.ts';
import { authorization, getToken } from './token.ts';

/** The server does not have the upload. */
export class UploadGone extends Error {}

/** Statuses below 500 that are temporary. The next HEAD request returns the server's offset. */
const transient: readonly number[] = [408, 409, 423, 425, 429];

/** The bytes of a file. */
export interface UploadSource {
  readonly size: number;
  /** The maximum number of bytes in one request. */
  readonly pieceBytes: number;
  /** Returns the bytes from `start` up to, but not including, `end` as a new body, with the headers that it needs. */
  piece(
    start: number,
    end: number,
  ): { readonly body: BodyInit; readonly headers?: Readonly<Record<string, string>> | undefined };
}

export interface Sending {
  readonly connection: Pick<Connection, 'url' | 'token' | 'fetch'>;
  readonly source: UploadSource;
  readonly name: string;
  /** The upload on the server. It has no id until it has begun. */
  readonly session: { readonly id: string | undefined; begin(id: string): void };
  readonly signal: AbortSignal | undefined;
  /** Called with the bytes from the start that the server has. */
  readonly arrived: (bytes: number) => void;
}

/** Sends the missing part of a file with the tus protocol, version 1.0.0. Returns the id of the file. */
export async function sendRest(sending: Sending): Promise<number> {
  const { source, name, session, arrived } = sending;
  const creation = { 'upload-length': String(source.size), 'upload-metadata': `filename ${base64(name)}` };
  let response = await (session.id === undefined ? request(sending, 'POST', creation) : request(sending, 'HEAD'));
  if (session.id === undefined) session.begin(idIn(response));
  for (let before = -1; ; ) {
    const offset = offsetIn(response, before);
    arrived(offset);
    const fileId = Number(response.headers.get('parley-file-id'));
    if (fileId > 0 && Number.isSafeInteger(fileId)) return fileId;
    if (offset >= source.size) throw new TransportError('The response is not from Parley: it has no file id.');
    const end = Math.min(offset + source.pieceBytes, source.size);
    const headers = { 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' };
    response = await request(sending, 'PATCH', headers, () => source.piece(offset, end));
    before = offset;
  }
}

const base64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));

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
  piece?: () => ReturnType<UploadSource['piece']>,
): Promise<Response> {
  const { url: server, token: access } = connection;
  const url = `${server}/api/uploads${method === 'POST' ? '' : `/${session.id}`}`;
  const attempt = async (token: string | null) => {
    const { body, headers: own } = piece?.() ?? {};
    try {
      return await connection.fetch(url, {
        method,
        headers: { 'tus-resumable': '1.0.0', ...authorization(token), ...headers, ...own },
        redirect: 'manual',
        ...(signal && { signal }),
        ...(body !== undefined && { body }),
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw new TransportError(`Cannot reach Parley at ${server}: ${innermost(error)}`, { cause: error });
    }
  };
  const token = await getToken(access, signal);
  let response = await attempt(token);
  if (response.status === 401) {
    const other = await getToken(access, signal, token);
    if (other !== token) response = await attempt(other);
  }
  if (!response.ok) throw await refusalOf(method, response);
  return response;
}

/** Returns the error of a response as the client would throw it. */
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
