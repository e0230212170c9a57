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
  const level = status >= 500 ? 'error' : 'info';
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
    cause: status >= 500 ? error?.cause : undefined,
  });
}
