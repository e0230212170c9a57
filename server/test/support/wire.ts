import { expect } from 'bun:test';
import type { ErrorCode } from '@parley/contract';
import type { Failure } from './client.ts';

/** The status of each error code. */
export const statuses: Readonly<Record<ErrorCode, number>> = {
  invalid_request: 400,
  unauthorized: 401,
  insufficient_scope: 403,
  forbidden: 403,
  not_found: 404,
  unknown_action: 404,
  method_not_allowed: 405,
  conflict: 409,
  idempotency_conflict: 409,
  cursor_expired: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
};

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends a request with nothing added. */
export async function request(url: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(url, init);
  return { status: response.status, headers: response.headers, body: (await response.json()) as Reply['body'] };
}

/** Checks the shape, the status and the request id of an error response. Returns the error. */
export function expectRefusal(reply: Reply, code: ErrorCode): Failure {
  expect(Object.keys(reply.body)).toEqual(['success', 'error']);
  const error = reply.body.error as Failure;
  expect({ status: reply.status, code: error.code }).toEqual({ status: statuses[code], code });
  expect(reply.body.success).toBe(false);
  expect(Object.keys(error)).toEqual(['code', 'message', 'details', 'request_id']);
  expect(error.message).not.toBe('');
  for (const detail of error.details) {
    expect(Object.keys(detail)).toEqual(['field', 'message']);
    expect(detail.message).not.toBe('');
  }
  expect(error.request_id).toMatch(/\S/);
  expect(reply.headers.get('x-request-id')).toBe(error.request_id);
  expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return error;
}

/** Returns the message of an error about one field. */
export function complaint(error: Failure, field: string): string | undefined {
  return error.details.find((detail) => detail.field === field)?.message;
}

type Encode = (input: object) => { readonly body: BodyInit; readonly headers: Record<string, string> };

const form = (body: FormData | URLSearchParams) => ({ body, headers: {} });

function fields(input: object, list: (name: string, values: unknown[]) => [string, unknown][]): [string, string][] {
  return Object.entries(input)
    .flatMap(([name, value]) => (Array.isArray(value) ? list(name, value) : [[name, value] as [string, unknown]]))
    .map(([name, value]) => [name, String(value)]);
}

const brackets = (name: string, values: unknown[]) => values.map((v): [string, unknown] => [`${name}[]`, v]);
const repeated = (name: string, values: unknown[]) => values.map((v): [string, unknown] => [name, v]);
const jsonList = (name: string, values: unknown[]): [string, unknown][] => [[name, JSON.stringify(values)]];

function multipart(pairs: [string, string][]): FormData {
  const data = new FormData();
  for (const [name, value] of pairs) data.append(name, value);
  return data;
}

/** Every encoding of a body that a POST accepts. */
export const encodings = {
  JSON: (input) => ({ body: JSON.stringify(input), headers: { 'content-type': 'application/json' } }),
  'a form with lists as name[]=': (input) => form(new URLSearchParams(fields(input, brackets))),
  'a form with lists as a repeated name': (input) => form(new URLSearchParams(fields(input, repeated))),
  'a form with lists as JSON': (input) => form(new URLSearchParams(fields(input, jsonList))),
  'multipart with lists as name[]': (input) => form(multipart(fields(input, brackets))),
  'multipart with lists as a repeated name': (input) => form(multipart(fields(input, repeated))),
  'multipart with lists as JSON': (input) => form(multipart(fields(input, jsonList))),
} as const satisfies Record<string, Encode>;

type Pieces = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** Only catches a server that hangs. */
const hangMs = 110_000;

/** Sends pieces over a new connection until a response begins. Returns all bytes until the server closes it. */
export async function overSocket(url: string, pieces: Pieces): Promise<string> {
  const { hostname, port } = new URL(url);
  let received = '';
  let ended = false;
  let drained = () => {};
  const closed = Promise.withResolvers<string>();
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, part) => {
        received += part.toString('latin1');
      },
      drain: () => drained(),
      close: () => {
        ended = true;
        drained();
        closed.resolve(received);
      },
      error: () => {},
    },
  });
  const tooLate = setTimeout(() => closed.reject(new Error(`the server went silent after: ${received}`)), hangMs);
  const answered = () => received !== '' || ended;
  for await (const piece of pieces) {
    let rest = Buffer.from(piece);
    while (rest.length > 0 && !answered()) {
      const written = socket.write(rest);
      rest = rest.subarray(Math.max(0, written));
      if (rest.length === 0) break;
      await new Promise<void>((resolve) => {
        drained = resolve;
      });
    }
    await Bun.sleep(0);
    if (answered()) break;
  }
  return closed.promise.finally(() => clearTimeout(tooLate));
}

/** Returns the head of a POST of JSON for `overSocket`. */
export function postHead(url: string, path: string, token: string, length: number | 'chunked'): string {
  return [
    `POST /api/${path} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'Connection: close',
    length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
    '\r\n',
  ].join('\r\n');
}
