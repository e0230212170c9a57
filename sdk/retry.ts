import { ApiError, TransportError } from './errors.ts';

/**
 * The statuses that are worth a retry. A 429 means that nothing was done, so any call may be retried. After the others, and
 * after no response at all, only a call that is safe to repeat may be.
 */
const retryable: Readonly<Record<number, 'any call' | 'repeatable call'>> = {
  429: 'any call',
  502: 'repeatable call',
  503: 'repeatable call',
  504: 'repeatable call',
};

const firstDelayMs = 200;
const maxDelayMs = 5_000;

/** A longer `Retry-After` is left to the caller, who can plan better than a sleeping call. In seconds. */
const maxRetryAfter = 60;

/** Returns the milliseconds to wait before a retry, or undefined if the call must not be retried. */
export function retryDelay(retry: number, error: unknown, isRepeatable: boolean): number | undefined {
  if (!isCallError(error)) return undefined;
  const rule = error.status === undefined ? 'repeatable call' : retryable[error.status];
  if (rule === undefined || (rule === 'repeatable call' && !isRepeatable)) return undefined;
  if (error.retryAfter !== undefined && error.retryAfter > maxRetryAfter) return undefined;
  // The jitter keeps clients that failed together from retrying together.
  const delay = Math.min(firstDelayMs * 2 ** (retry - 1), maxDelayMs) * (0.5 + Math.random());
  return error.retryAfter === undefined ? delay : error.retryAfter * 1_000 + delay / 4;
}

const maxReconnectMs = 10_000;

/** Bounds for the delay that a server asks for. */
const minRequestedMs = 200;
const maxRequestedMs = 3_600_000;

/** Returns whether a stream that failed with this error may succeed later. */
export function isTransient(error: unknown): error is ApiError | TransportError {
  return isCallError(error) && (error.status === undefined || error.status === 429 || error.status >= 500);
}

/** Returns the milliseconds before a stream reconnects: at least what the server asked for, and more after each failure. */
export function reconnectDelay(failures: number, retryMs: number, error: ApiError | TransportError): number {
  const min = Math.max(retryMs, minRequestedMs);
  const delay = Math.max(Math.min(min * 2 ** failures, maxReconnectMs), min, (error.retryAfter ?? 0) * 1_000);
  return Math.min(delay, maxRequestedMs) * (1 + Math.random() / 2);
}

const isCallError = (error: unknown): error is ApiError | TransportError =>
  error instanceof ApiError || error instanceof TransportError;

/** Settles like the work, or rejects with the signal's reason as soon as it is aborted. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
