import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Blobs } from '../../files/storage/blobs.ts';
import { endWithUs } from './cleanup.ts';
import { eventually } from './eventually.ts';
import { freshPlace, openPlace, type StorageName } from './storages.ts';

const MiB = 1024 * 1024;

/** The buffer sizes of the adapters. Bugs are likely around them. */
const pieceBytes: Readonly<Record<StorageName, number>> = { disk: MiB, s3: 4 * MiB };

let made = 0;
const newKey = () => `key-of-this-test_${++made}`;

async function append(blobs: Blobs, key: string, at: number, bytes: Uint8Array, step = bytes.length): Promise<number> {
  const writer = await blobs.append(key, at);
  for (let from = 0; from < bytes.length; from += step) {
    // A copy, overwritten afterwards: the writer may use the bytes only until `write` resolves.
    const given = new Uint8Array(bytes.subarray(from, from + step));
    await writer.write(given);
    given.fill(0);
  }
  return writer.close();
}

async function keep(blobs: Blobs, bytes: Uint8Array): Promise<string> {
  const key = newKey();
  await blobs.seal(key, await append(blobs, key, 0, bytes, 300_007));
  return key;
}

const read = (blobs: Blobs, key: string, start: number, end: number) =>
  blobs.read(key, start, end).then((body) => new Response(body).bytes());

/** Compares without printing pages of bytes, as `toEqual` would. */
async function expectBytes(blobs: Blobs, key: string, start: number, expected: Uint8Array): Promise<void> {
  const found = await read(blobs, key, start, start + expected.length);
  expect(found.length).toBe(expected.length);
  expect(Buffer.compare(found, expected)).toBe(0);
}

