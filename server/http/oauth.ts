import { type ErrorCode, ParleyError } from '@parley/contract';
import { metadata, type OAuth, type OAuthAnswer, type OAuthCall, oauthPaths } from '../auth/oauth/oauth.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { limitKey } from './address.ts';
import type { Connections } from './admission.ts';
import { headersFor, preflight } from './answer.ts';
import { readBody } from './body.ts';
import { mediaTypeOf } from './bytes.ts';
import { originOf } from './origin.ts';
import type { Allowance, RateLimiter } from './rate-limit.ts';
import { hasUnreadBody } from './unread-body.ts';

export interface OAuthParts {
  readonly oauth: OAuth;
  readonly limiter: RateLimiter | undefined;
  readonly addressOf: (request: Request, connections: Connections) => string;
  /** Where browsers reach us, if that is set. */
  readonly publicUrl: URL | undefined;
  readonly requestId: () => string;
  readonly log: Log;
  readonly metrics: Metrics;
}

type Serve = (request: Request, query: string, address: string) => OAuthAnswer | Promise<OAuthAnswer>;

interface Endpoint {
  readonly name: string;
  readonly methods: readonly string[];
  /** Whether calls are counted: what is the same for everybody is not worth it. */
  readonly counted: boolean;
  readonly serve: Serve;
}

/** More than any app has to say. */
const bodyLimit = 65_536;

/**
 * Serves what apps call by themselves: tokens, their end, and the description of all this. `address` is the path with its
 * query; answers undefined where that is none of ours. The pages where people authorize are elsewhere.
 */
export function serveOAuth(parts: OAuthParts) {
  const { oauth, limiter } = parts;
  const endpoints = new Map<string, Endpoint>([
    [oauthPaths.token, posted('oauth.token', (call) => oauth.token(call))],
    [oauthPaths.revoke, posted('oauth.revoke', (call) => oauth.revoke(call))],
    [
      oauthPaths.metadata,
      {
        name: 'oauth.metadata',
        methods: ['GET', 'HEAD'],
        counted: false,
        serve: (request) => ({ status: 200, headers: {}, body: metadata(originOf(parts.publicUrl, request)) }),
      },
    ],
  ]);

  return (request: Request, address: string, connections: Connections): Response | Promise<Response> | undefined => {
    const end = address.indexOf('?');
    const endpoint = endpoints.get(end < 0 ? address : address.slice(0, end));
    if (!endpoint) return undefined;
    if (request.method === 'OPTIONS') return preflight();
    return answer(endpoint, request, end < 0 ? '' : address.slice(end + 1), parts.addressOf(request, connections));
  };

  async function answer(endpoint: Endpoint, request: Request, query: string, address: string): Promise<Response> {
    const started = performance.now();
    const requestId = parts.requestId();
    const { given, allowance, cause } = await judge(endpoint, request, query, address);
    const { status } = given;
    const headers = {
      ...headersFor({ requestId, fromBrowser: request.headers.has('origin'), allowance }),
      ...given.headers,
      ...(hasUnreadBody(request, status) && { connection: 'close' }),
    };
    note(endpoint, request, given, requestId, (performance.now() - started) / 1_000, cause);
    return new Response(JSON.stringify(given.body), { status, headers });
  }

  /**
   * Every call counts against one limit of its address: tokens cost a write each. One that fails counts against the limit
   * of bad tokens as well, which is the one that whoever guesses at secrets runs into.
   */
  async function judge(endpoint: Endpoint, request: Request, query: string, address: string): Promise<Judged> {
    const key = limitKey(address);
    const before = limiter?.look(key);
    if (!endpoint.counted || !limiter)
      return { ...(await attempt(endpoint, request, query, address)), allowance: before };
    const own = limiter.take(`oauth ${key}`);
    for (const allowance of [before, own]) {
      if (allowance && !allowance.allowed) return { given: tooMany(allowance), allowance };
    }
    const judged = await attempt(endpoint, request, query, address);
    const isAppsFault = judged.given.status >= 400 && judged.given.status < 500;
    if (!isAppsFault) return { ...judged, allowance: own };
    const allowance = limiter.take(key);
    return allowance.allowed ? { ...judged, allowance } : { given: tooMany(allowance), allowance };
  }

  function note(
    { name }: Endpoint,
    { method }: Request,
    { status, body }: OAuthAnswer,
    requestId: string,
    seconds: number,
    cause: unknown,
  ): void {
    parts.metrics.request(name, status, seconds);
    const level = status >= 500 ? 'error' : 'info';
    if (!parts.log.enabled(level)) return;
    parts.log.write(level, 'request', {
      request_id: requestId,
      method,
      operation: name,
      status,
      ms: Math.round(seconds * 1e5) / 100,
      code: 'error' in body ? body.error : undefined,
      cause,
    });
  }
}

