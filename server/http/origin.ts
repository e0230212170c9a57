/** The origin that Parley is reached at: the one that is set, or else the one that the request was sent to. */
export function originOf(publicUrl: URL | undefined, request: Request): string {
  if (publicUrl) return publicUrl.origin;
  return `http://${request.headers.get('host') ?? 'localhost'}`;
}

/**
 * Whether a page of ours made the browser send this, and no other site: browsers say so, and no page can make them lie.
 * Programs, which say nothing, are not answered yes. Where it holds, a cookie may count as the will of its owner.
 */
export function isSameOrigin(publicUrl: URL | undefined, request: Request): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  return request.headers.get('origin') === originOf(publicUrl, request);
}
