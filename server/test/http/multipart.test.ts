import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type PartHead, type PartSink, readMultipart } from '../../http/multipart.ts';

interface WrittenPart {
  readonly name: string;
  readonly filename: string | undefined;
  readonly bytes: Uint8Array;
}

const boundary = '----a-boundary-0123456789';
const contentType = `multipart/form-data; boundary=${boundary}`;

function write(parts: readonly WrittenPart[]): Buffer {
  const pieces = parts.flatMap(({ name, filename, bytes }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`,
    filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: application/octet-stream`,
    '\r\n\r\n',
    bytes,
    '\r\n',
  ]);
  return Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)));
}

/** In pieces with memory of their own, as they come from a socket. */
async function* inPieces(bytes: Uint8Array, sizes: readonly number[]): AsyncIterable<Uint8Array> {
  for (let from = 0, i = 0; from < bytes.length; i++) {
    const to = from + (sizes[i % sizes.length] ?? 1);
    yield Uint8Array.from(bytes.subarray(from, to));
    from = to;
  }
}

/** Reads a form and notes in which order its sinks were used. */
async function read(body: AsyncIterable<Uint8Array>, slowly: boolean) {
  const parts: WrittenPart[] = [];
  const order: string[] = [];
  const open = async ({ name, filename }: PartHead): Promise<PartSink> => {
    order.push(`open ${name}`);
    const chunks: Uint8Array[] = [];
    return {
      write: async (bytes) => {
        if (slowly) await Bun.sleep(0);
        chunks.push(Uint8Array.from(bytes));
      },
      end: () => {
        order.push(`end ${name}`);
        parts.push({ name, filename, bytes: Buffer.concat(chunks) });
      },
    };
  };
  await readMultipart(body, contentType, open, Number.POSITIVE_INFINITY);
  return { parts, order };
}

/** Bytes in which beginnings of the boundary stand, which is what a parser stumbles over. */
const content = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.integer({ min: 1, max: boundary.length + 3 }).map((n) => Buffer.from(`\r\n--${boundary}`).subarray(0, n)),
      fc.integer({ min: 1, max: 150_000 }).map((n) => Buffer.alloc(n, 'x')),
    ),
    { maxLength: 4 },
  )
  .map((pieces) => Buffer.concat(pieces))
  .filter((bytes) => !bytes.includes(`\r\n--${boundary}`));

test('a form is read unchanged, whatever the chunks that it arrives in', async () => {
  const part = fc.record({ filename: fc.option(fc.constant('a file'), { nil: undefined }), bytes: content });
  const sizes = fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { minLength: 1, maxLength: 6 }),
      sizes,
      fc.boolean(),
      async (given, cut, slowly) => {
        const written = given.map((one, i) => ({ name: `part${i}`, ...one }));
        const { parts, order } = await read(inPieces(write(written), cut), slowly);
        expect(order).toEqual(written.flatMap(({ name }) => [`open ${name}`, `end ${name}`]));
        expect(parts.length).toBe(written.length);
        for (const [i, one] of written.entries()) {
          expect(parts[i]?.filename).toBe(one.filename);
          expect(Buffer.compare(parts[i]?.bytes ?? Buffer.alloc(0), one.bytes)).toBe(0);
        }
      },
    ),
    { numRuns: 150 },
  );
});

test('an incomplete form is rejected, wherever it ends', async () => {
  const whole = write([
    { name: 'text', filename: undefined, bytes: Buffer.from('hello') },
    { name: 'file', filename: 'a file', bytes: Buffer.alloc(300, 'y') },
  ]);
  // The bytes after the last boundary are optional.
  for (let length = 0; length < whole.length - 4; length++) {
    const reading = read(inPieces(whole.subarray(0, length), [97]), false);
    await expect(reading, `cut off at ${length}`).rejects.toMatchObject({ code: 'invalid_request' });
  }
});
