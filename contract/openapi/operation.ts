import type { z } from 'zod';
import { isEventStream } from '../event-stream.ts';
import { idempotencyKeyPattern } from '../fields.ts';
import { fileField, isFile } from '../file-input.ts';
import type { NamedOperation } from '../table.ts';
import { unstatedRules } from '../unstated-rules.ts';
import type { Failures } from './failures.ts';
import { operationId, schemaName } from './names.ts';
import { type Json, type ObjectSchema, type Schemas, schemaOf, without, withSuccess } from './schemas.ts';

/** Returns the description of one operation. Adds its schemas and its error responses to those of the document. */
export function describeOperation(row: NamedOperation, schemas: Schemas, failures: Failures): Json {
  const parameters = [...(row.method === 'GET' ? queryParameters(row) : []), ...headerParameters(row)];
  return {
    operationId: operationId(row),
    tags: [row.resource],
    summary: firstSentence(row.summary),
    description: descriptionOf(row),
    security: [{ token: [] }, { oauth: row.scopes }],
    ...(row.inBrowser && { 'x-in-browser': true }),
    ...(parameters.length > 0 && { parameters }),
    ...(row.method === 'POST' && { requestBody: requestBody(row, schemas) }),
    responses: { ...successes(row, schemas), ...failures.of(row) },
  };
}

/** Abbreviations have no space after their dot, so the first dot with one ends the sentence. */
const firstSentence = (text: string): string => (text.split('. ')[0] ?? '').replace(/\.$/, '');

function descriptionOf(row: NamedOperation): string {
  const scopes = row.scopes.map((name) => `\`${name}\``).join(' and ');
  const rules = unstatedRules.filter(({ of }) => of?.includes(row.name)).flatMap(({ rule }) => rule ?? []);
  const paragraphs = [
    row.summary,
    row.inBrowser ? browserNote : scopes === '' ? 'Any valid token will do.' : `The token needs the scope ${scopes}.`,
    row.takesLinks && linkNote,
    row.method === 'POST' && !row.rawFile && formNote,
    rules.length > 0 && `Rules beyond the schema:\n\n${rules.map((rule) => `- ${rule}`).join('\n')}`,
  ];
  return paragraphs.filter(Boolean).join('\n\n');
}

/** In words, and not as an empty alternative in `security`: how generators treat that has not been tested. */
const linkNote =
  'A signed link needs no token: a request with `user_id`, `token_id`, `expires` and `signature`, as in the `link` of `files.get`.';

const browserNote =
  'Only for pages of the service in a browser: what it does would outlive an access token that called it.';

const formNote = 'The fields may also be sent as `application/x-www-form-urlencoded` or `multipart/form-data`.';

function queryParameters({ input, example }: NamedOperation): Json[] {
  const { properties = {}, required = [] } = schemaOf(input, 'input');
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(description !== undefined && { description }),
    required: required.includes(name),
    schema,
    ...(name in (example.input as object) && { example: (example.input as Json)[name] }),
  }));
}

function headerParameters(row: NamedOperation): Json[] {
  return [
    ...(row.idempotent ? [idempotencyKey] : []),
    ...(isEventStream(row.output) ? [lastEventId] : []),
    ...(isFile(row.output) ? [range] : []),
  ];
}

const idempotencyKey: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same key with the same input returns the first response again, and creates nothing twice.',
  schema: { type: 'string', pattern: idempotencyKeyPattern.source },
};

const lastEventId: Json = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'The cursor of a client that reconnects. It replaces `after`.',
  schema: { type: 'string', pattern: '^\\d{0,16}$' },
};

const range: Json = {
  name: 'Range',
  in: 'header',
  description: 'One range of bytes, such as `bytes=0-99`. Anything else returns the whole file.',
  schema: { type: 'string' },
};

/** JSON, and a form for a row that takes a file. Every media type has a schema of its own. */
function requestBody(row: NamedOperation, schemas: Schemas): Json {
  const name = schemaName(row);
  const schema = withDefaultsInWords(schemaOf(row.input, 'input'));
  const file = fileField(row.input);
  const json = () => ({
    schema: schemas.add(`${name}Input`, file === undefined ? schema : without(schema, file)),
    example: row.example.input,
  });
  const form = (field: string) => ({
    schema: schemas.add(`${name}Form`, row.rawFile ? withRequired(schema, field) : schema),
  });
  const content = {
    ...(!row.rawFile && { 'application/json': json() }),
    ...(file !== undefined && { 'multipart/form-data': form(file) }),
  };
  return { required: true, content };
}

/** Generators disagree about defaults in bodies: some make the field required, and some send it always. */
function withDefaultsInWords({ properties = {}, ...schema }: ObjectSchema): ObjectSchema {
  const fields = Object.entries(properties).map(([name, { default: fallback, ...field }]): [string, Json] => {
    if (fallback === undefined) return [name, field];
    return [name, { ...field, description: `${field.description}; ${JSON.stringify(fallback)} by default` }];
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

const withRequired = (schema: ObjectSchema, field: string): ObjectSchema => ({
  ...schema,
  required: [...(schema.required ?? []), field],
});

function successes(row: NamedOperation, schemas: Schemas): Json {
  if (isFile(row.output)) return fileResponses;
  if (isEventStream(row.output)) return { '200': eventStreamResponse(row) };
  const schema = schemas.add(`${schemaName(row)}Output`, withSuccess(schemaOf(row.output as z.ZodType, 'output')));
  const example = { success: true, ...(row.example.output as object) };
  const headers = row.idempotent && { headers: replayedHeader };
  return { '200': { description: 'The response.', ...headers, content: { 'application/json': { schema, example } } } };
}

const replayedHeader: Json = {
  'Idempotency-Replayed': {
    description: '`true` if this is the first response to the same key, returned again.',
    schema: { type: 'string', enum: ['true'] },
  },
};

function eventStreamResponse({ example }: NamedOperation): Json {
  const content = { 'text/event-stream': { schema: { type: 'string' }, example: example.output } };
  return { description: 'The events, until one side closes the connection.', content };
}

const bytes = { schema: { type: 'string', format: 'binary' } };

/** A file comes with its own type. Generators look for that of any bytes. */
const fileContent = { 'application/octet-stream': bytes, '*/*': bytes };

/** The responses to `Range` and to conditional requests (RFC 9110) too. */
const fileResponses: Json = {
  '200': { description: 'The bytes of the file.', content: fileContent },
  '206': { description: 'The part of the file that `Range` asks for.', content: fileContent },
  '304': { description: 'The file is the one that the client has.' },
  '412': { description: 'The file is not the one that the client means.' },
  '416': { description: 'The file has nothing of what `Range` asks for.' },
};
