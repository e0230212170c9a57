import { S3Client } from 'bun';
import { withTimeout } from '../../lib/timeout.ts';
import type { Blobs, BlobWriter } from './blobs.ts';
import { checkKey } from './key.ts';
import { type Pieces, PieceWriter } from './pieces.ts';
import { asStorageError, asUnavailable, withRetries } from './s3-faults.ts';
import type { S3Settings } from './s3-url.ts';

/** The size of every object but a blob's last. It must never change, because stored blobs depend on it. */
const objectBytes = 4 * 1024 * 1024;

/**
 * Bytes of one GET. A slow reader holds as much in memory. Measured on loopback: 95 MB/s with 1 MiB, 157 with 2 MiB, 230 with
 * 8 MiB.
 */
const rangeBytes = 2 * 1024 * 1024;

/** Bun copies what it sends. With objects of 8 MiB a writer took 44 MiB for one PUT and 69 MiB for two. */
const concurrentPuts = 2;
const concurrentDeletes = 16;

interface StoredObject {
  readonly name: string;
  readonly size: number;
}

/**
 * Stores a blob as objects `<prefix><key>/000000`, `/000001` and so on. Writing can resume at any offset, without multipart
 * uploads that would have to be aborted. Four kinds of requests suffice, and every S3 server knows them.
 */
export function openS3(settings: S3Settings): Blobs {
  const bucket = clientOf(settings);
  const folderOf = (key: string) => `${settings.prefix}${checkKey(key)}/`;
  const listed = async (key: string) => list(bucket, folderOf(key));
  const sizeNow = async (key: string) => sizeOf(folderOf(key), await listed(key));

  return {
    concurrentWriters: 16,
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

/** Throws a `StorageError` if the bucket cannot be used. */
export async function checkS3(settings: S3Settings, timeoutMs = 20_000): Promise<void> {
  // Bun's own timeout for a server that does not respond is six minutes.
  const listing = withRetries(() => clientOf(settings).list({ prefix: settings.prefix, maxKeys: 1 }));
  try {
    await withTimeout(timeoutMs, listing, () => Object.assign(new Error(), { code: 'Timeout' }));
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
  // Objects after `at` must go first: they would count again once the blob reaches them.
  const isAfter = ({ name }: StoredObject) => name > last || (name === last && begun.length === 0);
  await removeAll(bucket, objects.filter(isAfter));
  if (at < found && begun.length > 0) await put(bucket, last, begun);
  const pieces: Pieces = {
    bytes: objectBytes,
    concurrentStores: concurrentPuts,
    store: (bytes, offset) => put(bucket, nameOf(folder, indexAt(offset)), bytes),
    finish: async (size) => size ?? sizeOf(folder, await list(bucket, folder)),
  };
  return new PieceWriter(pieces, at - begun.length, begun);
}

/** Fetches the first range before it returns, so an unavailable storage gives an error instead of a broken response. */
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
  await withRetries(() => bucket.write(name, bytes));
}

async function fetchRange(
  bucket: S3Client,
  name: string,
  start: number,
  end: number,
): Promise<Uint8Array<ArrayBuffer>> {
  if (start === end) return new Uint8Array();
  const bytes = await withRetries(() => bucket.file(name).slice(start, end).bytes());
  if (bytes.length === end - start) return bytes;
  throw asUnavailable(new Error(`${name} has ${bytes.length} bytes from ${start} on instead of ${end - start}`));
}

async function list(bucket: S3Client, folder: string): Promise<StoredObject[]> {
  const objects: StoredObject[] = [];
  for (let continuationToken: string | undefined; ; ) {
    const query = { prefix: folder, ...(continuationToken !== undefined && { continuationToken }) };
    const page = await withRetries(() => bucket.list(query));
    for (const { key, size = 0 } of page.contents ?? []) objects.push({ name: key, size });
    continuationToken = page.nextContinuationToken;
    if (!page.isTruncated || continuationToken === undefined) return objects;
  }
}

/** Objects after a missing or short one do not count: an interrupted writer left them. */
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
  for (let first = 0; first < objects.length; first += concurrentDeletes) {
    const some = objects.slice(first, first + concurrentDeletes);
    await Promise.all(some.map(({ name }) => withRetries(() => bucket.delete(name))));
  }
}
