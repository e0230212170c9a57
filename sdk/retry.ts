import { ApiError, TransportError } from './errors.ts';

/**
 * Which answers are worth asking again for. After a 429 nothing was carried out, so any call may go again; after the
 * others, and after no answer at all, only one that does no harm when it is carried out twice.
 */
const worthRetrying: Readonly<Record<number, 'any call' | 'repeatable call'>> = {
  429: 'any call',
  502: 'repeatable call',
  503: 'repeatable call',
  504: 'repeatable call',
};

const firstPauseMs = 200;
const longestPauseMs = 5_000;

/** A server that asks for more patience than this gets no retry: the caller can plan better than a sleeping call. */
const longestRetryAfter = 60;

/** Milliseconds to wait before the call is made again, or undefined where it must not be. */
export function pauseBefore(retry: number, error: unknown, repeatable: boolean): number | undefined {
  if (!(error instanceof ApiError || error instanceof TransportError)) return undefined;
  const rule = error.status === undefined ? 'repeatable call' : worthRetrying[error.status];
  if (rule === undefined || (rule === 'repeatable call' && !repeatable)) return undefined;
  if (error.retryAfter !== undefined && error.retryAfter > longestRetryAfter) return undefined;
  const pause = Math.min(firstPauseMs * 2 ** (retry - 1), longestPauseMs);
  // Clients that failed together should not come back together.
  const scattered = pause * (0.5 + Math.random());
  return error.retryAfter === undefined ? scattered : error.retryAfter * 1_000 + scattered / 4;
}

/** The outcome of the work; or, when the signal is aborted before that, its reason, at once. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
