import { type Contract, openApi } from '@parley/contract';
import { Hono } from 'hono';
import type { Connections } from './admission.ts';

export interface AppParts {
  readonly api: (request: Request, address: string, connections: Connections) => Promise<Response>;
  /** Uploads that can be resumed. Given what follows `/api/`, as above. */
  readonly uploads: (request: Request, address: string, connections: Connections) => Promise<Response>;
  /** Given the path with its query; answers undefined where that is none of its own. */
  readonly oauth: (
    request: Request,
    address: string,
    connections: Connections,
  ) => Response | Promise<Response> | undefined;
  readonly contract: Contract;
  readonly version: string;
  /** Everything else: pages, and what is said where there is nothing. */
  readonly pages: Fetch;
  /** Throws where the process cannot serve: the database is away. */
  readonly ready: () => Promise<void>;
  readonly metrics: () => string;
}

type Fetch = (request: Request, connections: Connections) => Response | Promise<Response>;

/** Everything that is served: the rows of the contract straight away, what operators ask for, and pages for people, through Hono. */
export function buildFetch(parts: AppParts): Fetch {
  const around = buildAround(parts);
  return (request, connections) => {
    const { url } = request;
    // Without a Host header the address is only a path.
    const path = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2);
    const address = url.startsWith('/api/', path) ? url.slice(path + 5) : '';
    if (isRow.test(address)) return parts.api(request, address, connections);
    if (isUpload.test(address)) return parts.uploads(request, address, connections);
    const forApps = parts.oauth(request, url.slice(path), connections);
    if (forApps) return forApps;
    return around.fetch(path === 0 ? new Request(`http://localhost${url}`, request) : request, connections);
  };
}

/** `messages.php`, with or without a query. */
const isRow = /^[^/?]*\.php(?:\?|$)/;

/** `uploads`, and what is below. */
const isUpload = /^uploads(?:[/?]|$)/;

function buildAround(parts: AppParts): Hono<{ Bindings: Connections }> {
  const app = new Hono<{ Bindings: Connections }>();
  const description = JSON.stringify(openApi(parts.contract, parts.version));

  app.get('/api/openapi.json', () => json(description));
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', async (c) => {
    try {
      await parts.ready();
      return c.text('ready\n');
    } catch {
      return c.text('stopping, or the database does not answer\n', 503);
    }
  });
  app.get('/metrics', (c) => c.text(parts.metrics()));
  app.notFound((c) => parts.pages(c.req.raw, c.env));
  return app;
}

function json(text: string): Response {
  return new Response(text, {
    headers: { 'content-type': 'application/json; charset=utf-8', 'access-control-allow-origin': '*' },
  });
}
