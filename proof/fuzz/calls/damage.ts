import fc from 'fast-check';
import type { Drawn } from '../subject.ts';
import type { Fields } from './from-schema.ts';
import { wildName, wildText, wildValue } from './wild.ts';
import type { Written } from './write.ts';

/** One error in a call: in a field of it, or in the request. */
export type Damage = Drawn<typeof damages>;

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
    ...['', ' ', '{', '{}', 'null', '[]', '0', '"x"', '{"chat_id":1e400}', '{"chat_id":1,"chat_id":2}', '\ufeff{}'],
    ...['{"__proto__":{"chat_id":1}}', '{"constructor":{"prototype":{"x":1}}}', '{"content":"\\ud800"}'],
    ...['['.repeat(100_000), `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`, '&'.repeat(10_000), 'a=1&a=2&a=3'],
    ...[`{"participants":[${'1,'.repeat(20_000)}1]}`, '%', 'chat_id=%ff', '--\r\n\r\n--'],
    `{${Array.from({ length: 3_000 }, (_, i) => `"k${i}":${i}`).join()}}`,
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

const methods = fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS');

const wrong = <W extends string, S extends object>(what: W, shape: { [K in keyof S]: fc.Arbitrary<S[K]> }) =>
  fc.record({ wrong: fc.constant(what), ...shape }) as fc.Arbitrary<{ wrong: W } & S>;

/** A wrong field is drawn more often than a request that cannot be read: there is more behind it. */
export const damages = fc.oneof(
  { weight: 6, arbitrary: wrong('value', { at: index, value: wildValue }) },
  { weight: 2, arbitrary: wrong('missing', { at: index }) },
  { weight: 2, arbitrary: wrong('unknown', { name: wildName, value: wildValue }) },
  { weight: 2, arbitrary: wrong('twice', { at: index }) },
  wrong('method', { method: methods }),
  wrong('type', { type: fc.constantFrom(...types) }),
  { weight: 2, arbitrary: wrong('body', { body: bodies }) },
  wrong('cut', { at: place }),
  { weight: 2, arbitrary: wrong('byte', { at: place, byte: fc.nat({ max: 255 }) }) },
  wrong('query', { query: queries }),
  wrong('address', { address: fc.constantFrom(...addresses) }),
);

/** Returns the fields with their error. */
export function damageFields(fields: Fields, damage: Damage | undefined): Fields {
  if (damage?.wrong === 'unknown') return [...fields, [damage.name, damage.value]];
  if (fields.length === 0 || !damage || !('at' in damage)) return fields;
  const at = damage.at % fields.length;
  if (damage.wrong === 'missing') return fields.toSpliced(at, 1);
  if (damage.wrong === 'twice') return [...fields, ...fields.slice(at, at + 1)];
  if (damage.wrong === 'value') return fields.map(([name, value], i) => [name, i === at ? damage.value : value]);
  return fields;
}

/** Returns the request with its error. */
export function damageRequest(request: Written, damage: Damage | undefined): Written {
  const { body, address, headers } = request;
  if (damage?.wrong === 'method') return { ...request, method: damage.method };
  if (damage?.wrong === 'type') return { ...request, headers: { ...headers, 'content-type': damage.type } };
  if (damage?.wrong === 'body') return { ...request, body: Buffer.from(damage.body) };
  if (damage?.wrong === 'cut') return { ...request, body: body?.subarray(0, damage.at % (body.length + 1)) };
  if (damage?.wrong === 'byte') return { ...request, body: body && changed(body, damage.at, damage.byte) };
  if (damage?.wrong === 'query') return { ...request, address: `${address}&${damage.query}` };
  return damage?.wrong === 'address' ? { ...request, address: damage.address } : request;
}

function changed(body: Buffer<ArrayBuffer>, at: number, byte: number): Buffer<ArrayBuffer> {
  const copy = Buffer.from(body);
  if (copy.length > 0) copy[at % copy.length] = byte;
  return copy;
}
