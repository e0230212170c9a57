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
import { isForCaller, readAnswer } from './answer.ts';
import { type Clock, systemClock } from './clock.ts';
import { ApiError, innermost, TransportError } from './errors.ts';
import type { AskForStream, Within } from './event-connection.ts';
import { type Follow, follower } from './events.ts';
import { type ApiRequest, buildRequest, newIdempotencyKey, type Target, withToken } from './request.ts';
import { pauseBefore } from './retry.ts';
import { askToken, checkToken, type TokenSource } from './token.ts';

export interface ClientOptions extends Target {
  /** The server's address, such as `http://127.0.0.1:8080`, with or without the `/api` that its paths begin with. */
  readonly url: string;
  /** The access token, or a function that is asked for it whenever one is needed. */
  readonly token: TokenSource;
  /** Stands in for the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** How often a call is made again, where that can do no harm and may help; 2 by default. */
  readonly retries?: number;
  /** Stands in for the timers of the platform, by which the client waits before a retry and gives up on silence. */
  readonly clock?: Clock;
}

export interface CallOptions {
  /**
   * Makes a repeated call count once, also from another process. Operations that honour one get a new key for every
   * call by default, which makes the client's own retries count once; the others refuse it.
   */
  readonly idempotencyKey?: string | undefined;
  /** Ends the call, its retries included: `AbortSignal.timeout(5_000)`. */
  readonly signal?: AbortSignal | undefined;
}

export interface DownloadOptions extends Pick<CallOptions, 'signal'> {
  /** What to send beside the token, such as `range` or `if-none-match`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A file may also be a blob, which has no name of its own. */
type WithBlobs<I> = { [K in keyof I]: File extends I[K] ? I[K] | Blob : I[K] };

/** The input may be left out where nothing in it is required. */
type Arguments<I> =
  Record<never, never> extends I ? [input?: I, options?: CallOptions] : [input: I, options?: CallOptions];

/** Answers the payload; throws `ApiError`, `TransportError`, or the reason of an aborted signal. */
export type Call<N extends JsonOperationName> = (
  ...args: Arguments<WithBlobs<ClientInput<N>>>
) => Promise<ClientOutput<N>>;

/**
 * Answers as soon as the server does, with the bytes still to come: 200, or what the headers that were given lead to, which
 * is 206, 304, 412 or 416. All else is thrown, as other calls do.
 */
export type Download<N extends FileOperationName> = (
  input: ClientInput<N>,
  options?: DownloadOptions,
) => Promise<Response>;

/** Answers as soon as the server does, with the stream still to come. To read it and to come back is left to the caller. */
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
 * `client.messages.send_message(…)`: a method for every row of the contract, under the row's own name. And
 * `client.events(…)`, which reads the stream of events and comes back to it.
 */
export type Client = Methods & { readonly events: Follow };

interface Settings extends Target {
  readonly token: TokenSource;
  readonly fetch: NonNullable<ClientOptions['fetch']>;
  readonly retries: number;
  readonly clock: Clock;
  /** What an exchange with the server is given, where it has no end of its own. */
  readonly within?: Within;
}

/** A client of one server, as whoever the access token belongs to. */
export function createClient(options: ClientOptions): Client {
  const settings: Settings = {
    url: checkUrl(options.url),
    token: typeof options.token === 'function' ? options.token : checkToken(options.token),
    // Looked up at each call, and called as a plain function: a browser's fetch refuses any other `this`.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    retries: options.retries ?? 2,
    clock: options.clock ?? systemClock,
  };
  const rows = listOperations();
  const client: Record<string, object> = { events: follower(streamFrom(settings, rows), settings.clock) };
  for (const row of rows) {
    const method = (input: object = {}, call: CallOptions & DownloadOptions = {}) =>
      callOperation(settings, row, input, call);
    client[row.resource] = Object.assign(client[row.resource] ?? {}, { [row.action]: method });
  }
  return client as unknown as Client;
}

/** One attempt at the stream of events; when to make another is for whoever follows it. */
function streamFrom(settings: Settings, rows: readonly NamedOperation[]): AskForStream {
  const row = rows.find(({ output }) => isEventStream(output));
  if (!row) throw new Error('the contract has no stream');
  return async (input, signal, within) => {
    const request = buildRequest(settings, row, input, undefined, {});
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
    throw new TypeError(`${row.name} honours no idempotency key.`);
  }
  const key = row.idempotent ? (idempotencyKey ?? newIdempotencyKey()) : undefined;
  const request = buildRequest(settings, row, input, key, headers);
  const repeatable = row.method === 'GET' || key !== undefined;
  for (let retry = 1; ; retry++) {
    try {
      return await send(settings, request, signal);
    } catch (error) {
      const wait = retry > settings.retries ? undefined : pauseBefore(retry, error, repeatable);
      if (wait === undefined) throw error;
      await settings.clock.sleep(wait, signal);
    }
  }
}

/** One attempt; or two, where the server does not take the token and there is another. */
async function send(settings: Settings, request: ApiRequest, signal: AbortSignal | undefined): Promise<object> {
  const token = await askToken(settings.token, signal);
  try {
    return await sendWith(token, settings, request, signal);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
    const other = await askToken(settings.token, signal, token);
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
  const { response, text } = await within(exchange(settings, withToken(request, token), signal));
  return text === undefined ? response : readAnswer(response, text);
}

/** The answer and its text; without it where the caller reads it. */
async function exchange(settings: Settings, { url, init, kind }: ApiRequest, signal: AbortSignal | undefined) {
  try {
    const response = await settings.fetch(url, signal ? { ...init, signal } : init);
    if (isForCaller(kind, response)) return { response };
    return { response, text: await response.text() };
  } catch (error) {
    signal?.throwIfAborted();
    throw new TransportError(`Cannot reach Parley at ${settings.url}: ${innermost(error)}`, { cause: error });
  }
}

function checkUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new TypeError(
      `The server's address must be one such as http://127.0.0.1:8080, not ${JSON.stringify(given)}.`,
    );
  }
  return `${url.origin}${url.pathname.replace(/(?:\/api)?\/*$/, '')}`;
}
