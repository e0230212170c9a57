import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import type { Blobs, BlobWriter } from '../../files/storage/blobs.ts';
import { withSegments } from '../../files/storage/segments.ts';
import { eventually } from './eventually.ts';
import { freshPlace, openPlace, type StorageName } from './storages.ts';

const MiB = 1024 * 1024;

/** More bytes than the adapters buffer. */
const some: Readonly<Record<StorageName, number>> = { disk: MiB + 5, s3: 5 * MiB };

let made = 0;
const newKey = () => `key-of-a-part-test_${++made}`;

async function write(writer: BlobWriter, bytes: Uint8Array): Promise<void> {
  await writer.write(new Uint8Array(bytes));
}

async function append(blobs: Blobs, key: string, at: number, bytes: Uint8Array): Promise<number> {
  const writer = await blobs.append(key, at);
  await write(writer, bytes);
  return writer.close();
}

async function expectBytes(blobs: Blobs, key: string, start: number, expected: Uint8Array): Promise<void> {
  const found = await new Response(await blobs.read(key, start, start + expected.length)).bytes();
  expect(found.length).toBe(expected.length);
  expect(Buffer.compare(found, expected)).toBe(0);
}

/** The contract of blobs with segments, for every storage. */
export function storesParts(storage: StorageName): void {
  const size = some[storage];

  test('has the bytes of all its segments, in any range', async () => {
    const blobs = withSegments(openPlace(await freshPlace(storage)));
    const [first, second, third] = [randomBytes(size), randomBytes(size), randomBytes(100)];
    const key = newKey();
    await append(blobs, key, 0, first);
    const once = `${key}.${size}`;
    expect(await blobs.sizeOf(once)).toBe(size);
    expect(await append(blobs, once, size, second.subarray(0, 10))).toBe(size + 10);
    expect(await append(blobs, once, size + 10, second.subarray(10))).toBe(2 * size);
    // The segment in between stays empty.
    const often = `${once}.${2 * size}.${2 * size}`;
    expect(await append(blobs, often, 2 * size, third)).toBe(2 * size + 100);
    await blobs.seal(often, 2 * size + 100);
    await blobs.seal(often, 2 * size + 100);
    const whole = Buffer.concat([first, second, third]);
    const ranges: [number, number][] = [
      [0, whole.length],
      [0, size],
      [size - 1, size + 1],
      [size, 2 * size],
      [size + 1, whole.length],
      [2 * size, 2 * size + 1],
      [size - 1, 2 * size + 1],
    ];
    for (const [start, end] of ranges) await expectBytes(blobs, often, start, whole.subarray(start, end));
  });

  test('is not changed by writers of earlier segments, while it grows or once it is sealed', async () => {
    const blobs = withSegments(openPlace(await freshPlace(storage)));
    const [first, stale, second] = [randomBytes(2 * size), randomBytes(3 * size), randomBytes(2 * size)];
    const key = newKey();
    const late = await blobs.append(key, 0);
    await write(late, first);
    const at = await untilKept(blobs, key);
    const longer = `${key}.${at}`;
    const writer = await blobs.append(longer, at);
    await write(writer, second.subarray(0, size));
    await write(late, stale.subarray(0, size));
    await write(writer, second.subarray(size));
    await writer.close();
    await write(late, stale.subarray(size, 2 * size));
    const whole = Buffer.concat([first.subarray(0, at), second]);
    expect(await blobs.sizeOf(longer)).toBe(whole.length);
    await blobs.seal(longer, whole.length);
    await write(late, stale.subarray(2 * size));
    await late.close();
    await expectBytes(blobs, longer, 0, whole);
  });

  test('is removed with all its segments', async () => {
    const place = await freshPlace(storage);
    const blobs = withSegments(openPlace(place));
    const key = newKey();
    const late = await blobs.append(key, 0);
    await write(late, randomBytes(2 * size));
    const at = await untilKept(blobs, key);
    await append(blobs, `${key}.${at}`, at, randomBytes(size));
    await late.close();
    expect(await blobs.sizeOf(key)).toBeGreaterThan(at);
    await blobs.remove(`${key}.${at}`);
    for (const name of [key, `${key}-1`]) expect(await openPlace(place).sizeOf(name)).toBe(0);
  });

  test('rejects an invalid key, and an offset before the last segment', async () => {
    const blobs = withSegments(openPlace(await freshPlace(storage)));
    const key = newKey();
    for (const wrong of [`${key}.`, `${key}.x`, `${key}.1.-1`, `${key}../x`, `.1`]) {
      await expect(blobs.append(wrong, 1)).rejects.toThrow('not a key');
      await expect(blobs.sizeOf(wrong)).rejects.toThrow('not a key');
      await expect(blobs.remove(wrong)).rejects.toThrow('not a key');
    }
    await expect(blobs.append(`${key}.10`, 9)).rejects.toThrow('segment at 10 cannot be continued at 9');
  });
}

/** Waits until some of a writer's bytes are stored. */
function untilKept(blobs: Blobs, key: string): Promise<number> {
  return eventually('some bytes are stored', async () => (await blobs.sizeOf(key)) || undefined);
}
