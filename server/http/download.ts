import { create as createDisposition } from 'content-disposition';
import fresh from 'fresh';
import type { Download } from '../operations/results.ts';
import { mediaTypeOf } from './bytes.ts';
import { headersFor, type ResponseContext } from './responses.ts';

/** Types that browsers may show inline, because none can run code. All others are attachments. */
const shown: ReadonlySet<string> = new Set([
  'text/plain',
  ...['png', 'apng', 'jpeg', 'gif', 'webp', 'avif', 'bmp'].map((format) => `image/${format}`),
]);
const played: ReadonlySet<string> = new Set([
  ...['mp4', 'x-m4v', 'quicktime', 'webm', 'matroska', 'ogg', 'mpeg', '3gpp'].map((format) => `video/${format}`),
  ...['mpeg', 'mp4', 'x-m4a', 'aac', 'ogg', 'flac', 'wav', 'webm'].map((format) => `audio/${format}`),
]);

/** A page could load these as its script or style even as attachments. They are sent as plain text instead. */
const loadable = /^text\/.*(?:script|css)/;

/** The inline style is the browser's own for a picture. */
const stillPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** The browser's player fetches the file itself, and needs our origin for that. It runs no code. */
const playerPolicy = "default-src 'none'; style-src 'unsafe-inline'; media-src 'self'; sandbox allow-same-origin";

interface Validators {
  readonly etag: string;
  readonly 'last-modified': string;
}

/** Responds with a file or a range of it, or with 304, 412 or 416 (RFC 9110). */
export async function downloadResponse({ file, read }: Download, context: ResponseContext): Promise<Response> {
  const { request } = context;
  const validators = { etag: `"${file.sha256}"`, 'last-modified': new Date(file.created_at).toUTCString() };
  const headers: Record<string, string> = {
    ...headersFor(context),
    // Clients must revalidate a file each time, because access may end.
    'cache-control': file.isImmutable ? 'private, max-age=31536000, immutable' : 'private, no-cache',
    'accept-ranges': 'bytes',
    // The URL may be a signed link.
    'referrer-policy': 'no-referrer',
    ...validators,
    ...contentHeaders(file.mime_type, file.name),
  };
  if (!isExpected(request.headers, validators)) return withoutContent(412, headers);
  if (isKnown(request.headers, validators)) return withoutContent(304, headers);
  if (request.method === 'HEAD') {
    return new Response(null, { headers: { ...headers, 'content-length': String(file.size) } });
  }
  const range = rangeOf(request.headers, validators, file.size);
  if (!range) return withoutContent(416, { ...headers, 'content-range': `bytes */${file.size}` });
  const { status, start, end } = range;
  // Bun 1.4 drops it for a stream, and sends chunks.
  headers['content-length'] = String(end - start);
  if (status === 206) headers['content-range'] = `bytes ${start}-${end - 1}/${file.size}`;
  return new Response(await read(start, end), { status, headers });
}

function contentHeaders(mimeType: string, name: string): Record<string, string> {
  const type = mediaTypeOf(mimeType);
  const isPlayed = played.has(type);
  const sentType = loadable.test(type) ? 'text/plain' : mimeType;
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

/** Checks If-Match and If-Unmodified-Since. */
function isExpected(requested: Headers, { etag, 'last-modified': modified }: Validators): boolean {
  const tags = requested.get('if-match')?.split(',');
  if (tags) return tags.some((tag) => tag.trim() === etag || tag.trim() === '*');
  const isNewer = Date.parse(modified) > Date.parse(requested.get('if-unmodified-since') ?? '');
  return !isNewer;
}

/** Checks If-None-Match and If-Modified-Since. */
function isKnown(requested: Headers, validators: Validators): boolean {
  const conditions = ['if-none-match', 'if-modified-since'].map((name) => [name, requested.get(name) ?? undefined]);
  return fresh(Object.fromEntries(conditions), { ...validators });
}

/** Bytes from `start` to `end`, exclusive. */
interface Range {
  readonly status: 200 | 206;
  readonly start: number;
  readonly end: number;
}

/** Accepts the same spellings as Bun, which reads the header too and would cut a 200 with a whole file to the range. */
const oneRange = /^bytes\s*=\s*(\d*)\s*-\s*(\d*)$/i;

/** Returns the bytes to send, or undefined if the range is beyond the file. */
function rangeOf(requested: Headers, validators: Validators, size: number): Range | undefined {
  const whole: Range = { status: 200, start: 0, end: size };
  const [, first = '', last = ''] = oneRange.exec(requested.get('range') ?? '') ?? [];
  if ((first === '' && last === '') || !isSame(requested.get('if-range'), validators)) return whole;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return whole;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start < end ? { status: 206, start, end } : undefined;
}

/** Checks If-Range. */
function isSame(validator: string | null, { etag, 'last-modified': modified }: Validators): boolean {
  return validator === null || validator === etag || Date.parse(validator) === Date.parse(modified);
}
