import { invalidField, ParleyError } from '@parley/contract';
import { parseFields } from './form.ts';
import type { RawInput } from './input.ts';
import { shorten } from './validate.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a body of any of the three kinds, up to `limit` bytes. */
export async function readBody(request: Request, limit: number): Promise<RawInput> {
  const bytes = await readBytes(request, limit).catch((error: unknown) => {
    throw error instanceof ParleyError
      ? error
      : new ParleyError('invalid_request', 'The body could not be read to its end.', [], error);
  });
  const contentType = request.headers.get('content-type') ?? '';
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const read = readers.get(mediaType);
  if (read) return read(bytes, contentType);
  if (bytes.length === 0 && mediaType === '') return { kind: 'strings', fields: [] };
  throw new ParleyError(
    'unsupported_media_type',
    `Send the body as ${[...readers.keys()].join(', ')}, and say which in Content-Type.`,
  );
}

type Reader = (bytes: Uint8Array<ArrayBuffer>, contentType: string) => RawInput | Promise<RawInput>;

const readers = new Map<string, Reader>([
  ['application/json', (bytes) => ({ kind: 'json', object: parseObject(decode(bytes)) })],
  ['application/x-www-form-urlencoded', (bytes) => ({ kind: 'strings', fields: parseUrlencoded(decode(bytes)) })],
  [
    'multipart/form-data',
    async (bytes, contentType) => ({ kind: 'strings', fields: textFields(await parseMultipart(bytes, contentType)) }),
  ],
]);

function parseUrlencoded(text: string): [string, string][] {
  if (text.trimStart().startsWith('{')) {
    throw new ParleyError(
      'invalid_request',
      'The body looks like JSON but is announced as a form. Send Content-Type: application/json.',
    );
  }
  return parseFields(text);
}

function textFields(form: FormData): [string, string][] {
  return [...form.entries()].map(([name, value]) => {
    if (typeof value === 'string') return [name, value];
    throw invalidField(shorten(name), 'is a file, where text is expected');
  });
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ParleyError('invalid_request', 'The body is not valid JSON.', [], error);
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new ParleyError('invalid_request', 'The body must be a JSON object.');
  }
  return value as Record<string, unknown>;
}

async function parseMultipart(bytes: Uint8Array<ArrayBuffer>, contentType: string): Promise<FormData> {
  decode(bytes);
  try {
    return await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
  } catch (error) {
    throw new ParleyError('invalid_request', 'The body is not valid multipart/form-data.', [], error);
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw new ParleyError('invalid_request', 'The body is not valid UTF-8.', [], error);
  }
}

function readBytes(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const declared = request.headers.get('content-length');
  if (declared === null) return readUndeclared(request, limit);
  return Number(declared) > limit ? Promise.reject(tooLarge(limit)) : request.bytes();
}

/** A body whose length nobody has told: it is stopped where it passes the limit. */
async function readUndeclared(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request.body ?? []) {
    size += part.length;
    if (size > limit) throw tooLarge(limit);
    parts.push(part);
  }
  return Uint8Array.from(Buffer.concat(parts));
}

const tooLarge = (limit: number) => new ParleyError('payload_too_large', `The body must be at most ${limit} bytes.`);
