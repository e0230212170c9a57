import { invalidField } from '@parley/contract';
import { checkName, lastOf } from '../files/name.ts';
import type { Upload } from '../files/upload.ts';
import { type ReceivedFile, tooLargeFile } from '../files/uploads.ts';
import { asUnreadable } from './bytes.ts';
import { type Fields, readForm } from './form-data.ts';
import type { PartSink } from './multipart.ts';
import type { UploadRate } from './upload-rate.ts';
import { shorten } from './validate.ts';

/** A body with a file, read to its end. */
export interface FileBody {
  readonly fields: Fields;
  readonly file: ReceivedFile | undefined;
  /** Removes the file unless it is complete by then. */
  release(): Promise<void>;
}

export interface FileBodyDeps {
  readonly request: Request;
  readonly contentType: string;
  /** All fields together. */
  readonly maxFieldBytes: number;
  readonly maxFileBytes: number;
  /** The field that takes the file. */
  readonly field: string;
  /** Called before the first byte of the file, with the fields before it. Throws if the caller may not send a file. */
  readonly begin: (name: string, before: Fields) => Promise<Upload>;
  readonly rate: UploadRate;
  readonly chunkArrived: () => void;
  readonly fileArrived: () => void;
}

/** A form with a file may have this many parts. */
const maxParts = 100;

/** Reads a form. Its file goes into storage while it arrives. */
export function readFormWithFile(deps: FileBodyDeps): Promise<FileBody> {
  const { contentType, maxFieldBytes, maxFileBytes, field } = deps;
  return receive(deps, maxFieldBytes + maxFileBytes, async (intake) => {
    let isGiven = false;
    return readForm(
      bodyOf(deps),
      contentType,
      maxFieldBytes,
      async ({ name, filename }, before): Promise<PartSink | undefined> => {
        if (name !== field) throw invalidField(shorten(name), `is a file, which belongs in the field ${field}`);
        if (isGiven) throw invalidField(field, 'is given more than once');
        isGiven = true;
        // A file field that was left empty in a browser has neither a name nor bytes.
        if (filename !== '') await intake.begin(filename, before);
        return {
          write: async (bytes) => {
            if (!intake.hasBegun) await intake.begin(filename, before);
            await intake.write(bytes);
          },
          end: () => intake.finish(),
        };
      },
      maxParts,
    );
  });
}

const rawNeedsName =
  'is required in the URL if the body is the file itself; or send multipart/form-data with the file in the part file';

/** Reads a body that is the file and nothing else. */
export function readRawFile(deps: FileBodyDeps, fields: Fields): Promise<FileBody> {
  const { maxFileBytes } = deps;
  return receive(deps, maxFileBytes, async (intake) => {
    // Without a name the caller probably meant to send a form or JSON.
    if (!fields.some(([field]) => field === 'name')) throw invalidField('name', rawNeedsName);
    await intake.begin('', fields);
    for await (const bytes of bodyOf(deps)) await intake.write(bytes);
    await intake.finish();
    return fields;
  });
}

/** A disconnect is the client's fault. Any other failure while reading is ours. */
async function* bodyOf({ request, rate, chunkArrived }: FileBodyDeps): AsyncIterable<Uint8Array> {
  try {
    rate.wait();
    for await (const bytes of request.body ?? []) {
      chunkArrived();
      rate.arrived(bytes.length);
      yield bytes;
      rate.wait();
    }
  } catch (error) {
    throw asUnreadable(error);
  }
}

/** Removes the file again if the body is refused or incomplete. */
async function receive(
  deps: FileBodyDeps,
  limit: number,
  read: (intake: Intake) => Promise<Fields>,
): Promise<FileBody> {
  if (Number(deps.request.headers.get('content-length')) > limit) throw tooLargeFile(deps.maxFileBytes);
  const intake = new Intake(deps);
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
  readonly #deps: FileBodyDeps;
  #upload: Upload | undefined;
  #bytes = 0;
  file: ReceivedFile | undefined;

  constructor(deps: FileBodyDeps) {
    this.#deps = deps;
  }

  get hasBegun(): boolean {
    return this.#upload !== undefined;
  }

  /** A `name` field takes precedence over the file's own name. */
  async begin(filename: string, before: Fields): Promise<void> {
    const given = before.find(([field]) => field === 'name')?.[1];
    const name = given ?? lastOf(filename);
    checkName(name, given === undefined ? this.#deps.field : 'name');
    this.#upload = await this.#deps.begin(name, before);
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#deps.maxFileBytes) throw tooLargeFile(this.#deps.maxFileBytes);
    await this.#upload?.write(bytes);
  }

  async finish(): Promise<void> {
    this.#deps.fileArrived();
    this.file = await this.#upload?.finish();
  }

  async release(): Promise<void> {
    await this.#upload?.release();
  }
}
