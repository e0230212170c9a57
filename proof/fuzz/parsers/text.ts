import { expect } from 'bun:test';
import { fileName, password, title, userName } from '@parley/contract';
import fc from 'fast-check';
import { emoji, searchText, timeInput } from '../../../contract/fields.ts';
import { handlesIn } from '../../../server/domain/mentions.ts';
import { words } from '../../../server/domain/words.ts';
import { lastOf } from '../../../server/files/name.ts';
import { typeNamed, typeOf } from '../../../server/files/type.ts';
import { wildText } from '../calls/wild.ts';
import { subject } from '../subject.ts';

const anyText = fc.oneof(
  wildText,
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.stringMatching(/^[\w.\- ]{1,50}$/),
);

const bytes = (text: string) => Buffer.byteLength(text);

/** Accepted text can be stored by any database, shown on one line, and is within its bounds. */
const fieldsOfText = fc.property(anyText, (text) => {
  const takes = { title, fileName, userName, password, emoji, searchText };
  const taken = Object.entries(takes).filter(([, schema]) => schema.safeParse(text).success);
  const names = new Set(taken.map(([name]) => name));
  if (names.size > 0) expect(text.isWellFormed() && !text.includes('\0') && /\S/.test(text)).toBe(true);
  for (const name of ['title', 'fileName', 'emoji'] as const) {
    if (names.has(name)) expect(text).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
  }
  if (names.has('title')) expect([...text].length <= 100 && bytes(text) <= 400).toBe(true);
  if (names.has('fileName')) expect(bytes(text) <= 255 && lastOf(text) === text && text !== '..').toBe(true);
  if (names.has('emoji')) expect(bytes(text)).toBeLessThanOrEqual(64);
  if (names.has('searchText')) expect(bytes(text)).toBeLessThanOrEqual(1_024);
  if (names.has('userName')) expect(text).toMatch(/^[a-z\d._-]{1,40}$/i);
});

const offset = fc.tuple(fc.nat({ max: 23 }), fc.nat({ max: 59 }), fc.constantFrom('+', '-'));

/** A time is the same moment in every zone. */
const times = fc.property(
  fc.date({ noInvalidDate: true, min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z') }),
  offset,
  (date, [hours, minutes, sign]) => {
    const shift = (hours * 60 + minutes) * 60_000 * (sign === '+' ? 1 : -1);
    const two = (number: number) => String(number).padStart(2, '0');
    const local = new Date(date.getTime() + shift).toISOString().slice(0, -1);
    expect(timeInput.parse(`${local}${sign}${two(hours)}:${two(minutes)}`)).toBe(date.getTime());
  },
);

const timePiece = fc.oneof(
  fc.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,12})?(?:Z|[+-]\d\d:\d\d)$/),
  wildText,
);

const anyTime = fc.property(timePiece, (text) => {
  const read = timeInput.safeParse(text);
  if (read.success) expect(Number.isSafeInteger(read.data)).toBe(true);
});

/** Text of any allowed length is cut quickly into words that an index takes. */
const cut = fc.property(
  fc.oneof(
    anyText,
    fc
      .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 5_000 }))
      .map(([unit, times]) => unit.repeat(times)),
    fc.constantFrom('\u0300', 'ﷺ', 'a\u0316\u0301', '\u1112\u1161', '👩‍', '\u3099').map((unit) => unit.repeat(5_000)),
  ),
  (text) => {
    const found = words(text.toWellFormed());
    for (const word of found) {
      expect([...word].length).toBeLessThanOrEqual(64);
      expect(word).not.toMatch(/[\s"'\\:&|!*()<>#\0]/u);
    }
  },
);

const markdown = fc.oneof(
  anyText,
  fc
    .array(
      fc.constantFrom('@', 'ada', '.', '_', '-', '`', '```', '~~~', '\n', ' ', '\\', '>', 'https://', '/', 'é', '名'),
    )
    .map((words) => words.join('')),
  fc
    .tuple(fc.stringMatching(/^[@a.`_> \-\n\\]{1,4}$/), fc.integer({ min: 1, max: 4_000 }))
    .map(([unit, times]) => `${unit.repeat(times)}@ada`),
);

/** The names in any text are few, and names that a user may have. */
const handles = fc.property(markdown, (text) => {
  const names = handlesIn(text)?.names ?? [];
  expect(names.length).toBeLessThanOrEqual(50);
  for (const name of names.flat()) expect(userName.safeParse(name).success).toBe(true);
});

const magic = [
  ...['%PDF-1.7', '\x89PNG\r\n\x1a\n', 'PK\x03\x04', 'GIF89a', '\xff\xd8\xff', '<?xml', '<html>', '\xff\xfe'],
  ...['RIFF\0\0\0\0WEBP', 'ID3', '\x1f\x8b'],
];

/** Every file has a type that fits into a header. Its name cannot turn a text into a picture or a program. */
const types = fc.asyncProperty(
  fc.oneof(fc.constant(''), fc.constantFrom(...magic)),
  fc.uint8Array({ maxLength: 300 }),
  fc.constantFrom('a.html', 'a.png', 'a.svg', 'a.js', 'a', 'a.exe', 'a.', '.', 'ü.css'),
  async (start, rest, name) => {
    const head = Buffer.concat([Buffer.from(start, 'latin1'), rest]);
    const { type } = await typeOf(head);
    expect(type).toMatch(/^[a-z]+\/[\w.+-]+(?:; codecs=[\w".]+)?$/);
    const named = typeNamed(type, name);
    if (named !== type) expect(type).toMatch(/^text\/|json$|xml$/);
    if (named.startsWith('image/') && named !== 'image/svg+xml') expect(named).toBe(type);
  },
);

export const texts = [
  subject('text that is taken can be kept and shown', 500, fieldsOfText),
  subject('a time is the same moment in every zone', 200, times),
  subject('any time is a moment or refused', 300, anyTime),
  subject('any text is cut into words', 150, cut),
  subject('any text mentions names', 300, handles),
  subject('any file has a type', 200, types),
];
