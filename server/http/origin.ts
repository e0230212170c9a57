/** Returns the configured origin, or the one that the request was sent to. */
export function originOf(publicUrl: URL | undefined, request: Request): string {
  if (publicUrl) return publicUrl.origin;
  return `http://${request.headers.get('host') ?? 'localhost'}`;
}

/**
 * Returns true if a page of ours, and no other site, made the browser send the request. Only then does a cookie
 * authenticate it. No page can forge these headers. A program that sends none gets false.
 */
export function isSameOrigin(publicUrl: URL | undefined, request: Request): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  return request.headers.get('origin') === originOf(publicUrl, request);
}
