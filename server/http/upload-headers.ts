import { ParleyError } from '@parley/contract';
import type { RequestContext } from './request-context.ts';
import { headersFor } from './responses.ts';

export const tusVersion = '1.0.0';

export const appendType = 'application/offset+octet-stream';

const requestHeaders = [
  'Tus-Resumable',
  'Upload-Length',
  'Upload-Offset',
  'Upload-Metadata',
  'Upload-Defer-Length',
  'Upload-Concat',
];

const responseHeaders = [
  ...['Upload-Offset', 'Upload-Length', 'Upload-Metadata', 'Upload-Expires', 'Location', 'Parley-File-Id'],
  ...['Tus-Resumable', 'Tus-Version', 'Tus-Max-Size', 'Tus-Extension'],
];

/** Returns the value of a header that must be an integer. */
export function integerIn(headers: Headers, name: string): number {
  const value = headers.get(name) ?? '';
  if (/^(?:0|[1-9]\d{0,15})$/.test(value)) return Number(value);
  throw new ParleyError('invalid_request', `${name} must be a number of bytes.`);
}

/** Reads `Upload-Metadata`: pairs of a key and a value in base64, separated by commas. A value may be missing. */
export function metadataIn(headers: Headers): Map<string, string> {
  const metadata = new Map<string, string>();
  for (const pair of headers.get('upload-metadata')?.split(',') ?? []) {
    const [, key, value = ''] =
      /^([\x21-\x2b\x2d-\x7e]+)(?: ((?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?))?$/.exec(pair) ?? [];
    if (key === undefined || metadata.has(key))
      throw new ParleyError('invalid_request', 'Upload-Metadata is not valid.');
    metadata.set(key, Buffer.from(value, 'base64').toString());
  }
  return metadata;
}

/** The headers of every response but OPTIONS. */
export function tusHeadersFor(context: RequestContext): Record<string, string> {
  const headers: Record<string, string> = { ...headersFor(context), 'tus-resumable': tusVersion };
  if (context.hasOrigin) headers['access-control-expose-headers'] += `, ${responseHeaders.join(', ')}`;
  return headers;
}

/** Responds to OPTIONS, for clients of the protocol and for CORS. */
export function tusOptions(maxBytes: number): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'tus-version': tusVersion,
      'tus-extension': 'creation,creation-with-upload,termination,expiration',
      'tus-max-size': String(maxBytes),
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST, HEAD, PATCH, DELETE',
      'access-control-allow-headers': [
        ...['Authorization', 'Content-Type', ...requestHeaders],
        ...['X-HTTP-Method-Override', 'X-Requested-With', 'X-Request-Id'],
      ].join(', '),
      'access-control-expose-headers': responseHeaders.join(', '),
      'access-control-max-age': '86400',
    },
  });
}
