import { type Contract, type Input, invalidField, type OperationName, ParleyError } from '@parley/contract';
import type { Authenticator } from '../auth/authenticate.ts';
import { type Caller, requireScope } from '../auth/caller.ts';
import type { Log } from '../observe/log.ts';
import type { RequestMetrics } from '../observe/metrics.ts';
import type { Handler, Handlers } from '../operations/operation.ts';
import { asParleyError, type Envelope, failure, preflight, success } from './answer.ts';
import { readBody } from './body.ts';
import { parseFields } from './form.ts';
import type { RateLimiter } from './rate-limit.ts';
import { MethodRefusal, type Route, Routes } from './routes.ts';
import { validate } from './validate.ts';

export interface ApiParts {
  readonly contract: Contract;
  readonly handlers: Handlers;
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter | undefined;
  readonly bodyLimit: number;
  readonly requestId: () => string;
  readonly log: Log;
  readonly metrics: RequestMetrics;
}

/** What becomes known of a request while it is served, for its one line in the log. */
interface Progress {
  readonly requestId: string;
  readonly started: number;
  route?: Route;
  caller?: Caller;
  allowance?: Envelope['allowance'];
}

/** Serves the rows: find the row, know the caller, mind the limit, check the scope, validate, carry out, answer. */
export function serveApi(parts: ApiParts) {
  const routes = new Routes(parts.contract);

  return async (request: Request, file: string, address: string): Promise<Response> => {
    if (request.method === 'OPTIONS') return preflight();
    const progress: Progress = { requestId: parts.requestId(), started: performance.now() };
    try {
      const response = await serve(request, file, address, progress);
      note(progress, request, response.status);
      return response;
    } catch (thrown) {
      const error = asParleyError(thrown);
      const response = failure(error, progress, error instanceof MethodRefusal ? { allow: error.allow } : {});
      note(progress, request, response.status, error);
      return response;
    }
  };

  async function serve(request: Request, file: string, address: string, progress: Progress): Promise<Response> {
    const fields = parseFields(queryOf(request.url));
    const action = fields.find(([name]) => name === 'action')?.[1] ?? null;
    const route = routes.find(file, action, request.method);
    progress.route = route;
    const { row } = route;
    const caller = await identify(request, address, progress);
    requireScope(caller, row.scope);
    const query = fields.filter(([name]) => name !== 'action');
    const raw =
      row.method === 'GET'
        ? ({ kind: 'strings', fields: query } as const)
        : await readPost(request, query, parts.bodyLimit);
    const input = validate(row.input, route.decode(raw)) as Input<OperationName>;
    const idempotencyKey = row.idempotent ? keyIn(request) : undefined;
    const handler = parts.handlers[row.name] as Handler<OperationName>;
    const output = await handler({ name: row.name, caller, input, idempotencyKey });
    return success(output, progress);
  }

  /** The caller, counted against the limit of the token; who has no valid token counts against that of the address. */
  async function identify(request: Request, address: string, progress: Progress): Promise<Caller> {
    try {
      const known = parts.authenticator.authenticate(request.headers.get('authorization') ?? undefined);
      const caller = known instanceof Promise ? await known : known;
      progress.caller = caller;
      count(caller.tokenId, progress);
      return caller;
    } catch (error) {
      if (progress.caller === undefined) count(address, progress);
      throw error;
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
    parts.metrics.observe(operation, status, seconds);
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
      cause: error?.cause,
    });
  }
}

function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
}

async function readPost(request: Request, [misplaced]: readonly [string, string][], limit: number) {
  if (misplaced) throw invalidField(misplaced[0], 'belongs in the body: a POST takes only action in its address');
  return readBody(request, limit);
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
