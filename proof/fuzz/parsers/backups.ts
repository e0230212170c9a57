import { expect } from 'bun:test';
import fc from 'fast-check';
import { BackupError } from '../../../server/backup/failure.ts';
import { type Manifest, newestFormat, parseEnd, parseManifest, parseMissing } from '../../../server/backup/manifest.ts';
import { headerOf, parseHeader } from '../../../server/backup/tar.ts';
import { newestVersion } from '../../../server/store/engine/migrate.ts';
import { wildText } from '../calls/wild.ts';
import { subject } from '../subject.ts';
import { damages, hurt } from './damaged-bytes.ts';
import { isA, outcome } from './outcome.ts';

const refusal = isA(BackupError);

const entryName = fc.stringMatching(/^[\x21-\x7e]{1,100}$/);
const size = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constantFrom(8 ** 11 - 1, 8 ** 11, Number.MAX_SAFE_INTEGER));
const seconds = fc.integer({ min: 0, max: 8 ** 11 - 1 });

const heads = fc.property(entryName, size, seconds, (name, bytes, at) => {
  expect(parseHeader(headerOf(name, bytes, at))).toEqual({ name, size: bytes });
});

/** A damaged head is read as the same, or refused. */
const hurtHeads = fc.property(entryName, size, seconds, damages, (name, bytes, at, damage) => {
  const head = hurt(headerOf(name, bytes, at), damage);
  const whole = Buffer.concat([head, Buffer.alloc(512)]).subarray(0, 512);
  // An empty block ends an archive.
  fc.pre(whole.some((byte) => byte !== 0));
  const { value, refused } = outcome(() => parseHeader(whole), refusal);
  if (!refused) expect(value).toEqual({ name, size: bytes });
});

const sizeTexts = fc.oneof(
  fc.constantFrom(
    ...['-0000000007', '+0000000007', '0x00000000f', '           ', '', '0000 000000', '9', '1e9', 'NaN', '-0'],
  ),
  fc.stringMatching(/^[\x20-\x7e]{0,12}$/),
  fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);

/** A head with a correct checksum is a file of a possible size, the end, or refused. */
const anyHead = fc.property(
  fc.uint8Array({ maxLength: 100 }),
  sizeTexts,
  fc.constantFrom('0', '\0', '5', '2', 'x', 'L', 'g'),
  (name, text, type) => {
    const head = headerOf('x', 0, 0).fill(0, 0, 100);
    head.set(name, 0);
    head.fill(0, 124, 136).write(text, 124, 12, 'latin1');
    head.write(type, 156, 1, 'latin1');
    const { value } = outcome(() => parseHeader(summed(head)), refusal);
    if (value) expect(Number.isSafeInteger(value.size) && value.size >= 0).toBe(true);
  },
);

function summed(head: Buffer): Buffer {
  head.fill(0x20, 148, 156);
  const sum = head.reduce((all, byte) => all + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 8, 'latin1');
  return head;
}

const noise = fc.property(fc.uint8Array({ minLength: 512, maxLength: 512 }), (bytes) => {
  expect(outcome(() => parseHeader(Buffer.from(bytes)), refusal).refused).toBe(true);
});

const identifier = fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/);
const count = fc.maxSafeNat();

const columns = fc.dictionary(identifier, fc.constantFrom('int', 'text'), { noNullPrototype: true });

const manifests: fc.Arbitrary<Manifest> = fc.record({
  format: fc.integer({ min: 0, max: newestFormat }),
  parley: fc.string({ unit: 'grapheme' }),
  schema: fc.integer({ min: 1, max: newestVersion }),
  engine: fc.constantFrom('sqlite', 'postgres'),
  began_at: fc
    .date({ noInvalidDate: true, min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z') })
    .map((at) => at.toISOString()),
  tables: fc.array(fc.record({ name: identifier, columns, rows: count }), { maxLength: 4 }),
  last_ids: fc.dictionary(fc.string(), count, { noNullPrototype: true }).map(withoutProto),
  log_reached: count,
  files: fc.record({ included: fc.boolean(), count, bytes: count, bucket: fc.option(fc.string()) }),
  key: fc.record({ included: fc.boolean(), fingerprint: fc.option(fc.string()) }),
});

/** JSON makes another object of this key than a literal does. */
function withoutProto<T>(all: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(all).filter(([key]) => key !== '__proto__'));
}

const written = fc.property(manifests, (manifest) => {
  expect(parseManifest(JSON.stringify(manifest, undefined, 2))).toEqual(manifest);
});

const keys = fc.constantFrom('format', 'schema', 'tables', 'last_ids', 'files', 'key', 'began_at');

/** JSON with one wrong value, and texts of all kinds. */
const anyManifest = fc.property(
  fc.oneof(
    fc
      .tuple(manifests, keys, fc.json())
      .map(([manifest, key, other]) => JSON.stringify({ ...manifest, [key]: JSON.parse(other) })),
    fc
      .tuple(manifests, damages)
      .map(([manifest, damage]) => hurt(Buffer.from(JSON.stringify(manifest)), damage).toString()),
    fc.json(),
    wildText,
    fc.constantFrom('[', '{"a":', '"').map((text) => text.repeat(20_000)),
  ),
  (text) => {
    const { value, refused } = outcome(() => parseManifest(text), refusal);
    expect(value === undefined).toBe(refused);
    if (!value) return;
    expect(value.format).toBeLessThanOrEqual(newestFormat);
    expect(value.schema).toBeLessThanOrEqual(newestVersion);
    for (const { name, columns, rows } of value.tables) {
      expect([name, ...Object.keys(columns)].every((word) => /^[a-z][a-z0-9_]*$/.test(word))).toBe(true);
      expect(Number.isSafeInteger(rows) && rows >= 0).toBe(true);
    }
    expect(parseManifest(JSON.stringify(value))).toEqual(value);
  },
);

const smallLists = fc.property(
  fc.oneof(
    fc.json(),
    wildText,
    fc.array(count).map((all) => JSON.stringify(all)),
  ),
  (text) => {
    const missing = outcome(() => parseMissing(text), refusal);
    if (missing.value) expect(JSON.parse(text)).toEqual(missing.value);
    const end = outcome(() => parseEnd(text), refusal);
    if (end.value !== undefined) expect(JSON.parse(text).sha256).toBe(end.value);
  },
);

export const backups = [
  subject('the head of an entry comes apart as it was put together', 300, heads),
  subject('the head of an entry that is hurt says the same or is refused', 500, hurtHeads),
  subject('any head of an entry is a file or refused', 500, anyHead),
  subject('nothing that was made up is the head of an entry', 200, noise),
  subject('the manifest of a backup is read as it was written', 200, written),
  subject('any manifest makes sense or is refused', 500, anyManifest),
  subject('any list and any end of a backup is read or refused', 300, smallLists),
];
