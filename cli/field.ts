import { requireKnown } from './known.ts';

/**
 * Returns the values at a path such as `chats.name`. A name applies to each element of a list, a number selects one of them, and
 * a list at the end of the path yields its elements. Throws a usage error that suggests a name if there is no such field.
 */
export function valuesAt(value: unknown, path: string): readonly unknown[] {
  // As in jq, `.chats[].name` is the same.
  const names = path
    .replaceAll('[]', '')
    .split('.')
    .filter((name) => name !== '');
  const found = names.reduce<readonly unknown[]>((values, name) => values.flatMap((one) => step(one, name)), [value]);
  return found.flat();
}

function step(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value))
    return /^\d+$/.test(name) ? value.slice(Number(name), Number(name) + 1) : value.flatMap((one) => step(one, name));
  if (typeof value !== 'object' || value === null) return [];
  return [(value as Record<string, unknown>)[requireKnown('field', name, Object.keys(value))]];
}
