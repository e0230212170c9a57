import { type Scope, scopeNames } from '@parley/contract';

export type Random = (bytes: number) => Uint8Array;

/** Leak scanners search for them, and readers tell the kinds apart by them. */
const prefixes = {
  personal: 'pat_',
  oauth: 'oat_',
  session: 'ses_',
  refresh: 'ort_',
  code: 'oac_',
  device: 'odc_',
  client: 'app_',
  clientSecret: 'acs_',
  hook: 'hook_',
  link: '',
} as const;

/** Returns 256 random bits with the prefix of the kind. */
export const newSecret = (kind: keyof typeof prefixes, random: Random): string =>
  `${prefixes[kind]}${Buffer.from(random(32)).toString('base64url')}`;

/** Returns the hash that is stored in place of a secret. The secret has full entropy, so a plain hash is enough. */
export function hashToken(token: string): string {
  return new Bun.CryptoHasher('sha256').update(token).digest('base64url');
}

const parsed = new Map<string, ReadonlySet<Scope>>();

/** Returns one shared set for equal texts: there are many tokens, and few sets of scopes. */
export function parseScopes(stored: string): ReadonlySet<Scope> {
  const known = parsed.get(stored);
  if (known) return known;
  const scopes = new Set(stored.split(' ').filter((s): s is Scope => (scopeNames as readonly string[]).includes(s)));
  parsed.set(stored, scopes);
  return scopes;
}

/** Returns the known scopes in the order of the contract, without repeats. */
export const inOrder = (scopes: Iterable<string>): Scope[] => {
  const chosen = new Set(scopes);
  return scopeNames.filter((scope) => chosen.has(scope));
};

export const formatScopes = (scopes: Iterable<Scope>): string => inOrder(scopes).join(' ');

/** Returns the scopes that have an effect for a user: `admin` has one for administrators only. */
export const usableBy = ({ isAdmin }: { readonly isAdmin: boolean }, scopes: Iterable<string>): Scope[] =>
  inOrder(scopes).filter((scope) => isAdmin || scope !== 'admin');

/** Returns all scopes that a user can use. */
export const scopesFor = (user: { readonly is_admin: boolean }): Scope[] =>
  usableBy({ isAdmin: user.is_admin }, scopeNames);
