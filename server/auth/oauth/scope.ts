import { type Scope, scopeNames } from '@parley/contract';
import { inOrder, usableBy } from '../access-token.ts';
import { OAuthFault, quoted } from './faults.ts';

const all: readonly string[] = scopeNames;

/** Reads names that are separated by spaces, into the order of the contract. */
export function readScopes(text: string): Scope[] {
  const asked = new Set(text.split(' ').filter((name) => name !== ''));
  for (const name of asked) {
    if (!all.includes(name)) {
      throw new OAuthFault('invalid_scope', `There is no scope ${quoted(name)}. There are: ${all.join(', ')}.`);
    }
  }
  return inOrder(asked);
}

/** What an app asks a user for. Nothing is assumed: the user is to see what the app itself has named. */
export function requireScopes(text: string | undefined): Scope[] {
  const scopes = readScopes(text ?? '');
  if (scopes.length > 0) return scopes;
  throw new OAuthFault(
    'invalid_scope',
    `scope is missing. Name what the app needs, separated by spaces: ${all.join(', ')}.`,
  );
}

/** All that an app may do as its own bot. A bot is no administrator. */
export const botScopes: readonly Scope[] = usableBy({ isAdmin: false }, scopeNames);
