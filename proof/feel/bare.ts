import { join } from 'node:path';

const page = `<!doctype html><title>Bare</title><style>body { margin: 0 }</style><body><script type="module" src="/bare.js"></script>`;

/** Serves the bare list, with rows of the heights that the client has. */
export async function serveBareList(
  rows: number,
  heights: readonly number[],
): Promise<AsyncDisposable & { url: string }> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'bare-list.tsx')],
    target: 'browser',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const script = await outputs[0]?.text();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    routes: {
      '/': () => new Response(page, { headers: { 'content-type': 'text/html' } }),
      '/bare.js': () => new Response(script ?? '', { headers: { 'content-type': 'text/javascript' } }),
      '/rows.json': () => Response.json({ rows, heights }),
    },
  });
  return { url: server.url.href, [Symbol.asyncDispose]: () => server.stop(true) };
}
