import { type Delivery, type FailureCause, skipReasons } from '@parley/contract';
import type { Environment } from '../context.ts';
import { localSecond, oneLine } from '../output.ts';

/** The result of an attempt. */
export interface AttemptResult {
  readonly status: number | null;
  readonly error: string | null;
  readonly cause: FailureCause | null;
  readonly duration_ms: number | null;
}

/** Returns `204 in 12 ms`, or `connection refused after 1 ms`. */
export function attemptText({ status, error, duration_ms }: AttemptResult): string {
  const time =
    duration_ms === null ? '' : ` ${status === null ? 'after' : 'in'} ${duration_ms.toLocaleString('en')} ms`;
  return `${status ?? oneLine(error ?? 'no result')}${time}`;
}

export const lastAttempt = ({ last_status, last_error, last_cause, duration_ms }: Delivery): AttemptResult => ({
  status: last_status,
  error: last_error,
  cause: last_cause,
  duration_ms,
});

/** Returns the result of a delivery so far: of its last attempt, and what comes next. */
export function resultText(delivery: Delivery, env: Environment): string {
  const { state, reason, attempt_count, next_attempt_at, replay_id } = delivery;
  const parts = [
    attempt_count > 0 && attemptText(lastAttempt(delivery)),
    state === 'skipped' && reasonText(reason),
    state === 'retrying' && next_attempt_at !== null && `next at ${localSecond(next_attempt_at, env)}`,
    replay_id !== null && `replay ${replay_id}`,
  ];
  return parts.filter((part) => part !== false).join(', ');
}

/** A newer server may have other reasons. */
export const reasonText = (reason: string | null): string =>
  (skipReasons as Readonly<Record<string, string>>)[reason ?? ''] ?? reason ?? 'unknown';

const failed = 'The endpoint failed. Its own log may say why.';
const rejected = 'The endpoint rejects the request. Its own log may say why.';
const unsigned = 'The endpoint rejects the request. Check that it verifies the signature with the current secret.';
const unfound = 'Check the path of the URL, and that the endpoint accepts POST.';

const ofStatus: Readonly<Record<number, string>> = {
  401: unsigned,
  403: unsigned,
  404: unfound,
  405: unfound,
  410: 'The endpoint says that it is gone. Parley disables a webhook after that.',
  429: 'The endpoint limits the rate. Parley waits as long as Retry-After says.',
};

/** The advice about each cause. A status has advice of its own. */
const ofCause: Readonly<Record<Exclude<FailureCause, 'status'>, string>> = {
  redirect: 'Redirects are not followed. Set the URL that it redirects to.',
  refused: 'Nothing listens there. Start the receiver, or correct the URL.',
  dns: 'Check the host name in the URL.',
  dns_unavailable: 'Check the DNS of the host and of the server. Parley tries again.',
  unreachable: 'Check the address of the host, and the network between it and the server.',
  timeout: 'The endpoint has to respond within 15 seconds. Let it do slow work afterwards.',
  reset: 'The endpoint, or a proxy in front of it, closed the connection. Their logs may say why.',
  tls: 'Correct the certificate of the endpoint.',
  not_http: 'Check the port of the URL, and whether it must begin with https://.',
  blocked_address: 'Use a public URL, or let an administrator open the network (PARLEY_WEBHOOK_NETWORKS).',
  cancelled: '',
  other: '',
};

/** Returns what to do about a failed attempt, or an empty text. A newer server may have other causes. */
export function adviceOn({ status, cause }: Pick<AttemptResult, 'status' | 'cause'>): string {
  if (cause === null) return '';
  if (cause !== 'status') return ofCause[cause] ?? '';
  return ofStatus[status ?? 0] ?? (status !== null && status >= 500 ? failed : rejected);
}
