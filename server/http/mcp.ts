import type { Contract } from '@parley/contract';
import { ParleyError } from '@parley/contract';
import { oauthPaths } from '../auth/oauth/oauth.ts';
import { extraFor, readBody } from './body.ts';
import type { CallOperation, mcpResponder } from './mcp-server.ts';
import { originOf } from './origin.ts';
import { type Fetch, type PipelineDeps, pipeline } from './pipeline.ts';
import type { RequestContext } from './request-context.ts';
import { asParleyError, failure, HttpError, headersFor, preflight } from './responses.ts';

export interface McpDeps extends PipelineDeps {
  readonly contract: Contract;
  readonly version: string;
  readonly bodyLimit: number;
  /** The API, through which every tool runs: its scopes, limits, validation and log lines are those of any other call. */
  readonly api: Fetch;
}

/** The headers of a message from an agent that the calls of its tools have too. */
const passedOn = ['authorization', 'host', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'];

/**
 * Serves the Model Context Protocol (Streamable HTTP) without sessions: each POST is one message with one response as JSON.
 * Only an access token in a header counts, never a cookie.
 */
export function serveMcp(deps: McpDeps): Fetch {
  let responder: Promise<ReturnType<typeof mcpResponder>> | undefined;
  const load = async () => (await import('./mcp-server.ts')).mcpResponder(deps.contract, deps.version);
  return pipeline(deps, { preflight, respond, fail });

  async function respond(context: RequestContext): Promise<Response> {
    const { request } = context;
    context.operation = 'mcp';
    context.clientIp();
    if (context.method !== 'POST') throw new HttpError('method_not_allowed', 'Post to this URL.', { allow: 'POST' });
    if (!request.headers.has('authorization')) {
      throw new ParleyError('unauthorized', 'Send an access token: Authorization: Bearer <token>');
    }
    const caller = await context.authenticate();
    context.admit(caller, []);
    const raw = await readBody(request, deps.bodyLimit, undefined, (bytes) => context.charge(extraFor(bytes)));
    if (raw.kind !== 'json') throw new ParleyError('unsupported_media_type', 'Send a JSON-RPC message.');
    responder ??= load();
    const respondTo = await responder;
    const response = await respondTo(request, raw.object, caller, callerOf(context));
    const headers = new Headers({ ...headersFor(context) });
    for (const [name, value] of response.headers) headers.set(name, value);
    return new Response(response.body, { status: response.status, headers });
  }

  function callerOf({ request, connections }: RequestContext): CallOperation {
    const headers = new Headers({ 'content-type': 'application/json' });
    for (const name of passedOn) {
      const value = request.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    const same = { requestIP: () => connections.requestIP(request), timeout: () => {} };
    return ({ resource, action, method }, input, key) => {
      const path = `${resource}/${action}${method === 'GET' ? queryOf(input) : ''}`;
      const all = key === undefined ? headers : new Headers([...headers, ['idempotency-key', key]]);
      const init = method === 'GET' ? { method, headers } : { method, headers: all, body: JSON.stringify(input) };
      return deps.api(new Request(`${originOf(deps.publicUrl, request)}/api/${path}`, init), path, same);
    };
  }

  function fail(thrown: unknown, context: RequestContext): Response {
    const response = failure(asParleyError(context.countFailure(thrown)), context);
    const challenge = response.headers.get('www-authenticate');
    if (challenge !== null) {
      // RFC 9728: it tells an agent where to get an access token.
      const metadata = `${originOf(deps.publicUrl, context.request)}${oauthPaths.resourceMetadata}`;
      response.headers.set('www-authenticate', `${challenge}, resource_metadata="${metadata}"`);
    }
    return response;
  }
}

/** Returns the input of a GET as a query. A list is marked as one, so that it is refused for a field with one value. */
function queryOf(input: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(input).flatMap(([name, value]) => {
    if (value === null || value === undefined) return [];
    return [typeof value === 'object' ? [`${name}[]`, JSON.stringify(value)] : [name, String(value)]];
  });
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}
