import {
  isEventStream,
  isFile,
  listOperations,
  type NamedOperation,
  openApi,
  type Scope,
  schemaName,
  scopes,
} from '@parley/contract';
import { inputTable, outputTable, type Schema, type UnitOf } from './fields.ts';
import { anchor, block, code, codes, json, page, table } from './markdown.ts';

const rows = listOperations();
const { schemas } = (openApi() as { components: { schemas: Readonly<Record<string, Schema>> } }).components;

const intro = `Every operation is \`METHOD {base_url}/<resource>.php?action=<action>\`. With the settings as they come,
\`{base_url}\` is \`http://127.0.0.1:8080/api\`. The same table as OpenAPI 3.1 is served at \`{base_url}/openapi.json\`.

- **Token.** Every call carries \`Authorization: Bearer <token>\`. A token is never read from the address.
  [How to get one](../authorization.md).
- **Input.** A GET takes its fields in the address. A POST takes them in the body, as JSON
  (\`application/json\`), as \`application/x-www-form-urlencoded\` or as \`multipart/form-data\`. In a form or an address a
  list is written \`events[]=a&events[]=b\`, or \`events=a&events=b\`, or as one JSON array. A field that the operation
  does not know is refused, and the refusal names the one that was probably meant.
- **Answer.** \`{"success": true, …}\` with the fields listed below. Answers may gain fields: ignore those you do not
  know. A failure has the HTTP status and the body that [errors](errors.md) describes.
- **Idempotency-Key.** Where an operation honours this header, the same key and input give the same answer again and
  create nothing twice, for at least 24 hours and across restarts. The same key with another input is
  \`idempotency_conflict\`. A key belongs to a user, the app that acts for them, and an operation. Only successes are kept.
- **Ids** are integers below 2^53 and are never given twice. **Times** are ISO 8601 in UTC with milliseconds.
- **Limits.** \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` say how many requests are left.
  Bounds below are the defaults; some are [settings](settings.md).
- **Request id.** Every answer of an operation carries \`X-Request-Id\`; the server's log has a line with the same id.

The examples happen in one small world: users 1 (ada, an administrator), 2 (bob) and 3 (cleo), their chats, and calls
made by ada. \`$PARLEY\` is the base address and \`$TOKEN\` ada's token.`;

export function apiPage(): string {
  const resources = [...new Set(rows.map((row) => row.resource))];
  return page('The API', [
    intro,
    '## Scopes',
    scopeTable(),
    '## Operations',
    table(['Operation', 'Method', 'Summary'], rows.map(contentsRow)),
    ...resources.flatMap((resource) => [
      `## ${resource}.php`,
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
    needed.has(name as Scope) ? words : `${words} (no operation needs it yet)`,
  ]);
  return table(['Scope', 'What it allows'], lines);
}

const contentsRow = (row: NamedOperation) => [`[${row.name}](#${anchor(row.name)})`, row.method, row.summary];

function operation(row: NamedOperation): string[] {
  const scope = row.scopes.length > 0 ? `scope ${row.scopes.map(code).join(' and ')}` : 'any valid token';
  const keyed = row.idempotent ? ' · honours `Idempotency-Key`' : '';
  const input = schemas[`${schemaName(row)}Input`] ?? {};
  return [
    `### ${row.name}`,
    row.summary,
    `${code(`${row.method} /${row.resource}.php?action=${row.action}`)} · ${scope}${keyed}`,
    Object.keys(input.properties ?? {}).length === 0 ? 'It takes no fields.' : inputTable(input, unitIn(row)),
    ...answer(row),
    `Errors: ${row.errors.length > 0 ? `${codes(row.errors)}, and ` : ''}[those of every operation](errors.md).`,
    block('sh', curl(row)),
    ...shown(row),
  ];
}

function answer(row: NamedOperation): string[] {
  if (isFile(row.output)) return ['Answer: the bytes of the file, under the type that it has.'];
  if (isEventStream(row.output)) return ['Answer: `text/event-stream`, which goes on until one side ends it.'];
  return ['Answer:', outputTable(withoutSuccess(schemas[`${schemaName(row)}Output`] ?? {}))];
}

function shown(row: NamedOperation): string[] {
  if (isFile(row.output)) return [];
  if (isEventStream(row.output)) return [block('text', String(row.example.output).trimEnd())];
  return [json({ success: true, ...(row.example.output as object) })];
}

function withoutSuccess({ properties = {}, ...schema }: Schema): Schema {
  const { success, ...others } = properties;
  return { ...schema, properties: others };
}

/** Asks the row itself: a text of two-byte characters at the bound fits only if the bound is in characters. */
function unitIn(row: NamedOperation): UnitOf {
  return (field, most) => {
    const input = { ...(row.example.input as object), [field]: 'é'.repeat(most) };
    return row.input.safeParse(input).success ? 'characters' : 'bytes of UTF-8';
  };
}

function curl(row: NamedOperation): string {
  const input = Object.entries(row.example.input as object);
  const address = `$PARLEY/${row.resource}.php?action=${row.action}`;
  const authorization = `-H "Authorization: Bearer $TOKEN"`;
  if (row.method === 'GET') {
    const query = input.flatMap(([name, value]) => [value].flat().map((one) => `&${name}=${encodeURIComponent(one)}`));
    return `curl "${address}${query.join('')}" ${authorization}`;
  }
  if (input.some(([, value]) => value instanceof File)) {
    const parts = input.map(([name, value]) => `-F ${name}=${value instanceof File ? `@${value.name}` : value}`);
    return `curl "${address}" ${authorization} ${parts.join(' ')}`;
  }
  const body = JSON.stringify(row.example.input).replaceAll("'", String.raw`'\''`);
  return `curl "${address}" ${authorization} \\\n  -H 'Content-Type: application/json' -d '${body}'`;
}

/** What is neither an input, an answer nor the error. */
function recordNames(): string[] {
  const own = new Set(rows.flatMap((row) => [`${schemaName(row)}Input`, `${schemaName(row)}Output`]));
  return Object.keys(schemas)
    .filter((name) => name !== 'Error' && !own.has(name))
    .sort();
}
