import { ParleyError } from '@parley/contract';
import { requireFewNames } from './field-limits.ts';

/**
 * Parses a query or a urlencoded form. Throws for invalid UTF-8, and for too many names. URLSearchParams would put replacement characters into the
 * message instead.
 */
export function parseFields(text: string): [string, string][] {
  if (text === '') return [];
  const pairs = text.split('&');
  requireFewNames(pairs);
  return pairs.flatMap((pair): [string, string][] => {
    if (pair === '') return [];
    const middle = pair.indexOf('=');
    return middle < 0 ? [[decode(pair), '']] : [[decode(pair.slice(0, middle)), decode(pair.slice(middle + 1))]];
  });
}

function decode(part: string): string {
  const spaced = part.includes('+') ? part.replaceAll('+', ' ') : part;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch (error) {
    throw new ParleyError('invalid_request', 'A field is not percent-encoded UTF-8.', [], error);
  }
}
