import { beforeAll, describe, expect, test } from 'bun:test';
import {
  buildContract,
  type Contract,
  defaultLimits,
  defaultPage,
  type ErrorCode,
  errors,
  isEventStream,
  isFile,
  listOperations,
  type NamedOperation,
  openApi,
  schemaName,
} from '@parley/contract';
import { Validator } from '@seriousme/openapi-schema-validator';
import { z } from 'zod';
import { serverFor } from '../support/server.ts';

interface Parameter {
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: { readonly enum?: readonly string[]; readonly anyOf?: readonly object[] };
}

interface Described {
  readonly parameters: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: object }>>;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
}

const rows = listOperations();
const resources = [...new Set(rows.map((row) => row.resource))];
const server = serverFor('sqlite');
let document: Document;

beforeAll(async () => {
  const response = await fetch(`${server().url}/api/openapi.json`);
  expect(response.headers.get('content-type')).toStartWith('application/json');
  document = (await response.json()) as Document;
});

const described = ({ resource, method }: NamedOperation): Described => {
  const found = document.paths[`/${resource}.php`]?.[method.toLowerCase()];
  if (!found) throw new Error(`${method} /${resource}.php is not described`);
  return found;
};

test('the description that is served is valid OpenAPI 3.1', async () => {
  expect(document.openapi).toStartWith('3.1.');
  const { valid, errors } = await new Validator().validate(structuredClone(document) as never);
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
});

test('there is one path for each resource and no other', () => {
  expect(Object.keys(document.paths)).toEqual(resources.map((resource) => `/${resource}.php`));
});

test('the actions of a resource and method are exactly those of the rows', () => {
  for (const row of rows) {
    const action = described(row).parameters.find((p) => p.name === 'action');
    const sisters = rows.filter((r) => r.resource === row.resource && r.method === row.method);
    expect(action?.required).toBe(true);
    expect(action?.schema.enum).toEqual(sisters.map((r) => r.action));
  }
});

test('a parameter says which actions need it and which only take it', () => {
  const chatId = document.paths['/messages.php']?.get?.parameters.find((p) => p.name === 'chat_id');
  expect(chatId?.description).toBe('Required by get_messages; optional for search_messages.');
  expect(chatId?.required).toBe(false);
});

test('a parameter that two actions take in different forms may have either', () => {
  const contract = buildContract(defaultLimits);
  const get_message = { ...contract.messages.get_message, input: z.strictObject({ limit: z.enum(['all']) }) };
  const changed = { ...contract, messages: { ...contract.messages, get_message } } as unknown as Contract;
  const { paths } = openApi(changed) as unknown as Document;
  const limit = paths['/messages.php']?.get?.parameters.find((p) => p.name === 'limit');
  expect(limit?.schema).toMatchObject({
    anyOf: [
      { type: 'integer', minimum: 1, maximum: defaultLimits.page, default: defaultPage },
      { type: 'string', enum: ['all'] },
    ],
  });
});

describe('every operation', () => {
  for (const row of rows) {
    test(`${row.name} has its schemas, and its example fits them`, () => {
      // A file is a text of any bytes there, which JSON has no word for.
      const asJson = (value: object) =>
        JSON.parse(JSON.stringify(value, (_, inner) => (inner instanceof Blob ? 'bytes' : inner))) as unknown;
      expect(problems(`${schemaName(row)}Input`, asJson(row.example.input as object))).toEqual([]);
      const answers = () => expect(described(row).responses[200]?.content);
      if (isFile(row.output)) return answers().toHaveProperty(['*/*']);
      if (isEventStream(row.output)) return answers().toHaveProperty(['text/event-stream']);
      const answer = { success: true, ...(row.example.output as object) };
      expect(problems(`${schemaName(row)}Output`, asJson(answer))).toEqual([]);
    });

    test(`${row.name} names the fields of its row and its errors`, () => {
      const shape = (type: z.ZodType) => Object.keys((type as z.ZodObject).shape);
      const input = document.components.schemas[`${schemaName(row)}Input`]?.properties ?? {};
      const output = document.components.schemas[`${schemaName(row)}Output`]?.properties ?? {};
      expect(Object.keys(input)).toEqual(shape(row.input));
      const isJson = !isFile(row.output) && !isEventStream(row.output);
      expect(Object.keys(output)).toEqual(isJson ? ['success', ...shape(row.output)] : []);
      if (row.method === 'GET') {
        const names = described(row).parameters.map((p) => p.name);
        expect(names).toEqual(expect.arrayContaining(shape(row.input)));
      }
      for (const code of row.errors) {
        expect(described(row).responses[errors[code].status]?.description).toContain(`\`${code}\``);
      }
    });
  }
});

test('invalid input and impossible output do not fit the schemas', () => {
  expect(problems('SendMessageInput', { chat_id: 1, content: 'x', chatid: 1 })).not.toEqual([]);
  expect(problems('SendMessageInput', { content: 'x' })).not.toEqual([]);
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

/** Returns the errors of a value against the schema in the document. */
function problems(name: string, value: unknown): unknown[] {
  const { schemas } = document.components;
  if (!schemas[name]) throw new Error(`the document has no schema ${name}`);
  const standalone = { ...schemas[name], $defs: schemas };
  const local = JSON.stringify(standalone).replaceAll('#/components/schemas/', '#/$defs/');
  const result = z.fromJSONSchema(JSON.parse(local)).safeParse(value);
  return result.error?.issues ?? [];
}
