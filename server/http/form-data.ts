import { invalidField } from '@parley/contract';
import { decodeUtf8, tooLarge } from './bytes.ts';
import { type PartHead, type PartSink, readMultipart } from './multipart.ts';
import { shorten } from './validate.ts';

export type Fields = readonly (readonly [string, string])[];

/** Takes in a part that is a file, given the fields before it; answers nothing where no file belongs. */
export type OpenFile = (part: PartHead & { filename: string }, before: Fields) => Promise<PartSink | undefined>;

/** The fields of a `multipart/form-data` body, which have `limit` bytes together at most. Files in it go elsewhere. */
export async function readForm(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  limit: number,
  openFile: OpenFile,
  mostParts: number,
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
      throw invalidField(shorten(name), 'is a file, where text is expected');
    },
    mostParts,
  );
  return fields;
}
