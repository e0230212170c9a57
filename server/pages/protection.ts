import { isTrustworthy } from '../http/origin.ts';
import { limitHeaders } from '../http/responses.ts';
import { confirmPath } from './next.ts';
import type { PageContext } from './site.ts';

/** The web client loads its own files, and shows or plays files that are about to be sent. */
const clientSources = [
  "script-src 'self'",
  "img-src 'self' blob:",
  "media-src 'self' blob:",
  "worker-src 'self'",
  "manifest-src 'self'",
];

/** Forbids inline scripts and styles, frames and caching: pages show private data. */
export function protect(c: PageContext, isHttps: boolean): void {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    ...(c.var.hasScript ? clientSources : ["img-src 'self'"]),
    // Other pages have no scripts. This lets people follow a stream from the console of the browser, as docs/streams.md shows.
    "connect-src 'self'",
    `form-action ${["'self'", ...c.var.formTargets].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  c.header('content-security-policy', policy.join('; '));
  c.header('x-frame-options', 'DENY');
  c.header('x-content-type-options', 'nosniff');
  // With `no-referrer` browsers would send forms without their origin.
  c.header('referrer-policy', 'same-origin');
  if (isTrustworthy(c.var.origin)) {
    c.header('cross-origin-opener-policy', openedByApps.has(c.req.path) ? 'unsafe-none' : 'same-origin');
  }
  if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
  if (isHttps) c.header('strict-transport-security', 'max-age=31536000');
  c.header('x-request-id', c.env.context.requestId);
  const { allowance } = c.env.context;
  for (const [name, value] of Object.entries(allowance ? limitHeaders(allowance) : {})) c.header(name, value);
}

/** Apps open these in a window of their own, and need `window.opener` to get the result. */
const openedByApps: ReadonlySet<string> = new Set([
  '/oauth/authorize',
  '/sign-in',
  '/sign-out',
  '/sign-up',
  confirmPath,
]);
