import { expect } from 'bun:test';
import { buildContract, defaultLimits, listOperations, ParleyError } from '@parley/contract';
import fc from 'fast-check';
import { readBody } from '../../../server/http/body.ts';
import { parseFields } from '../../../server/http/form.ts';
import { inputDecoder } from '../../../server/http/input.ts';
import { Routes } from '../../../server/http/routes.ts';
import { validate } from '../../../server/http/validate.ts';
import { joined, token, wildName, wildText, wildValue } from '../calls/wild.ts';
import { subject } from '../subject.ts';
import { isA, outcome, outcomeOf } from './outcome.ts';

const rows = listOperations();
const refusal = isA(ParleyError);
const refusedAs =
  (...codes: string[]) =>
  (thrown: unknown) =>
    thrown instanceof ParleyError && codes.includes(thrown.code);

/** A query of the pieces of its syntax. */
const query = joined(token('& = + % %4 %41 %c3%a9 %c3 %ff %00 %25 ; ? # a b []', '\ud800'), 20);

/** Returns whether two hex digits follow every percent sign, and these make UTF-8. */
function isEncoded(text: string): boolean {
  if (/%(?![\da-f]{2})/i.test(text)) return false;
  const runs = text.match(/(?:%[\da-f]{2})+/gi) ?? [];
  const isUtf8 = (run: string) => !Buffer.from(run.replaceAll('%', ''), 'hex').toString().includes('\ufffd');
  return runs.every((run) => isUtf8(run) || run.toLowerCase().includes('%ef%bf%bd'));
}

const urlencoded = fc.property(query, (text) => {
  const { value, refused } = outcome(() => parseFields(text), refusedAs('invalid_request'));
  expect(refused).toBe(!isEncoded(text));
  // The platform would drop a question mark at the beginning.
  if (value && text.isWellFormed()) expect(value).toEqual([...new URLSearchParams(`&${text}`)]);
});

/** Values that are written as strings, in any of the ways of forms, are decoded to the same values. */
const decoded = fc.property(
  fc.integer(),
  fc.boolean(),
  fc.array(fc.integer({ min: 1 }), { maxLength: 20 }),
  fc.constantFrom('participants', 'participants[]', 'JSON'),
  (chat_id, service_wide, participants, writing) => {
    const decode = (name: string) => inputDecoder(rows.find((row) => row.name === name) ?? rows[0] ?? never());
    const strings = (...fields: [string, string][]) => ({ kind: 'strings' as const, fields });
    expect(decode('chats.get')(strings(['chat_id', String(chat_id)]))).toEqual({ chat_id });
    expect(decode('webhooks.register')(strings(['service_wide', String(service_wide)]))).toEqual({ service_wide });
    const list: [string, string][] =
      writing === 'JSON'
        ? [['participants', JSON.stringify(participants)]]
        : participants.map((id) => [writing, String(id)]);
    expect(decode('chats.add_participants')(strings(...list)).participants ?? []).toEqual(participants);
  },
);

const never = (): never => {
  throw new Error('the contract is empty');
};

/** Any input gives a small response, and pollutes no prototype. */
const anyInput = fc.property(
  fc.constantFrom(...rows),
  fc.array(fc.tuple(wildName, wildValue), { maxLength: 60, size: 'max' }),
  fc.boolean(),
  (row, named, isJson) => {
    // Some names occur twice.
    const pairs = named.map(([name, value], i) => [i % 3 === 0 ? name : `${name}${i}`, value] as const);
    const raw = isJson
      ? { kind: 'json' as const, object: Object.fromEntries(pairs) as Record<string, unknown> }
      : { kind: 'strings' as const, fields: pairs.map(([name, value]) => [name, String(value)] as const) };
    try {
      validate(row.input, inputDecoder(row)(raw));
    } catch (thrown) {
      if (!(thrown instanceof ParleyError)) throw thrown;
      expect(thrown.code).toBe('validation_failed');
      expect(thrown.details.length).toBeLessThanOrEqual(20);
      expect(thrown.message).not.toBe('');
      expect(JSON.stringify({ message: thrown.message, details: thrown.details }).length).toBeLessThan(16_384);
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
  },
);

const bodyOf = (type: string, body: Uint8Array<ArrayBuffer>) =>
  readBody(new Request('http://x/', { method: 'POST', headers: { 'content-type': type }, body }), 100_000);

const nastyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  fc.json().map((text) => Buffer.from(text)),
  fc
    .tuple(
      fc.constantFrom('[', '{"a":', '"', '\\u', '&', '%', '=', '--b\r\n', 'é', '0'),
      fc.integer({ min: 1, max: 30_000 }),
    )
    .map(([unit, times]) => Buffer.from(unit.repeat(times)).subarray(0, 100_000)),
);

const types = [
  ...['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=b', 'text/plain', ''],
];

const anyBody = fc.asyncProperty(fc.constantFrom(...types), nastyBytes, async (type, bytes) => {
  const codes = ['invalid_request', 'unsupported_media_type', 'validation_failed'];
  const { value } = await outcomeOf(() => bodyOf(type, Uint8Array.from(bytes)), refusedAs(...codes));
  if (value?.kind === 'json') expect(value.object).toEqual(JSON.parse(Buffer.from(bytes).toString()));
});

const jsonBody = fc.asyncProperty(fc.dictionary(wildText, fc.jsonValue()), async (object) => {
  const read = await bodyOf('application/json', Uint8Array.from(Buffer.from(JSON.stringify(object))));
  expect(read).toEqual({ kind: 'json', object: JSON.parse(JSON.stringify(object)) });
});

const routes = new Routes(buildContract(defaultLimits));

const anyAddress = fc.property(
  fc.constantFrom('messages.php', 'users.php', '__proto__.php', 'constructor.php', '.php', 'x.php'),
  query,
  fc.constantFrom('GET', 'POST', 'HEAD', 'PUT'),
  (file, text, method) => {
    const { value } = outcome(() => routes.find(`${file}?${text}`, method), refusal);
    if (value) expect(rows.map((row) => row.name)).toContain(value.route.row.name);
  },
);

export const fields = [
  subject('a query is read as the platform reads it, or refused where it is not UTF-8', 400, urlencoded),
  subject('strings become what the row takes', 200, decoded),
  subject('any input is taken or refused in few words', 300, anyInput),
  subject('any body is read or refused', 200, anyBody),
  subject('a JSON body is what was written', 100, jsonBody),
  subject('any address leads to a row or nowhere', 300, anyAddress),
];
