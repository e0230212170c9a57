/** The way an endpoint responds. By default it accepts at once. */
export interface Behaviour {
  /** The delay is drawn from this range. */
  readonly delayMs?: readonly [min: number, max: number];
  /** The share of requests that get a 500. */
  readonly refused?: number;
  /** The status of the response is one of these redirects. */
  readonly redirects?: readonly [number, ...number[]];
  /** A body that never ends, or one that is far too long. What follows a 2xx status changes nothing. */
  readonly body?: 'drip' | 'flood';
  /** Happens instead of a response. */
  readonly instead?: 'reset' | 'hang' | 'garbage';
}

export const behaviours = {
  accept: {},
  refuse: { refused: 1 },
  reset: { instead: 'reset' },
  hang: { instead: 'hang' },
  slow: { delayMs: [50, 1_550] },
  flaky: { refused: 0.3 },
  garbage: { instead: 'garbage' },
  redirect: { redirects: [302, 307] },
  drip: { body: 'drip' },
  flood: { body: 'flood' },
} as const satisfies Readonly<Record<string, Behaviour>>;

export type BehaviourName = keyof typeof behaviours;
