import type { Blobs, BlobWriter } from './blobs.ts';

/** From where to where in the blob the bytes of a part count. */
interface Part {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Lets a blob go on under another name: with the key `<key>.<offset>` its first bytes are those of `<key>`, and what comes
 * from the offset on is kept apart from them, and so on for every further offset. Whoever still writes under the shorter key,
 * or has sent something that arrives late, can change nothing of the longer one: writers only ever go on behind what
 * there is. What they leave behind the offset does not count, and is removed with the blob.
 */
export function inParts(blobs: Blobs): Blobs {
  return {
    writersAtOnce: blobs.writersAtOnce,
    hasRoomFor: (size) => blobs.hasRoomFor(size),
    append: async (key, at) => {
      const { name, start } = lastOf(key);
      if (at < start) throw new Error(`a blob that was cut at ${start} cannot be continued at ${at}`);
      return behind(start, await blobs.append(name, at - start));
    },
    sizeOf: async (key) => {
      const { name, start } = lastOf(key);
      return start + (await blobs.sizeOf(name));
    },
    seal: async (key, size) => {
      const parts = partsOf(key, size);
      for (const { name, start, end } of parts.slice(0, -1)) if (end > start) await sealCut(blobs, name, end - start);
      for (const { name, start, end } of parts.slice(-1)) await blobs.seal(name, end - start);
    },
    read: async (key, start, end) => {
      const wanted = partsOf(key, end)
        .map((part) => ({ ...part, from: Math.max(start, part.start), to: Math.min(end, part.end) }))
        .filter(({ from, to }) => from < to);
      const [first, ...others] = wanted.map(
        (part) => () => blobs.read(part.name, part.from - part.start, part.to - part.start),
      );
      if (!first) throw new Error(`a blob has no bytes from ${start} to ${end}`);
      return others.length === 0 ? first() : inTurn(await first(), others);
    },
    remove: async (key) => {
      for (const { name } of partsOf(key, 0)) await blobs.remove(name);
    },
  };
}

function partsOf(key: string, size: number): Part[] {
  const [base = '', ...cuts] = key.split('.');
  if (!cuts.every((cut) => /^\d{1,16}$/.test(cut))) throw new Error('not a key of a blob');
  const starts = [0, ...cuts.map(Number)];
  return starts.map((start, i) => ({ name: i === 0 ? base : `${base}-${i}`, start, end: starts[i + 1] ?? size }));
}

const lastOf = (key: string): Part => partsOf(key, 0).at(-1) as Part;

const behind = (start: number, writer: BlobWriter): BlobWriter => ({
  write: (bytes) => writer.write(bytes),
  close: async () => start + (await writer.close()),
});

/** Whoever was cut off may have written on behind the cut. */
async function sealCut(blobs: Blobs, name: string, size: number): Promise<void> {
  if ((await blobs.sizeOf(name)) > size) await (await blobs.append(name, size)).close();
  await blobs.seal(name, size);
}

function inTurn(
  first: Blob | ReadableStream<Uint8Array>,
  others: readonly (() => Promise<Blob | ReadableStream<Uint8Array>>)[],
): ReadableStream<Uint8Array> {
  const pieces = (async function* () {
    yield* new Response(first).body ?? [];
    for (const other of others) yield* new Response(await other()).body ?? [];
  })();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await pieces.return()),
  });
}
