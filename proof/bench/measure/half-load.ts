import { median } from '../../harness/report.ts';
import { doubtsAboutPace } from '../doubt.ts';
import { indexed } from '../fixtures.ts';
import type { Outcome } from '../outcome.ts';
import type { Parley } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { type Racer, raceTwo, ratiosOf, sideOf } from '../race.ts';
import { batch, type RunInserts } from './bare-insert.ts';

const bar = 3;

interface Sides {
  readonly baseline: Racer;
  readonly contender: Racer;
  readonly parley: Parley;
  readonly runInserts: RunInserts;
}

/**
 * Measures how long sends take at half of Parley's throughput, at fixed times, against the bare server at the same rate. The
 * notes give the time of a commit, which the bare server does not have.
 */
export async function measureHalfLoad(what: string, sides: Sides, perSecond: number, plan: Plan): Promise<Outcome> {
  const { baseline, contender, parley, runInserts } = sides;
  const sending = { ...contender, perSecond, afterRound: indexed(parley) };
  const [theirs, ours] = await raceTwo({ ...baseline, perSecond }, sending, plan);
  const commit = await runInserts(plan.seconds);
  const [bare, mine] = [sideOf(theirs), sideOf(ours)];
  const ms = ({ p50Ms, p99Ms }: { p50Ms: number; p99Ms: number }) => `${p50Ms.toFixed(2)} / ${p99Ms.toFixed(2)} ms`;
  return {
    kind: 'figure',
    what: `${what}, p99 at half load`,
    value: median(ratiosOf(theirs, ours, (load) => load.p99Ms)),
    unit: '× bare',
    bar,
    notes: [
      `at ${Math.round(perSecond)}/s p50 / p99 are ${ms(mine)}, those of the bare server ${ms(bare)}`,
      `a bare transaction of ${batch} takes ${ms(commit)}`,
    ],
    doubts: [
      ...doubtsAboutPace('Parley', mine.perSecond, perSecond),
      ...doubtsAboutPace('the bare server', bare.perSecond, perSecond),
    ],
  };
}
