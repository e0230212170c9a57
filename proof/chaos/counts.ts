import type { Verdict } from '../harness/check.ts';
import type { Evidence } from '../harness/evidence.ts';
import { sum } from '../harness/report.ts';
import type { StreamCounts } from './check.ts';

/** The counts of every run, and their labels. */
export const countNames = {
  /** Messages whose send succeeded. */
  acknowledged: 'acknowledged',
  /** Acknowledged messages that `get_messages` returns unchanged. */
  found: 'found again',
  /** Events that endpoints of webhooks accepted. */
  delivered: 'delivered',
  /** Requests to endpoints beyond the first for the same event: at least once is what is promised. */
  repeated: 'repeated',
  /** Events that overtook one ahead of them, at a webhook or in a stream. */
  outOfOrder: 'out of order',
  /** Messages, events and deliveries that should be there and are not. */
  lost: 'lost',
} as const;

export type Counts = Readonly<Record<keyof typeof countNames, number>>;

export const countKeys = Object.keys(countNames) as (keyof Counts)[];

export function countsOf(
  { acknowledged }: Pick<Evidence, 'acknowledged'>,
  { missing, unlogged, webhooks }: Pick<Verdict, 'missing' | 'unlogged' | 'webhooks'>,
  streams: readonly Pick<StreamCounts, 'outOfOrder' | 'gaps' | 'lost'>[],
): Counts {
  const deliveries = Object.values(webhooks);
  return {
    acknowledged: acknowledged.length,
    found: acknowledged.length - missing,
    delivered: sum(deliveries, ({ delivered }) => delivered),
    repeated: sum(deliveries, ({ repeats }) => repeats),
    outOfOrder: sum(deliveries, (one) => one.outOfOrder) + sum(streams, (one) => one.outOfOrder + one.gaps),
    lost: missing + unlogged + sum(deliveries, ({ lost }) => lost) + sum(streams, ({ lost }) => lost),
  };
}
