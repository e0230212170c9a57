import { median } from '../../../harness/report.ts';
import type { Doubt } from '../../doubt.ts';
import type { Curve, Point } from '../../outcome.ts';
import { type Pace, type Plan, usualPace } from '../../plan.ts';
import { type Racer, raceAll, ratiosOf, sideOf } from '../../race.ts';

/** The largest slowdown. */
export const bar = 1.3;

/**
 * Rounds of a curve: more and shorter ones than elsewhere. With nine, the true median lies between the second and the second
 * to last in 96 of 100 cases, whatever disturbs them.
 */
const curveRounds = 9;
const shareOfUsual = curveRounds / usualPace.rounds;

const paceOf = ({ rounds, seconds, warmUpSeconds }: Plan): Pace => ({
  rounds: rounds === 1 ? 1 : Math.ceil(rounds * shareOfUsual),
  seconds: seconds / shareOfUsual,
  warmUpSeconds,
});

/** Returns the slowdown of each size, round by round. */
function slowdowns(ratios: readonly (readonly number[])[], from: Curve['from']): number[][] {
  const best = [...(ratios[0] ?? [])];
  return ratios.map((rounds) =>
    rounds.map((ratio, round) => {
      if (from === 'best') best[round] = Math.max(best[round] ?? ratio, ratio);
      return (best[round] ?? Number.NaN) / ratio;
    }),
  );
}

/** Returns the range that the median lies in. Of many rounds, the lowest and the highest do not count. */
function rangeOf(rounds: readonly number[]): { low: number; high: number } {
  const sorted = [...rounds].sort((a, b) => a - b);
  const counted = sorted.length >= curveRounds ? sorted.slice(1, -1) : sorted;
  return { low: counted[0] ?? Number.NaN, high: counted.at(-1) ?? Number.NaN };
}

/** Doubts rounds that do not show on which side of the bar a curve is. */
export function doubtsAboutRounds(ratios: readonly (readonly number[])[], from: Curve['from'], largest = bar): Doubt[] {
  if (ratios.some((rounds) => rounds.length < 2)) return [{ why: 'one round alone tells little', looks: 'either' }];
  const sizes = slowdowns(ratios, from);
  const isSlow = sizes.some((rounds) => median(rounds) > largest);
  const ranges = sizes.map(rangeOf);
  const isClear = isSlow ? ranges.some(({ low }) => low > largest) : ranges.every(({ high }) => high <= largest);
  const why = 'the rounds lie on both sides of the bar, run this again when the machine is quiet';
  return isClear ? [] : [{ why, looks: 'either' }];
}

/** A racer for each size of what grows. */
export interface Contest {
  readonly what: string;
  readonly along: string;
  readonly racers: readonly { readonly x: number; readonly racer: Racer }[];
  readonly from?: Curve['from'];
  /** The largest slowdown, if it is another one. */
  readonly largest?: number | undefined;
  readonly notes?: readonly string[];
}

/** Races all sizes in turn, round by round, and compares each with the first. */
export async function measureCurve(
  { what, along, racers, from = 'first', largest = bar, notes = [] }: Contest,
  plan: Plan,
) {
  const all = await raceAll(
    racers.map(({ racer }) => racer),
    paceOf(plan),
  );
  const [first] = all;
  if (!first) throw new Error(`there is nothing to race for ${what}`);
  const ratios = all.map((rounds) => ratiosOf(first, rounds, (load) => load.perSecond));
  const points = all.map((rounds, i): Point => {
    const { perSecond, p50Ms, p99Ms, cpuMicros } = sideOf(rounds);
    return { x: racers[i]?.x ?? Number.NaN, perSecond, p50Ms, p99Ms, cpuMicros, ratio: median(ratios[i] ?? []) };
  });
  const doubts = doubtsAboutRounds(ratios, from, largest);
  return { kind: 'curve', what, along, points, bar: largest, from, notes, doubts } satisfies Curve;
}
