import { type ErrorCode, errors, ParleyError } from '@parley/contract';
import { TooManyCodes } from '../auth/oauth/device-authorization.ts';
import { OAuthFault } from '../auth/oauth/faults.ts';
import { metadata, type OAuth, type OAuthCall, oauthPaths, resourceMetadata } from '../auth/oauth/oauth.ts';
import { readBody } from './body.ts';
import { mediaTypeOf } from './bytes.ts';
import { networksOf } from './client-ip.ts';
import { originOf } from './origin.ts';
import { type Fetch, type PipelineDeps, pipeline } from './pipeline.ts';
import type { Connections, RequestContext } from './request-context.ts';
import { HttpError, headersFor, jsonLine, preflight } from './responses.ts';

export interface OAuthDeps extends PipelineDeps {
  readonly oauth: OAuth;
}

interface Endpoint {
  readonly name: string;
  readonly methods: readonly string[];
  /** True if calls count against the limits of the client. */
  readonly isCounted: boolean;
  /** Returns the body of the response. Throws an `OAuthFault` or a `ParleyError`. */
  serve(context: RequestContext, query: string): object | Promise<object>;
}

/** No app needs more. */
const maxBodyBytes = 65_536;

/**
 * Serves the endpoints that apps call: token, revocation, codes of devices, and metadata. `path` includes the query. Returns undefined for
 * any other path. The consent page is in `pages/`.
 */
export function serveOAuth(deps: OAuthDeps) {
  const { oauth, publicUrl } = deps;
  const resource = serve(deps, {
    name: 'oauth.resource_metadata',
    methods: ['GET', 'HEAD'],
    isCounted: false,
    serve: ({ request }) => resourceMetadata(originOf(publicUrl, request)),
  });
  const endpoints = new Map<string, Fetch>([
    [
      oauthPaths.token,
      serve(
        deps,
        posted('oauth.token', (call) => oauth.token(call)),
      ),
    ],
    [
      oauthPaths.revoke,
      serve(
        deps,
        posted('oauth.revoke', (call) => oauth.revoke(call)),
      ),
    ],
    [
      oauthPaths.device,
      serve(
        deps,
        posted('oauth.device_authorization', (call, { request }) =>
          oauth.startDevice({ ...call, networks: networksOf(call.address), issuer: originOf(publicUrl, request) }),
        ),
      ),
    ],
    [
      oauthPaths.metadata,
      serve(deps, {
        name: 'oauth.metadata',
        methods: ['GET', 'HEAD'],
        isCounted: false,
        serve: ({ request }) => metadata(originOf(publicUrl, request)),
      }),
    ],
    [oauthPaths.resourceMetadata, resource],
    [oauthPaths.rootResourceMetadata, resource],
  ]);
  return (request: Request, path: string, connections: Connections): Promise<Response> | undefined => {
    const end = path.indexOf('?');
    const endpoint = endpoints.get(end < 0 ? path : path.slice(0, end));
    return endpoint?.(request, end < 0 ? '' : path.slice(end + 1), connections);
  };
}

/**
 * Every call counts against a limit of the client's IP, because each token costs a write. A failed call also counts
 * against the limit for bad tokens, which stops clients that guess secrets.
 */
function serve(deps: OAuthDeps, { name, methods, isCounted, serve }: Endpoint): Fetch {
  return pipeline(deps, {
    preflight,
    respond: async (context, query) => {
      context.operation = name;
      context.peekClientLimit();
      if (isCounted) {
        context.checkClientLimit();
        context.countClient('oauth ');
      }
      if (!methods.includes(context.method)) {
        throw new HttpError('invalid_request', `Use ${methods[0]} here.`, { allow: methods.join(', ') }, 405);
      }
      const body = jsonLine(await serve(context, query));
      return new Response(body, { headers: { ...headersFor(context), ...(isCounted && noCache) } });
    },
    fail: (thrown, context) => {
      const isCallersFault = isCounted && !isPolling(thrown) && asRefusal(thrown).status < 500;
      const { status, error, description, headers } = asRefusal(isCallersFault ? context.countFailure(thrown) : thrown);
      context.error = { code: error, cause: thrown };
      return new Response(jsonLine({ error, error_description: description }), {
        status,
        headers: { ...headersFor(context), ...noCache, ...headers },
      });
    },
  });
}

/** A device that waits for its user has made no mistake. */
const isPolling = (thrown: unknown): boolean =>
  thrown instanceof OAuthFault && (thrown.error === 'authorization_pending' || thrown.error === 'slow_down');

/** RFC 6749, 5.1 asks for it beside `cache-control: no-store`. */
const noCache = { pragma: 'no-cache' } as const;

function posted(name: string, serve: (call: OAuthCall, context: RequestContext) => Promise<object>): Endpoint {
  return {
    name,
    methods: ['POST'],
    isCounted: true,
    serve: async (context, query) => {
      const address = context.clientIp();
      const fields = await readForm(context.request, query);
      return serve({ fields, authorization: context.request.headers.get('authorization'), address }, context);
    },
  };
}

async function readForm(request: Request, query: string): Promise<Iterable<readonly [string, string]>> {
  // URLs end up in logs and histories, so a query may carry no secret.
  if (query !== '') throw new ParleyError('invalid_request', 'Send all parameters in the body, none in the URL.');
  const contentType = request.headers.get('content-type') ?? '';
  if (mediaTypeOf(contentType) !== 'application/x-www-form-urlencoded') {
    throw new ParleyError('unsupported_media_type', 'Send the body as application/x-www-form-urlencoded.');
  }
  const input = await readBody(request, maxBodyBytes, contentType);
  return input.kind === 'strings' ? input.fields : [];
}

/** Our own errors in OAuth's terms. */
const names: { readonly [C in ErrorCode]?: string } = {
  invalid_request: 'invalid_request',
  payload_too_large: 'invalid_request',
  unsupported_media_type: 'invalid_request',
  rate_limited: 'temporarily_unavailable',
  unavailable: 'temporarily_unavailable',
};

function asRefusal(thrown: unknown): Pick<OAuthFault, 'status' | 'description' | 'headers'> & { error: string } {
  if (thrown instanceof OAuthFault) return thrown;
  const error = thrown instanceof ParleyError ? names[thrown.code] : undefined;
  if (!error || !(thrown instanceof ParleyError)) {
    return { status: 500, error: 'server_error', description: 'Something went wrong on our side.', headers: {} };
  }
  const own = thrown instanceof TooManyCodes ? { 'retry-after': String(thrown.retrySeconds) } : {};
  const { status, headers } = thrown instanceof HttpError ? thrown : { ...errors[thrown.code], headers: own };
  return { status, error, description: thrown.message, headers };
}
