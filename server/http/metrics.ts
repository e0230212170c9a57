import { createHash, timingSafeEqual } from 'node:crypto';
import { isLocal } from './forwarded.ts';
import type { Connections } from './request-context.ts';

const digest = (text: string) => createHash('sha256').update(text).digest();

const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));

/** The text format of Prometheus. Scrapers choose their parser by it. */
const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** Serves the metrics to programs on this machine, and to others with the token. Without one, others get 403. */
export function serveMetrics(text: () => Promise<string>, token: string | undefined) {
  const metrics = async () => new Response(await text(), { headers: { 'content-type': contentType } });
  return (request: Request, connections: Connections): Response | Promise<Response> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return new Response('Metrics are read with GET.\n', { status: 405, headers: { allow: 'GET, HEAD' } });
    }
    if (isLocal(request, connections)) return metrics();
    if (token === undefined) {
      const reason = 'Only programs on this machine can read the metrics. To read them from elsewhere, set';
      return new Response(`${reason} PARLEY_METRICS_TOKEN.\n`, { status: 403 });
    }
    const [, given = ''] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? [];
    if (isSame(given, token)) return metrics();
    const headers = { 'www-authenticate': 'Bearer realm="parley metrics"' };
    return new Response('Send the value of PARLEY_METRICS_TOKEN as a bearer token.\n', { status: 401, headers });
  };
}
