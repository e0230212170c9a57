import { expect } from 'bun:test';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { readArchive } from '../../../server/backup/archive-reader.ts';
import { ArchiveWriter } from '../../../server/backup/archive-writer.ts';
import { BackupError } from '../../../server/backup/failure.ts';
import type { Manifest } from '../../../server/backup/manifest.ts';
import { headerOf, paddingAfter } from '../../../server/backup/tar.ts';
import { subject } from '../subject.ts';
import { damages, hurt } from './damaged-bytes.ts';
import { isA, outcomeOf } from './outcome.ts';

const refusal = isA(BackupError);
const never = new AbortController().signal;

const described: Manifest = {
  ...{ format: 1, parley: '0.1.0', schema: 1, engine: 'sqlite', began_at: '2026-01-01T00:00:00.000Z' },
  ...{ tables: [], last_ids: {}, log_reached: 0, key: { included: false, fingerprint: null } },
  files: { included: true, count: 0, bytes: 0, bucket: null },
};
const manifest = JSON.stringify(described);

interface Content {
  readonly entries: readonly (readonly [name: string, bytes: Uint8Array])[];
  readonly missing: readonly number[];
}

/** Other names are reserved. */
const name = fc.stringMatching(/^(?:tables|files)\/[a-z0-9_.]{1,30}$/);

const contents: fc.Arbitrary<Content> = fc.record({
  entries: fc.array(
    fc.tuple(
      name,
      fc.oneof(
        fc.uint8Array({ maxLength: 700 }),
        fc.integer({ min: 0, max: 200_000 }).map((size) => new Uint8Array(size)),
      ),
    ),
    { maxLength: 4 },
  ),
  missing: fc.array(fc.maxSafeNat(), { maxLength: 3 }),
});

async function write({ entries, missing }: Content): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const sink = async (bytes: Uint8Array) => {
    parts.push(Uint8Array.from(bytes));
  };
  const writer = new ArchiveWriter(sink, 1_700_000_000_000, never);
  await writer.add('manifest.json', manifest);
  for (const [name, bytes] of entries) await writer.add(name, bytes);
  await writer.finish(missing);
  return Buffer.concat(parts);
}

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Returns the content of an archive. */
const read = (bytes: Uint8Array, size = 4_096) =>
  readArchive(inPieces(bytes, size), never, async (archive) => {
    const entries: [string, Uint8Array][] = [];
    for await (const entry of archive.entries()) {
      const parts: Uint8Array[] = [];
      for await (const part of entry.bytes()) parts.push(Uint8Array.from(part));
      entries.push([entry.name, Uint8Array.from(Buffer.concat(parts))]);
    }
    return { manifest: archive.manifest, entries, missing: [...archive.missing] };
  });

const whole = fc.asyncProperty(contents, fc.integer({ min: 1, max: 5_000 }), async (content, size) => {
  expect(await read(await write(content), size)).toEqual({
    manifest: described,
    entries: content.entries.map(([name, bytes]) => [name, Uint8Array.from(bytes)]),
    missing: [...content.missing],
  });
});

async function sameOrRefused(content: Content, damaged: Uint8Array): Promise<void> {
  const { value, refused } = await outcomeOf(() => read(damaged), refusal);
  if (!refused) expect(value).toEqual(await read(await write(content)));
}

const hurtFiles = fc.asyncProperty(contents, damages, async (content, damage) => {
  await sameOrRefused(content, hurt(await write(content), damage));
});

/** Damage before the compression: only the checksums and the hash detect it. */
const hurtWithin = fc.asyncProperty(contents, damages, async (content, damage) => {
  const tar = zstdDecompressSync(await write(content));
  await sameOrRefused(content, zstdCompressSync(hurt(tar, damage)));
});

/** Intact blocks with correct checksums, but moved or repeated. */
const moved = fc.asyncProperty(contents, fc.nat(), fc.nat(), fc.boolean(), async (content, from, to, isTwice) => {
  const tar = zstdDecompressSync(await write(content));
  const blocks: Uint8Array[] = Array.from({ length: tar.length / 512 }, (_, i) => tar.subarray(i * 512, (i + 1) * 512));
  const [block] = blocks.splice(from % blocks.length, 1) as [Uint8Array];
  blocks.splice(to % (blocks.length + 1), 0, ...(isTwice ? [block, block] : [block]));
  await sameOrRefused(content, zstdCompressSync(Buffer.concat(blocks)));
});

const entry = (name: string, size: number, bytes: Uint8Array) =>
  Buffer.concat([headerOf(name, size, 0), bytes, paddingAfter(bytes.length)]);

const manifestEntry = entry('manifest.json', Buffer.byteLength(manifest), Buffer.from(manifest));

/** An entry that claims to be larger than the archive is refused, and no memory is reserved for it. */
const boasts = fc.asyncProperty(
  fc.constantFrom('manifest.json', 'missing.json', 'end.json', 'tables/a'),
  fc.oneof(fc.integer({ min: 2_000, max: 2 ** 31 }), fc.integer({ min: 2 ** 31, max: Number.MAX_SAFE_INTEGER })),
  async (name, size) => {
    const boast = entry(name, size, Buffer.from('[]'));
    const tar = name === 'manifest.json' ? boast : Buffer.concat([manifestEntry, boast]);
    expect((await outcomeOf(() => read(zstdCompressSync(tar)), refusal)).refused).toBe(true);
  },
);

/** The largest piece, and the largest read-ahead. */
const maxBytes = 1_048_576;
const maxAhead = 1_048_576;

/** Bytes that decompress to ten thousand times as many come piece by piece, and are only read on demand. */
const bombs = fc.asyncProperty(fc.integer({ min: 8, max: 24 }), fc.integer({ min: 1, max: 5 }), async (size, takes) => {
  const zeros = zstdCompressSync(Buffer.alloc(size * 1_048_576));
  let fed = 0;
  async function* source(): AsyncGenerator<Uint8Array> {
    yield zstdCompressSync(Buffer.concat([manifestEntry, headerOf('tables/a', 2 ** 50, 0)]));
    for (; fed < 10 * maxAhead; fed += zeros.length) yield zeros;
  }
  const enough = new BackupError('enough');
  const reading = readArchive(source(), never, async (archive) => {
    let taken = 0;
    for await (const { bytes } of archive.entries()) {
      for await (const part of bytes()) {
        expect(part.length).toBeLessThanOrEqual(maxBytes);
        if (++taken === takes) throw enough;
      }
    }
  });
  const isEnough = (thrown: unknown) => thrown === enough;
  expect(await outcomeOf(() => reading, isEnough)).toEqual({ refused: true });
  expect(fed).toBeLessThan(maxAhead);
});

export const archives = [
  subject('a backup is read as it was written, wherever it is torn', 60, whole),
  subject('a backup that is hurt is refused, or holds the same', 300, hurtFiles),
  subject('a backup that is hurt before it is compressed is refused, or holds the same', 300, hurtWithin),
  subject('a backup whose blocks were moved is refused, or holds the same', 150, moved),
  subject('an entry of a backup that says it is huge is refused', 150, boasts),
  subject('a backup that unpacks to far more is read piece by piece', 10, bombs),
];
