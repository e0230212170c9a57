/** How a run of some length is laid out. */
export interface Plan {
  readonly seconds: number;
  /** What happens before is not judged. */
  readonly warmUpSeconds: number;
  readonly sampleEveryMs: number;
  /** The clock of the server leaps ahead by an hour each time. */
  readonly leapEveryMs: number;
}

/** The longest that anything is kept, in hours, which must have passed while it warms up: answers under an Idempotency-Key. */
const longestKept = 48;

/** The share of a run in which that time passes, and the share that is warm-up. */
const keptShare = 0.25;
const warmUpShare = 0.4;

/** A server that has just started fills its caches, and what runs often is compiled; and each thing is swept once. */
const leastWarmUpSeconds = 60;

/**
 * Time goes on no faster than this: between two leaps the seconds of the server's own are to mean something, and a webhook
 * that is a minute behind is not to miss events because they are past their day.
 */
const leastLeapMs = 2_500;

export function planOf(minutes: number): Plan {
  const seconds = minutes * 60;
  return {
    seconds,
    warmUpSeconds: Math.max(seconds * warmUpShare, leastWarmUpSeconds),
    sampleEveryMs: Math.min(5_000, Math.max(1_000, (seconds * 1_000) / 60)),
    leapEveryMs: Math.max(leastLeapMs, (seconds * 1_000 * keptShare) / longestKept),
  };
}
