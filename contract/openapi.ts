import { z } from 'zod';
import { commonErrors, errors } from './errors.ts';
import { buildContract, type Contract, listOperations, type NamedOperation } from './index.ts';
import { defaultLimits } from './limits.ts';
import { scopes } from './scopes.ts';

type Json = Record<string, unknown>;

/** `send_message` → `SendMessage`; the resource goes before names that say too little alone. */
export function schemaName(row: NamedOperation): string {
  const words = row.resource === 'messages' ? row.action : `${row.resource}_${row.action}`;
  return words.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * The API as OpenAPI 3.1. Actions share the path of their resource, so `action` is a required parameter, a body is any
 * of its actions' bodies, and every body and answer stands under a name of its own in `components`.
 */
export function openApi(contract: Contract = buildContract(defaultLimits), version = '0.1.0'): Json {
  const rows = listOperations(contract);
  const schemas: Json = { Error: errorSchema };
  for (const row of rows) {
    collect(schemas, `${schemaName(row)}Input`, row.input, 'input');
    collect(schemas, `${schemaName(row)}Output`, row.output, 'output');
  }
  const resources = [...new Set(rows.map((r) => r.resource))];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley',
      version,
      description: 'A self-hosted chat-messaging service with signed webhooks.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/api' }],
    security: [{ token: [] }],
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
      },
      schemas,
    },
  };
}

function pathItem(rows: readonly NamedOperation[]): Json {
  const gets = rows.filter((r) => r.method === 'GET');
  const posts = rows.filter((r) => r.method === 'POST');
  return {
    ...(gets.length > 0 && { get: getOperation(gets) }),
    ...(posts.length > 0 && { post: postOperation(posts) }),
  };
}

function getOperation(rows: readonly NamedOperation[]): Json {
  const byName = new Map<string, { schema: Json; actions: string[] }>();
  for (const row of rows) {
    const { properties = {} } = plain(z.toJSONSchema(row.input, { io: 'input' })) as {
      properties?: Record<string, Json>;
    };
    for (const [name, schema] of Object.entries(properties)) {
      const known = byName.get(name);
      if (known) known.actions.push(row.action);
      else byName.set(name, { schema, actions: [row.action] });
    }
  }
  const parameters = [...byName].map(([name, { schema, actions }]) => ({
    name,
    in: 'query',
    description: `For ${actions.join(', ')}.`,
    schema,
    ...(schema.type === 'array' && { style: 'form', explode: true }),
  }));
  return { ...common(rows), parameters: [actionParameter(rows), ...parameters] };
}

function postOperation(rows: readonly NamedOperation[]): Json {
  const schema = { anyOf: rows.map((row) => ({ $ref: `#/components/schemas/${schemaName(row)}Input` })) };
  const kinds = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    description: `For ${rows
      .filter((r) => r.idempotent)
      .map((r) => r.action)
      .join(', ')}: the same key and input give the same answer again.`,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  };
  return {
    ...common(rows),
    parameters: [actionParameter(rows), ...(rows.some((r) => r.idempotent) ? [key] : [])],
    requestBody: { required: true, content: Object.fromEntries(kinds.map((kind) => [kind, { schema }])) },
  };
}

function common(rows: readonly NamedOperation[]): Json {
  const [first] = rows;
  const lines = rows.map((r) => `- \`${r.action}\`${r.scope ? ` (scope \`${r.scope}\`)` : ''}: ${r.summary}`);
  const codes = new Set([
    ...commonErrors,
    'unknown_action' as const,
    'method_not_allowed' as const,
    ...rows.flatMap((r) => r.errors),
  ]);
  const byStatus = new Map<number, string[]>();
  for (const code of codes) {
    const { status } = errors[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const failures = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, names]) => [
      String(status),
      { description: names.join(', '), content: jsonContent({ $ref: '#/components/schemas/Error' }) },
    ]);
  return {
    operationId: `${first?.resource}_${first?.method.toLowerCase()}`,
    tags: [first?.resource],
    description: lines.join('\n'),
    responses: {
      '200': {
        description: 'The answer of the action.',
        content: jsonContent({ anyOf: rows.map((r) => ({ $ref: `#/components/schemas/${schemaName(r)}Output` })) }),
      },
      ...Object.fromEntries(failures),
    },
  };
}

const jsonContent = (schema: Json): Json => ({ 'application/json': { schema } });

function actionParameter(rows: readonly NamedOperation[]): Json {
  return { name: 'action', in: 'query', required: true, schema: { type: 'string', enum: rows.map((r) => r.action) } };
}

/** Adds a schema, and the named records inside it beside it. */
function collect(schemas: Json, name: string, type: z.ZodType, io: 'input' | 'output'): void {
  const { $defs = {}, ...schema } = plain(z.toJSONSchema(type, { io })) as Json & { $defs?: Json };
  Object.assign(schemas, $defs);
  schemas[name] = io === 'output' ? withSuccess(schema) : schema;
}

function withSuccess(schema: Json): Json {
  const { properties, required } = schema as { properties: Json; required?: string[] };
  return {
    ...schema,
    properties: { success: { const: true }, ...properties },
    required: ['success', ...(required ?? [])],
  };
}

/** References point into `components`, where OpenAPI keeps what JSON Schema keeps in `$defs`. */
function plain(schema: object): Json {
  const text = JSON.stringify(schema, (key, value) => (key === '$schema' ? undefined : value));
  return JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/').replace(/"id":"\w+",?/g, '')) as Json;
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
