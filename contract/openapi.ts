import { z } from 'zod';
import { commonErrors, type ErrorCode, errors } from './errors.ts';
import { isEventStream } from './event-stream.ts';
import { fileField, isFile } from './file-input.ts';
import { defaultLimits } from './limits.ts';
import { type Scope, scopes } from './scopes.ts';
import { buildContract, type Contract, listOperations, type NamedOperation } from './table.ts';

type Json = Record<string, unknown>;

/** Returns `SendMessage` for `messages.send_message`, and `ChatsList` for `chats.list`. */
export function schemaName(row: NamedOperation): string {
  const words = row.resource === 'messages' ? row.action : `${row.resource}_${row.action}`;
  return words.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Returns the API as OpenAPI 3.1. The actions of a resource share its path, so `action` is a required parameter, and a body
 * is any of its actions' bodies. Every body has a name in `components`.
 */
export function openApi(contract: Contract = buildContract(defaultLimits), version = '0.1.0'): Json {
  const rows = listOperations(contract);
  const schemas: Json = { Error: errorSchema };
  for (const row of rows) {
    collect(schemas, `${schemaName(row)}Input`, row.input, 'input');
    if (isJson(row)) collect(schemas, `${schemaName(row)}Output`, row.output, 'output');
  }
  const resources = [...new Set(rows.map((r) => r.resource))];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley',
      version,
      description: 'A self-hosted chat-messaging service.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/api' }],
    security: [{ token: [] }, { oauth: [] }],
    paths: Object.fromEntries(
      resources.map((resource) => [`/${resource}.php`, pathItem(rows.filter((r) => r.resource === resource))]),
    ),
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: `Scopes: ${Object.entries(scopes)
            .map(([name, words]) => `\`${name}\` (${words})`)
            .join('; ')}`,
        },
        oauth: {
          type: 'oauth2',
          description: 'The authorization code needs PKCE with S256.',
          flows: {
            authorizationCode: { authorizationUrl: '/oauth/authorize', tokenUrl, refreshUrl: tokenUrl, scopes },
            clientCredentials: { tokenUrl, scopes },
          },
        },
      },
      schemas,
    },
  };
}

const tokenUrl = '/oauth/token';

function pathItem(rows: readonly NamedOperation[]): Json {
  const gets = rows.filter((r) => r.method === 'GET');
  const posts = rows.filter((r) => r.method === 'POST');
  return {
    ...(gets.length > 0 && { get: getOperation(gets) }),
    ...(posts.length > 0 && { post: postOperation(posts) }),
  };
}

function getOperation(rows: readonly NamedOperation[]): Json {
  const streams = rows.filter((row) => isEventStream(row.output)).map((row) => row.action);
  const lastEventId = {
    name: 'Last-Event-ID',
    in: 'header',
    description: `For ${streams.join(', ')}: the cursor of a client that reconnects. It replaces \`after\`.`,
    schema: { type: 'string', pattern: '^\\d*$' },
  };
  const parameters = [actionParameter(rows), ...queryParameters(rows), ...(streams.length > 0 ? [lastEventId] : [])];
  return { ...common(rows), parameters };
}

interface Use {
  readonly action: string;
  readonly schema: Json;
  readonly required: boolean;
}

/** Returns each parameter once. Its schema is any of its actions' schemas, and its description names the actions. */
function queryParameters(rows: readonly NamedOperation[]): Json[] {
  const uses = new Map<string, Use[]>();
  for (const { action, input } of rows) {
    const { properties = {}, required = [] } = jsonSchema(input, 'input') as ObjectSchema;
    for (const [name, schema] of Object.entries(properties)) {
      const use = { action, schema, required: required.includes(name) };
      uses.set(name, [...(uses.get(name) ?? []), use]);
    }
  }
  return [...uses].map(([name, of]) => ({
    name,
    in: 'query',
    description: whoTakes(of),
    required: of.length === rows.length && of.every((use) => use.required),
    schema: anyOf(of.map((use) => use.schema)),
  }));
}

function whoTakes(uses: readonly Use[]): string {
  const actions = (required: boolean) => uses.filter((use) => use.required === required).map((use) => use.action);
  const [needs, takes] = [actions(true), actions(false)];
  const parts = [
    needs.length > 0 && `required by ${needs.join(', ')}`,
    takes.length > 0 && `optional for ${takes.join(', ')}`,
  ];
  const text = parts.filter(Boolean).join('; ');
  return `${text[0]?.toUpperCase()}${text.slice(1)}.`;
}

function anyOf(schemas: readonly Json[]): Json {
  const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  const [only, ...others] = distinct;
  return only && others.length === 0 ? only : { anyOf: distinct };
}

const bodyTypes = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

function postOperation(rows: readonly NamedOperation[]): Json {
  const schema = anyOf(rows.map((row) => reference(`${schemaName(row)}Input`)));
  const keyed = rows.filter((row) => row.idempotent).map((row) => row.action);
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    description: `For ${keyed.join(', ')}: the same key and input give the same response again.`,
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  };
  const examples = namedExamples(
    rows.filter((row) => !row.rawFile),
    (row) => row.example.input,
  );
  const raw = rows.filter((row) => row.rawFile);
  const types = raw.length === rows.length ? ['multipart/form-data'] : bodyTypes;
  return {
    ...common(rows),
    parameters: [
      actionParameter(rows),
      ...(keyed.length > 0 ? [key] : []),
      // If the body is the bytes of a file, the other fields are in the query.
      ...queryParameters(raw).filter(({ name }) => !raw.some((row) => fileField(row.input) === name)),
    ],
    requestBody: {
      required: true,
      content: {
        ...Object.fromEntries(
          types.map((type) => [type, { schema, ...(type === 'application/json' && { examples }) }]),
        ),
        // The bytes of a file and nothing else.
        ...(raw.length > 0 && { 'application/octet-stream': {} }),
      },
    },
  };
}

