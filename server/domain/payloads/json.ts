/** An object of a payload that somebody else sent: nothing is known about its fields. */
export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the value at a path such as `repository.full_name`, or undefined. */
export function at(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split('.')) {
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

/** Returns the text, number or truth value at a path as text, without blanks around it. Returns '' for anything else. */
export function text(value: unknown, path: string): string {
  const found = at(value, path);
  if (typeof found === 'number' || typeof found === 'boolean') return String(found);
  return typeof found === 'string' ? found.trim() : '';
}

/** Returns the first text that is not empty. */
export const firstText = (value: unknown, ...paths: readonly string[]): string => {
  for (const path of paths) {
    const found = text(value, path);
    if (found !== '') return found;
  }
  return '';
};

/** Returns the entry of a table that a payload names, or undefined for a name that is not its own, such as `constructor`. */
export const pick = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Returns the objects of the list at a path. */
export function objects(value: unknown, path: string): readonly Json[] {
  const found = at(value, path);
  return Array.isArray(found) ? found.filter(isObject) : [];
}

/** Returns the names and values of the object at a path whose values are texts. */
export function entries(value: unknown, path: string): readonly (readonly [string, string])[] {
  const found = at(value, path);
  if (!isObject(found)) return [];
  return Object.keys(found).flatMap((name) => {
    const one = found[name];
    return typeof one === 'string' && one.trim() !== '' ? [[name, one.trim()] as const] : [];
  });
}
