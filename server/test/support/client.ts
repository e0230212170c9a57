import {
  type ClientInput,
  type ClientOutput,
  type ErrorCode,
  type ErrorDetail,
  type JsonOperationName,
  listOperations,
  type NamedOperation,
  type OperationName,
} from '@parley/contract';
import { cookieNames } from '../../http/cookies.ts';

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetail[];
  readonly request_id: string;
}

/** Operations whose response is not JSON. */
export type Payload<N extends OperationName> = N extends JsonOperationName ? ClientOutput<N> : object;

export interface Answer<N extends OperationName> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { success: true } & Payload<N>;
  /** Set if the call failed. */
  readonly error: Failure | undefined;
}

const rows = new Map(listOperations().map((row) => [row.name, row]));

/** The two URLs of an operation, after `/api/`. */
export const urlForms = {
  'resource.php?action=': ({ resource, action }: NamedOperation) => `${resource}.php?action=${action}`,
  'resource/action': ({ resource, action }: NamedOperation) => `${resource}/${action}`,
} as const;

export type UrlForm = keyof typeof urlForms;
export const urlFormNames = Object.keys(urlForms) as UrlForm[];

/** Calls a server over HTTP as one user. It checks nothing. */
export class Client {
  readonly url: string;
  readonly token: string;
  readonly userId: number;
  readonly form: UrlForm;

  constructor(url: string, token: string, userId: number, form: UrlForm = 'resource.php?action=') {
    this.url = url;
    this.token = token;
    this.userId = userId;
    this.form = form;
  }

  /** Returns a client of the same user that uses this form of URLs. */
  with(form: UrlForm): Client {
    return new Client(this.url, this.token, this.userId, form);
  }

  /** Returns a client of the same user at another server. */
  at(url: string): Client {
    return new Client(url, this.token, this.userId, this.form);
  }

  /** Returns the URL of an operation. Values are appended to its query. */
  urlOf(row: NamedOperation, input: object = {}): URL {
    const url = new URL(`${this.url}/api/${urlForms[this.form](row)}`);
    for (const [key, value] of Object.entries(input)) {
      for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(key, String(one));
    }
    return url;
  }

  credential(): Record<string, string> {
    return { authorization: `Bearer ${this.token}` };
  }

  async call<N extends OperationName>(
    name: N,
    input: ClientInput<N>,
    headers: Record<string, string> = {},
  ): Promise<Answer<N>> {
    const row = rows.get(name);
    if (!row) throw new Error(`no operation ${name}`);
    const address = this.urlOf(row, row.method === 'GET' ? (input as object) : {});
    const init: RequestInit = { method: row.method, headers: { ...this.credential(), ...headers } };
    if (row.method === 'POST' && hasFile(input as object)) {
      init.body = formOf(input as object);
    } else if (row.method === 'POST') {
      init.body = JSON.stringify(input);
      init.headers = { 'content-type': 'application/json', ...init.headers };
    }
    const response = await fetch(address, init);
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    if (!isJson) await response.body?.cancel();
    const body = (isJson ? await response.json() : { success: true }) as Answer<N>['body'] & { error?: Failure };
    return { status: response.status, headers: response.headers, body, error: body.error };
  }

  /** Makes a call that must succeed, and returns the payload of the response. */
  async ok<N extends OperationName>(
    name: N,
    input: ClientInput<N>,
    headers: Record<string, string> = {},
  ): Promise<Payload<N>> {
    const { status, body, error } = await this.call(name, input, headers);
    if (status !== 200) throw new Error(`${name} ${JSON.stringify(input)}: ${status} ${JSON.stringify(error)}`);
    return body;
  }

  /** Makes a call that must fail, and returns the code of the error. */
  async refused<N extends OperationName>(name: N, input: ClientInput<N>): Promise<ErrorCode> {
    const { status, error } = await this.call(name, input);
    if (!error) throw new Error(`${name} ${JSON.stringify(input)} succeeded with ${status}`);
    return error.code;
  }
}

/** Calls as one of our pages does, with the session of a browser as its token. */
export class SessionClient extends Client {
  override with(form: UrlForm): SessionClient {
    return new SessionClient(this.url, this.token, this.userId, form);
  }

  override at(url: string): SessionClient {
    return new SessionClient(url, this.token, this.userId, this.form);
  }

  override credential(): Record<string, string> {
    return { cookie: `${cookieNames(false).session}=${this.token}`, 'sec-fetch-site': 'same-origin' };
  }
}

export const hasFile = (input: object): boolean => Object.values(input).some((value) => value instanceof Blob);

export function formOf(input: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(input)) form.append(name, value instanceof Blob ? value : String(value));
  return form;
}
