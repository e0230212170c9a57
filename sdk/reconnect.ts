import { ApiError, TransportError } from './errors.ts';

const longestPauseMs = 10_000;

/** What the server asks for is honoured within these. */
const leastAskedMs = 200;
const mostAskedMs = 3_600_000;

/** Whether a stream that failed so may do better later. */
export function mayPass(error: unknown): error is ApiError | TransportError {
  if (!(error instanceof ApiError || error instanceof TransportError)) return false;
  return error.status === undefined || error.status === 429 || error.status >= 500;
}

/** Milliseconds before a stream is asked for again: never less than the server asked for, and more with each failure. */
export function pauseBeforeReturn(failures: number, retryMs: number, error: ApiError | TransportError): number {
  const least = Math.max(retryMs, leastAskedMs);
  const pause = Math.max(Math.min(least * 2 ** failures, longestPauseMs), least, (error.retryAfter ?? 0) * 1_000);
  // Streams that broke together should not come back together.
  return Math.min(pause, mostAskedMs) * (1 + Math.random() / 2);
}
