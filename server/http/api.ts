import { type Contract, type Input, invalidField, type OperationName, ParleyError } from '@parley/contract';
import type { Authenticator } from '../auth/authenticate.ts';
import { type Caller, requireScopes } from '../auth/caller.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Handler, Handlers } from '../operations/operation.ts';
import { asParleyError, type Envelope, failure, preflight, success } from './answer.ts';
import { readBody } from './body.ts';
import type { RawInput } from './input.ts';
import type { Allowance, RateLimiter } from './rate-limit.ts';
import { MethodRefusal, type Route, Routes, type Target } from './routes.ts';
import { shorten, validate } from './validate.ts';

export interface ApiParts {
  readonly contract: Contract;
  readonly handlers: Handlers;
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter | undefined;
  readonly bodyLimit: number;
  readonly requestId: () => string;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** What becomes known of a request while it is served, for its answer's headers and its one line in the log. */
interface Progress extends Envelope {
  readonly started: number;
  route?: Route;
  caller?: Caller;
  allowance?: Allowance;
}

/** The part of `Bun.serve`'s server that a request needs. */
export interface Connections {
  requestIP(request: Request): { address: string } | null;
}

/** Serves the rows: find the row, know the caller, mind the limit, check the scope, validate, carry out, answer. */
export function serveApi(parts: ApiParts) {
  const routes = new Routes(parts.contract);

  return async (request: Request, address: string, connections: Connections): Promise<Response> => {
    if (request.method === 'OPTIONS') return preflight();
    const progress: Progress = {
      requestId: parts.requestId(),
      fromBrowser: request.headers.has('origin'),
      started: performance.now(),
    };
    try {
      const response = success(await serve(request, address, progress), progress);
      note(progress, request, 200);
      return response;
    } catch (thrown) {
      const error = progress.caller ? asParleyError(thrown) : chargeAddress(request, connections, progress, thrown);
      const response = failure(error, progress, {
        ...(error instanceof MethodRefusal && { allow: error.allow }),
        ...(hasUnreadBody(request, error) && { connection: 'close' }),
      });
      note(progress, request, response.status, error);
      return response;
    }
  };

  async function serve(request: Request, address: string, progress: Progress): Promise<object> {
    const { route, query } = routes.find(address, request.method);
    progress.route = route;
    const { row } = route;
    const known = parts.authenticator.authenticate(request.headers.get('authorization'));
    const caller = known instanceof Promise ? await known : known;
    progress.caller = caller;
    count(caller.tokenId, progress);
    requireScopes(caller, row.scopes);
    const raw = row.method === 'GET' ? fromQuery(query) : await fromBody(request, query, parts.bodyLimit);
    const input = validate(row.input, route.decode(raw)) as Input<OperationName>;
    const idempotencyKey = row.idempotent ? keyIn(request) : undefined;
    const handler = parts.handlers[row.name] as Handler<OperationName>;
    return handler({ name: row.name, caller, input, idempotencyKey });
  }

  /** Who asks for nothing that there is, or has no valid token, counts against the limit of the address. */
  function chargeAddress(request: Request, connections: Connections, progress: Progress, thrown: unknown): ParleyError {
    try {
      count(connections.requestIP(request)?.address ?? 'unknown', progress);
      return asParleyError(thrown);
    } catch (limited) {
      return asParleyError(limited);
    }
  }

  function count(who: number | string, progress: Progress): void {
    if (!parts.limiter) return;
    progress.allowance = parts.limiter.take(who);
    if (!progress.allowance.allowed) {
      const { retrySeconds } = progress.allowance;
      throw new ParleyError('rate_limited', `Too many requests. Try again in ${retrySeconds} s.`);
    }
  }

  function note(progress: Progress, request: Request, status: number, error?: ParleyError): void {
    const seconds = (performance.now() - progress.started) / 1_000;
    const operation = progress.route?.row.name ?? 'none';
    parts.metrics.request(operation, status, seconds);
    const level = status >= 500 ? 'error' : 'info';
    if (!parts.log.enabled(level)) return;
    parts.log.write(level, 'request', {
      request_id: progress.requestId,
      method: request.method,
      operation,
      status,
      ms: Math.round(seconds * 1e5) / 100,
      user_id: progress.caller?.userId,
      token_id: progress.caller?.tokenId,
      code: error?.code,
      // The cause of a refusal may quote what was sent; that of a fault of ours is what the log is for.
      cause: status >= 500 ? error?.cause : undefined,
    });
  }
}

/** Smaller bodies have arrived whole by the time of a refusal. */
const smallBody = 16_384;

/** A connection with the rest of a body on it can neither be used again nor, when the server stops, be waited for. */
function hasUnreadBody(request: Request, error: ParleyError): boolean {
  if (error.code === 'payload_too_large') return true;
  if (request.method !== 'POST' || request.bodyUsed) return false;
  return Number(request.headers.get('content-length') ?? Number.POSITIVE_INFINITY) > smallBody;
}

const fromQuery = (fields: Target['query']): RawInput => ({ kind: 'strings', fields });

function fromBody(request: Request, [misplaced]: Target['query'], limit: number): Promise<RawInput> {
  if (!misplaced) return readBody(request, limit);
  throw invalidField(shorten(misplaced[0]), 'belongs in the body: a POST takes only action in its address');
}

function keyIn(request: Request): string | undefined {
  const key = request.headers.get('idempotency-key');
  if (key === null) return undefined;
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new ParleyError(
    'invalid_request',
    'Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.',
  );
}
