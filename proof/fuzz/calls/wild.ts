import fc from 'fast-check';
import type { Value } from './value.ts';

/** Text that some parser misreads. */
const nasty = [
  ...['', ' ', '\0', 'a\0b', '\ud800', '\udc00x', '\ufeff', '\u202e', '\u2028', '\r\n\r\n', '%', '%zz', '%00'],
  ...['%ed%a0%80', '[', '[]', '[1,[2]]', '{}', 'null', 'true', '-0', '1e400', '0x10', '1.5', '١', '９'],
  ...['9007199254740993', '99999999999999999999', "' OR 1=1 --", '"; DROP TABLE users', '\\', '$1', '__proto__', '*'],
  ...['"a" NEAR "b"', 'AND', '../../etc/passwd', 'ﷺ'.repeat(300), 'a\u0301'.repeat(500), '👩‍👩‍👧‍👦'],
] as const;

export const wildText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...nasty),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  // Longer than each limit.
  fc.constantFrom(65, 101, 256, 401, 1_025, 4_097, 16_385, 70_000).map((length) => 'x'.repeat(length)),
);

const wildNumber = fc.oneof(
  fc.constantFrom(0, -1, -0, 0.5, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 63, 1e21, 1e308),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

const deep = (depth: number): Value => {
  let value: Value = [];
  for (let i = 0; i < depth; i++) value = [value];
  return value;
};

/** Any JSON value. */
export const wildValue: fc.Arbitrary<Value> = fc.oneof(
  { weight: 4, arbitrary: wildText },
  { weight: 3, arbitrary: wildNumber },
  fc.constantFrom<Value>(null, true, false, [], {}, [[]], [null], [{}], deep(300)),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Value>,
  fc.constant(Array.from({ length: 1_200 }, (_, i) => i + 1)),
);

export const wildName: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', ' ', 'action', 'success', 'chatId'],
    ...['chat_id[]', '[]'],
  ),
  wildText,
);

/** Any header value. */
export const headerText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 60 }),
  fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)), maxLength: 60 }),
  fc.constantFrom('', '0', '-1', '1e3', '*', '"', '""', ';', ',', ',,,', '='.repeat(50), 'x'.repeat(3_000)),
);

/** URLs that look local, and lead a browser to another site. */
export const elsewhere: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('/.', '/..', '/%2e', '/a/..', '/', '/\t', '/\n', '', 'https:', 'javascript:'),
    fc.constantFrom('//', '/\\', '\\\\', '/', '@', ':'),
  )
  .map((pair) => `${pair.join('')}evil.example`);

/** One of some tokens, which are separated by spaces, or another short text. */
export const token = (tokens: string, ...more: string[]): fc.Arbitrary<string> =>
  fc.oneof(fc.constantFrom(...tokens.split(' '), ...more), fc.string({ unit: 'grapheme', maxLength: 5 }));

export const joined = (pieces: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> =>
  fc.array(pieces, { maxLength }).map((all) => all.join(''));
