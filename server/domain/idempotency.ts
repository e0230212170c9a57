import { ParleyError } from '@parley/contract';

/** An earlier response, and the fingerprint of its input. */
export interface StoredResponse {
  readonly fingerprint: string;
  readonly response: string;
}

/** Fields that are left out of the fingerprint: their values could be guessed from its hash. */
const secrets = new Set(['password', 'secret']);

/** Returns the same text for equal inputs, whatever the order of their fields. Secrets count only as present or absent. */
export function fingerprint(input: unknown): string {
  return new Bun.CryptoHasher('sha256').update(JSON.stringify(sorted(input))).digest('base64url');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, secrets.has(key) ? true : sorted(inner)]));
}

/** Returns the stored response as JSON. Throws `idempotency_conflict` if the input differs. */
export function storedResponse(stored: StoredResponse, requested: string): string {
  if (stored.fingerprint !== requested) {
    throw new ParleyError('idempotency_conflict', 'This Idempotency-Key was used before with another input.');
  }
  return stored.response;
}
