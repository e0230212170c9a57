import { idempotencyKeyPattern, ParleyError } from '@parley/contract';

/** Returns the Idempotency-Key of a request, or undefined if it has none. */
export function idempotencyKeyIn(request: Request): string | undefined {
  const key = request.headers.get('idempotency-key');
  if (key === null) return undefined;
  if (idempotencyKeyPattern.test(key)) return key;
  throw new ParleyError(
    'invalid_request',
    'Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.',
  );
}
