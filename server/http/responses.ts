import { type ErrorCode, errors, ParleyError } from '@parley/contract';
import { PreparedJson } from '../operations/results.ts';
import type { Allowance } from './rate-limit.ts';
import type { RequestContext } from './request-context.ts';

const exposedHeaders = [
  ...['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After'],
  ...['X-Request-Id', 'WWW-Authenticate', 'Allow', 'Idempotency-Replayed'],
  ...['Content-Range', 'Content-Disposition', 'Accept-Ranges', 'ETag', 'Last-Modified'],
];

const allowedHeaders = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID'],
  ...['Range', 'If-Range', 'If-None-Match', 'If-Modified-Since', 'Mcp-Protocol-Version'],
];

/** CORS is open, and never carries credentials. */
const crossOrigin = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposedHeaders.join(', '),
} as const;

/** The part of a request that its response depends on. */
export type ResponseContext = Pick<RequestContext, 'request' | 'requestId' | 'hasOrigin' | 'allowance'>;

/** The headers that every response of the API has. */
export function headersFor({ requestId, hasOrigin, allowance }: ResponseContext): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
  };
  if (hasOrigin) Object.assign(headers, crossOrigin);
  if (allowance) Object.assign(headers, limitHeaders(allowance));
  return headers;
}

export const limitHeaders = ({ limit, remaining, resetSeconds }: Allowance): Record<string, string> => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(resetSeconds),
});

/** Returns JSON with a newline at the end, so that the prompt of a terminal starts on a line of its own. */
export const jsonLine = (value: object): string => `${JSON.stringify(value)}\n`;

export function success(result: object, context: RequestContext): Response {
  const body = result instanceof PreparedJson ? result.body : jsonLine({ success: true, ...result });
  const headers = headersFor(context);
  if (context.isReplayed) headers['idempotency-replayed'] = 'true';
  return new Response(body, { headers });
}

/** An error with response headers, and sometimes a status, of its own. */
export class HttpError extends ParleyError {
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;

  constructor(
    code: ErrorCode,
    message: string,
    headers: Readonly<Record<string, string>>,
    status: number = errors[code].status,
  ) {
    super(code, message);
    this.headers = headers;
    this.status = status;
  }
}

/** Wraps anything unexpected as `internal`. Its cause goes to the log alone. */
export function asParleyError(error: unknown): ParleyError {
  return error instanceof ParleyError
    ? error
    : new ParleyError(
        'internal',
        'Something went wrong on our side. The log has the cause under request_id.',
        [],
        error,
      );
}

/** Responds with an error in the API's format, and records it for the log line. */
export function failure(error: ParleyError, context: RequestContext, extra: Record<string, string> = {}): Response {
  context.error = error;
  const { code, message, details } = error;
  const body = { success: false, error: { code, message, details, request_id: context.requestId } };
  const own = error instanceof HttpError ? error : undefined;
  const headers: Record<string, string> = { ...headersFor(context), ...extra, ...own?.headers };
  const challenge = challengeFor(code, context.request);
  if (challenge !== undefined) headers['www-authenticate'] = challenge;
  return new Response(jsonLine(body), { status: own?.status ?? errors[code].status, headers });
}

/** RFC 6750: a request without a token gets no error code. */
function challengeFor(code: ParleyError['code'], { headers }: Request): string | undefined {
  if (code === 'insufficient_scope') return 'Bearer realm="parley", error="insufficient_scope"';
  if (code !== 'unauthorized') return undefined;
  return `Bearer realm="parley"${headers.has('authorization') ? ', error="invalid_token"' : ''}`;
}

/** Responds to a CORS preflight request. */
export function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': allowedHeaders.join(', '),
      'access-control-max-age': '86400',
    },
  });
}