interface Judged {
  readonly given: OAuthAnswer;
  readonly allowance?: Allowance | undefined;
  /** Of a fault of ours. */
  readonly cause?: unknown;
}

function posted(name: string, serve: (call: OAuthCall) => Promise<OAuthAnswer>): Endpoint {
  return {
    name,
    methods: ['POST'],
    counted: true,
    serve: async (request, query, address) =>
      serve({
        fields: await readForm(request, query),
        authorization: request.headers.get('authorization'),
        address,
      }),
  };
}

async function attempt(
  { methods, serve }: Endpoint,
  request: Request,
  query: string,
  address: string,
): Promise<Judged> {
  try {
    if (!methods.includes(request.method)) {
      return { given: refusal(405, 'invalid_request', `Use ${methods[0]} here.`, { allow: methods.join(', ') }) };
    }
    return { given: await serve(request, query, address) };
  } catch (error) {
    return asRefusal(error);
  }
}

async function readForm(request: Request, query: string): Promise<Iterable<readonly [string, string]>> {
  // Addresses end up in logs and histories: nothing of a form is taken from there.
  if (query !== '') throw new ParleyError('invalid_request', 'Send all parameters in the body, none in the address.');
  const contentType = request.headers.get('content-type') ?? '';
  if (mediaTypeOf(contentType) !== 'application/x-www-form-urlencoded') {
    throw new ParleyError('unsupported_media_type', 'Send the body as application/x-www-form-urlencoded.');
  }
  const input = await readBody(request, bodyLimit, contentType);
  return input.kind === 'strings' ? input.fields : [];
}

/** The refusals that are the same everywhere, in the terms of OAuth. */
const refusals: { readonly [C in ErrorCode]?: readonly [status: number, error: string] } = {
  invalid_request: [400, 'invalid_request'],
  payload_too_large: [413, 'invalid_request'],
  unsupported_media_type: [415, 'invalid_request'],
};

function asRefusal(error: unknown): Judged {
  const known = error instanceof ParleyError ? refusals[error.code] : undefined;
  if (known && error instanceof ParleyError) return { given: refusal(...known, error.message) };
  const isAway = error instanceof ParleyError && error.code === 'unavailable';
  const given = isAway
    ? refusal(503, 'temporarily_unavailable', error.message, { 'retry-after': '1' })
    : refusal(500, 'server_error', 'Something went wrong on our side.');
  return { given, cause: error };
}

const tooMany = ({ retrySeconds }: Allowance): OAuthAnswer => {
  const message = `Too many requests. Try again in ${retrySeconds} s.`;
  return refusal(429, 'temporarily_unavailable', message, { 'retry-after': String(retrySeconds) });
};

const refusal = (
  status: number,
  error: string,
  description: string,
  headers: Readonly<Record<string, string>> = {},
): OAuthAnswer => ({
  status,
  headers: { pragma: 'no-cache', ...headers },
  body: { error, error_description: description },
});
