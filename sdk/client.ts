import { type Clock, systemClock } from './clock.ts';
import { ApiError, innermost, TransportError } from './errors.ts';
import type { RequestStream, Within } from './event-connection.ts';
import { type Follow, follower } from './events.ts';
import type { CallOptions, DownloadOptions } from './methods.ts';
import { otherNames } from './names.ts';
import { type Methods, operations } from './operations.ts';
import { iteratePages, type Paging, pages } from './pages.ts';
import {
  type ApiRequest,
  buildRequest,
  newIdempotencyKey,
  type OperationRow,
  parseServerUrl,
  withToken,
} from './request.ts';
import { isForCaller, readResponse } from './response.ts';
import { retryDelay } from './retry.ts';
import { checkToken, getToken, type TokenSource } from './token.ts';

export interface ClientOptions {
  /** The server's URL, such as `http://127.0.0.1:8080`, with or without a trailing `/api`. */
  readonly url: string;
  /**
   * The access token, or a function that returns one. Null is for pages of the server itself: the cookie of the browser's
   * session authenticates their calls.
   */
  readonly token: TokenSource | null;
  /** Replaces the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** The maximum number of retries of a failed call, if a retry is safe and may help. Defaults to 2. */
  readonly retries?: number;
  /** Replaces the platform's timers for delays and timeouts. */
  readonly clock?: Clock;
}

/**
 * `client.messages.send(…)`: one method for each operation, under a short name and under its own (`send_message`). A method
 * that returns pages has `all`, which iterates over all rows. `client.events(…)` follows the event stream and reconnects.
 */
export type Client = Methods & { readonly events: Follow };

/** A server, and the access to it. */
export type Connection = Required<ClientOptions>;

type Settings = Connection & {
  /** Limits the wait for a response. */
  readonly within?: Within;
};

/** Returns a client of one server that acts for the owner of the access token. */
export function createClient(options: ClientOptions): Client {
  const url = parseServerUrl(options.url);
  if (url === undefined) {
    throw new TypeError(`The server URL must be like http://127.0.0.1:8080, not ${JSON.stringify(options.url)}.`);
  }
  const settings: Settings = {
    url,
    token: options.token === null || typeof options.token === 'function' ? options.token : checkToken(options.token),
    // Read at each call, and called as a plain function: a browser's fetch rejects any other `this`.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    retries: options.retries ?? 2,
    clock: options.clock ?? systemClock,
  };
  const client = { events: follower(streamRequest(settings), settings.clock) };
  addMethods(client, settings);
  return Object.defineProperty(client, settingsOf, { value: settings }) as unknown as Client;
}

/** Adds a method for each operation under its own name, and again under its name in `names`. Most of these follow from it. */
function addMethods(client: Record<string, object>, settings: Settings): void {
  const methods: Record<string, Method> = {};
  const renamed = Object.values(otherNames).flatMap((own) => Object.values<string>(own));
  const add = (resource: string, name: string, method: Method | undefined) => {
    client[resource] = Object.assign(client[resource] ?? {}, { [name]: method });
  };
  for (const [resource, actions] of Object.entries(operations)) {
    for (const [action, row] of Object.entries<Omit<OperationRow, 'resource' | 'action'>>(actions)) {
      const method = methodOf(settings, { resource, action, ...row });
      const operation = `${resource}.${action}`;
      methods[operation] = method;
      add(resource, action, method);
      if (!renamed.includes(operation)) add(resource, inCamelCase(action), method);
    }
  }
  for (const [resource, own] of Object.entries(otherNames)) {
    for (const [name, operation] of Object.entries(own)) add(resource, name, methods[operation]);
  }
}

const inCamelCase = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

type Method = (input?: object, options?: CallOptions & DownloadOptions) => Promise<object>;

function methodOf(settings: Settings, row: OperationRow): Method {
  const method: Method = (input = {}, options = {}) => callOperation(settings, row, input, options);
  const paging = (pages as Readonly<Record<string, Paging>>)[`${row.resource}.${row.action}`];
  if (!paging) return method;
  const all = (input?: object, options?: CallOptions) => iteratePages(paging, method, input, options);
  return Object.assign(method, { all });
}

const settingsOf = Symbol.for('@parley-chat/sdk settings');

/** Returns the settings of a client, for the other entries of this package. */
export function connectionOf(client: Client): Connection {
  const settings = (client as unknown as Record<symbol, Settings | undefined>)[settingsOf];
  if (!settings) throw new TypeError('The client must come from createClient.');
  return settings;
}

const streamRow: OperationRow = { resource: 'events', action: 'stream', ...operations.events.stream };

/** Returns a function that requests the event stream once. Retries are up to its caller. */
function streamRequest(settings: Settings): RequestStream {
  return async (input, signal, within) => {
    const request = buildRequest(settings.url, streamRow, input, undefined, {});
    return (await send({ ...settings, within }, request, signal)) as Response;
  };
}

async function callOperation(
  settings: Settings,
  row: OperationRow,
  input: object,
  { idempotencyKey, signal, headers = {} }: CallOptions & DownloadOptions,
): Promise<object> {
  if (idempotencyKey !== undefined && !row.idempotent) {
    throw new TypeError(`${row.resource}.${row.action} does not support an idempotency key.`);
  }
  const key = row.idempotent ? (idempotencyKey ?? newIdempotencyKey()) : undefined;
  const request = buildRequest(settings.url, row, input, key, headers);
  const isRepeatable = row.method === 'GET' || key !== undefined;
  for (let retry = 1; ; retry++) {
    try {
      return await send(settings, request, signal);
    } catch (error) {
      const delay = retry > settings.retries ? undefined : retryDelay(retry, error, isRepeatable);
      if (delay === undefined) throw error;
      await settings.clock.sleep(delay, signal);
    }
  }
}

/** Sends the request, and once more if the server refuses the token and the token source has another. */
async function send(settings: Settings, request: ApiRequest, signal: AbortSignal | undefined): Promise<object> {
  const token = await getToken(settings.token, signal);
  try {
    return await sendWith(token, settings, request, signal);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
    const other = await getToken(settings.token, signal, token);
    if (other === token) throw error;
    return sendWith(other, settings, request, signal);
  }
}

async function sendWith(
  token: string | null,
  settings: Settings,
  request: ApiRequest,
  signal: AbortSignal | undefined,
): Promise<object> {
  signal?.throwIfAborted();
  const { within = (work) => work } = settings;
  const { response, text } = await within(fetchResponse(settings, withToken(request, token), signal));
  return text === undefined ? response : readResponse(response, text);
}

/** Returns the response and its text. There is no text if the caller reads the body. */
async function fetchResponse(settings: Settings, { url, init, kind }: ApiRequest, signal: AbortSignal | undefined) {
  try {
    const response = await settings.fetch(url, signal ? { ...init, signal } : init);
    if (isForCaller(kind, response)) return { response };
    return { response, text: await response.text() };
  } catch (error) {
    signal?.throwIfAborted();
    throw new TransportError(`Cannot reach Parley at ${settings.url}: ${innermost(error)}`, { cause: error });
  }
}
