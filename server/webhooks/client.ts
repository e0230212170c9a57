import { calledOff, type Deadlines, outOfTime } from './deadlines.ts';
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
  /** Durations and deadlines are measured by it. */
  readonly monotonic: () => number;
  /** For the whole attempt: connecting, and every byte of the answer that is waited for. */
  readonly timeoutMs: number;
  /** What cuts attempts off. */
  readonly deadlines: Deadlines;
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

/** Makes one attempt. Whatever happens is an outcome; nothing is thrown. */
export const post = (options: ClientOptions, sending: Post): Promise<Outcome> =>
  attempt(options, sending, stopwatch(options));

/** Judges a URL that `readUrl` answered, and makes one attempt; a refusal of the guard is an outcome too. */
export function postTo(
  guard: Guard,
  options: ClientOptions,
  { url, headers, body }: { readonly url: URL } & Omit<Post, 'target'>,
): Promise<Outcome> {
  const elapsed = stopwatch(options);
  const reach = (target: Target) => attempt(options, { target, headers, body }, elapsed);
  try {
    const found = guard.target(url);
    return found instanceof Promise ? found.then(reach, (error) => refused(error, elapsed())) : reach(found);
  } catch (error) {
    return Promise.resolve(refused(error, elapsed()));
  }
}

function refused(error: unknown, ms: number): Outcome {
  if (error instanceof AddressRefusal) return unreached('address', error.message, ms);
  if (error instanceof NameFailure) return unreached('dns', error.message, ms);
  throw error;
}

async function attempt(
  options: ClientOptions,
  { target, headers, body }: Post,
  elapsed: () => number,
): Promise<Outcome> {
  const { url } = target;
  const { deadlines, monotonic, timeoutMs } = options;
  // Looking the name up has taken some of the time.
  const limited = deadlines.begin(timeoutMs - elapsed());
  try {
    const response = await reach(target, {
      method: 'POST',
      // A decompressed answer can be a thousand times what came over the wire.
      headers: { ...headers, Host: url.host, 'Accept-Encoding': 'identity' },
      decompress: false,
      body,
      redirect: 'manual',
      proxy: false,
      signal: limited.controller.signal,
      ...(url.protocol === 'https:' && { tls: identityOf(url) }),
    });
    const { status } = response;
    if (status < 100) return unreached(notHttp.failure, notHttp.message, elapsed());
    limited.deadline = Math.min(limited.deadline, monotonic() + bodyWithinMs);
    const answer = await readAnswer(response, options, limited.controller);
    const retryAfterMs = response.ok ? undefined : readRetryAfter(response.headers.get('retry-after'), options.now());
    return { kind: 'answered', status, retryAfterMs, answer, ms: elapsed() };
  } catch (error) {
    if (error === outOfTime) {
      return unreached('timeout', `no complete answer within ${timeoutMs / 1_000} s`, elapsed());
    }
    if (error === calledOff) return unreached('other', 'the attempt was called off', elapsed());
    const { failure, message } = faultOf(error);
    return unreached(failure, message, elapsed());
  } finally {
    deadlines.end(limited);
  }
}

/** Tells the milliseconds since now. */
function stopwatch({ monotonic }: ClientOptions): () => number {
  const started = monotonic();
  return () => Math.round(monotonic() - started);
}

const unreached = (failure: Failure, message: string, ms: number): Outcome => ({
  kind: 'unreached',
  failure,
  message,
  ms,
});

/** Dials the judged addresses in turn until somebody is there. */
const reach = ({ url, address, others = [] }: Target, init: BunFetchRequestInit): Promise<Response> =>
  others.length === 0 ? fetch(at(address, url), init) : reachAny([address, ...others], url, init);

async function reachAny(addresses: readonly string[], url: URL, init: BunFetchRequestInit): Promise<Response> {
  for (let tried = 0; ; tried++) {
    try {
      return await fetch(at(addresses[tried] ?? '', url), init);
    } catch (error) {
      if (tried === addresses.length - 1 || !reachedNobody(error)) throw error;
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
