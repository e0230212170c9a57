import { anchor, code, table } from './markdown.ts';

/** The part of JSON Schema that the contract uses. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly (string | number)[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly $ref?: string;
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
}

/** JSON Schema counts the length of a text in characters. The server counts most texts in bytes. */
export type UnitOf = (field: string, max: number) => 'characters' | 'bytes of UTF-8';

/** Returns a table with a row for each input field. */
export function inputTable(schema: Schema, unitOf: UnitOf): string {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    code(name),
    typeOf(field),
    schema.required?.includes(name) ? 'yes' : '',
    field.default === undefined ? '' : code(JSON.stringify(field.default)),
    boundsOf(field, (max) => unitOf(name, max)),
    meaningOf(field),
  ]);
  return table(['Field', 'Type', 'Required', 'Default', 'Bounds', 'Meaning'], rows);
}

/** Returns a table with a row for each output field, including the fields of nested objects that have no schema name. */
export function outputTable(schema: Schema): string {
  return table(['Field', 'Type', 'Meaning'], outputRows(schema, ''));
}

function outputRows(schema: Schema, prefix: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const optional = schema.required?.includes(name) ? '' : ' (optional)';
    const row = [code(prefix + name), `${typeOf(field)}${optional}`, meaningOf(field)];
    return [row, ...outputRows(field, `${prefix}${name}.`)];
  });
}

export function typeOf(schema: Schema): string {
  if (schema.$ref) return recordLink(schema.$ref);
  if (schema.enum) return schema.enum.map((value) => code(`${value}`)).join(' or ');
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.type === 'array') return `list of ${schema.items ? typeOf(schema.items) : 'anything'}`;
  if (schema.format === 'date-time') return 'time';
  if (schema.format === 'binary') return 'file';
  return [schema.type ?? 'anything'].flat().join(' or ');
}

function recordLink(reference: string): string {
  const name = reference.split('/').at(-1) ?? '';
  return `[${name}](api.md#${anchor(name)})`;
}

function meaningOf(schema: Schema): string {
  const own = [schema, ...(schema.anyOf ?? [])].find((s) => s.description)?.description;
  const each = schema.items && meaningOf(schema.items);
  return own ?? (each ? `each: ${each}` : '');
}

function boundsOf(schema: Schema, unit: (max: number) => string): string {
  const { minimum, exclusiveMinimum, minLength, maxLength = 0, minItems, maxItems, pattern } = schema;
  const min = minimum ?? (exclusiveMinimum === undefined ? undefined : exclusiveMinimum + 1);
  const max = schema.maximum === Number.MAX_SAFE_INTEGER ? undefined : schema.maximum;
  if (schema.type === 'array') return range(minItems, maxItems, 'elements');
  if (schema.type === 'integer') return range(min, max, '');
  if (maxLength > 0) return range(minLength, maxLength, unit(maxLength));
  return pattern ? `matches ${code(pattern)}` : '';
}

function range(min: number | undefined, max: number | undefined, unit: string): string {
  const number = (n: number) => n.toLocaleString('en');
  if (min !== undefined && max !== undefined) return `${number(min)} to ${number(max)} ${unit}`.trim();
  if (min !== undefined) return `at least ${number(min)} ${unit}`.trim();
  return max === undefined ? '' : `at most ${number(max)} ${unit}`.trim();
}
