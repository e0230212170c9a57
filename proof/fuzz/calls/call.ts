import { isEventStream, isFile, type NamedOperation } from '@parley/contract';
import fc from 'fast-check';
import { type Caller, callers } from '../people.ts';
import { type Damage, damages } from './damage.ts';
import { type Fields, inputsOf } from './from-schema.ts';
import { Bytes } from './value.ts';
import { headerText } from './wild.ts';
import { type Writing, writings } from './write.ts';

/** A call of an operation as it is drawn, independent of the state of the server. */
export interface Call {
  readonly operation: string;
  readonly caller: Caller;
  readonly writing: Writing;
  readonly fields: Fields;
  readonly headers: Readonly<Record<string, string>>;
  readonly damage: Damage | undefined;
}

/** Returns calls of a row: half of them are correct, the others have one error. */
export function callsOf(row: NamedOperation): fc.Arbitrary<Call> {
  return fc
    .record({
      operation: fc.constant(row.name as string),
      caller: row.inBrowser ? visitor : caller,
      writing: fc.constantFrom(...writings.filter((writing) => writing !== 'raw' || row.rawFile)),
      fields: inputsOf(row),
      headers: headersOf(row),
      damage: fc.oneof(fc.constant(undefined), damages),
    })
    .map((call) => ({ ...call, writing: fits(call) ? call.writing : 'multipart' }));
}

/** A file needs a form or a raw body, unless the encoding is the error. */
const fits = ({ fields, writing, damage }: Call): boolean =>
  damage !== undefined || writing === 'raw' || !fields.some(([, value]) => value instanceof Bytes);

/** Mostly a caller with access: others only see refusals. */
const caller: fc.Arbitrary<Caller> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Caller>('owner') },
  { weight: 2, arbitrary: fc.constantFrom<Caller>('admin', 'member', 'root') },
  { weight: 2, arbitrary: fc.constantFrom(...callers) },
);

/** Mostly the browser, for operations that nobody else may call. */
const visitor: fc.Arbitrary<Caller> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Caller>('browser') },
  { weight: 1, arbitrary: caller },
);

type Named = Readonly<Record<string, fc.Arbitrary<string>>>;

/** Returns headers, mostly those that the row uses, with valid and invalid values. */
function headersOf(row: NamedOperation): fc.Arbitrary<Readonly<Record<string, string>>> {
  const own: Named = {
    ...(row.idempotent && { 'idempotency-key': fc.oneof(fc.constantFrom('first', 'second', 'third'), headerText) }),
    ...(isEventStream(row.output) && { 'last-event-id': fc.oneof(fc.nat().map(String), headerText) }),
    ...(isFile(row.output) && ofFiles),
  };
  const entries = [anywhere, own].flatMap((named, i) =>
    Object.entries(named).map(([name, value]) => ({
      weight: i === 0 ? 1 : 4,
      arbitrary: value.map((text) => [name, text] as const),
    })),
  );
  return fc.array(fc.oneof(...entries), { maxLength: 2 }).map((given) => Object.fromEntries(given));
}

const anywhere: Named = {
  origin: fc.constantFrom('null', 'https://elsewhere.example', 'x'),
  accept: fc.constantFrom('text/html', 'application/json', '*/*;q=nonsense'),
  'x-forwarded-for': fc.oneof(fc.constantFrom('1.2.3.4', '::1, 5.6.7.8', ',,,', 'unknown'), headerText),
  'x-http-method-override': fc.constantFrom('GET', 'POST', 'DELETE'),
  'sec-fetch-site': fc.constantFrom('same-origin', 'cross-site'),
  'content-encoding': fc.constantFrom('gzip', 'identity', 'br'),
  'x-request-id': headerText,
};

const date = fc
  .date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01T00:00:00Z') })
  .map((at) => at.toUTCString());
const tag = fc.constantFrom('*', '""', '"x"', 'W/"x"', '"', ', ,');
const number = fc.oneof(fc.nat({ max: 400 }), fc.nat()).map(String);

const ofFiles: Named = {
  range: fc.oneof(
    fc.tuple(fc.option(number, { nil: '' }), fc.option(number, { nil: '' })).map(([a, b]) => `bytes=${a}-${b}`),
    fc.constantFrom('bytes=0-0,2-3', 'bytes=-0', 'bytes = 1 - 2', 'lines=1-2', `bytes=${'9'.repeat(400)}-`),
    headerText,
  ),
  'if-range': fc.oneof(tag, date, headerText),
  'if-match': fc.oneof(tag, headerText),
  'if-none-match': fc.oneof(tag, headerText),
  'if-modified-since': fc.oneof(date, headerText),
  'if-unmodified-since': fc.oneof(date, headerText),
};
