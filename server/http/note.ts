import type { ParleyError } from '@parley/contract';
import type { Caller } from '../auth/caller.ts';
import type { Log } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';

export interface Observers {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A request that was answered. */
export interface Answered {
  readonly requestId: string;
  readonly started: number;
  readonly method: string;
  readonly operation: string;
  readonly status: number;
  readonly caller: Caller | undefined;
  readonly error: ParleyError | undefined;
}

/** The one line of a request in the log, and its place in the metrics. */
export function noteRequest({ log, metrics }: Observers, answered: Answered): void {
  const { operation, status, error } = answered;
  const seconds = (performance.now() - answered.started) / 1_000;
  metrics.request(operation, status, seconds);
  // What is unavailable is so for every request until it is back, and is told by those who wait for it.
  const isFault = status >= 500 && error?.code !== 'unavailable';
  const level = isFault ? 'error' : status >= 500 ? 'warn' : 'info';
  if (!log.enabled(level)) return;
  log.write(level, 'request', {
    request_id: answered.requestId,
    method: answered.method,
    operation,
    status,
    ms: Math.round(seconds * 1e5) / 100,
    user_id: answered.caller?.userId,
    token_id: answered.caller?.tokenId,
    code: error?.code,
    // The cause of a refusal may quote what was sent; that of a fault of ours is what the log is for.
    cause: isFault ? error?.cause : status >= 500 ? (error?.cause as Error | undefined)?.message : undefined,
  });
}
