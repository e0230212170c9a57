import { join } from 'node:path';
import {
  errors,
  eventTable,
  isEventStream,
  isFile,
  listOperations,
  type NamedOperation,
  schemaName,
  signalTable,
} from '@parley/contract';
import { z } from 'zod';
import { names } from '../../sdk/names.ts';
import { pages } from '../../sdk/pages.ts';
import type { Schema } from './fields.ts';

export const sdkOperationsFile = join(import.meta.dir, '../../sdk/operations.ts');

const rows = listOperations();

/** Named records, which several operations share. */
const records = new Map<string, Schema & Fields>();

interface Fields {
  readonly additionalProperties?: Schema | boolean;
  readonly const?: unknown;
  readonly $defs?: Readonly<Record<string, Schema & Fields>>;
}

type Use = 'input' | 'output';

/** Returns `sdk/operations.ts`: what the client knows of the contract, as data and types without a schema library. */
export function sdkOperations(): string {
  const operations = rows.flatMap((row) => [
    typeOf(`${schemaName(row)}Input`, row.input, 'input'),
    ...(kindOf(row) === 'json' ? [typeOf(`${schemaName(row)}Output`, row.output, 'output')] : []),
  ]);
  const events = eventTypes('EventData', eventTable);
  const signals = eventTypes('SignalData', signalTable);
  return [
    '// Generated from the contract by `npm run docs`. Do not edit.',
    "import type { Call, Download, OpenStream, PagedCall } from './methods.ts';",
    ...[...records].map(([name, schema]) => `export ${objectType(name, schema, 'output')}`).sort(),
    ...operations,
    `/** The input and the output of each operation. */\nexport interface Operations {\n${rows.map(operationLine).join('\n')}\n}`,
    ...methodTypes(),
    `/** The methods of a client by resource. */\nexport interface Methods {\n${resources()
      .map((resource) => `  readonly ${resource}: ${methodsName(resource)};`)
      .join('\n')}\n}`,
    events,
    signals,
    `export type ErrorCode =\n${Object.keys(errors)
      .map((code) => `  | '${code}'`)
      .join('\n')};`,
    `export const signalNames = [${quoted(Object.keys(signalTable))}] as const;`,
    runtimeTable(),
  ]
    .join('\n\n')
    .concat('\n');
}

const resources = () => [...new Set(rows.map((row) => row.resource))];
const methodsName = (resource: string) => `${resource[0]?.toUpperCase()}${resource.slice(1)}Methods`;
const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(', ');

function kindOf({ output }: NamedOperation): 'json' | 'file' | 'stream' {
  if (isFile(output)) return 'file';
  return isEventStream(output) ? 'stream' : 'json';
}

function operationLine(row: NamedOperation): string {
  const output = kindOf(row) === 'json' ? `${schemaName(row)}Output` : 'Response';
  return `  '${row.name}': { input: ${schemaName(row)}Input; output: ${output} };`;
}

/** The methods of each resource: the names of the SDK first, then those of the API. */
function methodTypes(): string[] {
  return resources().map((resource) => {
    const own = namesOf(resource);
    const readable = Object.entries(own).map(([method, name]) => methodLine(method, rowNamed(name)));
    const aliases = rows
      .filter((row) => row.resource === resource && own[row.action] === undefined)
      .map((row) => methodLine(row.action, row));
    return `export interface ${methodsName(resource)} {\n${[...readable, ...aliases].join('\n')}\n}`;
  });
}

const namesOf = (resource: string): Readonly<Record<string, string>> =>
  (names as Readonly<Record<string, Readonly<Record<string, string>>>>)[resource] ?? {};

function rowNamed(name: string): NamedOperation {
  const row = rows.find((one) => one.name === name);
  if (!row) throw new Error(`sdk/names.ts names ${name}, which the contract does not have.`);
  return row;
}

function methodLine(method: string, row: NamedOperation): string {
  return `  /** ${row.summary} */\n  readonly ${method}: ${callType(row)};`;
}

function callType(row: NamedOperation): string {
  const kind = kindOf(row);
  if (kind === 'file') return `Download<'${row.name}'>`;
  if (kind === 'stream') return `OpenStream<'${row.name}'>`;
  return `${row.name in pages ? 'PagedCall' : 'Call'}<'${row.name}'>`;
}

