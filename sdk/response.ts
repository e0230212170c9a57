import { ApiError, type ErrorDetail, TransportError } from './errors.ts';
import type { ErrorCode } from './operations.ts';

/** Returns the payload of a successful response. Throws `ApiError`, or `TransportError` if Parley did not write it. */
export function readResponse(response: Response, text: string): object {
  const body = parseObject(text);
  if (body?.success === true && response.ok) {
    const { success: _, ...payload } = body;
    return payload;
  }
  const retryAfter = parseRetryAfter(response.headers.get('retry-after'));
  const { status } = response;
  if (body?.success === false && isErrorBody(body.error)) {
    const { code, message, details, request_id } = body.error;
    throw new ApiError({
      // A newer server may send a code that this version does not know. The caller sees it unchanged.
      code: code as ErrorCode,
      message,
      details: details ?? [],
      status,
      requestId: request_id ?? response.headers.get('x-request-id') ?? undefined,
      retryAfter,
    });
  }
  throw new TransportError(describeForeign(response, text), { status, retryAfter });
}

/** The kind of a response body. The client reads JSON, and the caller reads files and streams. */
export type Kind = 'json' | 'file' | 'stream';

export const streamType = 'text/event-stream';

/** Statuses of a download that are results and not errors. */
const fileStatuses: readonly number[] = [200, 206, 304, 412, 416];

const passesThrough: Readonly<Record<Kind, (response: Response) => boolean>> = {
  json: () => false,
  file: ({ status }) => fileStatuses.includes(status),
  stream: ({ status, headers }) => status === 200 && headers.get('content-type')?.startsWith(streamType) === true,
};

/** Returns whether the caller gets the response unread. All others are read as JSON, errors included. */
export const isForCaller = (kind: Kind, response: Response): boolean => passesThrough[kind](response);

/** Returns the JSON object in a text, or undefined if it holds none. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly ErrorDetail[];
  readonly request_id?: string;
}

function isErrorBody(value: unknown): value is ErrorBody {
  const { code, message } = (value ?? {}) as Record<string, unknown>;
  return typeof code === 'string' && typeof message === 'string';
}

/** Describes a response from something else, so that the reader recognizes the proxy or the wrong port. */
function describeForeign(response: Response, text: string): string {
  const location = response.headers.get('location');
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    return `The server URL redirects${location === null ? '' : ` to ${location}`}. Use the URL that it redirects to.`;
  }
  const type = response.headers.get('content-type')?.split(';')[0] ?? 'no content type';
  const start = text.trim().replace(/\s+/g, ' ').slice(0, 100);
  return `The response is not from Parley: HTTP ${response.status}, ${type}${start === '' ? '' : `, starting with ${JSON.stringify(start)}`}.`;
}

/** Returns the seconds of a `Retry-After` header: Parley sends a number, a proxy may send a date. */
export function parseRetryAfter(header: string | null, now: number = Date.now()): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1_000));
}
