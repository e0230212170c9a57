import { AddressRefusal, type Guard, NameFailure, type Target } from './guard.ts';
import { type Failure, faultOf, notHttp, type Outcome, reachedNobody, readRetryAfter } from './outcome.ts';

export type { Failure, Outcome } from './outcome.ts';

export interface Post {
  readonly target: Target;
  readonly headers: Readonly<Record<string, string>>;
  /** Goes out as its exact UTF-8 bytes. */
  readonly body: string;
}

export interface ClientOptions {
  readonly now: () => number;
  /** For the whole attempt: connecting, and every byte of the answer that is waited for. */
  readonly timeoutMs: number;
  /** Bytes of an answer that are read at most. */
  readonly mostRead: number;
  /** Bytes of an answer that are kept at most. */
  readonly mostKept: number;
}

/**
 * As long as the body of an answer may take once its status is there. The status has decided already: the body is read so
 * that its start can be shown and the connection be used again, and a lane does not wait for more than that.
 */
const bodyWithinMs = 1_000;

const outOfTime = Symbol('out of time');
const calledOff = Symbol('called off');

/** Makes one attempt. Whatever happens is an outcome; nothing is thrown. */
export const post = (options: ClientOptions, sending: Post, signal?: AbortSignal): Promise<Outcome> =>
  attempt(options, sending, signal, performance.now());

/** Judges a URL that `readUrl` answered, and makes one attempt; a refusal of the guard is an outcome too. */
export async function postTo(
  guard: Guard,
  options: ClientOptions,
  { url, headers, body }: { readonly url: URL } & Omit<Post, 'target'>,
  signal?: AbortSignal,
): Promise<Outcome> {
  const started = performance.now();
  try {
    const found = guard.target(url);
    const target = found instanceof Promise ? await found : found;
    return await attempt(options, { target, headers, body }, signal, started);
  } catch (error) {
    if (error instanceof AddressRefusal) return unreached('address', error.message, started);
    if (error instanceof NameFailure) return unreached('dns', error.message, started);
    return unreached('other', faultOf(error).message, started);
  }
}

async function attempt(
  options: ClientOptions,
  { target, headers, body }: Post,
  signal: AbortSignal | undefined,
  started: number,
): Promise<Outcome> {
  const { url } = target;
  const controller = new AbortController();
  const endAfter = (ms: number) => setTimeout(() => controller.abort(outOfTime), ms);
  const callOff = () => controller.abort(calledOff);
  if (signal?.aborted) callOff();
  signal?.addEventListener('abort', callOff);
  // A timer for each attempt costs less than AbortSignal.timeout, which keeps its memory until the time has passed.
  let timer = endAfter(options.timeoutMs - (performance.now() - started));
  try {
    const response = await reach(target, {
      method: 'POST',
      // A decompressed answer can be a thousand times what came over the wire.
      headers: { ...headers, Host: url.host, 'Accept-Encoding': 'identity' },
      decompress: false,
      body,
      redirect: 'manual',
      proxy: false,
      signal: controller.signal,
      ...(url.protocol === 'https:' && { tls: identityOf(url) }),
    });
    const { status } = response;
    if (status < 100) return unreached(notHttp.failure, notHttp.message, started);
    clearTimeout(timer);
    timer = endAfter(Math.min(bodyWithinMs, options.timeoutMs - (performance.now() - started)));
    const answer = await readAnswer(response, options, controller);
    const retryAfterMs = response.ok ? undefined : readRetryAfter(response.headers.get('retry-after'), options.now());
    return { kind: 'answered', status, retryAfterMs, answer, ms: since(started) };
  } catch (error) {
    if (error === outOfTime) {
      return unreached('timeout', `no complete answer within ${options.timeoutMs / 1_000} s`, started);
    }
    if (error === calledOff) return unreached('other', 'the attempt was called off', started);
    const { failure, message } = faultOf(error);
    return unreached(failure, message, started);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', callOff);
  }
}

const since = (started: number): number => Math.round(performance.now() - started);

const unreached = (failure: Failure, message: string, started: number): Outcome => ({
  kind: 'unreached',
  failure,
  message,
  ms: since(started),
});

/** Dials the judged addresses in turn until somebody is there. */
async function reach({ url, address, others = [] }: Target, init: BunFetchRequestInit): Promise<Response> {
  for (let dialled = address, next = 0; ; next++) {
    try {
      return await fetch(at(dialled, url), init);
    } catch (error) {
      const other = others[next];
      if (other === undefined || !reachedNobody(error)) throw error;
      dialled = other;
    }
  }
}

const at = (address: string, { protocol, port, pathname, search }: URL): string =>
  `${protocol}//${address.includes(':') ? `[${address}]` : address}${port && `:${port}`}${pathname}${search}`;

/**
 * Who the certificate must be for: the name, or the IP address that is dialled where the URL holds one. It says that
 * certificates are verified because the environment can say otherwise.
 */
function identityOf({ hostname }: URL): BunFetchRequestInitTLS {
  const isAddress = hostname.startsWith('[') || /^[\d.]+$/.test(hostname);
  return isAddress ? { rejectUnauthorized: true } : { rejectUnauthorized: true, serverName: hostname };
}

/** The start of the body. The status counts whatever becomes of the body, so trouble only ends the reading. */
async function readAnswer(
  response: Response,
  { mostRead, mostKept }: ClientOptions,
  controller: AbortController,
): Promise<string> {
  // Most answers: a tenth of the whole attempt is saved by not opening a stream for them.
  if (response.ok && isShort(response.headers, mostKept)) return response.text().then(withoutNul, () => '');
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const start: Uint8Array[] = [];
  let read = 0;
  try {
    while (read < mostRead) {
      const { done, value } = await reader.read();
      if (done) return textOf(start, read > mostKept);
      if (read < mostKept) start.push(value.subarray(0, mostKept - read));
      read += value.length;
    }
  } catch {}
  controller.abort();
  return textOf(start, true);
}

/** Whether the body has a stated and small length. With a transfer encoding the stated length says nothing. */
function isShort(headers: Headers, most: number): boolean {
  const length = headers.get('content-length');
  return length !== null && Number(length) <= most && !headers.has('transfer-encoding');
}

/** A character that is cut in two at the end is left out; what is not UTF-8 otherwise shows as U+FFFD. */
const textOf = (parts: readonly Uint8Array[], isCut: boolean): string =>
  withoutNul(new TextDecoder().decode(Buffer.concat(parts), { stream: isCut }));

const withoutNul = (text: string): string => text.replaceAll('\0', '\ufffd');
