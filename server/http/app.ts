import { type Contract, openApi } from '@parley/contract';
import { Hono } from 'hono';
import { type HostDeps, hostError } from './host.ts';
import type { Fetch } from './pipeline.ts';
import type { Connections } from './request-context.ts';
import { jsonLine } from './responses.ts';

export interface AppDeps extends HostDeps {
  /** Gets the part of the URL after `/api/` as its path. */
  readonly api: Fetch;
  /** Resumable uploads. The path is as above. */
  readonly uploads: Fetch;
  /** Incoming webhooks. Gets the part of the URL after `/hooks/` as its path. */
  readonly hooks: Fetch;
  /** The Model Context Protocol. */
  readonly mcp: Fetch;
  /** Gets the path with its query. Returns undefined for a path that is not its own. */
  readonly oauth: (request: Request, path: string, connections: Connections) => Promise<Response> | undefined;
  /** Everything else, the response to an unknown path included. */
  readonly pages: Fetch;
  readonly contract: Contract;
  readonly version: string;
  /** Returns the state of the process in words. Rejects if it cannot serve requests, with the reason as message. */
  readonly ready: () => Promise<string>;
  readonly metrics: (request: Request, connections: Connections) => Response | Promise<Response>;
}

/** Why the process cannot serve requests. */
export class NotReady extends Error {}

/** Dispatches a request by its path: the API first and without a router, because it is the hot path. */
export function buildFetch(deps: AppDeps) {
  const fallback = buildFallback(deps);
  return (request: Request, connections: Connections): Response | Promise<Response> => {
    const { url } = request;
    // Without a Host header the URL is only a path.
    const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2);
    const apiPath = url.startsWith('/api/', start) ? url.slice(start + 5) : '';
    if (isUpload.test(apiPath)) return deps.uploads(request, apiPath, connections);
    if (apiPath !== '' && !isDescription.test(apiPath)) return deps.api(request, apiPath, connections);
    if (url.startsWith(hookPath, start)) return deps.hooks(request, url.slice(start + hookPath.length), connections);
    if (isMcp.test(url.slice(start))) return deps.mcp(request, '', connections);
    if (isMetrics.test(url.slice(start))) return deps.metrics(request, connections);
    return (
      deps.oauth(request, url.slice(start), connections) ??
      fallback.fetch(start === 0 ? new Request(`http://localhost${url}`, request) : request, connections)
    );
  };
}

// Everything else below `/api/` names an operation. No resource may take these names: `ReservedName` in contract/table.ts.
/** `uploads` and the paths below it. */
const isUpload = /^uploads(?:[/?]|$)/;
const isDescription = /^openapi\.json(?:\?|$)/;

const isMcp = /^\/mcp\/?(?:\?|$)/;

/** The secret of an incoming webhook follows. */
const hookPath = '/hooks/';

/** `/metrics` in no other spelling: the router would decode the path, and a proxy that hides it may not. */
const isMetrics = /^\/metrics(?:\?|$)/;

function buildFallback(deps: AppDeps): Hono<{ Bindings: Connections }> {
  const app = new Hono<{ Bindings: Connections }>();
  // Made when first asked for: few do, and it takes memory.
  let description: Promise<string> | undefined;
  // A tenth of the size: a phone loads it for the API reference.
  let gzipped: Uint8Array<ArrayBuffer> | undefined;

  app.get('/api/openapi.json', async (c) => {
    const refusal = hostError(deps, c.req.raw, c.env);
    if (refusal) return new Response(refusal.message, refusal);
    description ??= openApi(deps.contract, deps.version).then(jsonLine);
    if (!/\bgzip\b/.test(c.req.header('accept-encoding') ?? '')) return json(await description);
    gzipped ??= Bun.gzipSync(await description);
    return json(gzipped, { 'content-encoding': 'gzip' });
  });
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', async (c) => {
    try {
      return c.text(`${await deps.ready()}\n`);
    } catch (error) {
      // Only our own words: a database error may name hosts.
      return c.text(`${error instanceof NotReady ? error.message : 'The database does not respond.'}\n`, 503);
    }
  });
  app.notFound((c) => deps.pages(c.req.raw, '', c.env));
  return app;
}

function json(body: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(body, {
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'access-control-allow-origin': '*',
      vary: 'accept-encoding',
      ...headers,
    },
  });
}
