import { nearest } from '@parley/server/lib/nearest.ts';
import { UsageError } from './usage-error.ts';

/** Returns the known name that was typed. Throws a usage error that suggests the nearest one. */
export function requireKnown<N extends string>(kind: string, typed: string, known: readonly N[]): N {
  const found = known.find((name) => name === typed);
  if (found) return found;
  throw new UsageError(`There is no ${kind} ${JSON.stringify(typed)}.${suggestion(typed, known)}`);
}

/** Returns a sentence with the known name that may be meant, or nothing. It begins with a space. */
export function suggestion(typed: string, known: readonly string[]): string {
  const near = nearest(typed.toLowerCase(), known);
  return near === undefined ? '' : ` Did you mean ${near}?`;
}
