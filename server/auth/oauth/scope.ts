import { type Scope, scopeNames } from '@parley/contract';
import { inOrder } from '../access-token.ts';
import { OAuthFault, quoted } from './faults.ts';

const all: readonly string[] = scopeNames;

/** Parses scopes that are separated by spaces. Returns them in the order of the contract. */
export function readScopes(text: string): Scope[] {
  const asked = new Set(text.split(' ').filter((name) => name !== ''));
  for (const name of asked) {
    if (!all.includes(name)) {
      throw new OAuthFault('invalid_scope', `There is no scope ${quoted(name)}. There are: ${all.join(', ')}.`);
    }
  }
  return inOrder(asked);
}

/** Parses the scopes of an authorization request. There is no default: the user must see what the app itself requests. */
export function requireScopes(text: string | undefined): Scope[] {
  const scopes = readScopes(text ?? '');
  if (scopes.length > 0) return scopes;
  throw new OAuthFault(
    'invalid_scope',
    `scope is missing. Name what the app needs, separated by spaces: ${all.join(', ')}.`,
  );
}
