import { type Envelope, headersFor } from './answer.ts';

export const tusVersion = '1.0.0';

export const appendType = 'application/offset+octet-stream';

/** What requests say in the terms of the protocol. */
const requestHeaders = [
  'Tus-Resumable',
  'Upload-Length',
  'Upload-Offset',
  'Upload-Metadata',
  'Upload-Defer-Length',
  'Upload-Concat',
];

const answerHeaders = [
  ...['Upload-Offset', 'Upload-Length', 'Upload-Metadata', 'Upload-Expires', 'Location', 'Parley-File-Id'],
  ...['Tus-Resumable', 'Tus-Version', 'Tus-Max-Size', 'Tus-Extension'],
];

/** The headers of a request that are the protocol's business. */
export function tusHeadersOf({ headers }: Request): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of [...requestHeaders, 'Content-Length']) {
    const value = headers.get(name);
    if (value !== null) found[name] = value;
  }
  return found;
}

/** What every answer carries beside its own. */
export function tusHeadersFor(envelope: Envelope): Record<string, string> {
  const common = headersFor(envelope);
  const exposed = common['access-control-expose-headers'];
  return {
    ...common,
    'tus-resumable': tusVersion,
    ...(exposed !== undefined && { 'access-control-expose-headers': `${exposed}, ${answerHeaders.join(', ')}` }),
  };
}

/** The answer to OPTIONS: what is served here, and whether a browser may call. */
export function tusOptions(mostBytes: number): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'tus-version': tusVersion,
      'tus-extension': 'creation,creation-with-upload,termination,expiration',
      'tus-max-size': String(mostBytes),
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST, HEAD, PATCH, DELETE',
      'access-control-allow-headers': [
        ...['Authorization', 'Content-Type', ...requestHeaders],
        ...['X-HTTP-Method-Override', 'X-Requested-With', 'X-Request-Id'],
      ].join(', '),
      'access-control-expose-headers': answerHeaders.join(', '),
      'access-control-max-age': '86400',
    },
  });
}
