import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ParleyError } from '@parley/contract';
import { type Blobs, type BlobWriter, noRoom, StorageError } from './blobs.ts';
import { checkKey } from './key.ts';
import { PieceWriter } from './pieces.ts';

/**
 * Writes of 16 KiB went to disk at 1.2 GB/s as they came, and at 4.4 GB/s gathered into 1 MiB; 4 MiB were slower again. Half
 * of it is a little slower, and each upload that rests midway holds two of them in memory.
 */
const pieceBytes = 512 * 1024;
/** So much goes to disk at once while more arrives: the wait in the end was a quarter of the time of 1 GiB, and is gone so. */
const syncedBytes = 64 * 1024 * 1024;
/** Files leave so much of the disk to the database, which must go on: 256 MiB, or a twentieth of a small disk. */
const reserveBytes = 256 * 1024 * 1024;
const reserveShare = 0.05;
const [fileMode, folderMode] = [0o600, 0o700];

/**
 * Keeps blobs as files: in `files/incoming` while they grow, and once sealed in a folder of `files` named after the first
 * two characters of the key.
 */
export function openDisk(folder: string, freeIn: FreeIn = roomIn): Blobs {
  const files = join(folder, 'files');
  const incoming = join(files, 'incoming');
  makeFolders(folder, files, incoming);
  const growing = (key: string) => join(incoming, checkKey(key));
  const sealed = (key: string) => join(files, checkKey(key).slice(0, 2), key);

  const hasRoomFor = async (size: number) => {
    const { free, total } = await orUnavailable(() => freeIn(files));
    return free - size >= Math.min(reserveBytes, total * reserveShare);
  };

  return {
    writersAtOnce: 200,
    hasRoomFor,
    append: (key, at) => orUnavailable(() => append(growing(key), sealed(key), at, hasRoomFor)),
    // In this order, because a blob that is being sealed goes from the one to the other.
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
    throw new StorageError(`Cannot create the folder for files ${files}: ${(error as Error).message}`);
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
    if (unsynced < syncedBytes) return;
    unsynced = 0;
    synced = synced.then(() => file.datasync());
    // What goes wrong is told in the end: the disk may say it only once.
    synced.catch(() => {});
  };
  // One at once: were a second written and the first not, a hole would count as kept.
  return new PieceWriter(
    { bytes: pieceBytes, atOnce: 1, store, finish: () => orUnavailable(() => finish(file, synced)) },
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

/** Each step may have been taken before, by a process that was ended right after it: it is taken again, for good. */
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

/** Looked at before: where a file is missing or too short, the runtime finds out only when the answer has begun. */
async function read(path: string, start: number, end: number): Promise<Blob> {
  const size = (await sizeOf(path)) ?? 0;
  if (size < end) throw new Error(`${path} has ${size} bytes in place of at least ${end}`);
  return Bun.file(path).slice(start, end);
}

/** For good: what has been forgotten everywhere else must not come back when the power fails. */
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
    // Where the whole folder is away, as a disk may be, nothing can be said of a file in it.
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

/** What a disk has, and what is left of it, in bytes. */
type FreeIn = (folder: string) => Promise<{ free: number; total: number }>;

async function roomIn(folder: string): ReturnType<FreeIn> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, total: blocks * bsize };
}

const outOfRoom: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** What the operating system refuses is nothing that the caller did wrong. */
async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw outOfRoom.has(code)
      ? noRoom(error)
      : new ParleyError('unavailable', 'The storage for files cannot be used right now. Try again later.', [], error);
  }
}
