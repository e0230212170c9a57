import type { Doubt } from '../../doubt.ts';
import type { Curve, Point } from '../../outcome.ts';
import type { Plan } from '../../plan.ts';
import { median, type Racer, raceAll, ratiosOf, sideOf } from '../../race.ts';

/** How many times slower anything may become. */
export const bar = 1.3;

/** Rounds that do not agree, of shares of the first point, make no curve that can be believed; neither does one alone. */
export function doubtsAboutRounds(ratios: readonly (readonly number[])[]): Doubt[] {
  if (ratios.some((rounds) => rounds.length < 2)) return [{ why: 'one round alone tells little', looks: 'either' }];
  if (ratios.every((rounds) => Math.max(...rounds) <= bar * Math.min(...rounds))) return [];
  // Where some size is too slow in every round, it does not matter how they differ.
  const isSlow = ratios.some((rounds) => Math.max(...rounds) < 1 / bar);
  const why = 'the rounds differ by more than the bar, run this again when the machine is quiet';
  return [{ why, looks: isSlow ? 'better' : 'either' }];
}

/** What a curve is made of: for each size of what grows, somebody to race. */
export interface Contest {
  readonly what: string;
  readonly along: string;
  readonly racers: readonly { readonly x: number; readonly racer: Racer }[];
  readonly from?: Curve['from'];
  readonly notes?: readonly string[];
}

/** Races all sizes in turn, round by round, and compares each with the first. */
export async function measureCurve({ what, along, racers, from = 'first', notes = [] }: Contest, plan: Plan) {
  const all = await raceAll(
    racers.map(({ racer }) => racer),
    plan,
  );
  const [first] = all;
  if (!first) throw new Error(`there is nothing to race for ${what}`);
  const ratios = all.map((rounds) => ratiosOf(first, rounds, (load) => load.perSecond));
  const points = all.map((rounds, i): Point => {
    const { perSecond, p50Ms, p99Ms, cpuMicros } = sideOf(rounds);
    return { x: racers[i]?.x ?? Number.NaN, perSecond, p50Ms, p99Ms, cpuMicros, ratio: median(ratios[i] ?? []) };
  });
  return { kind: 'curve', what, along, points, bar, from, notes, doubts: doubtsAboutRounds(ratios) } satisfies Curve;
}
