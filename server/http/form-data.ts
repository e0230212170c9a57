import { invalidField } from '@parley/contract';
import { decodeUtf8, tooLarge } from './bytes.ts';
import { type PartHead, type PartSink, readMultipart } from './multipart.ts';
import { shorten } from './validate.ts';

export type Fields = readonly (readonly [string, string])[];

/** Returns the sink for a file, given the fields before it, or undefined if no file belongs there. */
export type OpenFile = (part: PartHead & { filename: string }, before: Fields) => Promise<PartSink | undefined>;

/** Reads a `multipart/form-data` body. Returns its fields, at most `limit` bytes together. Files go to `openFile`. */
export async function readForm(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  limit: number,
  openFile: OpenFile,
  maxParts: number,
): Promise<Fields> {
  const fields: [string, string][] = [];
  let left = limit;
  const openText = (name: string): PartSink => {
    const chunks: Uint8Array[] = [];
    return {
      write(bytes) {
        left -= bytes.length;
        if (left < 0) throw tooLarge(limit);
        chunks.push(Uint8Array.from(bytes));
      },
      end() {
        fields.push([name, decodeUtf8(Buffer.concat(chunks))]);
      },
    };
  };
  await readMultipart(
    body,
    contentType,
    async ({ name, filename }) => {
      if (filename === undefined) return openText(name);
      const sink = await openFile({ name, filename }, fields);
      if (sink) return sink;
      throw invalidField(shorten(name), 'must be text, not a file');
    },
    maxParts,
  );
  return fields;
}
