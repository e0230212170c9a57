/** Smaller bodies have arrived whole by the time of a refusal. */
const smallBody = 16_384;

/**
 * Whether the rest of a body is still on its way. Such a connection can neither be used again nor, when the server stops, be
 * waited for.
 */
export function hasUnreadBody(request: Request, status: number): boolean {
  if (status === 413) return true;
  if (request.method !== 'POST' || request.bodyUsed) return false;
  return Number(request.headers.get('content-length') ?? Number.POSITIVE_INFINITY) > smallBody;
}
