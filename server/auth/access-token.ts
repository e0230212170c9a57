import { type Scope, scopeNames } from '@parley/contract';

/** A new personal token: 256 random bits behind a prefix that a leak scanner can find. */
export function newPersonalToken(random: (bytes: number) => Uint8Array): string {
  return `pat_${Buffer.from(random(32)).toString('base64url')}`;
}

/** What is stored in place of the token. The token has full entropy, so a plain hash is enough. */
export function hashToken(token: string): string {
  return new Bun.CryptoHasher('sha256').update(token).digest('base64url');
}

export function parseScopes(stored: string): ReadonlySet<Scope> {
  return new Set(stored.split(' ').filter((s): s is Scope => (scopeNames as readonly string[]).includes(s)));
}

export const formatScopes = (scopes: Iterable<Scope>): string => {
  const chosen = new Set(scopes);
  return scopeNames.filter((s) => chosen.has(s)).join(' ');
};
