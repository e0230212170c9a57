import { invalidField } from '@parley/contract';
import { type Caller, requireScopes } from '../auth/caller.ts';
import { Upload } from '../files/upload.ts';
import type { ReceivedFile, Uploads } from '../files/uploads.ts';
import type { Gates } from '../operations/operation.ts';
import { readBody } from './body.ts';
import { mediaTypeOf } from './bytes.ts';
import { type FileBodyParts, readFormWithFile, readRawFile } from './file-body.ts';
import type { Fields } from './form-data.ts';
import type { RawInput } from './input.ts';
import type { Target } from './routes.ts';
import { shorten, validate } from './validate.ts';

/** The input of a call as it came. */
export interface Received {
  readonly raw: RawInput;
  readonly file?: ReceivedFile | undefined;
  /** To be called once the call is over: removes the file, unless it has become a whole one. */
  release?(): Promise<void>;
}

export interface ReceiverParts {
  readonly bodyLimit: number;
  readonly gates: Gates;
  readonly uploads: Uploads;
}

/** What whoever answers has to know while a file comes in. */
export interface FileProgress {
  /** Some of it has come. */
  goesOn(): void;
  /** Whether more of the body is on its way, which nobody waits for if the call is refused now. */
  coming(isComing: boolean): void;
  /** All of the file has come: making it safe may take longer than a silent connection is otherwise kept. */
  arrived(): void;
}

/** Reads the bodies of POSTs: what is small at once, a file into storage while it arrives. */
export function receiver({ bodyLimit, gates, uploads }: ReceiverParts) {
  return async (request: Request, target: Target, caller: Caller, progress: FileProgress): Promise<Received> => {
    const { route, query } = target;
    const { row, fileField } = route;
    const contentType = request.headers.get('content-type') ?? '';
    const isForm = mediaTypeOf(contentType) === 'multipart/form-data';
    const isRaw = row.rawFile && !isForm;
    if (!isRaw) refuseQuery(query);
    if (fileField === undefined || !(isForm || isRaw)) {
      return { raw: await readBody(request, bodyLimit, contentType) };
    }
    // There is nothing else to wait for.
    if (isRaw) validate(row.input, route.decode(asRaw(query)));
    const parts: FileBodyParts = {
      request,
      contentType,
      fieldLimit: bodyLimit,
      fileLimit: uploads.mostBytes,
      field: fileField,
      begin: async (name, before) => {
        requireScopes(caller, ['files']);
        await gates[row.name]?.(caller, route.decode(asRaw(before)));
        return Upload.begin(uploads, caller.userId, name, !row.rawFile);
      },
      goesOn: () => progress.goesOn(),
      arrived: () => progress.arrived(),
    };
    progress.coming(true);
    const { fields, file, release } = await (isRaw ? readRawFile(parts, query) : readFormWithFile(parts));
    progress.coming(false);
    return { raw: asRaw(fields), file, release };
  };
}

const asRaw = (fields: Fields): RawInput => ({ kind: 'strings', fields });

function refuseQuery([misplaced]: Target['query']): void {
  if (misplaced)
    throw invalidField(shorten(misplaced[0]), 'belongs in the body: a POST takes only action in its address');
}
