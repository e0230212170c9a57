import { expect } from 'bun:test';
import { ParleyError } from '@parley/contract';
import fc from 'fast-check';
import { readForm } from '../../../server/http/form-data.ts';
import { readPartHead } from '../../../server/http/part-head.ts';
import { token } from '../calls/wild.ts';
import { subject } from '../subject.ts';
import { outcome, outcomeOf } from './outcome.ts';

const broken = (thrown: unknown) => thrown instanceof ParleyError && thrown.code === 'invalid_request';

const name = fc.string({ unit: 'grapheme', maxLength: 30 }).filter((text) => !/\p{Cc}/u.test(text));

/** The ways clients write a name: browsers escape a quote as %22, others with a backslash, and some follow RFC 8187. */
const writers: Readonly<Record<string, (name: string) => string>> = {
  browser: (text) => `filename="${text.replaceAll('"', '%22')}"`,
  backslash: (text) => `filename="${text.replace(/["\\]/g, '\\$&')}"`,
  extended: (text) => `filename="other"; filename*=UTF-8''${encodeURIComponent(text).replace(/['*]/g, percent)}`,
};

const percent = (mark: string): string => `%${mark.charCodeAt(0).toString(16)}`;

const partHead = fc.property(
  name,
  fc.constantFrom(...Object.keys(writers)),
  fc.constantFrom('\r\nContent-Type: text/plain', '', '\r\nX: "; name=\\"y'),
  (filename, writer, more) => {
    // The writers disagree on these.
    fc.pre(!/\\["\\]|\\$/.test(filename) && !/%(?:22|0d|0a)/i.test(filename));
    const head = `\r\nContent-Disposition: form-data; name="field"; ${writers[writer]?.(filename)}${more}\r\n`;
    expect(readPartHead(Buffer.from(head))).toEqual({ name: 'field', filename });
  },
);

const parameter = fc
  .tuple(
    fc.constantFrom('name', 'filename', 'filename*', 'x', ''),
    fc.constantFrom('=', ' = ', ''),
    token(`utf-8''%ff utf-8''% utf-8''a latin1''a " "a a" "\\" "%22"`, '"\r\n"', 'a b'),
  )
  .map((parts) => parts.join(''));

/** Well-formed parameters with any value. */
const wellWritten = fc
  .tuple(
    fc.constantFrom('name', 'filename', 'filename*'),
    fc.array(fc.constantFrom('%ff', '%', '%c3%a9', 'a', "'", '%22')),
  )
  .map(([name, pieces]) =>
    name === 'filename*' ? `${name}=utf-8''${pieces.join('')}` : `${name}="${pieces.join('')}"`,
  );

const headPiece = fc.oneof(
  { weight: 6, arbitrary: wellWritten.map((text) => `; ${text}`) },
  { weight: 2, arbitrary: parameter.map((text) => `; ${text}`) },
  token('\r\n \n \t', '\r\n ', ' '.repeat(500), ';'.repeat(500), '\\'.repeat(501), '; a="b"'.repeat(200)),
);

const anyHead = fc.property(
  fc.constantFrom('form-data; name="x"', 'form-data', 'attachment', ''),
  fc.array(headPiece, { maxLength: 8 }),
  (kind, pieces) => {
    const text = `\r\nContent-Disposition: ${kind}${pieces.join('')}\r\n`.slice(0, 16_000);
    const { value } = outcome(() => readPartHead(Buffer.from(text)), broken);
    if (value) expect(typeof value.name).toBe('string');
  },
);

const formPiece = fc.oneof(
  fc.constantFrom('--b', '--b\r\n', '\r\n--b\r\n', '\r\n--b--', '\r\n--b--\r\n', '--', '\r\n', '\r\n\r\n', '-'),
  fc.constantFrom(
    'Content-Disposition: form-data; name="x"\r\n\r\n',
    'Content-Disposition: form-data; name="f"; filename="f"\r\n\r\n',
  ),
  fc.string({ maxLength: 10 }),
);

/** Some of the forms here have more. */
const maxParts = 6;

const anyFile = async () => ({ write() {}, end() {} });

/** A body in any pieces gives the same fields, or the same refusal. */
const anyForm = fc.asyncProperty(
  fc.array(formPiece, { maxLength: 14 }),
  fc.integer({ min: 1, max: 40 }),
  async (pieces, size) => {
    const bytes = Buffer.from(`--b\r\n${pieces.join('')}`);
    const read = (step: number) =>
      outcomeOf(
        () => readForm(torn(bytes, step), 'multipart/form-data; boundary=b', 10_000, anyFile, maxParts),
        broken,
      );
    expect(await read(size)).toEqual(await read(bytes.length));
  },
);

async function* torn(bytes: Buffer, size: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield Uint8Array.from(bytes.subarray(at, at + size));
}

const boundaries = fc.asyncProperty(
  fc.stringMatching(/^[\w'()+,./:=?-]{1,70}$/),
  fc.string({ maxLength: 40 }),
  async (boundary, text) => {
    fc.pre(!text.includes(boundary));
    const body = `--${boundary}\r\nContent-Disposition: form-data; name="x"\r\n\r\n${text}\r\n--${boundary}--\r\n`;
    const type = `multipart/form-data; charset=utf-8; BOUNDARY="${boundary}"`;
    const files = async () => undefined;
    expect(await readForm(torn(Buffer.from(body), 7), type, 10_000, files, maxParts)).toEqual([['x', text]]);
  },
);

export const multipart = [
  subject('the name of a part is what its writer meant', 300, partHead),
  subject('any head of a part is read or refused', 300, anyHead),
  subject('a form means the same wherever it is torn', 300, anyForm),
  subject('a form with any boundary is read', 100, boundaries),
];
