import { invalidField, type NamedOperation } from '@parley/contract';
import { z } from 'zod';
import { requireFewKeys, requireFewValues } from './field-limits.ts';
import { shorten } from './validate.ts';

/** The fields of a JSON object, or the strings of a form or query. */
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
  readonly decode: Decode;
  /** Set for a list. */
  readonly maxItems?: number | undefined;
}

interface FieldSchema {
  readonly type?: string;
  readonly items?: FieldSchema;
  readonly maxItems?: number;
  /** A schema that also allows null. */
  readonly anyOf?: readonly FieldSchema[];
}

type Decoder = (raw: RawInput) => Record<string, unknown>;

/**
 * Returns a function that decodes the input of an operation. The schema says which strings of forms and queries are numbers,
 * booleans or lists. It throws for a list that is too long, before validation would visit a million elements.
 */
export function inputDecoder(row: NamedOperation): Decoder {
  // Built at the first call: for all operations at the start it would take 3 MB.
  let decoder: Decoder | undefined;
  return (raw) => {
    decoder ??= buildDecoder(row);
    return decoder(raw);
  };
}

function buildDecoder(row: NamedOperation): Decoder {
  const schema = z.toJSONSchema(row.input, { io: 'input' }) as { properties?: Record<string, FieldSchema> };
  const fields = new Map(
    Object.entries(schema.properties ?? {}).map(([name, schema]): [string, Field] => {
      const { type, items, maxItems } = schema.anyOf?.find((one) => one.type !== 'null') ?? schema;
      const isList = type === 'array';
      const decode = decoders[(isList ? items?.type : type) ?? ''] ?? asIs;
      return [name, isList ? { decode, maxItems: maxItems ?? Number.POSITIVE_INFINITY } : { decode }];
    }),
  );
  const lists = [...fields].filter(([, field]) => field.maxItems !== undefined);
  return (raw) => {
    const input = raw.kind === 'json' ? raw.object : decodeStrings(raw.fields, fields);
    requireFewKeys(Object.keys(input).length, fields.size);
    for (const [name, { maxItems = 0 }] of lists) {
      const value = input[name];
      if (Array.isArray(value) && value.length > maxItems)
        throw invalidField(name, `must have at most ${maxItems} elements`);
    }
    return input;
  };
}

function decodeStrings(
  given: Iterable<readonly [string, string]>,
  fields: ReadonlyMap<string, Field>,
): Record<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [key, value] of given) {
    const name = key.endsWith('[]') ? key.slice(0, -2) : key;
    const field = fields.get(name);
    if (field?.maxItems !== undefined) {
      const list = (values.get(name) ?? []) as unknown[];
      for (const element of decodeList(value, field.decode)) list.push(element);
      values.set(name, list);
    } else if (values.has(key)) {
      throw invalidField(shorten(key), 'is given more than once');
    } else {
      values.set(key, field ? field.decode(value) : value);
    }
  }
  return Object.fromEntries(values);
}

/** Decodes one element, or a list as a JSON array. */
function decodeList(value: string, decode: Decode): unknown[] {
  if (value.startsWith('[')) {
    requireFewValues(value);
    try {
      const list: unknown = JSON.parse(value);
      if (Array.isArray(list)) return list;
    } catch {
      // An element that begins with a bracket.
    }
  }
  return [decode(value)];
}
