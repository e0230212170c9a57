import type { Verdict } from './check.ts';
import type { Evidence } from './evidence.ts';

/** What every run is judged by, whatever went wrong in it. */
export interface Counts {
  /** Messages that their senders were told are there. */
  readonly acknowledged: number;
  /** Of these, the ones that `get_messages` finds as they were acknowledged. */
  readonly found: number;
  /** Events that webhooks accepted. */
  readonly delivered: number;
  /** Requests to webhooks beyond the first for the same event: at least once is what is promised. */
  readonly repeated: number;
  /** Events that overtook one ahead of them, at a webhook or in a stream. */
  readonly outOfOrder: number;
  /** Messages, events and deliveries that should be there and are not. */
  readonly lost: number;
}

/** What a stream adds to them. */
export interface Streamed {
  readonly outOfOrder: number;
  readonly gaps: number;
  readonly lost: number;
}

export function countsOf(
  { acknowledged }: Evidence,
  { missing, untold, told }: Verdict,
  streams: readonly Streamed[] = [],
): Counts {
  const hooks = Object.values(told);
  const sum = <T>(of: readonly T[], count: (one: T) => number) => of.reduce((total, one) => total + count(one), 0);
  return {
    acknowledged: acknowledged.length,
    found: acknowledged.length - missing,
    delivered: sum(hooks, ({ delivered }) => delivered),
    repeated: sum(hooks, ({ repeats }) => repeats),
    outOfOrder: sum(hooks, (hook) => hook.outOfOrder) + sum(streams, (one) => one.outOfOrder + one.gaps),
    lost: missing + untold + sum(hooks, ({ lost }) => lost) + sum(streams, ({ lost }) => lost),
  };
}

/** The names that they are printed under. */
export const countNames: Readonly<Record<keyof Counts, string>> = {
  acknowledged: 'acknowledged',
  found: 'found again',
  delivered: 'delivered',
  repeated: 'repeated',
  outOfOrder: 'out of order',
  lost: 'lost',
};

export const countKeys = Object.keys(countNames) as (keyof Counts)[];
