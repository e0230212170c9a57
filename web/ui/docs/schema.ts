import { docsText } from '../../text/docs/text.ts';
import type { ApiDocument } from './api-document.ts';

/** The part of JSON Schema that the API uses. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly (string | number)[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly $ref?: string;
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

const words = docsText.schema;

/** A field, in words. */
export interface Field {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** As JSON. */
  readonly fallback: string | undefined;
  /** Empty without limits. */
  readonly limits: string;
  readonly about: string;
  /** The object that it is, or has in a list, with fields of its own. */
  readonly object: Schema | undefined;
}

/** Returns the fields of an object. */
export const fieldsOf = (document: ApiDocument, { properties = {}, required = [] }: Schema): readonly Field[] =>
  Object.entries(properties).map(([name, schema]) => ({
    name,
    type: typeOf(schema),
    isRequired: required.includes(name),
    fallback: schema.default === undefined ? undefined : JSON.stringify(schema.default),
    limits: limitsOf(schema),
    about: aboutOf(schema),
    object: objectIn(document, schema),
  }));

/** Returns the type of a value, in words. */
export function typeOf(schema: Schema): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? '';
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(words.or);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(words.or);
  if (schema.type === 'array') return words.listOf(schema.items ? typeOf(schema.items) : words.anything);
  if (schema.format === 'date-time') return words.time;
  if (schema.format === 'binary') return words.file;
  return [schema.type ?? words.anything].flat().join(words.or);
}

/** A type or a list of it may say what it is for. */
function aboutOf(schema: Schema): string {
  const own = [schema, ...(schema.anyOf ?? [])].find(({ description }) => description)?.description;
  const each = schema.items && aboutOf(schema.items);
  return own ?? (each ? words.each(each) : '');
}

/** The server counts texts in bytes, except for those of this length: the document says so. */
const lengthInCharacters = 100;

function limitsOf(schema: Schema): string {
  const { type, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const branch = schema.anyOf?.find((one) => one.type !== 'null');
  if (branch) return limitsOf(branch);
  if (type === 'array') return words.range({ min: minItems, max: maxItems, unit: 'elements' });
  if (type === 'string' && maxLength !== undefined)
    return words.range({
      min: minLength,
      max: maxLength,
      unit: maxLength === lengthInCharacters ? 'characters' : 'bytes',
    });
  // Every id is at least 1, and no number is larger than this one.
  const isBounded = maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER;
  return type === 'integer' && isBounded ? words.range({ min: minimum, max: maximum, unit: 'number' }) : '';
}

/** Returns the object with fields that a schema is, has in a list, or may be. */
function objectIn(document: ApiDocument, schema: Schema): Schema | undefined {
  if (schema.$ref) return objectIn(document, document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  if (schema.properties) return schema;
  for (const inner of [...(schema.items ? [schema.items] : []), ...(schema.anyOf ?? [])]) {
    const found = objectIn(document, inner);
    if (found) return found;
  }
  return undefined;
}
