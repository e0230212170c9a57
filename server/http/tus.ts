import { ParleyError } from '@parley/contract';
import { requireScopes } from '../auth/caller.ts';
import { UploadBusy } from '../files/busy.ts';
import type { UploadLocks } from '../files/locks.ts';
import type { Uploads } from '../files/uploads.ts';
import { Admission, type AdmissionParts, type Connections } from './admission.ts';
import { failure } from './answer.ts';
import { mediaTypeOf } from './bytes.ts';
import { noteRequest, type Observers } from './note.ts';
import { appendType, tusHeadersFor, tusHeadersOf, tusOptions, tusVersion } from './tus-headers.ts';

export interface TusParts extends AdmissionParts, Observers {
  readonly uploads: Uploads;
  readonly locks: UploadLocks;
}

const scopes = ['files'] as const;

/** What the methods do, as the log and the metrics call it. */
const operations: Readonly<Record<string, string>> = {
  POST: 'uploads.create',
  HEAD: 'uploads.look',
  PATCH: 'uploads.append',
  DELETE: 'uploads.remove',
};

/** A refusal with headers of its own, and perhaps a status that is no code's. */
class TusRefusal extends ParleyError {
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number | undefined;

  constructor(error: ParleyError, headers: Readonly<Record<string, string>>, status?: number) {
    super(error.code, error.message);
    this.headers = headers;
    this.status = status;
  }
}

/** Serves uploads that can be resumed, as the tus protocol has it. `address` is what follows `/api/`. */
export function serveUploads(parts: TusParts) {
  const { uploads, locks } = parts;

  return {
    /** Has the uploads that are under way keep what has come, and answer: their clients resume them elsewhere, or later. */
    letGo: () => locks.letGo(),
    fetch: async (request: Request, address: string, connections: Connections): Promise<Response> => {
      if (request.method === 'OPTIONS') return tusOptions(uploads.mostBytes);
      const admission = new Admission(parts, request, connections);
      const method = methodOf(request);
      const answer = await serve(request, method, address, admission).catch((thrown: unknown) =>
        refuse(admission, admission.refusal(thrown), method),
      );
      const { requestId, started, caller } = admission;
      const operation = operations[method] ?? 'none';
      const { response, error } = answer;
      noteRequest(parts, { requestId, started, caller, method, operation, status: response.status, error });
      return response;
    },
  };

  async function serve(request: Request, method: string, address: string, admission: Admission): Promise<Answer> {
    const key = keyIn(address);
    checkMethod(method, key);
    admission.locate();
    const caller = await admission.identify();
    admission.admit(caller, scopes);
    checkProtocol(request, method);
    const { exchange } = await import('./tus-exchange.ts');
    const { status, headers, fileId, expiresAt } = await exchange({
      request: forLibrary(request, method, key),
      key,
      userId: caller.userId,
      uploads,
      locks,
      caller: {
        stillAllowed: async () => requireScopes(await admission.identifyAgain(), scopes),
        goesOn: () => admission.goesOn(),
      },
      hasHungUp: () => request.signal.aborted,
    });
    const { 'content-type': _, ...common } = tusHeadersFor(admission);
    const told = new Headers(common);
    for (const name of ['location', 'upload-offset', 'upload-length', 'upload-metadata', 'connection']) {
      const value = headers.get(name);
      if (value !== null) told.set(name, value);
    }
    if (fileId !== undefined) told.set('parley-file-id', String(fileId));
    else if (method !== 'DELETE') told.set('upload-expires', new Date(expiresAt).toUTCString());
    return { response: new Response(null, { status, headers: told }) };
  }
}

interface Answer {
  readonly response: Response;
  readonly error?: ParleyError;
}

function refuse(admission: Admission, error: ParleyError, method: string): Answer {
  const response = failure(error, admission, {
    ...tusHeadersFor(admission),
    ...(error.code === 'unauthorized' && { 'www-authenticate': admission.challenge }),
    ...(error instanceof TusRefusal && error.headers),
    // The rest of a body may be on its way still, and nobody waits for it.
    ...(hasBody(method) && { connection: 'close' }),
  });
  const status = statusOf(error) ?? response.status;
  return { response: new Response(response.body, { status, headers: response.headers }), error };
}

/** Where it is no code's. */
function statusOf(error: ParleyError): number | undefined {
  if (error instanceof UploadBusy) return 423;
  return error instanceof TusRefusal ? error.status : undefined;
}

/** Where something on the way knows only the usual methods, the one that is meant stands in a header. */
const methodOf = (request: Request): string =>
  (request.headers.get('x-http-method-override') ?? request.method).toUpperCase();

const hasBody = (method: string): boolean => method === 'POST' || method === 'PATCH';

/** Of the upload that an address is about; undefined: it is where they are made. */
function keyIn(address: string): string | undefined {
  const match = /^uploads(?:\/([\w-]*))?(?:\?|$)/.exec(address);
  if (!match) throw new ParleyError('not_found', 'There is nothing here. Uploads are at /api/uploads/<key>.');
  return match[1] || undefined;
}

function checkMethod(method: string, key: string | undefined): void {
  const allowed = key === undefined ? ['POST'] : ['HEAD', 'PATCH', 'DELETE'];
  if (allowed.includes(method)) return;
  const error = new ParleyError('method_not_allowed', `This takes ${allowed.join(', ')}.`);
  throw new TusRefusal(error, { allow: [...allowed, 'OPTIONS'].join(', ') });
}

function checkProtocol(request: Request, method: string): void {
  if (request.headers.get('tus-resumable') !== tusVersion) {
    const error = new ParleyError('invalid_request', `Send the header Tus-Resumable: ${tusVersion}`);
    throw new TusRefusal(error, { 'tus-version': tusVersion }, 412);
  }
  const announced = request.headers.get('upload-length');
  if (announced !== null && !/^\d{1,16}$/.test(announced)) {
    throw new ParleyError('invalid_request', 'Upload-Length must be a number of bytes.');
  }
  if (method === 'PATCH' && mediaTypeOf(request.headers.get('content-type') ?? '') !== appendType) {
    throw new ParleyError('unsupported_media_type', `Send the bytes with Content-Type: ${appendType}`);
  }
}

/** The library reads what a proxy says of itself, and refuses what it does not know there. */
function forLibrary(request: Request, method: string, key = ''): Request {
  const type = mediaTypeOf(request.headers.get('content-type') ?? '');
  return new Request(`http://localhost/api/uploads/${key}`, {
    method,
    headers: { ...tusHeadersOf(request), ...(type === appendType && { 'content-type': type }) },
    body: hasBody(method) ? request.body : null,
  });
}