/** The contract of every storage for files. */
export function storesBlobs(storage: StorageName): void {
  const piece = pieceBytes[storage];

  test.each([
    ['one byte', 1, 1],
    ['a few bytes, one by one', 100, 1],
    ['a piece less one byte', piece - 1, 65_536],
    ['a piece', piece, 65_536],
    ['a piece and one byte', piece + 1, 65_536],
    ['two pieces in one write', 2 * piece, 2 * piece],
    ['several pieces in odd writes', 3 * piece + 12_345, 77_777],
    ['several pieces in writes larger than a piece', 3 * piece + 12_345, piece + 4_321],
  ])('returns %s as it was written', async (_, size, step) => {
    const blobs = openPlace(await freshPlace(storage));
    const bytes = randomBytes(size);
    const key = newKey();
    expect(await append(blobs, key, 0, bytes, step)).toBe(size);
    expect(await blobs.sizeOf(key)).toBe(size);
    await blobs.seal(key, size);
    expect(await blobs.sizeOf(key)).toBe(size);
    await expectBytes(blobs, key, 0, bytes);
  });

  test('returns any range', async () => {
    const blobs = openPlace(await freshPlace(storage));
    const bytes = randomBytes(2 * piece + 1_000);
    const key = await keep(blobs, bytes);
    const ranges: [number, number][] = [
      [0, 1],
      [0, piece],
      [piece - 1, piece],
      [piece, piece + 1],
      [piece - 1, piece + 1],
      [piece - 10, 2 * piece + 10],
      [7, bytes.length - 7],
      [bytes.length - 1, bytes.length],
    ];
    for (const [start, end] of ranges) await expectBytes(blobs, key, start, bytes.subarray(start, end));
  });

  test('continues a blob in pieces, each after a restart', async () => {
    const place = await freshPlace(storage);
    const bytes = randomBytes(2 * piece + 777);
    const stops = [1, 2, 1_000, piece - 1, piece, piece + 1, 2 * piece - 5, 2 * piece, bytes.length];
    const key = newKey();
    let at = 0;
    for (const stop of stops) {
      expect(await openPlace(place).sizeOf(key)).toBe(at);
      expect(await append(openPlace(place), key, at, bytes.subarray(at, stop), 70_001)).toBe(stop);
      at = stop;
    }
    await openPlace(place).seal(key, bytes.length);
    await expectBytes(openPlace(place), key, 0, bytes);
  });

  test('keeps its bytes if nothing is added', async () => {
    const blobs = openPlace(await freshPlace(storage));
    const bytes = randomBytes(1_000);
    const key = newKey();
    expect(await append(blobs, key, 0, bytes)).toBe(1_000);
    expect(await append(blobs, key, 1_000, new Uint8Array())).toBe(1_000);
    await blobs.seal(key, 1_000);
    await expectBytes(blobs, key, 0, bytes);
  });

  test.each([
    ['within the last piece', 2 * piece + 500, 2 * piece + 100],
    ['within an earlier piece', 2 * piece + 500, piece - 100],
    ['between two pieces', 2 * piece + 500, piece],
    ['at the start', 2 * piece + 500, 0],
  ])('continues before the end, %s, and drops the bytes after that', async (_, before, at) => {
    const blobs = openPlace(await freshPlace(storage));
    const [first, second] = [randomBytes(before), randomBytes(50)];
    const key = newKey();
    await append(blobs, key, 0, first);
    const writer = await blobs.append(key, at);
    expect(await blobs.sizeOf(key)).toBe(at);
    await writer.write(second);
    expect(await writer.close()).toBe(at + 50);
    expect(await blobs.sizeOf(key)).toBe(at + 50);
    await blobs.seal(key, at + 50);
    await expectBytes(blobs, key, 0, Buffer.concat([first.subarray(0, at), second]));
  });

  test('refuses to continue after the end, and changes nothing', async () => {
    const blobs = openPlace(await freshPlace(storage));
    const key = newKey();
    await expect(blobs.append(key, 1)).rejects.toThrow('0 bytes cannot be continued at 1');
    expect(await blobs.sizeOf(key)).toBe(0);
    await append(blobs, key, 0, new Uint8Array(10));
    await expect(blobs.append(key, 11)).rejects.toThrow('10 bytes cannot be continued at 11');
    expect(await blobs.sizeOf(key)).toBe(10);
  });

  test('seals a complete blob, any number of times', async () => {
    const place = await freshPlace(storage);
    const bytes = randomBytes(1_234);
    const key = newKey();
    await append(openPlace(place), key, 0, bytes);
    for (let time = 0; time < 3; time++) await openPlace(place).seal(key, 1_234);
    await expect(openPlace(place).seal(key, 1_235)).rejects.toThrow('1234 bytes cannot be sealed');
    await expectBytes(openPlace(place), key, 0, bytes);
  });

  test('does not seal a blob of another size, which can be completed', async () => {
    const blobs = openPlace(await freshPlace(storage));
    const bytes = randomBytes(100);
    const key = newKey();
    await expect(blobs.seal(key, 100)).rejects.toThrow('0 bytes cannot be sealed as one of 100');
    await append(blobs, key, 0, bytes.subarray(0, 60));
    for (const wrong of [0, 59, 61, 100])
      await expect(blobs.seal(key, wrong)).rejects.toThrow('60 bytes cannot be sealed');
    await append(blobs, key, 60, bytes.subarray(60));
    await blobs.seal(key, 100);
    await expectBytes(blobs, key, 0, bytes);
  });

  test('removes a blob in every state, and an absent one', async () => {
    const place = await freshPlace(storage);
    const blobs = openPlace(place);
    const bytes = randomBytes(4 * piece + 1);
    const states: Record<string, (key: string) => Promise<unknown>> = {
      none: async () => {},
      'begun, with nothing in it': (key) => append(blobs, key, 0, new Uint8Array()),
      growing: (key) => append(blobs, key, 0, bytes),
      sealed: async (key) => blobs.seal(key, await append(blobs, key, 0, bytes)),
    };
    for (const make of Object.values(states)) {
      const key = newKey();
      await make(key);
      for (let time = 0; time < 2; time++) await openPlace(place).remove(key);
      expect(await blobs.sizeOf(key)).toBe(0);
      await expect(read(blobs, key, 0, 1)).rejects.toThrow();
      expect(await append(blobs, key, 0, bytes.subarray(0, 5))).toBe(5);
    }
  });

  test('removes a blob once if several remove it at the same time', async () => {
    const place = await freshPlace(storage);
    for (let round = 0; round < 5; round++) {
      const key = await keep(openPlace(place), randomBytes(10));
      await Promise.all(Array.from({ length: 8 }, () => openPlace(place).remove(key)));
      expect(await openPlace(place).sizeOf(key)).toBe(0);
    }
  });

  test('keeps blobs apart whose keys share a prefix', async () => {
    const blobs = openPlace(await freshPlace(storage));
    const keys = [newKey(), `${newKey()}x`];
    keys.push(`${keys[0]}y`, `${keys[0]}-`);
    const contents = keys.map(() => randomBytes(piece + 10));
    const writers = await Promise.all(keys.map((key) => blobs.append(key, 0)));
    await Promise.all(writers.map((writer, i) => writer.write(contents[i] ?? new Uint8Array())));
    await Promise.all(writers.map((writer) => writer.close()));
    for (const key of keys) await blobs.seal(key, piece + 10);
    const [removed = '', ...others] = keys;
    await blobs.remove(removed);
    for (const [i, key] of others.entries()) await expectBytes(blobs, key, 0, contents[i + 1] ?? new Uint8Array());
  });

  test.each([
    ['nothing', ''],
    ['a short one', 'a'.repeat(15)],
    ['a long one', 'a'.repeat(65)],
    ['a path', '../../../../etc/passwd'],
    ['dots', '................'],
    ['a slash', 'aaaaaaaa/aaaaaaaa'],
    ['a NUL', 'aaaaaaaaaaaaaaaa\0'],
    ['a line end', 'aaaaaaaaaaaaaaaa\n'],
    ['another script', 'ключключключключ'],
  ])('rejects a key that is %s', async (_, key) => {
    const blobs = openPlace(await freshPlace(storage));
    await expect(blobs.append(key, 0)).rejects.toThrow('not a key');
    await expect(blobs.sizeOf(key)).rejects.toThrow('not a key');
    await expect(blobs.seal(key, 0)).rejects.toThrow('not a key');
    await expect(blobs.remove(key)).rejects.toThrow('not a key');
    await expect(blobs.read(key, 0, 1)).rejects.toThrow('not a key');
  });

  test('leaves nothing open after readers stop midway', async () => {
    const blobs = openPlace(await freshPlace(storage));
    const size = 3 * 8 * MiB;
    const key = await keep(blobs, randomBytes(size));
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async () => new Response(await blobs.read(key, 0, size)),
    });
    const openNow = () => readdirSync('/proc/self/fd').length;
    const goAway = async () => {
      const leaving = new AbortController();
      const answer = await fetch(server.url, { signal: leaving.signal });
      const first = await answer.body?.getReader().read();
      expect(first?.value?.length).toBeGreaterThan(0);
      leaving.abort();
    };
    await goAway();
    const before = openNow();
    for (let reader = 0; reader < 20; reader++) await goAway();
    // Pooled connections may come and go, but not one for each reader.
    await eventually('nothing is left open', async () => openNow() < before + 5 || undefined);
    await server.stop(true);
  });
}

/** The memory that a storage needs for large files. */
export function storesMuch(storage: StorageName): void {
  test('stores 300 MB without growing', async () => {
    const place = await freshPlace(storage);
    const [key, bytes] = [newKey(), 4_800 * 65_536];
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'blob-writer.ts'), place, key, `${bytes}`], {
      stdout: 'pipe',
    });
    endWithUs(child);
    const told = await new Response(child.stdout).json();
    expect(told.kept).toBe(bytes);
    expect(await openPlace(place).sizeOf(key)).toBe(bytes);
    expect(told.grewBytes).toBeLessThan(200 * MiB);
    await openPlace(place).remove(key);
  });
}
