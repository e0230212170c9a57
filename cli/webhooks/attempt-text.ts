import { type Delivery, skipReasons } from '@parley/contract';
import type { Environment } from '../context.ts';
import { localSecond, oneLine } from '../output.ts';

/** The result of an attempt. */
export interface AttemptResult {
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number | null;
}

/** Returns `204 in 12 ms`, or `connection refused after 1 ms`. */
export function attemptText({ status, error, duration_ms }: AttemptResult): string {
  const time =
    duration_ms === null ? '' : ` ${status === null ? 'after' : 'in'} ${duration_ms.toLocaleString('en')} ms`;
  return `${status ?? oneLine(error ?? 'no result')}${time}`;
}

export const lastAttempt = ({ last_status, last_error, duration_ms }: Delivery): AttemptResult => ({
  status: last_status,
  error: last_error,
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

interface Advice {
  readonly when: (result: AttemptResult) => boolean;
  readonly text: string;
}

const statusFrom =
  (min: number, max = min): Advice['when'] =>
  ({ status }) =>
    status !== null && status >= min && status <= max;
const errorLike =
  (pattern: RegExp): Advice['when'] =>
  ({ status, error }) =>
    status === null && pattern.test(error ?? '');

/** The advice about failed attempts. The first that fits is shown. */
const advices: readonly Advice[] = [
  { when: statusFrom(300, 399), text: 'Redirects are not followed. Set the URL that it redirects to.' },
  {
    when: statusFrom(401, 403),
    text: 'The endpoint rejects the request. Check that it verifies the signature with the current secret.',
  },
  { when: statusFrom(404, 405), text: 'Check the path of the URL, and that the endpoint accepts POST.' },
  { when: statusFrom(410), text: 'The endpoint says that it is gone. Parley disables a webhook after that.' },
  { when: statusFrom(429), text: 'The endpoint limits the rate. Parley waits as long as Retry-After says.' },
  { when: statusFrom(400, 499), text: 'The endpoint rejects the request. Its own log may say why.' },
  { when: statusFrom(500, 599), text: 'The endpoint failed. Its own log may say why.' },
  { when: errorLike(/refused/), text: 'Nothing listens there. Start the receiver, or correct the URL.' },
  { when: errorLike(/does not resolve|looked up/), text: 'Check the host name in the URL.' },
  {
    when: errorLike(/within \d+ s|does not respond/),
    text: 'The endpoint has to respond within 15 seconds. Let it do slow work afterwards.',
  },
  { when: errorLike(/certificate|TLS/), text: 'Correct the certificate of the endpoint.' },
];

/** Returns what to do about a failed attempt, or an empty text. */
export const adviceOn = (result: AttemptResult): string => advices.find(({ when }) => when(result))?.text ?? '';
