import { invalidField } from '@parley/contract';
import { checkName, lastOf } from '../files/name.ts';
import type { Upload } from '../files/upload.ts';
import { type ReceivedFile, tooLargeFile } from '../files/uploads.ts';
import { asUnreadable } from './bytes.ts';
import { type Fields, readForm } from './form-data.ts';
import type { PartSink } from './multipart.ts';
import { shorten } from './validate.ts';

/** A body with a file in it, read to its end. */
export interface FileBody {
  readonly fields: Fields;
  readonly file: ReceivedFile | undefined;
  /** Removes the file, unless it has become a whole one by then. */
  release(): Promise<void>;
}

export interface FileBodyParts {
  readonly request: Request;
  readonly contentType: string;
  /** Bytes of all fields together, and of the file, at most. */
  readonly fieldLimit: number;
  readonly fileLimit: number;
  /** The field that takes the file. */
  readonly field: string;
  /** Called before the first byte of the file is taken in, with the fields that came before it. Refuses by throwing. */
  readonly begin: (name: string, before: Fields) => Promise<Upload>;
  /** Called whenever some of the body has come. */
  readonly goesOn: () => void;
  /** Called once its last byte has come. */
  readonly arrived: () => void;
}

/** Parts of a form with a file, at most. */
const mostParts = 100;

/** Reads a form whose file goes into storage while it arrives. */
export function readFormWithFile(parts: FileBodyParts): Promise<FileBody> {
  const { contentType, fieldLimit, fileLimit, field } = parts;
  return receive(parts, fieldLimit + fileLimit, async (intake) => {
    let isGiven = false;
    return readForm(
      bodyOf(parts),
      contentType,
      fieldLimit,
      async ({ name, filename }, before): Promise<PartSink | undefined> => {
        if (name !== field) throw invalidField(shorten(name), `is a file, which belongs in the field ${field}`);
        if (isGiven) throw invalidField(field, 'is given more than once');
        isGiven = true;
        // A browser's field that was left empty: it has neither a name nor bytes.
        if (filename !== '') await intake.begin(filename, before);
        return {
          write: async (bytes) => {
            if (!intake.hasBegun) await intake.begin(filename, before);
            await intake.write(bytes);
          },
          end: () => intake.finish(),
        };
      },
      mostParts,
    );
  });
}

const rawNeedsName =
  'is required in the address where the body is the file itself; or send multipart/form-data with the file in the part file';

/** Reads a body that is the file and nothing else. */
export function readRawFile(parts: FileBodyParts, fields: Fields): Promise<FileBody> {
  const { fileLimit } = parts;
  return receive(parts, fileLimit, async (intake) => {
    // Whoever gives none has probably meant to send a form, or JSON.
    if (!fields.some(([field]) => field === 'name')) throw invalidField('name', rawNeedsName);
    await intake.begin('', fields);
    for await (const bytes of bodyOf(parts)) await intake.write(bytes);
    await intake.finish();
    return fields;
  });
}

/** A body that breaks off is its sender's fault; whatever else fails while it is read is ours. */
async function* bodyOf({ request, goesOn }: FileBodyParts): AsyncIterable<Uint8Array> {
  try {
    for await (const bytes of request.body ?? []) {
      goesOn();
      yield bytes;
    }
  } catch (error) {
    throw asUnreadable(error);
  }
}

/** Takes in a file, and removes it again where the body is refused or breaks off. */
async function receive(
  parts: FileBodyParts,
  limit: number,
  read: (intake: Intake) => Promise<Fields>,
): Promise<FileBody> {
  if (Number(parts.request.headers.get('content-length')) > limit) throw tooLargeFile(parts.fileLimit);
  const intake = new Intake(parts);
  try {
    const fields = await read(intake);
    return { fields, file: intake.file, release: () => intake.release() };
  } catch (error) {
    await intake.release();
    throw error;
  }
}

/** The one file of a body. */
class Intake {
  readonly #parts: FileBodyParts;
  #upload: Upload | undefined;
  file: ReceivedFile | undefined;

  constructor(parts: FileBodyParts) {
    this.#parts = parts;
  }

  get hasBegun(): boolean {
    return this.#upload !== undefined;
  }

  /** The file comes under the name that a field gives it, else under its own. */
  async begin(filename: string, before: Fields): Promise<void> {
    const given = before.find(([field]) => field === 'name')?.[1];
    const name = given ?? lastOf(filename);
    checkName(name, given === undefined ? this.#parts.field : 'name');
    this.#upload = await this.#parts.begin(name, before);
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#upload?.write(bytes);
  }

  async finish(): Promise<void> {
    this.#parts.arrived();
    this.file = await this.#upload?.finish();
  }

  async release(): Promise<void> {
    await this.#upload?.release();
  }
}
