import { program } from '@parley/server/lib/program.ts';
import type { Clock } from '../context.ts';
import { settleWithin } from '../timeout.ts';

/** The browser's return: the parameters of the authorization response, and a function that shows a page. */
export interface Callback {
  readonly params: URLSearchParams;
  readonly show: (page: Response) => void;
}

const path = '/callback';

/** Limits the wait for a browser that has not read the last page. */
const lingerMs = 1_000;

/**
 * Listens on this machine for the browser's return (RFC 8252). Any local program can send requests here. Only the first one
 * with the state is the callback, because only the authorization server knows the state.
 */
export function listenOnLoopback(state: string) {
  const { promise: callback, resolve } = Promise.withResolvers<Callback>();
  let isOver = false;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    // The browser waits while the code is exchanged.
    idleTimeout: 120,
    fetch: ({ method, url }) => {
      const { pathname, searchParams: params } = new URL(url);
      if (method !== 'GET' || pathname !== path) return page(404, 'There is nothing here.');
      const [given, ...more] = params.getAll('state');
      if (given !== state || more.length > 0) {
        return page(400, `This response belongs to another sign-in. Start again: ${program} login`);
      }
      if (isOver) return page(400, 'This URL was already used. You can close this window.');
      isOver = true;
      return new Promise((show) => resolve({ params, show }));
    },
  });
  const close = async (clock: Clock): Promise<void> => {
    await settleWithin(clock, lingerMs, server.stop());
    await server.stop(true);
  };
  return { redirect: `http://127.0.0.1:${server.port}${path}`, callback, close };
}

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  connection: 'close',
};

/** Returns a page that runs and loads nothing. */
export function page(status: number, text: string): Response {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Parley</title>
<h1>Parley</h1>
<p>${Bun.escapeHTML(text)}</p>
</html>
`;
  return new Response(html, { status, headers });
}
