import { ApiError, TransportError } from '@parley/sdk';
import { readAnswer } from '@parley/sdk/answer.ts';
import type { DetailedError, HttpResponse } from 'tus-js-client';

/** The server has dropped an upload, or never had it. */
export class UploadGone extends Error {}

/** Statuses below 500 that pass by themselves: with the next question the upload is where the server says it is. */
const passing: readonly number[] = [408, 409, 423, 425, 429];

/** What a request of the protocol has failed with, as a call of the client would. */
export function refusalOf(error: Error | DetailedError, server: string): Error {
  const { originalResponse: response, originalRequest: request, causingError } = error as Partial<DetailedError>;
  if (!response) {
    const { message } = causingError ?? error;
    return new TransportError(`Cannot reach Parley at ${server}: ${message}`, { cause: error });
  }
  const [method, status] = [request?.getMethod(), response.getStatus()];
  if (method !== 'POST' && (status === 404 || status === 410)) return new UploadGone('The server has no such upload.');
  const refusal = method === 'HEAD' ? withoutWords(response) : inWords(response);
  const { message, status: known, retryAfter } = refusal;
  if (method !== 'POST' && known === 409) return new TransportError(message, { status: known, retryAfter });
  const isFinal = known !== undefined && known < 500 && !passing.includes(known);
  return refusal instanceof TransportError && isFinal ? new Error(message) : refusal;
}

function inWords(response: HttpResponse): ApiError | TransportError {
  try {
    readAnswer(asFetched(response), response.getBody());
  } catch (error) {
    if (error instanceof ApiError || error instanceof TransportError) return error;
    throw error;
  }
  return new TransportError('The server answers what the tus protocol does not know.');
}

/** An answer to HEAD has no body that could say more. */
function withoutWords(response: HttpResponse): ApiError | TransportError {
  const status = response.getStatus();
  if (status !== 401)
    return new TransportError(`The server does not tell where the upload is: HTTP ${status}.`, { status });
  return new ApiError({
    code: 'unauthorized',
    message: 'The server does not take the access token any more.',
    details: [],
    status,
    requestId: response.getHeader('X-Request-Id'),
    retryAfter: undefined,
  });
}

function asFetched(response: HttpResponse): Response {
  const headers = new Headers();
  for (const name of ['content-type', 'location', 'retry-after', 'x-request-id']) {
    const value = response.getHeader(name);
    if (value !== undefined) headers.set(name, value);
  }
  return new Response(null, { status: response.getStatus(), headers });
}
