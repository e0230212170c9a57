import type { NamedOperation } from '@parley/contract';
import { Bytes } from './value.ts';

/** The encodings of the fields of a POST. A GET has them in its query, with its lists in the same encoding. */
export const writings = ['json', 'brackets', 'repeated', 'lists', 'multipart', 'raw'] as const;
export type Writing = (typeof writings)[number];

/** A request for the API. */
export interface Written {
  readonly method: string;
  /** The URL after `/api/`. */
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer<ArrayBuffer> | undefined;
}

/** Fields with ids in place of placeholders. Names may repeat. */
export type Resolved = readonly (readonly [string, unknown])[];

export function write(row: NamedOperation, fields: Resolved, writing: Writing): Written {
  const address = `${row.resource}.php?action=${row.action}`;
  if (row.method === 'GET') {
    const query = urlencoded(pairs(fields, writing));
    return { method: 'GET', address: query === '' ? address : `${address}&${query}`, headers: {}, body: undefined };
  }
  if (writing === 'raw') return rawFile(address, fields);
  const [type, body] = bodyOf(fields, writing);
  return { method: 'POST', address, headers: { 'content-type': type }, body };
}

function bodyOf(fields: Resolved, writing: Writing): [type: string, body: Buffer<ArrayBuffer>] {
  if (writing === 'json') return ['application/json', Buffer.from(json(fields))];
  const given = pairs(fields, writing);
  if (writing !== 'multipart') return ['application/x-www-form-urlencoded', Buffer.from(urlencoded(given))];
  return [`multipart/form-data; boundary=${boundary}`, multipart(given)];
}

/** Written by hand, because an object cannot have a name twice. */
const json = (fields: Resolved): string =>
  `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(asJson(value))}`).join()}}`;

const asJson = (value: unknown): unknown =>
  value instanceof Bytes ? Buffer.from(value.bytes).toString('latin1') : value;

type Pair = readonly [name: string, value: string | Bytes];

function pairs(fields: Resolved, writing: Writing): Pair[] {
  return fields.flatMap(([name, value]): Pair[] => {
    if (!Array.isArray(value)) return [[name, asText(value)]];
    if (writing === 'lists') return [[name, JSON.stringify(value)]];
    return value.map((one) => [writing === 'repeated' ? name : `${name}[]`, asText(one)]);
  });
}

function asText(value: unknown): string | Bytes {
  if (value instanceof Bytes || typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const urlencoded = (given: readonly Pair[]): string =>
  given.map(([name, value]) => `${percent(name)}=${percent(String(asJson(value)))}`).join('&');

/** Encodes lone surrogates too, as careless clients do. */
export const percent = (text: string): string =>
  [...text]
    .map((character) => (character.isWellFormed() ? encodeURIComponent(character) : surrogate(character)))
    .join('');

function surrogate(half: string): string {
  const code = half.charCodeAt(0);
  return `%ED%${(0x80 | ((code >> 6) & 0x3f)).toString(16)}%${(0x80 | (code & 0x3f)).toString(16)}`;
}

const boundary = 'frontier';

function multipart(given: readonly Pair[]): Buffer<ArrayBuffer> {
  const parts = given.flatMap(([name, value]) => {
    const file = value instanceof Bytes ? `; filename="${quoted(value.name)}"` : '';
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}\r\n\r\n`;
    return [Buffer.from(head), value instanceof Bytes ? value.bytes : Buffer.from(value), Buffer.from('\r\n')];
  });
  return Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
}

/** Escapes as browsers do. */
const quoted = (text: string): string =>
  text.replace(/["\r\n]/g, (mark) => `%${mark.charCodeAt(0).toString(16).padStart(2, '0')}`);

function rawFile(address: string, fields: Resolved): Written {
  const file = fields.map(([, value]) => value).find((value) => value instanceof Bytes);
  const others = fields.filter(([, value]) => !(value instanceof Bytes));
  const query = urlencoded(pairs(others, 'repeated'));
  return {
    method: 'POST',
    address: query === '' ? address : `${address}&${query}`,
    headers: { 'content-type': 'application/octet-stream' },
    body: file ? Buffer.from(file.bytes) : Buffer.from('bytes'),
  };
}
