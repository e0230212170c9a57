import { type Failure, faultOf, hasNoConnection, notHttp, type Outcome, readRetryAfter } from './outcome.ts';
import { AddressRefusal, type Guard, type Target } from './ssrf/guard.ts';
import { NameFailure } from './ssrf/resolve.ts';

/** How often deadlines are checked. They are seconds away, and a timer for each attempt would be set twice and cleared. */
const checkMs = 50;

/** An attempt that is aborted at its deadline. */
export interface TimedAttempt {
  readonly controller: AbortController;
  /** By the monotonic clock. */
  deadline: number;
}

const timedOut = Symbol('timed out');
const cancelled = Symbol('cancelled');

/** Aborts attempts: each at its deadline, or all of them at once. */
export class Deadlines {
  readonly #monotonic: () => number;
  readonly #open = new Set<TimedAttempt>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  begin(ms: number): TimedAttempt {
    const attempt = { controller: new AbortController(), deadline: this.#monotonic() + ms };
    this.#open.add(attempt);
    if (this.#isClosed) attempt.controller.abort(cancelled);
    this.#timer ??= setInterval(() => this.#check(), checkMs);
    return attempt;
  }

  end(attempt: TimedAttempt): void {
    this.#open.delete(attempt);
  }

  /** Aborts all attempts, and all later ones. */
  close(): void {
    this.#isClosed = true;
    for (const { controller } of this.#open) controller.abort(cancelled);
  }

  #check(): void {
    const now = this.#monotonic();
    for (const { controller, deadline } of this.#open) if (deadline <= now) controller.abort(timedOut);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** A text is sent as UTF-8. */
  readonly body: string | Uint8Array<ArrayBuffer>;
}

export interface ClientOptions {
  readonly now: () => number;
  readonly monotonic: () => number;
  /** For the whole attempt: the connection, and every byte of the response that is read. */
  readonly timeoutMs: number;
  readonly deadlines: Deadlines;
  /** Bytes of a response that are read. */
  readonly maxRead: number;
  /** Bytes of a response that are kept. */
  readonly maxKept: number;
}

/**
 * How long the body of a response may take once the status is there. The status has decided already: the body is read so
 * that its start can be shown and the connection reused, and the chat's next delivery does not wait longer for that.
 */
const bodyTimeoutMs = 1_000;

/** Checks a URL that `readUrl` returned, and posts to it once. Never rejects: a refusal of the guard is an outcome too. */
export function postTo(guard: Pick<Guard, 'target'>, options: ClientOptions, post: Post): Promise<Outcome> {
  const { monotonic } = options;
  const startedAt = monotonic();
  const elapsed = () => Math.round(monotonic() - startedAt);
  const reach = (target: Target) => attempt(options, target, post, elapsed);
  try {
    const found = guard.target(post.url);
    return found instanceof Promise ? found.then(reach, (error) => refused(error, elapsed())) : reach(found);
  } catch (error) {
    return Promise.resolve(refused(error, elapsed()));
  }
}

function refused(error: unknown, ms: number): Outcome {
  if (error instanceof AddressRefusal) return unreached('blocked_address', error.message, ms);
  if (error instanceof NameFailure) return unreached(error.failure, error.message, ms);
  throw error;
}

async function attempt(
  options: ClientOptions,
  target: Target,
  { headers, body }: Post,
  elapsed: () => number,
): Promise<Outcome> {
  const { url } = target;
  const { deadlines, timeoutMs, monotonic } = options;
  // The DNS lookup has taken some of the time.
  const timed = deadlines.begin(timeoutMs - elapsed());
  try {
    const response = await reach(target, {
      method: 'POST',
      // A decompressed response can be a thousand times what came over the wire.
      headers: { ...headers, Host: url.host, 'Accept-Encoding': 'identity' },
      decompress: false,
      body,
      redirect: 'manual',
      proxy: false,
      signal: timed.controller.signal,
      ...(url.protocol === 'https:' && { tls: identityOf(url) }),
    });
    const { status } = response;
    if (status < 100) return unreached(notHttp.failure, notHttp.message, elapsed());
    timed.deadline = Math.min(timed.deadline, monotonic() + bodyTimeoutMs);
    const responseBody = await readBody(response, options, timed.controller);
    const retryAfterMs = response.ok ? undefined : readRetryAfter(response.headers.get('retry-after'), options.now());
    const shown = `${redirectOf(response)}${responseBody}`;
    return { kind: 'responded', status, retryAfterMs, body: shown, ms: elapsed() };
  } catch (error) {
    if (error === timedOut)
      return unreached('timeout', `no complete response within ${timeoutMs / 1_000} s`, elapsed());
    if (error === cancelled) return unreached('cancelled', 'the attempt was cancelled', elapsed());
    const { failure, message } = faultOf(error);
    return unreached(failure, message, elapsed());
  } finally {
    deadlines.end(timed);
  }
}

const maxLocation = 2_048;

const unreached = (failure: Failure, message: string, ms: number): Outcome => ({
  kind: 'unreached',
  failure,
  message,
  ms,
});

/** Connects to the checked addresses in turn until one accepts. */
const reach = ({ url, address, others = [] }: Target, init: BunFetchRequestInit): Promise<Response> =>
  others.length === 0 ? fetch(at(address, url), init) : reachAny([address, ...others], url, init);

async function reachAny(addresses: readonly string[], url: URL, init: BunFetchRequestInit): Promise<Response> {
  for (let tried = 0; ; tried++) {
    try {
      return await fetch(at(addresses[tried] ?? '', url), init);
    } catch (error) {
      if (tried === addresses.length - 1 || !hasNoConnection(error)) throw error;
    }
  }
}

const at = (address: string, { protocol, port, pathname, search }: URL): string =>
  `${protocol}//${address.includes(':') ? `[${address}]` : address}${port && `:${port}`}${pathname}${search}`;

/**
 * Sets whom the certificate must be for: the host name, or the IP address if the URL holds one. It asks for verification
 * explicitly because the environment can turn it off.
 */
function identityOf({ hostname }: URL): BunFetchRequestInitTLS {
  const isAddress = hostname.startsWith('[') || /^[\d.]+$/.test(hostname);
  return isAddress ? { rejectUnauthorized: true } : { rejectUnauthorized: true, serverName: hostname };
}

/** Returns the start of the body. The status has decided already, so a failure only ends the read. */
/** Returns where a redirect leads, as a header before the body: the owner of the webhook needs nothing else of it. */
function redirectOf({ status, headers }: Response): string {
  const location = status >= 300 && status < 400 ? headers.get('location') : null;
  return location === null ? '' : `Location: ${withoutNul(location).slice(0, maxLocation)}\n\n`;
}

async function readBody(
  response: Response,
  { maxRead, maxKept }: ClientOptions,
  controller: AbortController,
): Promise<string> {
  // Most responses: opening no stream for them saves a tenth of the whole attempt.
  if (response.ok && isShort(response.headers, maxKept)) return response.text().then(withoutNul, () => '');
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const start: Uint8Array[] = [];
  let read = 0;
  try {
    while (read < maxRead) {
      const { done, value } = await reader.read();
      if (done) return textOf(start, read > maxKept);
      if (read < maxKept) start.push(value.subarray(0, maxKept - read));
      read += value.length;
    }
  } catch {}
  controller.abort();
  return textOf(start, true);
}

/** Returns whether the body has a small stated length. With a transfer encoding the stated length says nothing. */
function isShort(headers: Headers, max: number): boolean {
  const length = headers.get('content-length');
  return length !== null && Number(length) <= max && !headers.has('transfer-encoding');
}

/** A character that is cut in two at the end is left out. Other bytes that are not UTF-8 become U+FFFD. */
const textOf = (parts: readonly Uint8Array[], isCut: boolean): string =>
  withoutNul(new TextDecoder().decode(Buffer.concat(parts), { stream: isCut }));

const withoutNul = (text: string): string => text.replaceAll('\0', '\ufffd');
