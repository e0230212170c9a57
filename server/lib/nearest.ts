import { closest, distance } from 'fastest-levenshtein';

/** Names from a request may be long, and comparing takes time in proportion. */
const maxCompared = 64;

/** Returns the known name that the given one may be a misspelling of, or undefined if none is near. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const name = given.slice(0, maxCompared);
  const found = closest(name, [...known]);
  const edits = distance(name, found);
  return edits < found.length && edits <= Math.max(2, Math.floor(found.length / 3)) ? found : undefined;
}
