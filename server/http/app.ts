import { type Contract, openApi, ParleyError } from '@parley/contract';
import { Hono } from 'hono';
import { failure } from './answer.ts';
import type { Connections } from './api.ts';

export interface AppParts {
  readonly api: (request: Request, address: string, connections: Connections) => Promise<Response>;
  readonly contract: Contract;
  readonly version: string;
  readonly requestId: () => string;
  /** Throws where the process cannot serve: the database is away. */
  readonly ready: () => Promise<void>;
  readonly metrics: () => string;
}

type Fetch = (request: Request, connections: Connections) => Response | Promise<Response>;

/** Everything that is served: the rows of the contract straight away, the pages around them through Hono. */
export function buildFetch(parts: AppParts): Fetch {
  const pages = buildPages(parts);
  return (request, connections) => {
    const { url } = request;
    // Without a Host header the address is only a path.
    const path = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2);
    const address = url.startsWith('/api/', path) ? url.slice(path + 5) : '';
    if (isRow.test(address)) return parts.api(request, address, connections);
    return pages.fetch(path === 0 ? new Request(`http://localhost${url}`, request) : request, connections);
  };
}

/** `messages.php`, with or without a query. */
const isRow = /^[^/?]*\.php(?:\?|$)/;

function buildPages(parts: AppParts): Hono<{ Bindings: Connections }> {
  const app = new Hono<{ Bindings: Connections }>();
  const description = JSON.stringify(openApi(parts.contract, parts.version));

  app.get('/api/openapi.json', () => json(description));
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', async (c) => {
    try {
      await parts.ready();
      return c.text('ready\n');
    } catch {
      return c.text('the database does not answer\n', 503);
    }
  });
  app.get('/metrics', (c) => c.text(parts.metrics()));
  app.get('/', (c) => c.text(`Parley ${parts.version}\nThe API is at /api, its description at /api/openapi.json.\n`));
  app.notFound((c) =>
    failure(
      new ParleyError(
        'not_found',
        'There is nothing at this address. The API is at /api/<resource>.php?action=<action>.',
      ),
      { requestId: parts.requestId(), fromBrowser: c.req.raw.headers.has('origin') },
    ),
  );
  return app;
}

function json(text: string): Response {
  return new Response(text, {
    headers: { 'content-type': 'application/json; charset=utf-8', 'access-control-allow-origin': '*' },
  });
}
