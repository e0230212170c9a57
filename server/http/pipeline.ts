import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import { hostError } from './host.ts';
import { type Connections, RequestContext, type RequestContextDeps } from './request-context.ts';

export interface PipelineDeps extends RequestContextDeps {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The part of the pipeline that the API, OAuth, uploads and pages each have of their own. */
export interface Surface {
  /** Responds to OPTIONS. Such requests are neither counted nor logged. */
  readonly preflight?: () => Response;
  /** `path` is the part of the URL that the surface routes by. */
  respond(context: RequestContext, path: string): Response | Promise<Response>;
  /** Responds to an error in the surface's own format, and sets `context.error`. */
  fail(thrown: unknown, context: RequestContext): Response;
}

export type Fetch = (request: Request, path: string, connections: Connections) => Promise<Response>;

/** Serves requests: context, host, handler or error response, headers of failures, metrics and log line. */
export function pipeline(deps: PipelineDeps, surface: Surface): Fetch {
  return async (request, path, connections) => {
    if (request.method === 'OPTIONS' && surface.preflight) return surface.preflight();
    const context = new RequestContext(deps, request, connections);
    let response: Response;
    try {
      const refusal = hostError(deps, request, connections);
      if (refusal) throw refusal;
      response = await surface.respond(context, path);
    } catch (thrown) {
      response = surface.fail(thrown, context);
    }
    if (response.status >= 400) addFailureHeaders(response, context);
    if (context.isBodyPending) response.headers.set('connection', 'close');
    logRequest(deps, context, response.status);
    return response;
  };
}

function addFailureHeaders({ status, headers }: Response, { request, allowance }: RequestContext): void {
  if (hasUnreadBody(request, status)) headers.set('connection', 'close');
  if (headers.has('retry-after')) return;
  if (status === 429) headers.set('retry-after', String(allowance?.retrySeconds ?? 1));
  if (status === 503) headers.set('retry-after', '1');
}

/** Smaller bodies have arrived by the time of a failure. */
const smallBodyBytes = 16_384;

/** Returns true if the body may still be arriving. Such a connection cannot be reused, and would delay the server's stop. */
function hasUnreadBody(request: Request, status: number): boolean {
  if (status === 413) return true;
  if (request.method !== 'POST' || request.bodyUsed) return false;
  return Number(request.headers.get('content-length') ?? Number.POSITIVE_INFINITY) > smallBodyBytes;
}

/** Writes the one log line of a request, and counts it in the metrics. */
function logRequest({ log, metrics, monotonic }: PipelineDeps, context: RequestContext, status: number): void {
  const { operation, error } = context;
  const seconds = (monotonic() - context.startedAt) / 1_000;
  metrics.request(operation, status, seconds);
  // While a dependency is down every request fails with 503. The dependency's own line says why.
  const isFault = status >= 500 && status !== 503;
  const level = isFault ? 'error' : status >= 500 ? 'warn' : 'info';
  if (!log.enabled(level)) return;
  log.write(level, 'request', {
    request_id: context.requestId,
    method: context.method,
    operation,
    page: context.page,
    hook_id: context.hookId,
    status,
    ms: Math.round(seconds * 1e5) / 100,
    user_id: context.caller?.userId,
    token_id: context.caller?.tokenId,
    code: error?.code,
    // The cause of a 4xx may quote the request, so it is not logged.
    cause: isFault ? error?.cause : status === 503 ? (error?.cause as Error | undefined)?.message : undefined,
  });
}
