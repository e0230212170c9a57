import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '@parley/contract';
import { type Blobs, StorageError } from '../../../files/storage/blobs.ts';
import { openDisk } from '../../../files/storage/disk.ts';
import { endWithUs, temporaryFolder } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';

const MiB = 1024 * 1024;
const key = 'ab-the-key-of-a-blob';

const growingPath = (folder: string) => join(folder, 'files/incoming', key);
const sealedPath = (folder: string) => join(folder, 'files/ab', key);

async function write(blobs: Blobs, at: number, bytes: Uint8Array): Promise<number> {
  const writer = await blobs.append(key, at);
  await writer.write(bytes);
  return writer.close();
}

const isOpen = (path: string) =>
  readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  });

describe('files on disk', () => {
  test('are written in one folder and kept in another, for their owner alone', async () => {
    const folder = temporaryFolder();
    const blobs = openDisk(folder);
    const modeOf = (path: string) => statSync(path).mode & 0o777;
    await write(blobs, 0, new Uint8Array(10));
    expect(modeOf(growingPath(folder))).toBe(0o600);
    expect(existsSync(sealedPath(folder))).toBe(false);
    await blobs.seal(key, 10);
    expect(modeOf(sealedPath(folder))).toBe(0o600);
    expect(existsSync(growingPath(folder))).toBe(false);
    for (const made of ['files', 'files/incoming', 'files/ab']) expect(modeOf(join(folder, made))).toBe(0o700);
  });

  test('are not written to once they are sealed', async () => {
    const blobs = openDisk(temporaryFolder());
    await blobs.seal(key, await write(blobs, 0, new Uint8Array(10)));
    await expect(blobs.append(key, 0)).rejects.toThrow('sealed');
    await expect(blobs.append(key, 10)).rejects.toThrow('cannot be continued');
    expect(await blobs.sizeOf(key)).toBe(10);
  });

  test('are sealed even if an earlier attempt was interrupted', async () => {
    const steps: Record<string, (folder: string) => void> = {
      'with the folder made': (folder) => mkdirSync(join(folder, 'files/ab')),
      'with the file renamed': (folder) => {
        mkdirSync(join(folder, 'files/ab'));
        renameSync(growingPath(folder), sealedPath(folder));
      },
    };
    const bytes = randomBytes(1_000);
    for (const take of Object.values(steps)) {
      const folder = temporaryFolder();
      await write(openDisk(folder), 0, bytes);
      take(folder);
      expect(await openDisk(folder).sizeOf(key)).toBe(1_000);
      await openDisk(folder).seal(key, 1_000);
      expect(Buffer.compare(await new Response(await openDisk(folder).read(key, 0, 1_000)).bytes(), bytes)).toBe(0);
    }
  });

  test('of a killed process can be completed, and are invisible before', async () => {
    const folder = temporaryFolder();
    const script = join(import.meta.dir, '../../support/blob-writer.ts');
    const blobs = openDisk(folder);
    let found = 0;
    for (let life = 0; life < 3; life++) {
      const child = Bun.spawn([process.execPath, script, folder, key, String(Number.MAX_SAFE_INTEGER)]);
      endWithUs(child);
      const hasGrown = async () => (await blobs.sizeOf(key)) > found + 20 * MiB || undefined;
      await eventually('the blob grows', hasGrown);
      child.kill('SIGKILL');
      await child.exited;
      expect(existsSync(sealedPath(folder))).toBe(false);
      found = await blobs.sizeOf(key);
    }
    const rest = randomBytes(3 * MiB);
    expect(await write(blobs, found, rest)).toBe(found + rest.length);
    await blobs.seal(key, found + rest.length);
    const bytes = await new Response(await blobs.read(key, 0, found + rest.length)).bytes();
    expect(Buffer.compare(bytes.subarray(0, found), new Uint8Array(found).fill(1))).toBe(0);
    expect(Buffer.compare(bytes.subarray(found), rest)).toBe(0);
  });

  test('on a full disk are refused with an error, and leave nothing open', async () => {
    const folder = temporaryFolder();
    const blobs = openDisk(folder);
    // A device of Linux that is always full.
    symlinkSync('/dev/full', growingPath(folder));
    const writer = await blobs.append(key, 0);
    const failure = await (async () => {
      for (;;) await writer.write(new Uint8Array(MiB));
    })().catch((error: unknown) => error);
    await writer.close().catch(() => {});
    expect(failure).toBeInstanceOf(ParleyError);
    expect(failure).toMatchObject({ code: 'unavailable', cause: { code: 'ENOSPC' } });
    expect((failure as Error).message).toBe('The file storage is full. Try again later.');
    expect(isOpen('/dev/full')).toBe(false);

    const few = await blobs.append(key, 0);
    await few.write(new Uint8Array(10));
    await expect(few.close()).rejects.toThrow('The file storage is full.');
    expect(isOpen('/dev/full')).toBe(false);
  });

  test('are unavailable without the folder', async () => {
    const folder = temporaryFolder();
    const blobs = openDisk(folder);
    renameSync(join(folder, 'files'), join(folder, 'elsewhere'));
    const failure = await blobs.append(key, 0).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'unavailable', cause: { code: 'ENOENT' } });
    expect((failure as Error).message).toBe('The file storage is unavailable. Try again later.');
  });

  test('need a folder, and fail with one line without it', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'files'), '');
    expect(() => openDisk(folder)).toThrow(StorageError);
    expect(() => openDisk(folder)).toThrow(`Cannot create the file storage ${join(folder, 'files')}: `);
  });
});
