import type { ErrorCode, ErrorDetail } from '@parley/contract';
import { ApiError, TransportError } from './errors.ts';

/** Reads an answer and its text: the payload of a success, or a throw. */
export function readAnswer(response: Response, text: string): object {
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
      // A newer server may know a code that this version does not; the caller sees it as it came.
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

/** What a call asks for: JSON, or what the caller reads itself. */
export type Kind = 'json' | 'file' | 'stream';

export const streamType = 'text/event-stream';

/** Statuses that say something of the file that was asked for, and not of the call: these have no error in them. */
const aboutFile: readonly number[] = [200, 206, 304, 412, 416];

const passesOn: Readonly<Record<Kind, (response: Response) => boolean>> = {
  json: () => false,
  file: ({ status }) => aboutFile.includes(status),
  stream: ({ status, headers }) => status === 200 && headers.get('content-type')?.startsWith(streamType) === true,
};

/** Whether the answer is passed on as it is; the others are read as JSON, which also tells of errors. */
export const isForCaller = (kind: Kind, response: Response): boolean => passesOn[kind](response);

function parseObject(text: string): Record<string, unknown> | undefined {
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

/** What came instead of Parley's answer, so that whoever reads it can tell which proxy or which wrong port spoke. */
function describeForeign(response: Response, text: string): string {
  const address = response.headers.get('location');
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    return `The server's address is redirected${address === null ? '' : ` to ${address}`}; use the address that it leads to.`;
  }
  const type = response.headers.get('content-type')?.split(';')[0] ?? 'no content type';
  const start = text.trim().replace(/\s+/g, ' ').slice(0, 100);
  return `The answer is not Parley's: HTTP ${response.status}, ${type}${start === '' ? '' : `, beginning with ${JSON.stringify(start)}`}.`;
}

/** Seconds, however it was written: Parley sends a number, a proxy may send a date. */
export function parseRetryAfter(header: string | null, now: number = Date.now()): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1_000));
}
