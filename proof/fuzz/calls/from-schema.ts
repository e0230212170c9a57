import type { NamedOperation } from '@parley/contract';
import fc from 'fast-check';
import { z } from 'zod';
import { browserKeys } from '../../../server/test/support/stage.ts';
import { Bytes, type Kind, Known, kindOf, type Value } from './value.ts';
import { wildText } from './wild.ts';

type Bound = 'minimum' | 'exclusiveMinimum' | 'maximum' | 'minLength' | 'maxLength' | 'minItems' | 'maxItems';

/** The part of JSON Schema that the rows use. */
interface Schema extends Partial<Record<Bound, number>>, Partial<Record<'type' | 'format' | 'pattern', string>> {
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

export type Fields = readonly (readonly [name: string, value: Value])[];

/** Returns inputs that the schema of the row describes. */
export function inputsOf(row: NamedOperation): fc.Arbitrary<Fields> {
  const { properties = {}, required = [] } = z.toJSONSchema(row.input, { io: 'input' }) as Schema;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const field = valuesOf(name, schema).map((value): Fields => [[name, value]]);
    if (required.includes(name)) return field;
    // A file excludes many other cases.
    const weight = schema.format === 'binary' ? 3 : 1;
    return fc.oneof({ weight, arbitrary: fc.constant<Fields>([]) }, field);
  });
  return fc.tuple(...fields).map((given) => given.flat());
}

/** A text that fits, and now and then another. */
const mostly = (text: string): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(text) }, fc.string({ unit: 'binary', maxLength: 100 }));

/** Fields that need more than their schema says to be accepted. */
const special: Readonly<Record<string, fc.Arbitrary<Value>>> = {
  // These URLs have no listener, and requests to them never leave this machine.
  url: fc.constantFrom(
    ...['http://127.0.0.1:9/hook', 'http://[::1]:9/a?b=c#d', 'http://127.1:9', 'https://127.0.0.1:9/ü'],
    ...['http://10.1.2.3/', 'http://169.254.169.254/latest', 'http://0x7f.1:9/', 'http://user:pass@127.0.0.1:9/'],
    ...['ftp://127.0.0.1/', 'http://[::ffff:10.0.0.1]/'],
  ),
  endpoint: fc.constantFrom(
    ...[
      'http://127.0.0.1:9/push/a',
      'http://127.0.0.1:9/push/b',
      'http://[::1]:9/push/c',
      'https://127.0.0.1:9/push/d',
    ],
    ...['http://10.1.2.3/', 'https://169.254.169.254/', 'ftp://127.0.0.1/', ''],
  ),
  p256dh: mostly(browserKeys.p256dh),
  auth: mostly(browserKeys.auth),
  redirects: fc.oneof(
    fc.subarray(['https://app.example/callback', 'http://127.0.0.1/', 'com.example.app:/callback'], { minLength: 1 }),
    fc.array(fc.constantFrom('https://app.example/#', 'http://app.example/', 'javascript:x', ''), { minLength: 1 }),
  ),
};

function valuesOf(name: string, schema: Schema): fc.Arbitrary<Value> {
  const own = special[name];
  if (own) return own;
  if (schema.anyOf) {
    const other = schema.anyOf.find(({ type }) => type !== 'null') ?? {};
    return fc.oneof({ weight: 3, arbitrary: valuesOf(name, other) }, fc.constant(null));
  }
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.type === 'integer') return numberOf(name, schema);
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'array') return listOf(name, schema);
  return textOf(schema);
}

const largest = Number.MAX_SAFE_INTEGER;

function numberOf(name: string, { minimum, exclusiveMinimum, maximum = largest }: Schema): fc.Arbitrary<Value> {
  const min = minimum ?? (exclusiveMinimum === undefined ? -largest : exclusiveMinimum + 1);
  const any = fc.oneof(fc.integer({ min, max: maximum }), fc.constantFrom(min, maximum));
  const kind = kindOf(name);
  return kind ? fc.oneof({ weight: 9, arbitrary: known(kind) }, any) : any;
}

const known = (kind: Kind): fc.Arbitrary<Value> =>
  fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 39 })).map((pick) => new Known(kind, pick));

function listOf(name: string, { items = {}, minItems = 0, maxItems = 100 }: Schema): fc.Arbitrary<Value> {
  return fc.oneof(
    {
      weight: 9,
      arbitrary: fc.array(valuesOf(name, items), { minLength: minItems, maxLength: Math.min(4, maxItems) }),
    },
    valuesOf(name, items).map((one) => Array.from({ length: maxItems }, () => one)),
  );
}

function textOf({ format, pattern, minLength = 0, ...schema }: Schema): fc.Arbitrary<Value> {
  if (format === 'binary') return file;
  if (format === 'date-time') return time;
  // The pattern of a text of some length excludes a few characters. Blanks and wild text reach further.
  if (pattern !== undefined && schema.maxLength === undefined) return fc.stringMatching(new RegExp(pattern));
  const { maxLength = 100 } = schema;
  return fc.oneof(
    { weight: 6, arbitrary: fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(30, maxLength) }) },
    { weight: 2, arbitrary: fc.constantFrom('x'.repeat(maxLength), 'é'.repeat(Math.floor(maxLength / 2)), '👋') },
    wildText,
  );
}

/** A PNG of one pixel. */
export const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGM4oKAAAAKkAQHjTKctAAAAAElFTkSuQmCC',
  'base64',
);

const file = fc
  .tuple(
    fc.oneof(fc.constantFrom('a.txt', 'b.png', 'ü.html', ''), wildText),
    fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constant(onePixel)),
  )
  .map(([name, bytes]) => new Bytes(name, Uint8Array.from(bytes)));

const offset = fc.constantFrom('Z', '+00:00', '-23:59', '+23:59', '+02:00');

const time = fc
  .tuple(
    fc.date({ noInvalidDate: true, min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z') }),
    fc.constantFrom('', '.1', '.123456789'),
    offset,
  )
  .map(([date, fraction, zone]) => `${date.toISOString().slice(0, 19)}${fraction}${zone}`);
