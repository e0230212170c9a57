const seconds = 1_000;
const minutes = 60 * seconds;
const hours = 60 * minutes;
const days = 24 * hours;

/** When an endpoint is tried again, and when it is given up. The reference for people derives from this table. */
export const retryPolicy = {
  /** One event is refused while others pass: after these times it is tried again; then it has failed. */
  refused: [
    5 * seconds,
    30 * seconds,
    2 * minutes,
    10 * minutes,
    30 * minutes,
    1 * hours,
    3 * hours,
    6 * hours,
    12 * hours,
    24 * hours,
  ],
  /** Each of these is longer or shorter by up to this share, so that what failed together does not come back together. */
  jitter: 0.2,
  /** The endpoint is down: a single attempt goes out after these times; the last one repeats. */
  down: [5 * seconds, 30 * seconds, 2 * minutes, 5 * minutes],
  /** Refusals in a row, over this many chats, that mean that it is the endpoint. */
  downAfter: { failures: 5, chats: 2 },
  disableAfter: 5 * days,
  /** `Retry-After` is honoured within these bounds. */
  leastRetryAfter: 1 * seconds,
  mostRetryAfter: 1 * hours,
} as const;

/** How long to wait after so many refusals; nothing where it is given up. */
export function waitAfterRefusal(refusals: number, random: () => number): number | undefined {
  const wait = retryPolicy.refused[refusals - 1];
  return wait === undefined ? undefined : Math.round(wait * (1 + retryPolicy.jitter * (2 * random() - 1)));
}

/** How long to leave an endpoint alone that has been probed so often since it went down. */
export function waitWhileDown(probes: number): number {
  return retryPolicy.down[Math.min(probes, retryPolicy.down.length - 1)] ?? 0;
}
