import { type Contract, openApi, ParleyError } from '@parley/contract';
import { Hono } from 'hono';
import { failure } from './answer.ts';

export interface AppParts {
  readonly api: (request: Request, file: string, address: string) => Promise<Response>;
  readonly contract: Contract;
  readonly version: string;
  readonly requestId: () => string;
  /** Throws where the process cannot serve: the database is away. */
  readonly ready: () => Promise<void>;
  readonly metrics: () => Promise<string>;
}

/** The part of `Bun.serve`'s server that a request needs. */
interface Connections {
  requestIP(request: Request): { address: string } | null;
}

export function buildApp(parts: AppParts): Hono<{ Bindings: Connections }> {
  const app = new Hono<{ Bindings: Connections }>();
  const description = JSON.stringify(openApi(parts.contract, parts.version));

  app.get('/api/openapi.json', () => json(description));
  app.all('/api/:file', (c) => parts.api(c.req.raw, c.req.param('file'), c.env.requestIP(c.req.raw)?.address ?? ''));
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', async (c) => {
    try {
      await parts.ready();
      return c.text('ready\n');
    } catch {
      return c.text('the database does not answer\n', 503);
    }
  });
  app.get('/metrics', async (c) => c.text(await parts.metrics()));
  app.get('/', (c) => c.text(`Parley ${parts.version}\nThe API is at /api, its description at /api/openapi.json.\n`));
  app.notFound(() =>
    failure(
      new ParleyError(
        'not_found',
        'There is nothing at this address. The API is at /api/<resource>.php?action=<action>.',
      ),
      {
        requestId: parts.requestId(),
      },
    ),
  );
  return app;
}

function json(text: string): Response {
  return new Response(text, {
    headers: { 'content-type': 'application/json; charset=utf-8', 'access-control-allow-origin': '*' },
  });
}
