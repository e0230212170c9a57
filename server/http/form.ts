import { ParleyError } from '@parley/contract';

/**
 * The fields of a query or an urlencoded form. Unlike URLSearchParams it refuses what is not UTF-8, which would
 * otherwise be stored as replacement characters: a message is kept as it was sent, or not at all.
 */
export function parseFields(text: string): [string, string][] {
  if (text === '') return [];
  return text.split('&').flatMap((pair): [string, string][] => {
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
