import { ParleyError, type UserId } from '@parley/contract';
import { requireScopes } from '../auth/caller.ts';
import { UploadBusy } from '../files/lease.ts';
import type { UploadHold, UploadLocks } from '../files/locks.ts';
import { ResumableUpload } from '../files/resumable-upload.ts';
import { moreThanAnnounced, type Uploads } from '../files/uploads.ts';
import { mediaTypeOf } from './bytes.ts';
import { type PipelineDeps, pipeline } from './pipeline.ts';
import type { RequestContext } from './request-context.ts';
import { asParleyError, failure, HttpError } from './responses.ts';
import { stoppableBody } from './upload-body.ts';
import { appendType, integerIn, metadataIn, tusHeadersFor, tusOptions, tusVersion } from './upload-headers.ts';

export interface UploadsDeps extends PipelineDeps {
  readonly uploads: Uploads;
  readonly locks: UploadLocks;
}

const scopes = ['files'] as const;

/** The methods of the protocol, as the log and the metrics name them. */
const operations: Readonly<Record<string, string>> = {
  POST: 'uploads.create',
  HEAD: 'uploads.look',
  PATCH: 'uploads.append',
  DELETE: 'uploads.remove',
};

/** Serves resumable uploads by the tus protocol, with creation, creation-with-upload, termination and expiration. */
export function serveUploads(deps: UploadsDeps) {
  const { uploads, locks } = deps;
  const preflight = () => tusOptions(uploads.maxBytes);
  return { fetch: pipeline(deps, { preflight, respond, fail }), stop: () => locks.interruptAll() };

  async function respond(context: RequestContext, path: string): Promise<Response> {
    const { request } = context;
    // A proxy that knows only the usual methods gets the intended one in a header.
    context.method = (request.headers.get('x-http-method-override') ?? request.method).toUpperCase();
    context.operation = operations[context.method] ?? 'none';
    context.isBodyPending = context.method === 'POST' || context.method === 'PATCH';
    const key = keyIn(path);
    checkMethod(context.method, key);
    context.clientIp();
    const caller = await context.authenticate();
    context.admit(caller, scopes);
    checkVersion(request);
    const responding = key === undefined ? create(context, caller.userId) : use(context, caller.userId, key);
    uploads.waitFor(responding);
    return responding;
  }

  async function create(context: RequestContext, userId: UserId): Promise<Response> {
    const { headers } = context.request;
    for (const name of ['upload-defer-length', 'upload-concat']) {
      if (headers.has(name)) throw new ParleyError('invalid_request', `${name} is not supported.`);
    }
    const size = integerIn(headers, 'Upload-Length');
    const upload = await ResumableUpload.create(uploads, userId, metadataIn(headers).get('filename') ?? '', size);
    const location = { location: `/api/uploads/${upload.row.key}` };
    if (mediaTypeOf(headers.get('content-type') ?? '') !== appendType) {
      context.isBodyPending = false;
      return toResponse(context, 201, { ...location, ...stateOf(upload) });
    }
    try {
      return await locks.holdNew(upload.row.key, (hold) => append(context, upload, 0, hold, 201, location));
    } catch (error) {
      // Without the Location the client cannot resume it.
      await upload.remove().catch(() => {});
      throw error;
    }
  }

  async function use(context: RequestContext, userId: UserId, key: string): Promise<Response> {
    const offset = context.method === 'PATCH' ? checkAppend(context.request) : 0;
    // Before the lock: only the owner may interrupt the request that has it.
    await ResumableUpload.access(uploads, userId, key);
    return locks.hold(key, async (hold) => {
      const upload = await ResumableUpload.access(uploads, userId, key);
      if (hold.lease) await upload.resume(hold.lease);
      if (context.method === 'DELETE') {
        await upload.remove();
        return toResponse(context, 204, {});
      }
      const stored = await upload.offset();
      if (context.method === 'HEAD')
        return toResponse(context, 200, { ...factsOf(upload, stored), ...stateOf(upload) });
      if (offset !== stored) throw new ParleyError('conflict', wrongOffset);
      return append(context, upload, offset, hold, 204, {});
    });
  }
}

const wrongOffset = 'The upload is not at this Upload-Offset. Get it with HEAD, and resume there.';

/** Responds with the new offset. An interrupted request responds with the bytes that it has stored. */
async function append(
  context: RequestContext,
  upload: ResumableUpload,
  offset: number,
  { signal }: UploadHold,
  status: number,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  if (offset + Number(context.request.headers.get('content-length')) > upload.row.size) throw moreThanAnnounced();
  const body = stoppableBody(context);
  signal.addEventListener('abort', () => body.stop());
  if (signal.aborted) body.stop();
  const checkAccess = async () => requireScopes(await context.reauthenticate(), scopes);
  const ownerId = context.caller?.ownerId ?? upload.row.user_id;
  const stored = await upload.append(offset, body, ownerId, checkAccess);
  context.isBodyPending = signal.aborted;
  return toResponse(context, status, { ...headers, 'upload-offset': String(stored), ...stateOf(upload) });
}

const factsOf = ({ row: { size, name } }: ResumableUpload, offset: number): Record<string, string> => ({
  'upload-offset': String(offset),
  'upload-length': String(size),
  ...(name !== '' && { 'upload-metadata': `filename ${Buffer.from(name).toString('base64')}` }),
});

const stateOf = ({ fileId, expiresAt }: ResumableUpload): Record<string, string> =>
  fileId === undefined ? { 'upload-expires': new Date(expiresAt).toUTCString() } : { 'parley-file-id': String(fileId) };

function toResponse(context: RequestContext, status: number, headers: Readonly<Record<string, string>>): Response {
  const { 'content-type': _, ...common } = tusHeadersFor(context);
  return new Response(null, { status, headers: { ...common, ...headers } });
}

function fail(thrown: unknown, context: RequestContext): Response {
  const error = asParleyError(context.countFailure(thrown));
  const response = failure(error, context, tusHeadersFor(context));
  return error instanceof UploadBusy
    ? new Response(response.body, { status: 423, headers: response.headers })
    : response;
}

/** Returns the key of the upload, or undefined for the URL that creates one. */
function keyIn(path: string): string | undefined {
  const match = /^uploads(?:\/([\w-]*))?(?:\?|$)/.exec(path);
  if (!match) throw new ParleyError('not_found', 'There is nothing here. Uploads are at /api/uploads/<key>.');
  return match[1] || undefined;
}

function checkMethod(method: string, key: string | undefined): void {
  const allowed = key === undefined ? ['POST'] : ['HEAD', 'PATCH', 'DELETE'];
  if (allowed.includes(method)) return;
  const allow = [...allowed, 'OPTIONS'].join(', ');
  throw new HttpError('method_not_allowed', `This takes ${allowed.join(', ')}.`, { allow });
}

function checkVersion({ headers }: Request): void {
  if (headers.get('tus-resumable') === tusVersion) return;
  const message = `Send the header Tus-Resumable: ${tusVersion}`;
  throw new HttpError('invalid_request', message, { 'tus-version': tusVersion }, 412);
}

/** Returns the offset. */
function checkAppend({ headers }: Request): number {
  if (mediaTypeOf(headers.get('content-type') ?? '') !== appendType) {
    throw new ParleyError('unsupported_media_type', `Send the bytes with Content-Type: ${appendType}`);
  }
  if (headers.has('upload-length')) {
    throw new ParleyError('invalid_request', 'Upload-Length is set when the upload is created.');
  }
  return integerIn(headers, 'Upload-Offset');
}
