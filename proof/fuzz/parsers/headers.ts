import { expect } from 'bun:test';
import { ParleyError } from '@parley/contract';
import fc from 'fast-check';
import { parseRetryAfter } from '../../../sdk/response.ts';
import { readCookie, writeCookie } from '../../../server/http/cookies.ts';
import { downloadResponse } from '../../../server/http/download.ts';
import { lastEventIdIn } from '../../../server/http/event-stream.ts';
import { Download } from '../../../server/operations/results.ts';
import type { CompleteFile } from '../../../server/store/files/files.ts';
import { readRetryAfter } from '../../../server/webhooks/outcome.ts';
import { headerText } from '../calls/wild.ts';
import { subject } from '../subject.ts';
import { isA, outcome } from './outcome.ts';

const token = fc.stringMatching(/^[\w.-]{1,20}$/);

const cookies = fc.property(
  fc.uniqueArray(fc.tuple(token, token), { selector: ([name]) => name, minLength: 1, maxLength: 6 }),
  fc.constantFrom(';', '; ', ' ;  '),
  (pairs, between) => {
    const header = pairs.map(([name, value]) => writeCookie(name, value, true, 1_000).split(';')[0]).join(between);
    for (const [name, value] of pairs) expect(readCookie(header, name)).toBe(value);
    expect(readCookie(header, 'no such name')).toBeUndefined();
  },
);

const anyCookies = fc.property(headerText, token, (header, name) => {
  const value = readCookie(header, name);
  if (value === undefined) return;
  expect(value).not.toContain(';');
  expect(header).toContain(`${value}`);
});

const bytes = Buffer.from('0123456789abcdefghij');

/** Returns a download for a client with these headers. */
function fetched(headers: Record<string, string>, name = 'a.txt'): Promise<Response> {
  const file = {
    name,
    mime_type: 'text/plain',
    size: bytes.length,
    sha256: 'ab',
    created_at: 1_000_000_000_000,
  } as CompleteFile;
  const download = new Download(file, async (start, end) => new Blob([Uint8Array.from(bytes.subarray(start, end))]));
  const request = new Request('http://x/', { headers });
  return downloadResponse(download, { request, requestId: 'r', hasOrigin: false, allowance: undefined });
}

const end = fc.option(fc.oneof(fc.nat({ max: 40 }), fc.nat()), { nil: undefined });

/** The bytes of a range by RFC 9110, computed independently. */
function expectedRange(first: number | undefined, last: number | undefined): Buffer | 'all' | 'none' {
  if (first === undefined) {
    if (last === undefined) return 'all';
    return last === 0 ? 'none' : bytes.subarray(-Math.min(last, bytes.length));
  }
  if (last !== undefined && last < first) return 'all';
  return first >= bytes.length ? 'none' : bytes.subarray(first, (last ?? bytes.length) + 1);
}

const range = fc.asyncProperty(end, end, async (first, last) => {
  const response = await fetched({ range: `bytes=${first ?? ''}-${last ?? ''}` });
  const got = Buffer.from(await response.arrayBuffer());
  const expected = expectedRange(first, last);
  if (expected === 'none') {
    expect(response.status).toBe(416);
    expect(response.headers.get('content-range')).toBe(`bytes */${bytes.length}`);
  } else {
    expect(response.status).toBe(expected === 'all' ? 200 : 206);
    expect(got.equals(expected === 'all' ? bytes : expected)).toBe(true);
  }
});

const conditions = ['range', 'if-range', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'];
const condition = fc.oneof(headerText, fc.constantFrom('"ab"', '*', 'W/"ab"', 'bytes=3-', new Date(0).toUTCString()));

const anyConditions = fc.asyncProperty(fc.dictionary(fc.constantFrom(...conditions), condition), async (headers) => {
  const response = await fetched(headers);
  expect([200, 206, 304, 412, 416]).toContain(response.status);
  const got = await response.text();
  if (response.status > 206) expect(got).toBe('');
  else expect(bytes.toString()).toContain(got);
});

/** The header has the exact name of the file, in ASCII, and nothing that ends the header. */
const disposition = fc.asyncProperty(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((name) => !/[\p{Cc}/\\]/u.test(name)),
  async (name) => {
    const header = (await fetched({}, name)).headers.get('content-disposition') ?? '';
    expect(header).toMatch(/^(?:inline|attachment); filename/);
    const [, extended] = /filename\*=UTF-8''([^;]+)/.exec(header) ?? [];
    const [, quoted = '', word = ''] = /filename=(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/.exec(header) ?? [];
    const plain = word || quoted.replace(/\\(.)/g, '$1');
    expect(extended === undefined ? plain : decodeURIComponent(extended)).toBe(name);
  },
);

const lastEventId = fc.property(fc.oneof(headerText, fc.nat().map(String), fc.stringMatching(/^\d{1,20}$/)), (text) => {
  const request = new Request('http://x/', { headers: { 'last-event-id': text } });
  const { value, refused } = outcome(() => lastEventIdIn(request), isA(ParleyError));
  const sent = text.trim();
  if (refused) expect(BigInt(/^\d+$/.test(sent) ? sent : -1) < 2n ** 53n && /^\d{1,16}$/.test(sent)).toBe(false);
  else expect(value === undefined ? '' : String(value)).toBe(sent.replace(/^0+(?=\d)/, ''));
});

/** Both forms: in seconds, and as a time. */
const retryAfter = fc.property(
  fc.nat({ max: 100_000 }),
  fc.integer({ min: 0, max: 4_000_000_000 }),
  (seconds, start) => {
    const now = start * 1_000;
    const date = new Date(now + seconds * 1_000).toUTCString();
    expect(readRetryAfter(String(seconds), now)).toBe(seconds * 1_000);
    expect(readRetryAfter(date, now)).toBe(seconds * 1_000);
    expect(parseRetryAfter(String(seconds), now)).toBe(seconds);
    expect(parseRetryAfter(date, now)).toBe(seconds);
  },
);

const anyRetryAfter = fc.property(
  fc.oneof(headerText, fc.stringMatching(/^[\d ,:GMT-]{1,40}$/)),
  fc.nat(),
  (text, now) => {
    for (const wait of [readRetryAfter(text, now), parseRetryAfter(text, now)])
      expect(wait ?? 0).toBeGreaterThanOrEqual(0);
  },
);

export const headers = [
  subject('a cookie is found among others', 200, cookies),
  subject('any cookie header has a value or none', 200, anyCookies),
  subject('a range is what RFC 9110 says it is', 300, range),
  subject('any conditions give the file, a part of it, or nothing', 300, anyConditions),
  subject('the name of a file comes out of its header as it went in', 200, disposition),
  subject('the last event id is a whole number or refused', 300, lastEventId),
  subject('retry-after is read in both of its forms', 200, retryAfter),
  subject('any retry-after is a time from now, or none', 300, anyRetryAfter),
];
