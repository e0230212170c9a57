import { beforeAll, describe, expect, test } from 'bun:test';
import {
  buildContract,
  defaultLimits,
  type ErrorCode,
  errors,
  eventNames,
  eventTable,
  fileField,
  isEventStream,
  isFile,
  listOperations,
  type NamedOperation,
  operationId,
  schemaName,
  scopeNames,
  unstatedRules,
  webhookHeaders,
} from '@parley/contract';
import { Validator } from '@seriousme/openapi-schema-validator';
import { z } from 'zod';
import { testBody } from '../../operations/present.ts';
import { deliveryHeaders } from '../../webhooks/headers.ts';
import { serverFor } from '../support/server.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema; example?: unknown }>> };
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: object }>>;
}

interface Document {
  readonly openapi: string;
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Described }>>;
  readonly components: {
    readonly securitySchemes: {
      readonly oauth: {
        readonly flows: Readonly<Record<'authorizationCode' | 'clientCredentials', { scopes: object }>>;
      };
    };
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, { readonly description: string }>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

const rows = listOperations();
const server = serverFor('sqlite');
let document: Document;

beforeAll(async () => {
  const response = await fetch(`${server().url}/api/openapi.json`);
  expect(response.headers.get('content-type')).toStartWith('application/json');
  expect(response.headers.get('content-encoding')).toBe('gzip');
  document = (await response.json()) as Document;
});

const described = ({ resource, action, method }: NamedOperation): Described => {
  const found = document.paths[`/${resource}/${action}`]?.[method.toLowerCase()];
  if (!found) throw new Error(`${method} /${resource}/${action} is not described`);
  return found;
};

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Returns every schema and subschema of the document. */
function* schemasIn(value: unknown): Generator<Schema> {
  if (typeof value !== 'object' || value === null) return;
  yield value as Schema;
  for (const inner of Object.values(value)) yield* schemasIn(inner);
}

test('the description that is served is valid OpenAPI 3.1', async () => {
  expect(document.openapi).toStartWith('3.1.');
  const { valid, errors } = await new Validator().validate(structuredClone(document) as never);
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
});

test('there is one path for each row and no other, with an id and the tag of its resource', () => {
  expect(Object.keys(document.paths)).toEqual(rows.map((row) => `/${row.resource}/${row.action}`));
  for (const row of rows) {
    expect(Object.keys(document.paths[`/${row.resource}/${row.action}`] ?? {})).toEqual([row.method.toLowerCase()]);
    expect(described(row)).toMatchObject({ operationId: operationId(row), tags: [row.resource] });
    expect(described(row).summary).toMatch(/^[A-Z].*[^.]$/);
    expect(described(row).description).toStartWith(row.summary);
  }
  const webhooks = Object.values(document.webhooks).map(({ post }) => post.operationId);
  expect(new Set([...rows.map(operationId), ...webhooks]).size).toBe(rows.length + webhooks.length);
  expect(document.tags.map(({ name }) => name)).toEqual([
    ...new Set<string>(rows.map((row) => row.resource)),
    'deliveries',
  ]);
});

test('the flow of an app that acts as its bot offers only scopes of a bot', () => {
  const { authorizationCode, clientCredentials } = document.components.securitySchemes.oauth.flows;
  expect(Object.keys(authorizationCode.scopes)).toEqual([...scopeNames]);
  const ofPeople = ['apps', 'admin'];
  expect(Object.keys(clientCredentials.scopes)).toEqual(scopeNames.filter((scope) => !ofPeople.includes(scope)));
});

test('an operation that takes signed links says that they need no token', () => {
  const takers = rows.filter((row) => described(row).description.includes('A signed link needs no token'));
  expect(takers.map(({ name }) => name)).toEqual(['files.download', 'files.thumbnail']);
});

test('a header is described where it is used, and nowhere else', () => {
  for (const row of rows) {
    const headers = (described(row).parameters ?? []).filter((one) => one.in === 'header').map(({ name }) => name);
    expect({ name: row.name, headers }).toEqual({
      name: row.name,
      headers: [
        ...(row.idempotent ? ['Idempotency-Key'] : []),
        ...(isEventStream(row.output) ? ['Last-Event-ID'] : []),
        ...(isFile(row.output) ? ['Range'] : []),
      ],
    });
  }
});

describe('every operation', () => {
  for (const row of rows) {
    const shape = (type: z.ZodType) => Object.keys((type as z.ZodObject).shape);
    const name = schemaName(row);
    const file = fileField(row.input);

    test(`${row.name} takes the fields of its row`, () => {
      const { parameters = [], requestBody } = described(row);
      const isRequired = (field: string) => !(row.input as z.ZodObject).shape[field]?.safeParse(undefined).success;
      if (row.method === 'GET') {
        const query = parameters.filter((one) => one.in === 'query');
        expect(requestBody).toBeUndefined();
        expect(query.map((one) => one.name)).toEqual(shape(row.input));
        for (const one of query) {
          expect({ name: one.name, required: one.required }).toEqual({
            name: one.name,
            required: isRequired(one.name),
          });
          expect(one.example).toEqual((row.example.input as Record<string, unknown>)[one.name]);
        }
        return;
      }
      const content = requestBody?.content ?? {};
      const types = [
        ...(row.rawFile ? [] : ['application/json']),
        ...(file === undefined ? [] : ['multipart/form-data']),
      ];
      expect(Object.keys(content)).toEqual(types);
      const json = content['application/json'];
      if (json) {
        expect(json).toEqual({ schema: reference(`${name}Input`), example: row.example.input });
        expect(problems(`${name}Input`, row.example.input)).toEqual([]);
        const { properties = {}, required = [] } = schemaNamed(`${name}Input`);
        expect(Object.keys(properties)).toEqual(shape(row.input).filter((field) => field !== file));
        expect(required).toEqual(Object.keys(properties).filter(isRequired));
      }
      const form = content['multipart/form-data'];
      if (form && file) {
        expect(form).toEqual({ schema: reference(`${name}Form`) });
        const { properties = {} } = schemaNamed(`${name}Form`);
        expect(Object.keys(properties)).toEqual(shape(row.input));
        expect(properties[file]).toMatchObject({ type: 'string', format: 'binary' });
      }
    });

    test(`${row.name} returns the fields of its row, and its example fits`, () => {
      const content = described(row).responses[200]?.content;
      if (isFile(row.output)) {
        const bytes = { schema: { type: 'string', format: 'binary' } };
        expect(content).toEqual({ 'application/octet-stream': bytes, '*/*': bytes });
        return;
      }
      if (isEventStream(row.output)) {
        expect(content).toEqual({ 'text/event-stream': { schema: { type: 'string' }, example: row.example.output } });
        return;
      }
      const example = { success: true, ...(row.example.output as object) };
      expect(content).toEqual({ 'application/json': { schema: reference(`${name}Output`), example } });
      expect(problems(`${name}Output`, example)).toEqual([]);
      expect(Object.keys(schemaNamed(`${name}Output`).properties ?? {})).toEqual(['success', ...shape(row.output)]);
    });

    test(`${row.name} names its errors, its scopes and its rules beyond the schema`, () => {
      const { responses, description, security } = described(row);
      const always: ErrorCode[] = ['invalid_request', 'unauthorized', 'validation_failed', 'rate_limited', 'internal'];
      for (const code of [...always, ...row.errors]) {
        const named = responses[errors[code].status]?.$ref?.split('/').at(-1) ?? '';
        expect(document.components.responses[named]?.description).toContain(`\`${code}\``);
      }
      expect(security).toEqual([{ token: [] }, { oauth: row.scopes }]);
      for (const scope of row.scopes) expect(description).toContain(`\`${scope}\``);
      for (const { of, rule } of unstatedRules) if (rule && of?.includes(row.name)) expect(description).toContain(rule);
    });
  }
});

describe('every event', () => {
  test.each(eventNames)('%s is a webhook with its body and the headers of a delivery', (event) => {
    const post = document.webhooks[event]?.post;
    const { schema } = post?.requestBody?.content['application/json'] ?? {};
    const name = String(schema?.$ref).split('/').at(-1) ?? '';
    const { data } = schemaNamed(name).properties as Record<string, { properties: object }>;
    expect(Object.keys(data?.properties ?? {})).toEqual(Object.keys(eventTable[event].data.shape));
    const at = '2026-01-01T12:00:00.000Z';
    expect(problems(name, { event: 'another', timestamp: at, data: {} })).not.toEqual([]);
    const headers = (post?.parameters ?? []).map(({ $ref }) => $ref?.split('/').at(-1));
    expect(headers).toEqual(Object.keys(webhookHeaders));
  });

  test('of a test is a webhook too', () => {
    const sent = JSON.parse(testBody(1, 0));
    expect(document.webhooks.test?.post.operationId).toBe('onTest');
    expect(problems('TestEvent', sent)).toEqual([]);
    expect(problems('TestEvent', { ...sent, data: {} })).not.toEqual([]);
  });

  test('is delivered with the headers that are described', () => {
    const delivering = {
      id: '1',
      event: 'new_message',
      body: '{}',
      at: 0,
      isForwarded: false,
      attempt: 1,
      replayId: 1,
    };
    const sent = deliveryHeaders({ ...delivering, secrets: ['secret'], webhookId: 1, version: '0.1.0' });
    const { 'Content-Type': _, 'User-Agent': __, ...own } = sent;
    expect(Object.keys(own).sort()).toEqual(Object.keys(webhookHeaders).sort());
  });
});

describe('generators', () => {
  const all = () => [...schemasIn(document)];

  test('find no pattern beside a date, no constant, and no numeric exclusive bound', () => {
    for (const schema of all()) {
      if (schema.format === 'date-time') expect(schema).not.toHaveProperty('pattern');
      expect(schema).not.toHaveProperty('const');
      expect(schema).not.toHaveProperty('exclusiveMinimum');
    }
  });

  test('find only patterns that every language reads', () => {
    const patterns = all().flatMap(({ pattern }) => (typeof pattern === 'string' ? [pattern] : []));
    expect(patterns.length).toBeGreaterThan(10);
    for (const pattern of patterns) {
      expect(pattern).toMatch(/^[\x20-\x7e]+$/);
      expect(pattern).not.toMatch(/\\p|\(\?[^:]/);
    }
  });

  test('find the rules of texts: a pattern accepts what the server accepts', () => {
    const { messages, chats, users, files } = buildContract(defaultLimits);
    const texts: Record<string, z.ZodType> = {
      content: messages.send_message.input.shape.content,
      emoji: messages.add_reaction.input.shape.emoji,
      query: messages.search_messages.input.shape.query,
      title: messages.create_group.input.shape.name,
      description: chats.update.input.shape.description,
      'file name': files.upload.input.shape.name,
      'user name': users.create.input.shape.name,
    };
    for (const [name, type] of Object.entries(texts)) {
      const pattern = new RegExp(String(z.toJSONSchema(type, { io: 'input' }).pattern));
      const differs: string[] = [];
      for (let code = 0; code <= 0xffff; code++) {
        if (code >= 0xd800 && code <= 0xdfff) continue;
        const character = String.fromCharCode(code);
        for (const text of [character, `a${character}b`, `${character}${character}`]) {
          if (name === 'file name' && /^\.+$/.test(text)) continue;
          if (pattern.test(text) !== type.safeParse(text).success) differs.push(`${name} U+${code.toString(16)}`);
        }
      }
      expect(differs).toEqual([]);
    }
  });
});

test('invalid input and impossible output do not fit the schemas', () => {
  expect(problems('SendMessageInput', { chat_id: 1, content: 'x', chatid: 1 })).not.toEqual([]);
  expect(problems('SendMessageInput', { content: 'x' })).not.toEqual([]);
  expect(problems('SendMessageInput', { chat_id: 1, content: ' ' })).not.toEqual([]);
  expect(problems('SendMessageOutput', { success: true, message: { message_id: 'one' } })).not.toEqual([]);
});

test('a real error response fits the schema of errors', async () => {
  const response = await fetch(`${server().url}/api/messages.php?action=get_messages`);
  const body = (await response.json()) as { error: { code: ErrorCode } };
  expect(body.error.code).toBe('unauthorized');
  expect(problems('Error', body)).toEqual([]);
});

test('identifiers are 64 bits wide for generated clients', () => {
  const properties = document.components.schemas.Message?.properties as Record<string, unknown>;
  expect(properties.message_id).toMatchObject({ type: 'integer', format: 'int64' });
});

function schemaNamed(name: string) {
  const found = document.components.schemas[name];
  if (!found) throw new Error(`the document has no schema ${name}`);
  return found as { readonly properties?: Readonly<Record<string, unknown>>; readonly required?: readonly string[] };
}

/** Returns the errors of a value against the schema in the document. */
function problems(name: string, value: unknown): unknown[] {
  const { schemas } = document.components;
  const standalone = { ...schemaNamed(name), $defs: schemas };
  const local = JSON.stringify(standalone).replaceAll('#/components/schemas/', '#/$defs/');
  const result = z.fromJSONSchema(JSON.parse(local)).safeParse(value);
  return result.error?.issues ?? [];
}
