/** Returns the configured origin, or the one that the request was sent to. */
export function originOf(publicUrl: URL | undefined, request: Request): string {
  if (publicUrl) return publicUrl.origin;
  return `http://${request.headers.get('host') ?? 'localhost'}`;
}

/** Returns whether browsers trust an origin. They ignore some headers of others, and complain about each. */
export function isTrustworthy(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' || /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/**
 * Returns true if a page of ours, and no other site, made the browser send the request. Only then does a cookie
 * authenticate it. No page can forge these headers. A program that sends none gets false.
 *
 * Over plain HTTP, browsers send Sec-Fetch-Site only to loopback addresses, and no Origin with a same-origin GET. The Referer
 * remains: our pages send it to us alone (`Referrer-Policy: same-origin`), and other sites can omit it but not choose it.
 */
export function isSameOrigin(publicUrl: URL | undefined, request: Request): boolean {
  const { headers, method } = request;
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  const ours = originOf(publicUrl, request);
  const origin = headers.get('origin');
  if (origin !== null) return origin === ours;
  return (method === 'GET' || method === 'HEAD') && originIn(headers.get('referer')) === ours;
}

function originIn(referrer: string | null): string | undefined {
  return referrer !== null && URL.canParse(referrer) ? new URL(referrer).origin : undefined;
}
