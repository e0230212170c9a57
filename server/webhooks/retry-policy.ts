const seconds = 1_000;
const minutes = 60 * seconds;
const hours = 60 * minutes;
const days = 24 * hours;

/** When a delivery is retried, and when it is given up. `docs/webhooks.md` states these times; a test compares them. */
export const retryPolicy = {
  /** The waits between the attempts at one event that is refused while others pass. Then it has failed. */
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
  /** Each wait is longer or shorter by up to this share, so that deliveries that failed together spread out. */
  jitter: 0.2,
  /** The waits between probes of an endpoint that is down. The last one repeats. */
  down: [5 * seconds, 30 * seconds, 2 * minutes, 5 * minutes],
  /** This many refusals in a row, in this many chats, mean that the endpoint is down. */
  downAfter: { failures: 5, chats: 2 },
  disableAfter: 5 * days,
  /** `Retry-After` is honoured within these bounds. */
  minRetryAfter: 1 * seconds,
  maxRetryAfter: 1 * hours,
} as const;

/** Returns how long to wait after this many refusals, or undefined if the event is given up. */
export function waitAfterRefusal(refusals: number, random: () => number): number | undefined {
  const wait = retryPolicy.refused[refusals - 1];
  return wait === undefined ? undefined : Math.round(wait * (1 + retryPolicy.jitter * (2 * random() - 1)));
}

/** Returns how long to wait for the next probe, after this many since the endpoint went down. */
export function waitWhileDown(probes: number): number {
  return retryPolicy.down[Math.min(probes, retryPolicy.down.length - 1)] ?? 0;
}
