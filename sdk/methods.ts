import type { Operations } from './operations.ts';
import type { pages } from './pages.ts';

/** `messages.send_message`, `chats.list`, … */
export type OperationName = keyof Operations;

/** The input of an operation. */
export type ClientInput<N extends OperationName> = Operations[N]['input'];

/** The output of an operation without `success`. */
export type ClientOutput<N extends OperationName> = Operations[N]['output'];

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

/** The input is optional if none of its fields is required. */
type Arguments<I> =
  Record<never, never> extends I ? [input?: I, options?: CallOptions] : [input: I, options?: CallOptions];

/** Returns the payload. Throws `ApiError`, `TransportError`, or the reason of an aborted signal. */
export type Call<N extends OperationName> = (...args: Arguments<ClientInput<N>>) => Promise<ClientOutput<N>>;

/** The operations that return pages. */
export type PagedName = keyof typeof pages;

/** A row of a page. */
export type PageItem<N extends PagedName> =
  ClientOutput<N> extends Readonly<Record<(typeof pages)[N]['items'], readonly (infer T)[]>> ? T : never;

/** `messages.list.all` starts with the oldest message, so it takes neither `before_id` nor `around_id`. */
type AllInput<N extends PagedName> = N extends 'messages.get_messages'
  ? Omit<ClientInput<N>, 'before_id' | 'around_id'>
  : ClientInput<N>;

/** Returns one page. `all` iterates over the rows of this page and all that follow, and loads a page when it is needed. */
export interface PagedCall<N extends PagedName> {
  (...args: Arguments<ClientInput<N>>): Promise<ClientOutput<N>>;
  all(...args: Arguments<AllInput<N>>): AsyncGenerator<PageItem<N>, void, undefined>;
}

/**
 * Returns the response before its body has arrived, with status 200, or 206, 304, 412 or 416 as the given headers require.
 * Other statuses throw as in a `Call`.
 */
export type Download<N extends OperationName> = (input: ClientInput<N>, options?: DownloadOptions) => Promise<Response>;

/** Returns the response before its body has arrived. The caller reads the stream and reconnects. */
export type OpenStream<N extends OperationName> = (
  input?: ClientInput<N>,
  options?: DownloadOptions,
) => Promise<Response>;
