import { errors, ParleyError } from '@parley/contract';
import { Rendered } from '../operations/rendered.ts';
import type { Allowance } from './rate-limit.ts';

const exposedHeaders = [
  ...['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After'],
  ...['X-Request-Id', 'WWW-Authenticate', 'Allow'],
  ...['Content-Range', 'Content-Disposition', 'Accept-Ranges', 'ETag', 'Last-Modified'],
];

const allowedHeaders = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID'],
  ...['Range', 'If-Range', 'If-None-Match', 'If-Modified-Since'],
];

/** What a browser on another site needs in order to read an answer. CORS is open, and never carries credentials. */
const crossOrigin = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposedHeaders.join(', '),
} as const;

export interface Envelope {
  readonly requestId: string;
  /** Whether the request names an Origin: only browsers do, and only they read the answer's CORS headers. */
  readonly fromBrowser: boolean;
  readonly allowance?: Allowance | undefined;
}

export function headersFor({ requestId, fromBrowser, allowance }: Envelope): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
  };
  if (fromBrowser) Object.assign(headers, crossOrigin);
  if (allowance) Object.assign(headers, limitHeaders(allowance));
  return headers;
}

/** What a caller may still do. */
export const limitHeaders = ({ limit, remaining, resetSeconds }: Allowance): Record<string, string> => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(resetSeconds),
});

export function success(output: object, envelope: Envelope): Response {
  const body = output instanceof Rendered ? output.body : JSON.stringify({ success: true, ...output });
  return new Response(body, { headers: headersFor(envelope) });
}

/** What a fault that is nobody's refusal looks like from outside: its cause is for the log. */
export function asParleyError(error: unknown): ParleyError {
  return error instanceof ParleyError
    ? error
    : new ParleyError('internal', 'Something went wrong on our side. The request_id finds it in the log.', [], error);
}

export function failure(error: ParleyError, envelope: Envelope, extra: Record<string, string> = {}): Response {
  const { code, message, details } = error;
  const body = { success: false, error: { code, message, details, request_id: envelope.requestId } };
  const headers = { ...headersFor(envelope), ...extra };
  if (code === 'insufficient_scope') headers['www-authenticate'] = 'Bearer realm="parley", error="insufficient_scope"';
  if (code === 'rate_limited') headers['retry-after'] = String(envelope.allowance?.retrySeconds ?? 1);
  if (code === 'unavailable') headers['retry-after'] = '1';
  return new Response(JSON.stringify(body), { status: errors[code].status, headers });
}

/** The answer to a browser that asks whether it may call. */
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
