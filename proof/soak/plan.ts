export type Plan = ReturnType<typeof planOf>;

/** The longest retention, of responses under an Idempotency-Key. It must pass during the warm-up. */
const longestHours = 48;

/** The share of a run in which those hours pass, and the share that is warm-up. */
const retentionShare = 0.25;
const warmUpShare = 0.4;

/** A new server fills its caches, compiles hot code, and sweeps everything once. */
const minWarmUpSeconds = 60;

/**
 * The clock leaps no faster than this: timers of seconds must still work between two leaps, and a webhook that is a minute
 * behind must not miss events because they expire.
 */
const minLeapMs = 2_500;

export function planOf(minutes: number) {
  const seconds = minutes * 60;
  return {
    seconds,
    /** The time before is not judged. */
    warmUpSeconds: Math.max(seconds * warmUpShare, minWarmUpSeconds),
    sampleEveryMs: Math.min(5_000, Math.max(1_000, (seconds * 1_000) / 60)),
    /** The clock of the server leaps ahead by an hour at this interval. */
    leapEveryMs: Math.max(minLeapMs, (seconds * 1_000 * retentionShare) / longestHours),
  };
}
