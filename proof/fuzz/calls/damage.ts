import fc from 'fast-check';
import type { Fields } from './from-schema.ts';
import type { Value } from './value.ts';
import { wildName, wildText, wildValue } from './wild.ts';
import type { Written } from './write.ts';

/** One thing that is wrong with a call: with a field of it, or with the request that it is written as. */
export type Damage =
  | { readonly wrong: 'missing'; readonly at: number }
  | { readonly wrong: 'unknown'; readonly name: string; readonly value: Value }
  | { readonly wrong: 'value'; readonly at: number; readonly value: Value }
  | { readonly wrong: 'twice'; readonly at: number }
  | { readonly wrong: 'method'; readonly method: string }
  | { readonly wrong: 'type'; readonly type: string }
  | { readonly wrong: 'body'; readonly body: string }
  | { readonly wrong: 'cut'; readonly at: number }
  | { readonly wrong: 'byte'; readonly at: number; readonly byte: number }
  | { readonly wrong: 'query'; readonly query: string }
  | { readonly wrong: 'address'; readonly address: string };

const index = fc.nat({ max: 9 });
const place = fc.nat({ max: 2_000 });

const types = [
  ...['', 'application/json', 'application/json; charset=utf-16', 'APPLICATION/JSON'],
  ...['application/x-www-form-urlencoded', 'multipart/form-data', 'multipart/form-data; boundary='],
  ...['multipart/form-data; boundary="x', `multipart/form-data; boundary=${'b'.repeat(300)}`, 'text/plain'],
  ...['application/octet-stream', ';;;'],
];

const bodies = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '{',
    '{}',
    'null',
    '[]',
    '0',
    '"x"',
    '{"chat_id":1e400}',
    '{"chat_id":1,"chat_id":2}',
    '{"__proto__":{"chat_id":1}}',
    '{"constructor":{"prototype":{"x":1}}}',
    '\ufeff{}',
    '{"content":"\\ud800"}',
    `${'['.repeat(100_000)}`,
    `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
    `{${Array.from({ length: 3_000 }, (_, i) => `"k${i}":${i}`).join()}}`,
    `{"participants":[${'1,'.repeat(20_000)}1]}`,
    '&'.repeat(10_000),
    'a=1&a=2&a=3',
    '%',
    'chat_id=%ff',
    '--\r\n\r\n--',
  ),
  fc.string({ unit: 'binary', maxLength: 300 }),
  wildText,
);

const queries = fc.oneof(
  fc.constantFrom(
    ...['action=me', 'action', '&&&', '%', 'chat_id=1', '__proto__=1', 'a=1&a=2', '=', 'x=%ff', '#'],
    ...['participants[]=1'],
  ),
  wildText.map((text) => `x=${encodeURIComponent(text.toWellFormed())}`),
);

const addresses = [
  ...['messages.php', 'messages.php?action=', 'messages.php?action=toString', 'messages.php?action=__proto__'],
  ...['messages.php?ACTION=list', 'constructor.php?action=list', '__proto__.php?action=toString', '.php'],
  ...['users.php?action=me&action=me', 'users.php?action=%6de', 'users.php?action=m%00e', 'users.php?action=%ff'],
  ...[`users.php?action=${'x'.repeat(5_000)}`, 'USERS.php?action=me'],
];

/** A field that is wrong is drawn more often than a request that cannot be read: there is more behind it. */
export const damages: fc.Arbitrary<Damage> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ wrong: fc.constant('value' as const), at: index, value: wildValue }) },
  { weight: 2, arbitrary: fc.record({ wrong: fc.constant('missing' as const), at: index }) },
  { weight: 2, arbitrary: fc.record({ wrong: fc.constant('unknown' as const), name: wildName, value: wildValue }) },
  { weight: 2, arbitrary: fc.record({ wrong: fc.constant('twice' as const), at: index }) },
  fc.record({
    wrong: fc.constant('method' as const),
    method: fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
  }),
  fc.record({ wrong: fc.constant('type' as const), type: fc.constantFrom(...types) }),
  { weight: 2, arbitrary: fc.record({ wrong: fc.constant('body' as const), body: bodies }) },
  fc.record({ wrong: fc.constant('cut' as const), at: place }),
  { weight: 2, arbitrary: fc.record({ wrong: fc.constant('byte' as const), at: place, byte: fc.nat({ max: 255 }) }) },
  fc.record({ wrong: fc.constant('query' as const), query: queries }),
  fc.record({ wrong: fc.constant('address' as const), address: fc.constantFrom(...addresses) }),
);

/** What is wrong with the fields. */
export function damageFields(fields: Fields, damage: Damage | undefined): Fields {
  if (damage?.wrong === 'unknown') return [...fields, [damage.name, damage.value]];
  if (fields.length === 0 || !damage || !('at' in damage)) return fields;
  const at = damage.at % fields.length;
  if (damage.wrong === 'missing') return fields.toSpliced(at, 1);
  if (damage.wrong === 'twice') return [...fields, ...fields.slice(at, at + 1)];
  if (damage.wrong === 'value') return fields.map(([name, value], i) => [name, i === at ? damage.value : value]);
  return fields;
}

/** What is wrong with the request. */
export function damageRequest(request: Written, damage: Damage | undefined): Written {
  const { body } = request;
  switch (damage?.wrong) {
    case 'method':
      return { ...request, method: damage.method };
    case 'type':
      return { ...request, headers: { ...request.headers, 'content-type': damage.type } };
    case 'body':
      return { ...request, body: Buffer.from(damage.body) };
    case 'cut':
      return { ...request, body: body?.subarray(0, damage.at % (body.length + 1)) };
    case 'byte':
      return { ...request, body: body && changed(body, damage.at, damage.byte) };
    case 'query':
      return { ...request, address: `${request.address}&${damage.query}` };
    case 'address':
      return { ...request, address: damage.address };
    default:
      return request;
  }
}

function changed(body: Buffer<ArrayBuffer>, at: number, byte: number): Buffer<ArrayBuffer> {
  const copy = Buffer.from(body);
  if (copy.length > 0) copy[at % copy.length] = byte;
  return copy;
}
