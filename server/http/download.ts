import { create as createDisposition } from 'content-disposition';
import fresh from 'fresh';
import type { Download } from '../operations/download.ts';
import { type Envelope, headersFor } from './answer.ts';
import { mediaTypeOf } from './bytes.ts';

/** What a browser shows by itself: nothing that could run anything. All else is for saving. */
const shown: ReadonlySet<string> = new Set([
  'text/plain',
  ...['png', 'apng', 'jpeg', 'gif', 'webp', 'avif', 'bmp'].map((format) => `image/${format}`),
]);
const played: ReadonlySet<string> = new Set([
  ...['mp4', 'x-m4v', 'quicktime', 'webm', 'matroska', 'ogg', 'mpeg', '3gpp'].map((format) => `video/${format}`),
  ...['mpeg', 'mp4', 'x-m4a', 'aac', 'ogg', 'flac', 'wav', 'webm'].map((format) => `audio/${format}`),
]);

/** A page can make these part of itself whether or not they are for saving: they are sent as plain text, which it cannot. */
const included = /^text\/.*(?:script|css)/;

/** The style is the browser's own, which it puts around a picture. */
const stillPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** A player fetches the file by itself, and as a stranger does not get it. As one of us it still runs nothing. */
const playerPolicy = "default-src 'none'; style-src 'unsafe-inline'; media-src 'self'; sandbox allow-same-origin";

/** By these a client knows a file again. */
interface Validators {
  readonly etag: string;
  readonly 'last-modified': string;
}

/** Answers with a file or a part of it, or says that it need not be sent, as RFC 9110 has it. */
export async function downloadResponse(
  { file, read }: Download,
  request: Request,
  envelope: Envelope,
): Promise<Response> {
  const validators = { etag: `"${file.sha256}"`, 'last-modified': new Date(file.created_at).toUTCString() };
  const headers: Record<string, string> = {
    ...headersFor(envelope),
    // To be asked for each time, because access may end; what has not changed is then not sent again.
    'cache-control': 'private, no-cache',
    'accept-ranges': 'bytes',
    // The address may be a link that works for whoever has it.
    'referrer-policy': 'no-referrer',
    ...validators,
    ...contentHeaders(file.mime_type, file.name),
  };
  if (!isExpected(request.headers, validators)) return withoutContent(412, headers);
  if (isKnown(request.headers, validators)) return withoutContent(304, headers);
  if (request.method === 'HEAD') {
    return new Response(null, { headers: { ...headers, 'content-length': String(file.size) } });
  }
  const part = partOf(request.headers, validators, file.size);
  if (!part) return withoutContent(416, { ...headers, 'content-range': `bytes */${file.size}` });
  const { status, start, end } = part;
  // Bun 1.4 drops the length where the body is a stream, and sends it in chunks.
  headers['content-length'] = String(end - start);
  if (status === 206) headers['content-range'] = `bytes ${start}-${end - 1}/${file.size}`;
  return new Response(await read(start, end), { status, headers });
}

function contentHeaders(mimeType: string, name: string): Record<string, string> {
  const type = mediaTypeOf(mimeType);
  const isPlayed = played.has(type);
  const sentType = included.test(type) ? 'text/plain' : mimeType;
  return {
    'content-type': type.startsWith('text/') ? `${sentType}; charset=utf-8` : sentType,
    'content-disposition': createDisposition(name, { type: isPlayed || shown.has(type) ? 'inline' : 'attachment' }),
    'content-security-policy': isPlayed ? playerPolicy : stillPolicy,
  };
}

function withoutContent(status: number, headers: Readonly<Record<string, string>>): Response {
  const kept = new Headers(headers);
  kept.delete('content-type');
  return new Response(null, { status, headers: kept });
}

/** Whether the file is the one that the client means, where it says which. */
function isExpected(asked: Headers, { etag, 'last-modified': modified }: Validators): boolean {
  const tags = asked.get('if-match')?.split(',');
  if (tags) return tags.some((tag) => tag.trim() === etag || tag.trim() === '*');
  const isNewer = Date.parse(modified) > Date.parse(asked.get('if-unmodified-since') ?? '');
  return !isNewer;
}

/** Whether the client has the file already. */
function isKnown(asked: Headers, validators: Validators): boolean {
  const conditions = ['if-none-match', 'if-modified-since'].map((name) => [name, asked.get(name) ?? undefined]);
  return fresh(Object.fromEntries(conditions), { ...validators });
}

/** Bytes from `start` up to, but not including, `end`. */
interface Part {
  readonly status: 200 | 206;
  readonly start: number;
  readonly end: number;
}

/**
 * As generous as Bun, which looks at the header too: given a whole file for a 200, it makes a part of it where it finds that
 * one is asked for.
 */
const oneRange = /^bytes\s*=\s*(\d*)\s*-\s*(\d*)$/i;

/** What of the file is to be sent; undefined: it has nothing of what is asked for. */
function partOf(asked: Headers, validators: Validators, size: number): Part | undefined {
  const whole: Part = { status: 200, start: 0, end: size };
  const [, first = '', last = ''] = oneRange.exec(asked.get('range') ?? '') ?? [];
  if ((first === '' && last === '') || !isSame(asked.get('if-range'), validators)) return whole;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return whole;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start < end ? { status: 206, start, end } : undefined;
}

/** Whether the file is the one that the client has a part of, where it says which. */
function isSame(validator: string | null, { etag, 'last-modified': modified }: Validators): boolean {
  return validator === null || validator === etag || Date.parse(validator) === Date.parse(modified);
}
