import { doubtsAboutPace } from '../doubt.ts';
import { untilIndexed } from '../fill.ts';
import type { Outcome } from '../outcome.ts';
import type { ParleyUnderTest } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { median, type Racer, raceAll, ratiosOf, sideOf } from '../race.ts';
import type { Inserting } from './bare-insert.ts';

const bar = 3;

interface Sides {
  readonly baseline: Racer;
  readonly contender: Racer;
  readonly parley: ParleyUnderTest;
  readonly inserting: Inserting;
}

/**
 * How long sends take when there is room: at half of what Parley can do, which come whether or not others have been
 * answered, against the bare server at the same rate. A commit has its own time, which the bare server does not have: it is told beside.
 */
export async function measureHalfLoad(what: string, sides: Sides, perSecond: number, plan: Plan): Promise<Outcome> {
  const { baseline, contender, parley, inserting } = sides;
  const afterRound = async () => void (await untilIndexed(parley.engine));
  const [theirs, ours] = await raceAll(
    [
      { ...baseline, perSecond },
      { ...contender, perSecond, afterRound },
    ],
    plan,
  );
  if (!theirs || !ours) throw new Error('it takes two to compare');
  const commit = await inserting.run(plan.seconds);
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
      `a bare transaction of ${inserting.batch} takes ${ms(commit)}`,
    ],
    doubts: [
      ...doubtsAboutPace('Parley', mine.perSecond, perSecond),
      ...doubtsAboutPace('the bare server', bare.perSecond, perSecond),
    ],
  };
}
