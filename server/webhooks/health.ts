import type { DeliveryState } from '@parley/contract';
import type { DownCause, EndpointHealth } from '../store/drives.ts';
import type { EndpointEnd } from '../store/webhook-ends.ts';
import type { Outcome } from './client.ts';
import type { Entry } from './lane.ts';
import { retryPolicy, waitAfterRefusal, waitWhileDown } from './retry-policy.ts';

/** How an endpoint is doing: what is kept in the database, and what is known only while it is being driven. */
export interface Health extends EndpointHealth {
  readonly failuresInRow: number;
  /** The chats that these were in. */
  readonly failedChats: ReadonlySet<number>;
  /** Whether the last attempt lost its connection: one that was kept open may have been closed by the other side. */
  readonly lostConnection: boolean;
  readonly lastSuccessAt: number;
  /** When it was last found to be down. */
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

/** What is to become of a delivery and of its endpoint. */
export interface Verdict {
  readonly state: DeliveryState;
  readonly refusals: number;
  /** When it may be tried again; null: as soon as it is its turn. */
  readonly nextAt: number | null;
  readonly error: string | null;
  readonly health: Health;
  readonly disable?: EndpointEnd;
}

export interface Attempted {
  readonly entry: Pick<Entry, 'refusals' | 'chatId' | 'lastAt'>;
  readonly outcome: Outcome;
  readonly startedAt: number;
  readonly now: number;
  readonly random: () => number;
}

/** What went wrong, in words for the owner; nothing where nothing did. */
export function errorOf(outcome: Outcome): string | null {
  if (isSuccess(outcome)) return null;
  return outcome.kind === 'answered' ? `the endpoint answered ${outcome.status}` : outcome.message;
}

export const isSuccess = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;

/**
 * Tells the two kinds of trouble apart. An endpoint that cannot be reached, or that refuses one chat after the other, is
 * down: everything waits and nothing is given up. An event that is refused while others pass is tried again a number of
 * times and then given up.
 */
export function judge(health: Health, attempted: Attempted): Verdict {
  const { entry, outcome, now } = attempted;
  if (isSuccess(outcome)) {
    const up = { ...healthy, lastSuccessAt: now };
    return { state: 'delivered', refusals: entry.refusals, nextAt: null, error: null, health: up };
  }
  if (outcome.kind === 'unreached') return unreached(health, attempted, outcome);
  const error = errorOf(outcome);
  if (outcome.status === 410) {
    const { refusals } = entry;
    return {
      state: 'retrying',
      refusals,
      nextAt: null,
      error,
      health: { ...health, lostConnection: false },
      disable: 'gone',
    };
  }
  return { ...answered(health, attempted), error };
}

function unreached(health: Health, attempted: Attempted, outcome: Outcome & { kind: 'unreached' }): Verdict {
  const { entry, now } = attempted;
  const error = errorOf(outcome);
  if (outcome.failure === 'reset' && !health.lostConnection && health.down_since === null) {
    const lost = { ...health, lostConnection: true };
    return { state: 'retrying', refusals: entry.refusals, nextAt: null, error, health: lost };
  }
  const verdict = down(health, attempted, 'transport');
  // Others passed since it was tried last: the trouble follows this event around, so it counts against it.
  if (health.lastSuccessAt <= entry.lastAt || entry.lastAt === 0) return { ...verdict, error };
  const refused = refuse(attempted);
  const nextAt = Math.max(refused.nextAt ?? 0, verdict.health.hold_until ?? now);
  return { ...verdict, ...refused, nextAt, error };
}

function answered(health: Health, attempted: Attempted): Omit<Verdict, 'error'> {
  const { entry } = attempted;
  const failed: Health = {
    ...health,
    failuresInRow: health.failuresInRow + 1,
    failedChats: new Set([...health.failedChats, entry.chatId]),
    lostConnection: false,
  };
  const { failures, chats } = retryPolicy.downAfter;
  const isDown =
    health.down_cause === 'answers' || (failed.failuresInRow >= failures && failed.failedChats.size >= chats);
  if (isDown) return later(health, attempted, down(failed, attempted, 'answers'));
  // Whatever it answers, it is there again.
  const there: Health = { ...failed, down_since: null, down_cause: null, probes: 0, hold_until: null };
  return later(health, attempted, { ...refuse(attempted), health: there });
}

/** The event itself is refused. */
function refuse({ entry, now, random }: Attempted): Pick<Verdict, 'state' | 'refusals' | 'nextAt'> {
  const refusals = entry.refusals + 1;
  const wait = waitAfterRefusal(refusals, random);
  return wait === undefined
    ? { state: 'failed', refusals, nextAt: null }
    : { state: 'retrying', refusals, nextAt: now + wait };
}

/** The endpoint is down, or still is. */
function down(health: Health, attempted: Attempted, cause: DownCause): Omit<Verdict, 'error'> {
  const { entry, now, startedAt } = attempted;
  const since = health.down_since ?? now;
  // Others were under way when it went down. They tell nothing new, and are no probes.
  const isLate = health.down_since !== null && startedAt <= health.foundDownAt;
  const probes = health.down_since === null ? 0 : health.probes + (isLate ? 0 : 1);
  const hold = isLate && health.hold_until !== null ? health.hold_until : now + waitWhileDown(probes);
  return {
    state: 'retrying',
    refusals: entry.refusals,
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
 * An endpoint that asks for time gets it, for everything. That is no refusal of the event, unless it is all that ever comes:
 * so it counts where nothing has passed since it was tried last.
 */
function later<V extends Omit<Verdict, 'error'>>(health: Health, attempted: Attempted, verdict: V): V {
  const { outcome, now, entry } = attempted;
  const isPlea = outcome.kind === 'answered' && (outcome.status === 429 || outcome.status === 503);
  if (!isPlea || outcome.retryAfterMs === undefined) return verdict;
  const wait = Math.min(Math.max(outcome.retryAfterMs, retryPolicy.leastRetryAfter), retryPolicy.mostRetryAfter);
  const until = Math.max(now + wait, verdict.health.hold_until ?? 0);
  const held = { ...verdict.health, hold_until: until };
  const counts = entry.lastAt > 0 && health.lastSuccessAt <= entry.lastAt;
  if (!counts) return { ...verdict, state: 'retrying', refusals: entry.refusals, nextAt: until, health: held };
  return { ...verdict, nextAt: verdict.nextAt === null ? null : Math.max(until, verdict.nextAt), health: held };
}
