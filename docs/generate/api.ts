import {
  isEventStream,
  isFile,
  listOperations,
  type NamedOperation,
  openApi,
  type Scope,
  schemaName,
  schemaOf,
  scopes,
} from '@parley/contract';
import { inputTable, outputTable, type Schema, type UnitOf } from './fields.ts';
import { anchor, block, code, codes, json, page, table } from './markdown.ts';

const rows = listOperations();
const { schemas } = ((await openApi()) as { components: { schemas: Readonly<Record<string, Schema>> } }).components;

const intro = `Every operation is \`METHOD {base_url}/<resource>/<action>\`, or in its other form
\`METHOD {base_url}/<resource>.php?action=<action>\`. Both are the same call. With the default settings, \`{base_url}\` is
\`http://127.0.0.1:8080/api\`. The server provides the same description as OpenAPI 3.1 at \`{base_url}/openapi.json\`.
[Generated clients](../../proof/clients/README.md) work with it.

- **Token.** Every call carries \`Authorization: Bearer <token>\`. The server never reads a token from the URL.
  [How to get a token](../authorization.md).
- **Input.** A GET takes its fields from the query string. A POST takes them from the body, as JSON
  (\`application/json\`), as \`application/x-www-form-urlencoded\` or as \`multipart/form-data\`. In a form or a query
  string, a list is \`events[]=a&events[]=b\`, \`events=a&events=b\`, or one JSON array. Unknown fields are rejected with
  the nearest known name.
- **Response.** \`{"success": true, …}\` with the fields listed below, and a newline at the end. Future versions may add
  fields: ignore those that you do not know. A failure has an HTTP status and the body described in [Errors](errors.md).
- **Idempotency-Key.** Some operations honour this header. The same key with the same input returns the first response
  again and creates nothing twice, for at least 24 hours and across restarts. The same key with another input fails with
  \`idempotency_conflict\`. A key is scoped to the user, the app that acts for them, and the operation. Only successes
  are stored. A response that is returned again has the header \`Idempotency-Replayed: true\`.
- **Ids** are integers below 2^53 and are never reused. **Times** are ISO 8601 in UTC with milliseconds.
- **Limits.** \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` show how many requests are left. The
  bounds below are the defaults; some of them are [settings](settings.md).
- **Request id.** Every response of an operation carries \`X-Request-Id\`. The server's log has a line with the same id.

The examples share one set of data: users 1 (ada, an administrator), 2 (bob) and 3 (cleo), and their chats. Ada makes the
calls. \`$PARLEY\` is the base URL of the API, such as http://127.0.0.1:8080/api, and \`$TOKEN\` is ada's token.`;

export function apiPage(): string {
  const resources = [...new Set(rows.map((row) => row.resource))];
  return page('API reference', [
    intro,
    '## Scopes',
    scopeTable(),
    '## Operations',
    table(['Operation', 'Method', 'Summary'], rows.map(contentsRow)),
    ...resources.flatMap((resource) => [
      `## ${resource}`,
      ...rows.filter((row) => row.resource === resource).flatMap(operation),
    ]),
    '## Records',
    ...recordNames().flatMap((name) => [`### ${name}`, outputTable(schemas[name] ?? {})]),
  ]);
}

function scopeTable(): string {
  const needed = new Set(rows.flatMap((row) => row.scopes));
  const lines = Object.entries(scopes).map(([name, words]) => [
    code(name),
    needed.has(name as Scope) ? words : `${words} (not used by any operation yet)`,
  ]);
  return table(['Scope', 'What it allows'], lines);
}

const contentsRow = (row: NamedOperation) => [`[${row.name}](#${anchor(row.name)})`, row.method, row.summary];

function operation(row: NamedOperation): string[] {
  const scope = row.scopes.length > 0 ? `scope ${row.scopes.map(code).join(' and ')}` : 'any valid token';
  const keyed = row.idempotent ? ' · honours `Idempotency-Key`' : '';
  const input: Schema = schemaOf(row.input, 'input');
  return [
    `### ${row.name}`,
    row.summary,
    `${code(`${row.method} /${row.resource}/${row.action}`)} · ${scope}${keyed}`,
    Object.keys(input.properties ?? {}).length === 0 ? 'No input.' : inputTable(input, unitIn(row)),
    ...response(row),
    `Errors: ${row.errors.length > 0 ? `${codes(row.errors)}, and ` : ''}[the common errors](errors.md#common-errors).`,
    block('sh', curl(row)),
    ...exampleResponse(row),
  ];
}

function response(row: NamedOperation): string[] {
  if (isFile(row.output)) return ['Response: the bytes of the file, with its MIME type as the `Content-Type`.'];
  if (isEventStream(row.output)) return ['Response: `text/event-stream`, which stays open until one side closes it.'];
  return ['Response:', outputTable(withoutSuccess(schemas[`${schemaName(row)}Output`] ?? {}))];
}

function exampleResponse(row: NamedOperation): string[] {
  if (isFile(row.output)) return [];
  if (isEventStream(row.output)) return [block('text', String(row.example.output).trimEnd())];
  return [json({ success: true, ...(row.example.output as object) })];
}

function withoutSuccess({ properties = {}, ...schema }: Schema): Schema {
  const { success, ...others } = properties;
  return { ...schema, properties: others };
}

/** Tries the schema: a text of two-byte characters at the bound is valid only if the bound counts characters. */
function unitIn(row: NamedOperation): UnitOf {
  return (field, max) => {
    const input = { ...(row.example.input as object), [field]: 'é'.repeat(max) };
    return row.input.safeParse(input).success ? 'characters' : 'bytes of UTF-8';
  };
}

function curl(row: NamedOperation): string {
  const input = Object.entries(row.example.input as object);
  const url = `$PARLEY/${row.resource}/${row.action}`;
  const authorization = `-H "Authorization: Bearer $TOKEN"`;
  if (row.method === 'GET') {
    const query = input.flatMap(([name, value]) => [value].flat().map((one) => `${name}=${encodeURIComponent(one)}`));
    return `curl "${[url, query.join('&')].filter(Boolean).join('?')}" ${authorization}`;
  }
  if (input.some(([, value]) => value instanceof File)) {
    const parts = input.map(([name, value]) => `-F ${name}=${value instanceof File ? `@${value.name}` : value}`);
    return `curl "${url}" ${authorization} ${parts.join(' ')}`;
  }
  const body = JSON.stringify(row.example.input).replaceAll("'", String.raw`'\''`);
  return `curl "${url}" ${authorization} \\\n  -H 'Content-Type: application/json' -d '${body}'`;
}

/** The schemas that are not an input, an output, the body of an event, or the error. */
function recordNames(): string[] {
  const own = new Set(rows.flatMap((row) => ['Input', 'Form', 'Output'].map((kind) => `${schemaName(row)}${kind}`)));
  return Object.keys(schemas)
    .filter((name) => name !== 'Error' && !own.has(name) && !/.Event$/.test(name))
    .sort();
}
