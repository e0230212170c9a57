import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ParleyError } from '@parley/contract';
import { defaultReserveBytes, measureSpace, reserveOn } from '../../lib/disk-space.ts';
import { type Blobs, type BlobWriter, noRoom, StorageError } from './blobs.ts';
import { checkKey } from './key.ts';
import { PieceWriter } from './pieces.ts';

/**
 * Measured: 1.2 GB/s with writes of 16 KiB, 4.4 GB/s with 1 MiB, less with 4 MiB. 512 KiB is a little slower than 1 MiB, but
 * each idle upload holds two buffers of this size.
 */
const pieceBytes = 512 * 1024;
/** Bytes between two syncs. One sync at the end took a quarter of the time of 1 GiB. */
const syncEveryBytes = 64 * 1024 * 1024;
const [fileMode, folderMode] = [0o600, 0o700];

/**
 * Stores blobs as files: unsealed ones in `files/incoming`, sealed ones in `files/<first two characters of the key>`. They
 * leave the reserve to the database.
 */
export function openDisk(folder: string, measure = measureSpace, reserveBytes = defaultReserveBytes): Blobs {
  const files = join(folder, 'files');
  const incoming = join(files, 'incoming');
  makeFolders(folder, files, incoming);
  const growing = (key: string) => join(incoming, checkKey(key));
  const sealed = (key: string) => join(files, checkKey(key).slice(0, 2), key);

  const hasRoomFor = async (size: number) => {
    const { free, total } = await orUnavailable(() => measure(files));
    return free - size >= reserveOn(total, reserveBytes);
  };

  return {
    concurrentWriters: 200,
    hasRoomFor,
    append: (key, at) => orUnavailable(() => append(growing(key), sealed(key), at, hasRoomFor)),
    // In this order, because sealing moves a blob from the first to the second.
    sizeOf: (key) => orUnavailable(async () => (await sizeOf(growing(key))) ?? (await sizeOf(sealed(key))) ?? 0),
    seal: (key, size) => orUnavailable(() => seal(growing(key), sealed(key), size)),
    read: (key, start, end) => orUnavailable(async () => read(sealed(key), start, end)),
    remove: (key) =>
      orUnavailable(async () => {
        await remove(growing(key));
        await remove(sealed(key));
      }),
  };
}

function makeFolders(folder: string, files: string, incoming: string): void {
  try {
    mkdirSync(incoming, { recursive: true, mode: folderMode });
    for (const changed of [folder, files]) {
      const opened = openSync(changed, 'r');
      fsyncSync(opened);
      closeSync(opened);
    }
  } catch (error) {
    throw new StorageError(`Cannot create the file storage ${files}: ${(error as Error).message}`);
  }
}

async function append(
  path: string,
  sealedPath: string,
  at: number,
  hasRoomFor: Blobs['hasRoomFor'],
): Promise<BlobWriter> {
  const found = await sizeOf(path);
  const size = found ?? 0;
  if (at > size) throw new Error(`a blob of ${size} bytes cannot be continued at ${at}`);
  if (found === undefined && (await sizeOf(sealedPath)) !== undefined) throw new Error('the blob is sealed');
  const file = await open(path, found === undefined ? 'wx' : 'r+', fileMode);
  try {
    if (at < size) await file.truncate(at);
    if (found === undefined) await syncFolder(dirname(path));
  } catch (error) {
    await file.close();
    throw error;
  }
  let synced = Promise.resolve();
  let unsynced = 0;
  const store = async (piece: Uint8Array, offset: number) => {
    if (!(await hasRoomFor(piece.length))) throw noRoom();
    await orUnavailable(() => writeAll(file, piece, offset));
    unsynced += piece.length;
    if (unsynced < syncEveryBytes) return;
    unsynced = 0;
    synced = synced.then(() => file.datasync());
    // `finish` awaits it. The system may report a write error only once.
    synced.catch(() => {});
  };
  // One at a time: a failed write before a successful one would leave a hole that counts as stored.
  return new PieceWriter(
    { bytes: pieceBytes, concurrentStores: 1, store, finish: () => orUnavailable(() => finish(file, synced)) },
    at,
  );
}

async function writeAll(file: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    written += (await file.write(bytes, written, bytes.length - written, offset + written)).bytesWritten;
  }
}

async function finish(file: FileHandle, synced?: Promise<void>): Promise<number> {
  try {
    await synced;
    await file.sync();
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

/** Repeats every step: a crashed process may have done some of them without a sync. */
async function seal(path: string, sealedPath: string, size: number): Promise<void> {
  const isGrowing = (await sizeOf(path)) !== undefined;
  const isThere = isGrowing || (await sizeOf(sealedPath)) !== undefined;
  const kept = isThere ? await finish(await open(isGrowing ? path : sealedPath, 'r')) : 0;
  if (kept !== size) throw new Error(`a blob of ${kept} bytes cannot be sealed as one of ${size}`);
  const folder = dirname(sealedPath);
  if (isGrowing) {
    await mkdir(folder, { recursive: true, mode: folderMode });
    await rename(path, sealedPath);
  }
  await syncFolder(folder);
  await syncFolder(dirname(folder));
  await syncFolder(dirname(path));
}

/** Checks the size first: the runtime would notice a missing or short file only after the response has begun. */
async function read(path: string, start: number, end: number): Promise<Blob> {
  const size = (await sizeOf(path)) ?? 0;
  if (size < end) throw new Error(`${path} has ${size} bytes instead of at least ${end}`);
  return Bun.file(path).slice(start, end);
}

/** Syncs the folder: a removed file must not come back after a power failure. */
async function remove(path: string): Promise<void> {
  if ((await sizeOf(path)) === undefined) return;
  // Another server may remove it at the same moment.
  await rm(path, { force: true });
  await syncFolder(dirname(path));
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // If the folder is missing, the disk is not mounted: fail instead of reporting no file.
    await stat(dirname(dirname(path)));
    return undefined;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const outOfRoom: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** Turns errors of the operating system into `unavailable`. */
async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw outOfRoom.has(code)
      ? noRoom(error)
      : new ParleyError('unavailable', 'The file storage is unavailable. Try again later.', [], error);
  }
}
