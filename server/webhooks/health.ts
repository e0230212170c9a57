import type { DeliveryState } from '@parley/contract';
import { statusCause } from '../domain/attempt.ts';
import type { DownCause, EndpointHealth } from '../store/webhooks/endpoint-state.ts';
import type { EndpointEnd } from '../store/webhooks/webhook-ends.ts';
import type { QueuedDelivery } from './chat-queue.ts';
import type { Failure, Outcome } from './outcome.ts';
import { retryPolicy, waitAfterRefusal, waitWhileDown } from './retry-policy.ts';

/** The health of an endpoint: what is stored, and what is known only while this process holds the lease. */
export interface Health extends EndpointHealth {
  readonly failuresInRow: number;
  /** The chats of these failures. */
  readonly failedChats: ReadonlySet<number>;
  /** The last attempt lost its connection: the other side may have closed one that was kept alive. */
  readonly lostConnection: boolean;
  readonly lastSuccessAt: number;
  /** When an attempt last found it down. */
  readonly foundDownAt: number;
}

export const healthy: Health = {
  down_since: null,
  down_cause: null,
  probes: 0,
  hold_until: null,
  failuresInRow: 0,
  failedChats: new Set(),
  lostConnection: false,
  lastSuccessAt: 0,
  foundDownAt: 0,
};

/** The consequences of an attempt for the delivery and its endpoint. */
export interface Verdict {
  readonly state: DeliveryState;
  readonly refusals: number;
  /** When the next attempt may be made; null means at its next turn. */
  readonly nextAt: number | null;
  readonly health: Health;
  readonly disable?: EndpointEnd;
}

export interface Attempted {
  readonly delivery: Pick<QueuedDelivery, 'refusals' | 'chatId' | 'lastAt'>;
  readonly outcome: Outcome;
  readonly startedAt: number;
  readonly now: number;
  readonly random: () => number;
}

/** Returns the fields of an outcome that are shown and stored. `error` is for the owner to read. */
export function resultFields(outcome: Outcome) {
  const duration_ms = Math.round(outcome.ms);
  if (outcome.kind === 'unreached') {
    const { failure: cause, message: error } = outcome;
    return { status: null, error, cause, duration_ms, answer: null };
  }
  const { status, body } = outcome;
  return {
    status,
    error: isSuccess(outcome) ? null : `the endpoint responded with ${status}`,
    cause: statusCause(status),
    duration_ms,
    answer: body,
  };
}

export const isSuccess = (outcome: Outcome): boolean =>
  outcome.kind === 'responded' && outcome.status >= 200 && outcome.status < 300;

/**
 * Distinguishes two kinds of failure. An endpoint that cannot be reached, or that refuses one chat after the other, is
 * down: everything waits and nothing is given up. An event that is refused while others pass is retried a number of
 * times and then given up.
 */
export function judge(health: Health, attempted: Attempted): Verdict {
  const { delivery, outcome, now } = attempted;
  const { refusals } = delivery;
  if (isSuccess(outcome)) {
    return { state: 'delivered', refusals, nextAt: null, health: { ...healthy, lastSuccessAt: now } };
  }
  if (outcome.kind === 'unreached') return unreached(health, attempted, outcome.failure);
  if (outcome.status !== 410) return badResponse(health, attempted);
  return { state: 'retrying', refusals, nextAt: null, health: { ...health, lostConnection: false }, disable: 'gone' };
}

function unreached(health: Health, attempted: Attempted, failure: Failure): Verdict {
  const { delivery, now } = attempted;
  if (failure === 'reset' && !health.lostConnection && health.down_since === null) {
    const lost = { ...health, lostConnection: true };
    return { state: 'retrying', refusals: delivery.refusals, nextAt: null, health: lost };
  }
  const verdict = down(health, attempted, 'transport');
  // Others passed since its last attempt: the failure follows this event, so it counts as a refusal.
  if (health.lastSuccessAt <= delivery.lastAt || delivery.lastAt === 0) return verdict;
  const refused = refuse(attempted);
  return { ...verdict, ...refused, nextAt: Math.max(refused.nextAt ?? 0, verdict.health.hold_until ?? now) };
}

function badResponse(health: Health, attempted: Attempted): Verdict {
  const { delivery } = attempted;
  const failed: Health = {
    ...health,
    failuresInRow: health.failuresInRow + 1,
    failedChats: new Set([...health.failedChats, delivery.chatId]),
    lostConnection: false,
  };
  const { failures, chats } = retryPolicy.downAfter;
  const isDown =
    health.down_cause === 'responses' || (failed.failuresInRow >= failures && failed.failedChats.size >= chats);
  if (isDown) return later(health, attempted, down(failed, attempted, 'responses'));
  // It responds, so it is not down.
  const { down_since, down_cause, probes, hold_until } = healthy;
  const isUp = { ...failed, down_since, down_cause, probes, hold_until };
  return later(health, attempted, { ...refuse(attempted), health: isUp });
}

/** The endpoint refuses this event. */
function refuse({ delivery, now, random }: Attempted): Pick<Verdict, 'state' | 'refusals' | 'nextAt'> {
  const refusals = delivery.refusals + 1;
  const wait = waitAfterRefusal(refusals, random);
  return wait === undefined
    ? { state: 'failed', refusals, nextAt: null }
    : { state: 'retrying', refusals, nextAt: now + wait };
}

/** The endpoint is down. */
function down(health: Health, attempted: Attempted, cause: DownCause): Verdict {
  const { delivery, now, startedAt } = attempted;
  const since = health.down_since ?? now;
  // This attempt was in flight when the endpoint went down: it says nothing new, and is no probe.
  const isLate = health.down_since !== null && startedAt <= health.foundDownAt;
  const probes = health.down_since === null ? 0 : health.probes + (isLate ? 0 : 1);
  const hold = isLate && health.hold_until !== null ? health.hold_until : now + waitWhileDown(probes);
  return {
    state: 'retrying',
    refusals: delivery.refusals,
    nextAt: hold,
    health: {
      ...health,
      down_since: since,
      down_cause: isLate ? health.down_cause : cause,
      probes,
      hold_until: hold,
      lostConnection: false,
      foundDownAt: isLate ? health.foundDownAt : now,
    },
    ...(now - since >= retryPolicy.disableAfter && { disable: 'unreachable' as const }),
  };
}

/**
 * `Retry-After` holds back the whole endpoint. It is no refusal of the event, unless nothing has passed since the event's
 * last attempt: otherwise an endpoint could hold it back forever.
 */
function later(health: Health, attempted: Attempted, verdict: Verdict): Verdict {
  const { outcome, now, delivery } = attempted;
  const asksToWait = outcome.kind === 'responded' && (outcome.status === 429 || outcome.status === 503);
  if (!asksToWait || outcome.retryAfterMs === undefined) return verdict;
  const wait = Math.min(Math.max(outcome.retryAfterMs, retryPolicy.minRetryAfter), retryPolicy.maxRetryAfter);
  const until = Math.max(now + wait, verdict.health.hold_until ?? 0);
  const held = { ...verdict.health, hold_until: until };
  const counts = delivery.lastAt > 0 && health.lastSuccessAt <= delivery.lastAt;
  if (!counts) return { ...verdict, state: 'retrying', refusals: delivery.refusals, nextAt: until, health: held };
  return { ...verdict, nextAt: verdict.nextAt === null ? null : Math.max(until, verdict.nextAt), health: held };
}
