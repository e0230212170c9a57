import { type Scope, scopeNames } from '@parley/contract';

export type Random = (bytes: number) => Uint8Array;

/** What a leak scanner can find, and a reader can tell apart. */
const prefixes = {
  personal: 'pat_',
  oauth: 'oat_',
  session: 'ses_',
  refresh: 'ort_',
  code: 'oac_',
  client: 'app_',
  clientSecret: 'acs_',
  link: '',
} as const;

/** A new secret: 256 random bits behind the prefix of its kind. */
export const newSecret = (kind: keyof typeof prefixes, random: Random): string =>
  `${prefixes[kind]}${Buffer.from(random(32)).toString('base64url')}`;

/** What is stored in place of a secret. It has full entropy, so a plain hash is enough. */
export function hashToken(token: string): string {
  return new Bun.CryptoHasher('sha256').update(token).digest('base64url');
}

const parsed = new Map<string, ReadonlySet<Scope>>();

/** Tokens with the same scopes share one set: there are many tokens, and few kinds of them. */
export function parseScopes(stored: string): ReadonlySet<Scope> {
  const known = parsed.get(stored);
  if (known) return known;
  const scopes = new Set(stored.split(' ').filter((s): s is Scope => (scopeNames as readonly string[]).includes(s)));
  parsed.set(stored, scopes);
  return scopes;
}

/** In the order of the contract, without repeats, and without what is no scope. */
export const inOrder = (scopes: Iterable<string>): Scope[] => {
  const chosen = new Set(scopes);
  return scopeNames.filter((scope) => chosen.has(scope));
};

export const formatScopes = (scopes: Iterable<Scope>): string => inOrder(scopes).join(' ');

/** What of these works for somebody: only an administrator can administer, or let others do so. */
export const usableBy = ({ isAdmin }: { readonly isAdmin: boolean }, scopes: Iterable<string>): Scope[] =>
  inOrder(scopes).filter((scope) => isAdmin || scope !== 'admin');

/** All that somebody may do. */
export const scopesFor = (user: { readonly is_admin: boolean }): Scope[] =>
  usableBy({ isAdmin: user.is_admin }, scopeNames);
