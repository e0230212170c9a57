import { requireKnown } from './known.ts';

/** Returns the names of a path such as `chats.name`. As in jq, `.chats[].name` is the same. */
export const namesIn = (path: string): string[] =>
  path
    .replaceAll('[]', '')
    .split('.')
    .filter((name) => name !== '');

export const isIndex = (name: string): boolean => /^\d+$/.test(name);

/** Is called if no value has a field. The known names are those that they have. */
export type MissingField = (name: string, known: readonly string[]) => void;

/** Throws a usage error that suggests a name. */
export const refuseField: MissingField = (name, known) => requireKnown('field', name, known);

/**
 * Returns the values at a path. A name applies to each element of a list, a number selects one of them, and a list at the end of
 * the path yields its elements. Elements without the field are left out. If none has it, `missing` is called.
 */
export const valuesAt = (value: unknown, path: string, missing: MissingField): readonly unknown[] =>
  namesIn(path)
    .reduce<readonly unknown[]>((values, name) => step(values, name, missing), [value])
    .flat();

function step(values: readonly unknown[], name: string, missing: MissingField): readonly unknown[] {
  const lists = values.filter((one) => Array.isArray(one));
  if (isIndex(name) && lists.length > 0) return lists.flatMap((list) => list.slice(Number(name), Number(name) + 1));
  const objects = values.flat(Number.POSITIVE_INFINITY).filter(isObject);
  const found = objects.filter((one) => Object.hasOwn(one, name)).map((one) => one[name]);
  if (found.length === 0 && objects.length > 0) missing(name, [...new Set(objects.flatMap(Object.keys))]);
  return found;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