function common(rows: readonly NamedOperation[]): Json {
  const [first] = rows;
  const inJson = rows.filter(isJson);
  const files = rows.filter((row) => isFile(row.output));
  const streams = rows.filter((row) => isEventStream(row.output));
  const lines = rows.map((r) => `- \`${r.action}\`${inWords(r.scopes)}: ${r.summary}`);
  return {
    operationId: `${first?.resource}_${first?.method.toLowerCase()}`,
    tags: [first?.resource],
    description: lines.join('\n'),
    responses: {
      '200': {
        description: 'The response of the action.',
        content: {
          'application/json': {
            schema: anyOf(inJson.map((row) => reference(`${schemaName(row)}Output`))),
            examples: namedExamples(inJson, (row) => ({ success: true, ...(row.example.output as object) })),
          },
          // The bytes of a file, with its own type.
          ...(files.length > 0 && { '*/*': {} }),
          ...(streams.length > 0 && {
            'text/event-stream': {
              schema: { type: 'string' },
              examples: namedExamples(streams, (row) => row.example.output),
            },
          }),
        },
      },
      ...(files.length > 0 && fileResponses),
      ...failures(rows),
    },
  };
}

/** The responses to `Range` and to conditional requests (RFC 9110). */
const fileResponses: Json = {
  '206': { description: 'The part of the file that `Range` asks for.', content: { '*/*': {} } },
  '304': { description: 'The file is the one that the client has.' },
  '412': { description: 'The file is not the one that the client means.' },
  '416': { description: 'The file has nothing of what `Range` asks for.' },
};

const isJson = ({ output }: NamedOperation): boolean => !isFile(output) && !isEventStream(output);

const inWords = (needed: readonly Scope[]) =>
  needed.length === 0 ? '' : ` (scope ${needed.map((name) => `\`${name}\``).join(' and ')})`;

/** A GET has no body and no Idempotency-Key. */
const postOnly: readonly ErrorCode[] = ['invalid_request', 'payload_too_large', 'unsupported_media_type'];

/** Returns the error responses of the actions by status. */
function failures(rows: readonly NamedOperation[]): Json {
  const impossible = (code: ErrorCode) =>
    (postOnly.includes(code) && rows.every((row) => row.method === 'GET' && !row.errors.includes(code))) ||
    (code === 'insufficient_scope' && rows.every((row) => row.scopes.length === 0 && !row.errors.includes(code)));
  const given = new Set<ErrorCode>([
    ...commonErrors,
    'unknown_action',
    'method_not_allowed',
    ...rows.flatMap((row) => row.errors),
  ]);
  const byStatus = Map.groupBy(
    [...given].filter((code) => !impossible(code)),
    (code) => errors[code].status,
  );
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, codes]) => [
        String(status),
        {
          description: codes.map((code) => `\`${code}\`: ${errors[code].when}`).join('\n\n'),
          content: { 'application/json': { schema: reference('Error') } },
        },
      ]),
  );
}

function namedExamples(rows: readonly NamedOperation[], value: (row: NamedOperation) => unknown): Json {
  return Object.fromEntries(rows.map((row) => [row.action, { summary: row.summary, value: value(row) }]));
}

const reference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

function actionParameter(rows: readonly NamedOperation[]): Json {
  return { name: 'action', in: 'query', required: true, schema: { type: 'string', enum: rows.map((r) => r.action) } };
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

/** Adds a schema and the named records in it. */
function collect(schemas: Json, name: string, type: z.ZodType, io: 'input' | 'output'): void {
  const { $defs = {}, ...schema } = jsonSchema(type, io) as Json & { $defs?: Json };
  Object.assign(schemas, $defs);
  schemas[name] = io === 'output' ? withSuccess(schema) : schema;
}

function withSuccess(schema: Json & ObjectSchema): Json {
  return {
    ...schema,
    properties: { success: { type: 'boolean', const: true }, ...schema.properties },
    required: ['success', ...(schema.required ?? [])],
  };
}

/** Returns a schema whose references point into `components` and not into `$defs`. */
function jsonSchema(type: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema, ...schema } = z.toJSONSchema(type, { io, override: ({ jsonSchema }) => adapt(jsonSchema, io) });
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : value,
  );
  return JSON.parse(text) as Json;
}

function adapt(schema: z.core.JSONSchema.BaseSchema, io: 'input' | 'output'): void {
  // Without it, generated clients use a 32-bit number.
  if (schema.type === 'integer' && (schema.maximum ?? 0) > 2 ** 31) schema.format = 'int64';
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  // Responses may gain fields, which a client that validates must accept.
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties;
}

const errorSchema: Json = {
  type: 'object',
  properties: {
    success: { const: false },
    error: {
      type: 'object',
      properties: {
        code: { type: 'string', enum: Object.keys(errors) },
        message: { type: 'string' },
        details: {
          type: 'array',
          items: {
            type: 'object',
            properties: { field: { type: 'string' }, message: { type: 'string' } },
            required: ['field', 'message'],
          },
        },
        request_id: { type: 'string' },
      },
      required: ['code', 'message', 'details', 'request_id'],
    },
  },
  required: ['success', 'error'],
};
