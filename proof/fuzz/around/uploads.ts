import type { ErrorCode } from '@parley/contract';
import fc from 'fast-check';
import { judgeError } from '../calls/verdict.ts';
import { headerText } from '../calls/wild.ts';
import { type Caller, callers } from '../people.ts';
import { type Drawn, type Subject, subject } from '../subject.ts';
import type { Target } from '../target.ts';

/** A step with an upload. An undefined field is as it should be. */
const step = fc.record({
  method: fc.constantFrom('POST', 'PATCH', 'PATCH', 'HEAD', 'DELETE', 'GET', 'PUT'),
  caller: fc.oneof({ weight: 5, arbitrary: fc.constant<Caller>('owner') }, fc.constantFrom(...callers)),
  key: fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, fc.constantFrom('made-up', '%00', 'a/b', '%ff')),
  bytes: fc.uint8Array({ maxLength: 60 }),
  length: fc.oneof(
    { weight: 6, arbitrary: fc.nat({ max: 120 }).map(String) },
    fc.constantFrom('0', '-1', '65536', '65537', '1e3', '1e+21', '99999999999999999999'),
    headerText,
  ),
  offset: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, fc.nat({ max: 130 }).map(String), headerText),
  version: fc.oneof({ weight: 9, arbitrary: fc.constant('1.0.0') }, fc.constantFrom('0.2.2', ''), headerText),
  type: fc.oneof({ weight: 9, arbitrary: fc.constant('application/offset+octet-stream') }, headerText),
  metadata: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    fc.string({ unit: 'binary', maxLength: 30 }).map((name) => `filename ${Buffer.from(name).toString('base64')}`),
    headerText,
  ),
  extra: fc.oneof(
    { weight: 5, arbitrary: fc.constant({}) },
    fc.constantFrom<Record<string, string>>(
      { 'upload-defer-length': '1' },
      { 'upload-concat': 'partial' },
      { 'upload-concat': 'final;/api/uploads/a' },
      { 'x-http-method-override': 'PATCH' },
      { 'x-forwarded-proto': 'https' },
    ),
  ),
});

type Step = Drawn<typeof step>;

const codes: readonly ErrorCode[] = [
  ...(['invalid_request', 'unauthorized', 'insufficient_scope', 'not_found', 'method_not_allowed'] as const),
  ...(['conflict', 'payload_too_large', 'unsupported_media_type', 'validation_failed'] as const),
];

/** Statuses of the protocol that no error code has. */
const ofProtocol: Readonly<Record<number, number>> = { 412: 400, 423: 409 };

async function judge(method: string, response: Response): Promise<void> {
  const { status, headers } = response;
  const text = await response.text();
  if (status === 431) return;
  if (headers.get('tus-resumable') !== '1.0.0') throw new Error(`${method} ${status} is no response of tus: ${text}`);
  if (!headers.has('x-request-id')) throw new Error(`${method} ${status} has no X-Request-Id`);
  if (status < 300 || method === 'HEAD') {
    if (status >= 500) throw new Error(`${method} returns ${status}`);
    return;
  }
  const { success: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
  judgeError(ofProtocol[status] ?? status, headers, rest, codes);
}

/** An upload as its client knows it. */
interface Upload {
  readonly path: string;
  readonly length: number;
  offset: number;
}

export function uploadSubjects(target: () => Target): readonly Subject[] {
  const take = async (one: Step, upload: Upload | undefined): Promise<Upload | undefined> => {
    const { credentials } = await target().people();
    const { method, bytes, key } = one;
    const own = key === undefined ? (upload?.path ?? '/api/uploads/none') : `/api/uploads/${key}`;
    const path = method === 'POST' ? '/api/uploads' : own;
    const hasBody = method === 'POST' || method === 'PATCH' || method === 'PUT';
    const response = await target().send(path, {
      method,
      headers: {
        'tus-resumable': one.version,
        ...(method === 'POST' && { 'upload-length': one.length }),
        ...(method === 'PATCH' && { 'upload-offset': one.offset ?? String(upload?.offset ?? 0) }),
        ...(one.metadata !== undefined && { 'upload-metadata': one.metadata }),
        ...(hasBody && { 'content-type': one.type }),
        ...one.extra,
        ...credentials[one.caller],
      },
      ...(hasBody && { body: Uint8Array.from(bytes) }),
    });
    await judge(method, response);
    return follow(one, path, response, upload);
  };
  const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
    let upload: Upload | undefined;
    for (const one of steps) upload = await take(one, upload);
  });
  return [subject('uploads that are resumed', 60, property)];
}

/** Tracks an upload. The offset that the server returns must be what was sent to it. */
function follow(
  { method, bytes, length }: Step,
  path: string,
  response: Response,
  upload: Upload | undefined,
): Upload | undefined {
  const { status, headers } = response;
  const offset = headers.get('upload-offset');
  if (method === 'POST' && status === 201) {
    const made = {
      path: new URL(headers.get('location') ?? '', 'http://x').pathname,
      length: Number(length),
      offset: Number(offset ?? 0),
    };
    if (made.offset !== 0 && made.offset !== bytes.length)
      throw new Error(`${bytes.length} bytes are reported as ${offset}`);
    return made;
  }
  if (!upload || path !== upload.path) return upload;
  if (method === 'DELETE' && status === 204) return undefined;
  if (method === 'PATCH' && status === 204) {
    upload.offset += bytes.length;
    if (Number(offset) !== upload.offset) throw new Error(`an upload at ${upload.offset} is reported at ${offset}`);
    if (upload.offset > upload.length) throw new Error(`an upload of ${upload.length} has ${upload.offset}`);
  }
  if (method === 'HEAD' && status === 200 && Number(offset) !== upload.offset) {
    throw new Error(`an upload at ${upload.offset} is reported at ${offset}`);
  }
  return upload;
}
