import { limitHeaders } from '../http/answer.ts';
import type { PageContext } from './site.tsx';

/** Without inline script or style, in nobody's frame, and kept by no cache: pages show what only one person may see. */
export function protect(c: PageContext, isHttps: boolean): void {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    `form-action ${["'self'", ...c.var.formTargets].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  c.header('content-security-policy', policy.join('; '));
  c.header('x-frame-options', 'DENY');
  c.header('x-content-type-options', 'nosniff');
  // Not `no-referrer`: that would have browsers hide the origin of a form from us too.
  c.header('referrer-policy', 'same-origin');
  c.header('cross-origin-opener-policy', inWindows.has(c.req.path) ? 'unsafe-none' : 'same-origin');
  if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
  if (isHttps) c.header('strict-transport-security', 'max-age=31536000');
  c.header('x-request-id', c.var.requestId);
  const { allowance } = c.var;
  for (const [name, value] of Object.entries(allowance ? limitHeaders(allowance) : {})) c.header(name, value);
}

/** Apps open these in a window of their own, and wait for it to come back to them: it must not lose sight of its opener. */
const inWindows: ReadonlySet<string> = new Set(['/oauth/authorize', '/sign-in', '/sign-out', '/sign-up']);
