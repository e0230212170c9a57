import type { PushEnd } from '../store/push/pending.ts';
import type { Outcome } from '../webhooks/outcome.ts';

/** How long to wait after each failed attempt. The push is dropped after the last. */
const retryMs = [5_000, 30_000, 120_000, 600_000] as const;

/** A push service that asks for more is tried again after this. */
const maxWaitMs = 3_600_000;

/** The meaning of an outcome of an attempt, and the name under which it is counted. */
interface Verdict {
  readonly end: PushEnd;
  readonly counted: 'sent' | 'gone' | 'retried' | 'rejected';
}

const rejected: Verdict = { end: { kind: 'done' }, counted: 'rejected' };

/** Returns the verdict on an attempt after so many others. */
export function verdictOn(outcome: Outcome, attempts: number, now: number): Verdict {
  if (outcome.kind === 'unreached') {
    return outcome.failure === 'blocked_address' ? rejected : retry(attempts, now, 0);
  }
  const { status, retryAfterMs = 0 } = outcome;
  if (status >= 200 && status < 300) return { end: { kind: 'done' }, counted: 'sent' };
  if (status === 404 || status === 410) return { end: { kind: 'gone' }, counted: 'gone' };
  // The response to another attempt would be the same.
  if (status !== 429 && status < 500) return rejected;
  return retry(attempts, now, retryAfterMs);
}

function retry(attempts: number, now: number, retryAfterMs: number): Verdict {
  const waitMs = retryMs[attempts];
  if (waitMs === undefined) return rejected;
  const nextAt = now + Math.min(Math.max(waitMs, retryAfterMs), maxWaitMs);
  return { end: { kind: 'retry', nextAt }, counted: 'retried' };
}
