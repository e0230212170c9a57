import type { Blobs, BlobWriter } from './blobs.ts';

/** The bytes of a blob from `start` to `end`, in a blob of their own. */
interface Segment {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Lets a blob continue in a new segment. The key `<key>.<offset>` has the first bytes of `<key>`, and stores those from the
 * offset on in another blob; further offsets can follow. A writer that still has the shorter key, and a write of it that
 * arrives late, cannot change the longer one. Its bytes after the offset do not count, and are removed with the blob.
 */
export function withSegments(blobs: Blobs): Blobs {
  return {
    concurrentWriters: blobs.concurrentWriters,
    hasRoomFor: (size) => blobs.hasRoomFor(size),
    append: async (key, at) => {
      const { name, start } = lastOf(key);
      if (at < start) throw new Error(`a blob with a segment at ${start} cannot be continued at ${at}`);
      return shifted(start, await blobs.append(name, at - start));
    },
    sizeOf: async (key) => {
      const { name, start } = lastOf(key);
      return start + (await blobs.sizeOf(name));
    },
    seal: async (key, size) => {
      const segments = segmentsOf(key, size);
      for (const { name, start, end } of segments.slice(0, -1))
        if (end > start) await truncate(blobs, name, end - start);
      for (const { name, start, end } of segments.slice(-1)) await blobs.seal(name, end - start);
    },
    read: async (key, start, end) => {
      const wanted = segmentsOf(key, end)
        .map((segment) => ({ ...segment, from: Math.max(start, segment.start), to: Math.min(end, segment.end) }))
        .filter(({ from, to }) => from < to);
      const [first, ...others] = wanted.map(
        (segment) => () => blobs.read(segment.name, segment.from - segment.start, segment.to - segment.start),
      );
      if (!first) throw new Error(`a blob has no bytes from ${start} to ${end}`);
      return others.length === 0 ? first() : concatenated(await first(), others);
    },
    remove: async (key) => {
      for (const { name } of segmentsOf(key, 0)) await blobs.remove(name);
    },
  };
}

function segmentsOf(key: string, size: number): Segment[] {
  const [base = '', ...offsets] = key.split('.');
  if (!offsets.every((offset) => /^\d{1,16}$/.test(offset))) throw new Error('not a key of a blob');
  const starts = [0, ...offsets.map(Number)];
  return starts.map((start, i) => ({ name: i === 0 ? base : `${base}-${i}`, start, end: starts[i + 1] ?? size }));
}

const lastOf = (key: string): Segment => segmentsOf(key, 0).at(-1) as Segment;

const shifted = (start: number, writer: BlobWriter): BlobWriter => ({
  write: (bytes) => writer.write(bytes),
  close: async () => start + (await writer.close()),
});

/** Seals a segment at its size. Its writer may have written more after the next segment began. */
async function truncate(blobs: Blobs, name: string, size: number): Promise<void> {
  if ((await blobs.sizeOf(name)) > size) await (await blobs.append(name, size)).close();
  await blobs.seal(name, size);
}

function concatenated(
  first: Blob | ReadableStream<Uint8Array>,
  others: readonly (() => Promise<Blob | ReadableStream<Uint8Array>>)[],
): ReadableStream<Uint8Array> {
  const chunks = (async function* () {
    yield* new Response(first).body ?? [];
    for (const other of others) yield* new Response(await other()).body ?? [];
  })();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await chunks.return()),
  });
}
