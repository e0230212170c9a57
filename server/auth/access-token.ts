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

export function parseScopes(stored: string): ReadonlySet<Scope> {
  return new Set(stored.split(' ').filter((s): s is Scope => (scopeNames as readonly string[]).includes(s)));
}

export const formatScopes = (scopes: Iterable<Scope>): string => {
  const chosen = new Set(scopes);
  return scopeNames.filter((s) => chosen.has(s)).join(' ');
};

/** All that somebody may do: only an administrator may administer. */
export const scopesFor = (user: { readonly is_admin: number }): Scope[] =>
  scopeNames.filter((scope) => scope !== 'admin' || user.is_admin === 1);
