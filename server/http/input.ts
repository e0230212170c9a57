import { invalidField, type NamedOperation } from '@parley/contract';
import { z } from 'zod';

/** Fields as they came: a JSON object, or a form's or a query's names with all the strings given for each. */
export type RawInput =
  | { readonly kind: 'json'; readonly object: Record<string, unknown> }
  | { readonly kind: 'strings'; readonly fields: Iterable<readonly [string, string]> };

type Decode = (value: string) => unknown;

const decoders: Record<string, Decode> = {
  integer: (s) => (/^-?\d{1,16}$/.test(s) ? Number(s) : s),
  boolean: (s) => (s === 'true' || s === '1' ? true : s === 'false' || s === '0' ? false : s),
};
const asIs: Decode = (s) => s;

interface Field {
  readonly list: boolean;
  readonly decode: Decode;
}

interface FieldSchema {
  readonly type?: string;
  readonly items?: FieldSchema;
}

/** Forms and queries hold only strings; the row's own schema says what each is meant to be. */
export function stringDecoder(row: NamedOperation): (raw: RawInput) => Record<string, unknown> {
  const schema = z.toJSONSchema(row.input, { io: 'input' }) as { properties?: Record<string, FieldSchema> };
  const fields = new Map(
    Object.entries(schema.properties ?? {}).map(([name, { type, items }]): [string, Field] => [
      name,
      { list: type === 'array', decode: decoders[(type === 'array' ? items?.type : type) ?? ''] ?? asIs },
    ]),
  );
  return (raw) => (raw.kind === 'json' ? raw.object : decodeStrings(raw.fields, fields));
}

function decodeStrings(
  given: Iterable<readonly [string, string]>,
  fields: ReadonlyMap<string, Field>,
): Record<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [key, value] of given) {
    const name = key.endsWith('[]') ? key.slice(0, -2) : key;
    const field = fields.get(name);
    if (field?.list) {
      const before = (values.get(name) ?? []) as unknown[];
      values.set(name, [...before, ...decodeList(value, field.decode)]);
    } else if (values.has(key)) {
      throw invalidField(key, 'is given more than once');
    } else {
      values.set(key, field ? field.decode(value) : value);
    }
  }
  return Object.fromEntries(values);
}

/** One element, or a whole list written as a JSON array. */
function decodeList(value: string, decode: Decode): unknown[] {
  if (value.startsWith('[')) {
    try {
      const list: unknown = JSON.parse(value);
      if (Array.isArray(list)) return list;
    } catch {
      // Not JSON after all: an element that begins with a bracket.
    }
  }
  return [decode(value)];
}
