import { isEventStream, isFile, type NamedOperation } from '@parley/contract';
import { type Kind, streamType } from './answer.ts';
import { fieldsOf, formOf, hasFile } from './form.ts';

/** A call as HTTP: made once, sent as often as need be, each time with the access token of the moment. */
export interface ApiRequest {
  readonly url: string;
  readonly init: RequestInit & { readonly headers: Headers };
  readonly kind: Kind;
}

export interface Target {
  /** The server's address, without `/api` and without a slash at its end. */
  readonly url: string;
}

const accepted: Readonly<Record<Kind, string>> = { json: 'application/json', file: '*/*', stream: streamType };

function kindOf({ output }: NamedOperation): Kind {
  if (isFile(output)) return 'file';
  return isEventStream(output) ? 'stream' : 'json';
}

/** Puts an input where the row's method has it: a query for GET; for POST a JSON body, or a form where it holds a file. */
export function buildRequest(
  target: Target,
  row: NamedOperation,
  input: object,
  idempotencyKey: string | undefined,
  extraHeaders: Readonly<Record<string, string>>,
): ApiRequest {
  const kind = kindOf(row);
  const url = new URL(`${target.url}/api/${row.resource}.php`);
  url.searchParams.set('action', row.action);
  const headers = new Headers(extraHeaders);
  headers.set('accept', accepted[kind]);
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
  // A redirect is never followed: it would turn a POST into a GET. It is told as an answer that is not Parley's.
  const init: RequestInit & { headers: Headers } = { method: row.method, headers, redirect: 'manual' };
  if (row.method === 'GET') {
    appendQuery(url.searchParams, input);
  } else if (row.rawFile || hasFile(input)) {
    // Without a content type: only whoever sends the form knows its boundary. Sending does not use it up.
    init.body = formOf(input);
  } else {
    headers.set('content-type', 'application/json');
    init.body = JSON.stringify(input);
  }
  return { url: url.href, init, kind };
}

/** The request as it is sent once. */
export function withToken(request: ApiRequest, token: string): ApiRequest {
  const headers = new Headers(request.init.headers);
  headers.set('authorization', `Bearer ${token}`);
  return { ...request, init: { ...request.init, headers } };
}

function appendQuery(query: URLSearchParams, input: object): void {
  for (const [name, value] of fieldsOf(input)) query.append(name, String(value));
}

/** 128 random bits. `crypto.randomUUID` would not do: browsers keep it from pages that are not served over https. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
