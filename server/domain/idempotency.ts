import { ParleyError } from '@parley/contract';

/** An earlier answer, and what was asked then. */
export interface StoredResponse {
  readonly fingerprint: string;
  readonly answer: string;
}

/** Fields whose value must not be found again in what is kept, not even hashed: it could be guessed from it. */
const secrets = new Set(['password', 'secret']);

/** Equal for equal inputs, whatever the order of their fields; of a secret it tells only that there is one. */
export function fingerprint(input: unknown): string {
  return new Bun.CryptoHasher('sha256').update(JSON.stringify(sorted(input))).digest('base64url');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, secrets.has(key) ? true : sorted(inner)]));
}

/** The earlier answer, as JSON, if the same thing is asked again under its key. */
export function storedResponse(kept: StoredResponse, asked: string): string {
  if (kept.fingerprint !== asked) {
    throw new ParleyError('idempotency_conflict', 'This Idempotency-Key was used before with another input.');
  }
  return kept.answer;
}
