import { type Kind, streamType } from './response.ts';
import { authorization } from './token.ts';

/** An operation, as the client calls it. */
export interface OperationRow {
  readonly resource: string;
  readonly action: string;
  readonly method: 'GET' | 'POST';
  /** The kind of the response. Defaults to JSON. */
  readonly kind?: Kind;
  /** True if `Idempotency-Key` is supported. */
  readonly idempotent?: true;
  /** True if the input is always sent as a form. */
  readonly form?: true;
}

/** A call as an HTTP request. It may be sent several times, each time with the current token. */
export interface ApiRequest {
  readonly url: string;
  readonly init: RequestInit & { readonly headers: Headers };
  readonly kind: Kind;
}

/** Returns a server's base URL in one spelling, without `/api` and a trailing slash, or undefined if it is no http(s) URL. */
export function parseServerUrl(given: string): string | undefined {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return undefined;
  return `${url.origin}${url.pathname.replace(/(?:\/api)?\/*$/, '')}`;
}

const accepted: Readonly<Record<Kind, string>> = { json: 'application/json', file: '*/*', stream: streamType };

/** Returns the request of a call: GET with a query, or POST with JSON, or with a form if the input holds a file. */
export function buildRequest(
  serverUrl: string,
  row: OperationRow,
  input: object,
  idempotencyKey: string | undefined,
  extraHeaders: Readonly<Record<string, string>>,
): ApiRequest {
  const { kind = 'json' } = row;
  const url = new URL(`${serverUrl}/api/${row.resource}.php`);
  url.searchParams.set('action', row.action);
  const headers = new Headers(extraHeaders);
  headers.set('accept', accepted[kind]);
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
  // Redirects are errors: following one would turn a POST into a GET.
  const init: RequestInit & { headers: Headers } = { method: row.method, headers, redirect: 'manual' };
  if (row.method === 'GET') {
    for (const [name, value] of fieldsOf(input)) url.searchParams.append(name, String(value));
  } else if (row.form || Object.values(input).some((value) => value instanceof Blob)) {
    // `fetch` sets the content type, because it chooses the boundary. A form can be sent several times.
    init.body = formOf(input);
  } else {
    headers.set('content-type', 'application/json');
    init.body = JSON.stringify(input);
  }
  return { url: url.href, init, kind };
}

export function withToken(request: ApiRequest, token: string | null): ApiRequest {
  const headers = new Headers(request.init.headers);
  for (const [name, value] of Object.entries(authorization(token))) headers.set(name, value);
  return { ...request, init: { ...request.init, headers } };
}

/** Returns the defined fields of an input, with one entry for each element of a list. */
function fieldsOf(input: object): [string, unknown][] {
  return Object.entries(input).flatMap(([name, value]: [string, unknown]) =>
    value === undefined ? [] : [value].flat().map((one): [string, unknown] => [name, one]),
  );
}

/** Returns an input as a form. Files come last, so that the server can refuse the other fields before it reads them. */
function formOf(input: object): FormData {
  const form = new FormData();
  const fields = fieldsOf(input);
  for (const [name, value] of fields) if (!(value instanceof Blob)) form.append(name, String(value));
  for (const [name, value] of fields) if (value instanceof Blob) form.append(name, value, fileName(value));
  return form;
}

/** Returns the last part of the name: the name of a `Bun.file` is its path. */
const fileName = (file: Blob): string => (file as Partial<File>).name?.split(/[/\\]/).at(-1) || 'file';

/** Returns 128 random bits. Browsers offer `crypto.randomUUID` only to pages that are served over https. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
