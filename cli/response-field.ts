import { eventTable, listOperations, type Operation, type OperationName } from '@parley/contract';
import { isIndex, namesIn } from './field.ts';
import { requireKnown } from './known.ts';

interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
}

/**
 * Throws a usage error that suggests a name if the response of an operation cannot have a field at the path, so that a misspelled
 * one is noticed before the call.
 */
export function requireResponseField(operation: OperationName, path: string): void {
  const row = listOperations().find(({ name }) => name === operation);
  if (!row) throw new Error(`There is no operation ${operation}.`);
  requireField(schemaOf(row.output), path);
}

/** The id of an event, and that of a delivery, have different names. */
export type EventIdName = 'event_id' | 'id';

/** The same for an event. Its data may have the fields of any event. */
export function requireEventField(id: EventIdName, path: string): void {
  const data = Object.values(eventTable).map((row) => schemaOf(row.data));
  const $defs = Object.assign({}, ...data.map((schema) => schema.$defs));
  requireField({ $defs, properties: { [id]: {}, event: {}, timestamp: {}, data: { anyOf: data } } }, path);
}

const schemaOf = (type: Operation['output']): Schema =>
  type.toJSONSchema({ io: 'output', unrepresentable: 'any' }) as Schema;

function requireField(root: Schema, path: string): void {
  let schemas: readonly Schema[] = [root];
  for (const name of namesIn(path)) {
    const found = schemas.flatMap((one) => variants(one, root));
    if (isIndex(name) && found.some(({ items }) => items)) {
      schemas = found.flatMap(({ items }) => items ?? []);
      continue;
    }
    const objects = found.flatMap((one) => elements(one, root));
    // Such as the data of an event, which the schema says nothing about.
    if (objects.some(({ additionalProperties }) => additionalProperties)) return;
    const known = [...new Set(objects.flatMap(({ properties = {} }) => Object.keys(properties)))];
    requireKnown('field', name, known);
    schemas = objects.flatMap(({ properties }) => properties?.[name] ?? []);
  }
}

/** Returns the alternatives of a schema, such as those besides null. */
function variants(schema: Schema, root: Schema): readonly Schema[] {
  if (schema.$ref !== undefined) return variants(root.$defs?.[schema.$ref.replace('#/$defs/', '')] ?? {}, root);
  return schema.anyOf?.flatMap((one) => variants(one, root)) ?? [schema];
}

/** Returns the schemas of the elements of a list, or the schema itself. */
const elements = (schema: Schema, root: Schema): readonly Schema[] =>
  schema.items ? variants(schema.items, root).flatMap((one) => elements(one, root)) : [schema];
