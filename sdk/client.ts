import {
  type ClientInput,
  type ClientOutput,
  type Contract,
  type FileOperationName,
  isEventStream,
  type JsonOperationName,
  listOperations,
  type NamedOperation,
  type OperationName,
  type Resource,
  type StreamOperationName,
} from '@parley/contract';
import { type Clock, systemClock } from './clock.ts';
import { ApiError, innermost, TransportError } from './errors.ts';
import type { RequestStream, Within } from './event-connection.ts';
import { type Follow, follower } from './events.ts';
import { type ApiRequest, buildRequest, newIdempotencyKey, parseServerUrl, withToken } from './request.ts';
import { isForCaller, readResponse } from './response.ts';
import { retryDelay } from './retry.ts';
import { checkToken, getToken, type TokenSource } from './token.ts';

export interface ClientOptions {
  /** The server's URL, such as `http://127.0.0.1:8080`, with or without a trailing `/api`. */
  readonly url: string;
  /** The access token, or a function that returns one. */
  readonly token: TokenSource;
  /** Replaces the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** The maximum number of retries of a failed call, if a retry is safe and may help. Defaults to 2. */
  readonly retries?: number;
  /** Replaces the platform's timers for delays and timeouts. */
  readonly clock?: Clock;
}

export interface CallOptions {
  /**
   * Repeated calls with the same key take effect once, also across processes. Each call of an operation that supports a key
   * gets a new one by default, so that the client's own retries take effect once. Other operations reject a key.
   */
  readonly idempotencyKey?: string | undefined;
  /** Aborts the call and its retries: `AbortSignal.timeout(5_000)`. */
  readonly signal?: AbortSignal | undefined;
}

export interface DownloadOptions extends Pick<CallOptions, 'signal'> {
  /** Additional request headers, such as `range` or `if-none-match`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A file may also be a blob, which has no name. */
type WithBlobs<I> = { [K in keyof I]: File extends I[K] ? I[K] | Blob : I[K] };

/** The input is optional if none of its fields is required. */
type Arguments<I> =
  Record<never, never> extends I ? [input?: I, options?: CallOptions] : [input: I, options?: CallOptions];

/** Returns the payload. Throws `ApiError`, `TransportError`, or the reason of an aborted signal. */
export type Call<N extends JsonOperationName> = (
  ...args: Arguments<WithBlobs<ClientInput<N>>>
) => Promise<ClientOutput<N>>;

/**
 * Returns the response before its body has arrived, with status 200, or 206, 304, 412 or 416 as the given headers require.
 * Other statuses throw as in a `Call`.
 */
export type Download<N extends FileOperationName> = (
  input: ClientInput<N>,
  options?: DownloadOptions,
) => Promise<Response>;

/** Returns the response before its body has arrived. The caller reads the stream and reconnects. */
export type OpenStream<N extends StreamOperationName> = (
  input?: ClientInput<N>,
  options?: DownloadOptions,
) => Promise<Response>;

type Method<N extends OperationName> = N extends FileOperationName
  ? Download<N>
  : N extends StreamOperationName
    ? OpenStream<N>
    : N extends JsonOperationName
      ? Call<N>
      : never;

type Methods = {
  readonly [R in Resource]: {
    readonly [A in keyof Contract[R] & string]: Method<Extract<`${R}.${A}`, OperationName>>;
  };
};

/**
 * `client.messages.send_message(…)`: one method for each operation of the contract. `client.events(…)` follows the event stream
 * and reconnects.
 */
export type Client = Methods & { readonly events: Follow };

type Settings = Required<ClientOptions> & {
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
    token: typeof options.token === 'function' ? options.token : checkToken(options.token),
    // Read at each call, and called as a plain function: a browser's fetch rejects any other `this`.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    retries: options.retries ?? 2,
    clock: options.clock ?? systemClock,
  };
  const rows = listOperations();
  const client: Record<string, object> = { events: follower(streamRequest(settings, rows), settings.clock) };
  for (const row of rows) {
    const method = (input: object = {}, call: CallOptions & DownloadOptions = {}) =>
      callOperation(settings, row, input, call);
    client[row.resource] = Object.assign(client[row.resource] ?? {}, { [row.action]: method });
  }
  return client as unknown as Client;
}

/** Returns a function that requests the event stream once. Retries are up to its caller. */
function streamRequest(settings: Settings, rows: readonly NamedOperation[]): RequestStream {
  const row = rows.find(({ output }) => isEventStream(output));
  if (!row) throw new Error('the contract has no stream');
  return async (input, signal, within) => {
    const request = buildRequest(settings.url, row, input, undefined, {});
    return (await send({ ...settings, within }, request, signal)) as Response;
  };
}

async function callOperation(
  settings: Settings,
  row: NamedOperation,
  input: object,
  { idempotencyKey, signal, headers = {} }: CallOptions & DownloadOptions,
): Promise<object> {
  if (idempotencyKey !== undefined && !row.idempotent) {
    throw new TypeError(`${row.name} does not support an idempotency key.`);
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
  token: string,
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
