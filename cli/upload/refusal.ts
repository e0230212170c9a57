import { ApiError, TransportError } from '@parley/sdk';
import { readResponse } from '@parley/sdk/response.ts';
import type { DetailedError, HttpResponse } from 'tus-js-client';

/** The server does not have the upload. */
export class UploadGone extends Error {}

/** Statuses below 500 that are temporary. The next HEAD request returns the server's offset. */
const transient: readonly number[] = [408, 409, 423, 425, 429];

/** Returns the error of a tus request as the SDK would throw it. */
export function refusalOf(error: Error | DetailedError, server: string): Error {
  const { originalResponse: response, originalRequest: request, causingError } = error as Partial<DetailedError>;
  if (!response) {
    const { message } = causingError ?? error;
    return new TransportError(`Cannot reach Parley at ${server}: ${message}`, { cause: error });
  }
  const [method, status] = [request?.getMethod(), response.getStatus()];
  if (method !== 'POST' && (status === 404 || status === 410)) return new UploadGone('The server has no such upload.');
  const refusal = method === 'HEAD' ? withoutBody(response) : withBody(response);
  const { message, status: known, retryAfter } = refusal;
  if (method !== 'POST' && known === 409) return new TransportError(message, { status: known, retryAfter });
  const isFinal = known !== undefined && known < 500 && !transient.includes(known);
  return refusal instanceof TransportError && isFinal ? new Error(message) : refusal;
}

function withBody(response: HttpResponse): ApiError | TransportError {
  try {
    readResponse(asFetched(response), response.getBody());
  } catch (error) {
    if (error instanceof ApiError || error instanceof TransportError) return error;
    throw error;
  }
  return new TransportError('The response does not follow the tus protocol.');
}

/** A response to HEAD has no error body. */
function withoutBody(response: HttpResponse): ApiError | TransportError {
  const status = response.getStatus();
  if (status !== 401)
    return new TransportError(`The server did not return the upload offset: HTTP ${status}.`, { status });
  return new ApiError({
    code: 'unauthorized',
    message: 'The server refused the access token.',
    details: [],
    status,
    requestId: response.getHeader('X-Request-Id'),
    retryAfter: undefined,
  });
}

function asFetched(response: HttpResponse): Response {
  const names = ['content-type', 'location', 'retry-after', 'x-request-id'];
  const headers = names.map((name) => [name, response.getHeader(name)]).filter(([, value]) => value !== undefined);
  return new Response(null, { status: response.getStatus(), headers: headers as [string, string][] });
}