function eventTypes(
  name: string,
  table: Readonly<Record<string, { readonly when: string; readonly data: z.ZodType }>>,
): string {
  const lines = Object.entries(table).map(
    ([event, { when, data }]) =>
      `  /** Sent when ${when}. */\n  ${event}: ${inlineType(jsonSchema(data, 'output'), 'output', '  ')};`,
  );
  return `export interface ${name} {\n${lines.join('\n')}\n}`;
}

/** Generates the part of an operation that the client reads at run time. */
function runtimeTable(): string {
  const lines = resources().map((resource) => {
    const own = rows.filter((row) => row.resource === resource).map((row) => `    ${row.action}: ${flags(row)},`);
    return `  ${resource}: {\n${own.join('\n')}\n  },`;
  });
  return `/** How each operation is called. */\nexport const operations = {\n${lines.join('\n')}\n} as const;`;
}

function flags(row: NamedOperation): string {
  const kind = kindOf(row);
  const parts = [
    `method: '${row.method}'`,
    ...(kind === 'json' ? [] : [`kind: '${kind}'`]),
    ...(row.idempotent ? ['idempotent: true'] : []),
    ...(row.rawFile ? ['form: true'] : []),
  ];
  return `{ ${parts.join(', ')} }`;
}

function jsonSchema(type: z.ZodType, io: Use): Schema & Fields {
  const schema = z.toJSONSchema(type, { io, unrepresentable: 'any' }) as Schema & Fields;
  for (const [name, record] of Object.entries(schema.$defs ?? {})) records.set(recordName(name), record);
  return schema;
}

const typeOf = (name: string, type: z.ZodType, use: Use) => `export ${objectType(name, jsonSchema(type, use), use)}`;

function objectType(name: string, schema: Schema & Fields, use: Use): string {
  if (schema.properties && Object.keys(schema.properties).length === 0) {
    return `type ${name} = Record<never, never>;`;
  }
  if (schema.properties) return `interface ${name} ${inlineType(schema, use, '')}`;
  return `type ${name} = ${inlineType(schema, use, '')};`;
}

function inlineType(schema: Schema & Fields, use: Use, indent: string): string {
  if (schema.$ref) return recordName(schema.$ref);
  if (schema.enum) return schema.enum.map((value) => (typeof value === 'string' ? `'${value}'` : value)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf) return [...new Set(schema.anyOf.map((one) => inlineType(one, use, indent)))].join(' | ');
  if (schema.type === 'array') {
    const item = inlineType(schema.items ?? {}, use, indent);
    const list = item.includes('|') ? `(${item})[]` : `${item}[]`;
    return use === 'input' ? `readonly ${list}` : list;
  }
  if (schema.type === 'object') return fieldsType(schema, use, indent);
  if (schema.format === 'binary') return 'File | Blob';
  return [schema.type]
    .flat()
    .map((type) => scalars[String(type)] ?? 'unknown')
    .join(' | ');
}

const scalars: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

function fieldsType(schema: Schema & Fields, use: Use, indent: string): string {
  const { properties, required = [], additionalProperties } = schema;
  if (!properties) {
    const value = typeof additionalProperties === 'object' ? inlineType(additionalProperties, use, indent) : 'unknown';
    return `Record<string, ${value}>`;
  }
  const lines = Object.entries(properties).flatMap(([name, field]) => {
    const isOptional = !required.includes(name);
    const type = inlineType(field, use, `${indent}  `);
    const comment = field.description === undefined ? [] : [`${indent}  /** ${sentence(field.description)} */`];
    return [...comment, `${indent}  ${name}${isOptional ? '?' : ''}: ${type}${isOptional ? ' | undefined' : ''};`];
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

const sentence = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}.`.replaceAll('*/', '*\\/');

/** Records that have the name of a class of browsers. */
const renamed: Readonly<Record<string, string>> = { File: 'FileInfo', Event: 'LoggedEvent' };

function recordName(reference: string): string {
  const name = reference.split('/').at(-1) ?? '';
  return renamed[name] ?? name;
}
