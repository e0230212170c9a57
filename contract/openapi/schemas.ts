import { z } from 'zod';
import { errors } from '../errors.ts';

export type Json = Record<string, unknown>;

export interface ObjectSchema extends Json {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

type Direction = 'input' | 'output';

/** The schemas of the document by name. */
export class Schemas {
  readonly byName: Json = { Error: errorSchema };

  /** Adds a schema and the records in it. Returns a reference to it. */
  add(name: string, schema: ObjectSchema): Json {
    const { $defs, ...own } = schema;
    Object.assign(this.byName, $defs);
    this.byName[name] = own;
    return reference(name);
  }
}

export const reference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** Returns a schema whose references point into `components`. The records that it refers to are in `$defs`. */
export function schemaOf(type: z.ZodType, io: Direction): ObjectSchema {
  const { $schema, ...schema } = z.toJSONSchema(type, { io, override: ({ jsonSchema }) => adapt(jsonSchema, io) });
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : value,
  );
  return JSON.parse(text) as ObjectSchema;
}

/** Returns an object's schema without one of its optional fields. */
export function without(schema: ObjectSchema, field: string): ObjectSchema {
  const { [field]: _, ...properties } = schema.properties ?? {};
  return { ...schema, properties };
}

/** Returns the schema of a response: that of the row's output with `success` before it. */
export function withSuccess(schema: ObjectSchema): ObjectSchema {
  return {
    ...schema,
    properties: { success: { type: 'boolean', description: 'always true' }, ...schema.properties },
    required: ['success', ...(schema.required ?? [])],
  };
}

function adapt(schema: z.core.JSONSchema.BaseSchema, io: Direction): void {
  // Without it, generated clients use a 32-bit number.
  if (schema.type === 'integer' && (schema.maximum ?? 0) > 2 ** 31) schema.format = 'int64';
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  // Generators still take it for the flag that it was in OpenAPI 3.0.
  if (schema.type === 'integer' && typeof schema.exclusiveMinimum === 'number') {
    schema.minimum = schema.exclusiveMinimum + 1;
    delete schema.exclusiveMinimum;
  }
  // The format says enough. Generated clients match the pattern against the date that they have parsed.
  if (schema.format === 'date-time') delete schema.pattern;
  // A file is bytes. The server checks that it is not empty.
  if (schema.format === 'binary') delete schema.contentEncoding;
  // Responses may gain fields, which a client that validates must accept.
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties;
}

const errorSchema: Json = {
  type: 'object',
  properties: {
    success: { type: 'boolean', description: 'always false' },
    error: {
      type: 'object',
      properties: {
        code: { type: 'string', enum: Object.keys(errors) },
        message: { type: 'string', description: 'for people' },
        details: {
          type: 'array',
          items: {
            type: 'object',
            properties: { field: { type: 'string' }, message: { type: 'string' } },
            required: ['field', 'message'],
          },
        },
        request_id: { type: 'string', description: "the server's log has a line with the same id" },
      },
      required: ['code', 'message', 'details', 'request_id'],
    },
  },
  required: ['success', 'error'],
};
