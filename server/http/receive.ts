import { invalidField } from '@parley/contract';
import { type Caller, requireScopes } from '../auth/caller.ts';
import { Upload } from '../files/upload.ts';
import type { ReceivedFile, Uploads } from '../files/uploads.ts';
import type { Gates } from '../operations/operation.ts';
import { extraFor, readBody } from './body.ts';
import { mediaTypeOf } from './bytes.ts';
import { type FileBodyDeps, readFormWithFile, readRawFile } from './file-body.ts';
import type { Fields } from './form-data.ts';
import type { RawInput } from './input.ts';
import type { RequestContext } from './request-context.ts';
import { HttpError } from './responses.ts';
import type { Target } from './routes.ts';
import { minUploadRate, UploadRate } from './upload-rate.ts';
import { shorten, validate } from './validate.ts';

/** The input of a call, before validation. */
export interface Received {
  readonly raw: RawInput;
  readonly file?: ReceivedFile | undefined;
  /** Must be called at the end of the call. Removes the file unless it is complete by then. */
  release?(): Promise<void>;
}

export interface ReceiverDeps {
  readonly bodyLimit: number;
  readonly gates: Gates;
  readonly uploads: Uploads;
}

/** Seconds that a client may wait for a file to be stored. The runtime allows no more. */
const maxStoringSeconds = 255;

/** Reads the bodies of POSTs. A file goes into storage while it arrives. */
export function receiver({ bodyLimit, gates, uploads }: ReceiverDeps) {
  return async (context: RequestContext, target: Target, caller: Caller): Promise<Received> => {
    const { request, connections } = context;
    const { route, query } = target;
    const { row, fileField } = route;
    const contentType = request.headers.get('content-type') ?? '';
    const isForm = mediaTypeOf(contentType) === 'multipart/form-data';
    const isRaw = row.rawFile && !isForm;
    if (!isRaw) refuseQuery(query);
    if (fileField === undefined || !(isForm || isRaw)) {
      const arrived = (bytes: number) => context.charge(extraFor(bytes));
      return { raw: await readBody(request, bodyLimit, contentType, arrived) };
    }
    // All fields of a raw file are in the query, so they are checked before the first byte.
    if (isRaw) validate(row.input, route.decode(asRaw(query)));
    const deps: FileBodyDeps = {
      request,
      contentType,
      maxFieldBytes: bodyLimit,
      maxFileBytes: Math.min(row.maxFileBytes ?? uploads.maxBytes, uploads.maxBytes),
      field: fileField,
      begin: async (name, before) => {
        requireScopes(caller, ['files']);
        await gates[row.name]?.(caller, route.decode(asRaw(before)));
        return Upload.begin(uploads, caller, name, !row.rawFile);
      },
      rate: new UploadRate(context.monotonic, tooSlow),
      chunkArrived: () => context.keepAlive(),
      fileArrived: () => connections.timeout(request, maxStoringSeconds),
    };
    context.isBodyPending = true;
    const { fields, file, release } = await (isRaw ? readRawFile(deps, query) : readFormWithFile(deps));
    context.isBodyPending = false;
    return { raw: asRaw(fields), file, release };
  };
}

const tooSlow = () =>
  new HttpError(
    'invalid_request',
    `The upload is too slow: it needs ${minUploadRate} bytes per second. A resumable upload can go on later.`,
    {},
    408,
  );

const asRaw = (fields: Fields): RawInput => ({ kind: 'strings', fields });

function refuseQuery([misplaced]: Target['query']): void {
  if (misplaced) throw invalidField(shorten(misplaced[0]), 'belongs in the body of a POST, not in its URL');
}
