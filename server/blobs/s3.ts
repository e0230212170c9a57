import { S3Client } from 'bun';
import { withTimeout } from '../lib/timeout.ts';
import type { Blobs, BlobWriter } from './blobs.ts';
import { checkKey } from './key.ts';
import { type Pieces, PieceWriter } from './pieces.ts';
import { asStorageError, asUnavailable, insisting } from './s3-faults.ts';
import type { S3Settings } from './s3-url.ts';

/** The size of every object but a blob's last. It never changes: what has been stored is read by it. */
const objectBytes = 4 * 1024 * 1024;

/**
 * What is fetched with one request. A reader that is slow holds as much in memory, so it is less than an object; larger
 * ones are faster: 95 MB/s with 1 MiB, 157 with 2, 230 with 8, on a server on loopback.
 */
const rangeBytes = 2 * 1024 * 1024;

/** Bun copies what it sends: of 8 MiB each, a writer took 44 MiB of memory with one on its way and 69 with two. */
const putsAtOnce = 2;
const deletesAtOnce = 16;

interface StoredObject {
  readonly name: string;
  readonly size: number;
}

/**
 * Keeps a blob as objects `<prefix><key>/000000`, `/000001` and so on. Writing can so go on at any offset, needs no
 * multipart uploads that somebody would have to abort, and does with four requests that every server knows.
 */
export function openS3(settings: S3Settings): Blobs {
  const bucket = clientOf(settings);
  const folderOf = (key: string) => `${settings.prefix}${checkKey(key)}/`;
  const listed = async (key: string) => list(bucket, folderOf(key));
  const sizeNow = async (key: string) => sizeOf(folderOf(key), await listed(key));

  return {
    writersAtOnce: 16,
    hasRoomFor: async () => true,
    append: async (key, at) => append(bucket, folderOf(key), at),
    sizeOf: sizeNow,
    async seal(key, size) {
      const kept = await sizeNow(key);
      if (kept !== size) throw new Error(`a blob of ${kept} bytes cannot be sealed as one of ${size}`);
    },
    read: async (key, start, end) => read(bucket, folderOf(key), start, end),
    remove: async (key) => removeAll(bucket, await listed(key)),
  };
}

/** Throws a plain line for the operator where the bucket cannot be used. */
export async function checkS3(settings: S3Settings, patienceMs = 20_000): Promise<void> {
  // Bun itself gives up on a silent server only after six minutes.
  const listing = insisting(() => clientOf(settings).list({ prefix: settings.prefix, maxKeys: 1 }));
  try {
    await withTimeout(patienceMs, listing, () => Object.assign(new Error(), { code: 'Timeout' }));
  } catch (error) {
    throw asStorageError(error, settings);
  }
}

function clientOf({ endpoint, bucket, region, accessKeyId, secretAccessKey, isVirtualHosted }: S3Settings): S3Client {
  return new S3Client({ endpoint, bucket, region, accessKeyId, secretAccessKey, virtualHostedStyle: isVirtualHosted });
}

const nameOf = (folder: string, index: number) => folder + String(index).padStart(6, '0');
const indexAt = (offset: number) => Math.floor(offset / objectBytes);

async function append(bucket: S3Client, folder: string, at: number): Promise<BlobWriter> {
  const objects = await list(bucket, folder);
  const found = sizeOf(folder, objects);
  if (at > found) throw new Error(`a blob of ${found} bytes cannot be continued at ${at}`);
  const last = nameOf(folder, indexAt(at));
  const begun = await fetchRange(bucket, last, 0, at % objectBytes);
  // What stands behind must go before anything is written: it would count again once that reaches it.
  const isBehind = ({ name }: StoredObject) => name > last || (name === last && begun.length === 0);
  await removeAll(bucket, objects.filter(isBehind));
  if (at < found && begun.length > 0) await put(bucket, last, begun);
  const pieces: Pieces = {
    bytes: objectBytes,
    atOnce: putsAtOnce,
    store: (bytes, offset) => put(bucket, nameOf(folder, indexAt(offset)), bytes),
    finish: async (size) => size ?? sizeOf(folder, await list(bucket, folder)),
  };
  return new PieceWriter(pieces, at - begun.length, begun);
}

/** The first bytes are there before it answers: so a storage that is away is told of, in place of an answer that breaks off. */
async function read(
  bucket: S3Client,
  folder: string,
  start: number,
  end: number,
): Promise<Blob | ReadableStream<Uint8Array>> {
  const from = (at: number) => {
    const within = at % objectBytes;
    const count = Math.min(end - at, rangeBytes, objectBytes - within);
    return fetchRange(bucket, nameOf(folder, indexAt(at)), within, within + count);
  };
  const first = await from(start);
  let at = start + first.length;
  if (at === end) return new Blob([first]);
  return new ReadableStream({
    start: (controller) => controller.enqueue(first),
    async pull(controller) {
      const bytes = await from(at);
      at += bytes.length;
      controller.enqueue(bytes);
      if (at === end) controller.close();
    },
  });
}

async function put(bucket: S3Client, name: string, bytes: Uint8Array): Promise<void> {
  await insisting(() => bucket.write(name, bytes));
}

async function fetchRange(
  bucket: S3Client,
  name: string,
  start: number,
  end: number,
): Promise<Uint8Array<ArrayBuffer>> {
  if (start === end) return new Uint8Array();
  const bytes = await insisting(() => bucket.file(name).slice(start, end).bytes());
  if (bytes.length === end - start) return bytes;
  throw asUnavailable(new Error(`${name} has ${bytes.length} bytes from ${start} on in place of ${end - start}`));
}

async function list(bucket: S3Client, folder: string): Promise<StoredObject[]> {
  const objects: StoredObject[] = [];
  for (let continuationToken: string | undefined; ; ) {
    const asked = { prefix: folder, ...(continuationToken !== undefined && { continuationToken }) };
    const page = await insisting(() => bucket.list(asked));
    for (const { key, size = 0 } of page.contents ?? []) objects.push({ name: key, size });
    continuationToken = page.nextContinuationToken;
    if (!page.isTruncated || continuationToken === undefined) return objects;
  }
}

/** What stands behind a missing object or a short one does not count: it is left over from a writer that was cut off. */
function sizeOf(folder: string, objects: readonly StoredObject[]): number {
  let size = 0;
  for (const [index, object] of objects.entries()) {
    if (object.name !== nameOf(folder, index)) break;
    size += object.size;
    if (object.size !== objectBytes) break;
  }
  return size;
}

async function removeAll(bucket: S3Client, objects: readonly StoredObject[]): Promise<void> {
  for (let first = 0; first < objects.length; first += deletesAtOnce) {
    const some = objects.slice(first, first + deletesAtOnce);
    await Promise.all(some.map(({ name }) => insisting(() => bucket.delete(name))));
  }
}
