import { closest, distance } from 'fastest-levenshtein';
import { UsageError } from './command.ts';

/** Returns the known name that was typed. Throws a usage error that suggests the nearest one. */
export function requireKnown<N extends string>(kind: string, typed: string, known: readonly N[]): N {
  const found = known.find((name) => name === typed);
  if (found) return found;
  const near = closest(typed.toLowerCase(), [...known]);
  const isNear = distance(typed.toLowerCase(), near) <= Math.max(2, near.length / 3);
  throw new UsageError(`There is no ${kind} ${JSON.stringify(typed)}.${isNear ? ` Did you mean ${near}?` : ''}`);
}
