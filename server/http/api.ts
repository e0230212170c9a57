import { type Contract, errors, type Input, invalidField, type OperationName, ParleyError } from '@parley/contract';
import type { Authenticator } from '../auth/authenticate.ts';
import { type Caller, requireScopes } from '../auth/caller.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Handler, Handlers } from '../operations/operation.ts';
import { limitKey } from './address.ts';
import { asParleyError, type Envelope, failure, preflight, success } from './answer.ts';
import { readBody } from './body.ts';
import { cookieNames, readCookie } from './cookies.ts';
import type { RawInput } from './input.ts';
import { isSameOrigin } from './origin.ts';
import type { Allowance, RateLimiter } from './rate-limit.ts';
import { MethodRefusal, type Route, Routes, type Target } from './routes.ts';
import { hasUnreadBody } from './unread-body.ts';
import { shorten, validate } from './validate.ts';

export interface ApiParts {
  readonly contract: Contract;
  readonly handlers: Handlers;
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter | undefined;
  readonly addressOf: (request: Request, connections: Connections) => string;
  /** Where browsers reach us, if that is set. */
  readonly publicUrl: URL | undefined;
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
  address?: string;
}

/** The part of `Bun.serve`'s server that a request needs. */
export interface Connections {
  requestIP(request: Request): { address: string } | null;
}

/** Serves the rows: find the row, know the caller, mind the limit, check the scope, validate, carry out, answer. */
export function serveApi(parts: ApiParts) {
  const routes = new Routes(parts.contract);
  const { session: sessionCookie } = cookieNames(parts.publicUrl?.protocol === 'https:');

  return async (request: Request, address: string, connections: Connections): Promise<Response> => {
    if (request.method === 'OPTIONS') return preflight();
    const progress: Progress = {
      requestId: parts.requestId(),
      fromBrowser: request.headers.has('origin'),
      started: performance.now(),
    };
    try {
      const response = success(await serve(request, address, connections, progress), progress);
      note(progress, request, 200);
      return response;
    } catch (thrown) {
      const error = progress.caller ? asParleyError(thrown) : chargeAddress(request, connections, progress, thrown);
      const response = failure(error, progress, {
        ...(error instanceof MethodRefusal && { allow: error.allow }),
        ...(error.code === 'unauthorized' && challenge(request)),
        ...(hasUnreadBody(request, errors[error.code].status) && { connection: 'close' }),
      });
      note(progress, request, response.status, error);
      return response;
    }
  };

  async function serve(
    request: Request,
    address: string,
    connections: Connections,
    progress: Progress,
  ): Promise<object> {
    const { route, query } = routes.find(address, request.method);
    progress.route = route;
    const { row } = route;
    // What is done is written down with where it came from, in all but messages, which are too many to ask for each.
    if (row.resource !== 'messages') addressFor(request, connections, progress);
    const known = callerOf(request, () => mindAddress(request, connections, progress));
    const first = known instanceof Promise ? await known : known;
    progress.caller = first;
    count(first.tokenId, progress);
    requireScopes(first, row.scopes);
    const raw = row.method === 'GET' ? fromQuery(query) : await fromBody(request, query, parts.bodyLimit);
    // Once more after the body, which may take as long as its sender likes: access that ended meanwhile is over.
    const again = row.method === 'GET' ? first : callerOf(request, () => {});
    const caller = again instanceof Promise ? await again : again;
    if (caller !== first) requireScopes(caller, row.scopes);
    const input = validate(row.input, route.decode(raw)) as Input<OperationName>;
    const idempotencyKey = row.idempotent ? keyIn(request) : undefined;
    const handler = parts.handlers[row.name] as Handler<OperationName>;
    const from = () => addressFor(request, connections, progress);
    return handler({ name: row.name, caller, input, idempotencyKey, address: from });
  }

  /** To be asked before anything waits: once a client has hung up, nobody knows any more where it was. */
  function addressFor(request: Request, connections: Connections, progress: Progress): string {
    progress.address ??= parts.addressOf(request, connections);
    return progress.address;
  }

  /** A browser's cookie counts where a page of ours made the browser call; elsewhere it is no credential. */
  function callerOf(request: Request, gate: () => void): Caller | Promise<Caller> {
    const authorization = request.headers.get('authorization');
    if (authorization === null && isSameOrigin(parts.publicUrl, request)) {
      const secret = readCookie(request.headers.get('cookie'), sessionCookie);
      if (secret !== undefined) return parts.authenticator.authenticateSession(secret, gate);
    }
    return parts.authenticator.authenticate(authorization, gate);
  }

  /** An address that has used up its limit with bad tokens is not looked up again for one that nobody has seen yet. */
  function mindAddress(request: Request, connections: Connections, progress: Progress): void {
    if (!parts.limiter) return;
    const allowance = parts.limiter.look(limitKey(addressFor(request, connections, progress)));
    if (!allowance.allowed) refuse(allowance, progress);
  }

  /** Who asks for nothing that there is, or has no valid token, counts against the limit of the address. */
  function chargeAddress(request: Request, connections: Connections, progress: Progress, thrown: unknown): ParleyError {
    try {
      count(limitKey(addressFor(request, connections, progress)), progress);
      return asParleyError(thrown);
    } catch (limited) {
      return asParleyError(limited);
    }
  }

  function count(who: number | string, progress: Progress): void {
    if (!parts.limiter) return;
    progress.allowance = parts.limiter.take(who);
    if (!progress.allowance.allowed) refuse(progress.allowance, progress);
  }

  function refuse(allowance: Allowance, progress: Progress): never {
    progress.allowance = allowance;
    throw new ParleyError('rate_limited', `Too many requests. Try again in ${allowance.retrySeconds} s.`);
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

/** As RFC 6750 has it: what is wrong is told where a token was sent. */
const challenge = (request: Request) => ({
  'www-authenticate': `Bearer realm="parley"${request.headers.has('authorization') ? ', error="invalid_token"' : ''}`,
});

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
