import { median } from '../../harness/report.ts';
import { environment } from '../../harness/stage.ts';
import { doubtsAboutPace } from '../doubt.ts';
import { indexed, sendsOf } from '../fixtures.ts';
import type { Outcome } from '../outcome.ts';
import { Baseline, Parley } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { cpuMicros, raceTwo, ratiosOf, sideOf } from '../race.ts';

/** The highest rate comes first: it warms up the servers for the others. */
const rates = [
  { perSecond: 1_000, bar: 6 },
  { perSecond: 200, bar: 5 },
  { perSecond: 50, bar: undefined },
] as const;

/** A round lasts 4 s at the usual pace: at 50/s, a shorter one has too few sends. */
const roundFactor = 5;

/** The search index follows sends within this time. From then on its work is in the window too. */
const leadSeconds = 0.5;

/** Measures the processor time of a send, all threads of the server, against the bare server at the same fixed rate. */
export async function measureCpu(plan: Plan): Promise<Outcome[]> {
  await using parley = await Parley.start(environment());
  const requests = await sendsOf(parley);
  await using bare = await Baseline.start('server', await parley.fetch(requests[0]));
  const outcomes: Outcome[] = [];
  for (const { perSecond, bar } of rates) {
    const what = `CPU of a send at ${perSecond}/s, SQLite`;
    const contender = { ...parley.racer(requests), perSecond, leadSeconds, afterRound: indexed(parley) };
    const { afterRound: _, ...baseline } = bare.like(contender);
    const pace = { ...plan, seconds: plan.seconds * roundFactor };
    const [theirs, ours] = await raceTwo(baseline, contender, pace);
    const [their, our] = [sideOf(theirs), sideOf(ours)];
    if (our.cpuMicros === undefined) return [{ kind: 'skipped', what, why: 'needs Linux' }];
    outcomes.push({
      kind: 'figure',
      what,
      value: median(ratiosOf(theirs, ours, (load) => cpuMicros(load) ?? Number.NaN)),
      unit: '× bare',
      bar,
      notes: [`${our.cpuMicros.toFixed(0)} µs, of the bare server ${their.cpuMicros?.toFixed(0)} µs`],
      doubts: [
        ...doubtsAboutPace('Parley', our.perSecond, perSecond),
        ...doubtsAboutPace('the bare server', their.perSecond, perSecond),
      ],
    });
  }
  return outcomes;
}
