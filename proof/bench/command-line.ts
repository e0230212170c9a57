import { join } from 'node:path';
import { readArguments, readCount, readNumber, UsageError } from '../harness/arguments.ts';
import { chooseMeasurements } from './measurements.ts';
import { measurementNames } from './names.ts';
import { ends, type Pace, sizesUpTo, tinyPlan, usualPace } from './plan.ts';

export const usage = `npm run bench -- [measurement …] [--seconds N] [--rounds N] [--up-to N] [--json file]
                 [--record] [--check] [--profile] [--tiny]
measurements: ${measurementNames.join(', ')}
  the start of a name will do; all but those of growth if none is named; \`all\` for all of them
--seconds  how long a round lasts (${usualPace.seconds})    --rounds  how many rounds each side runs (${usualPace.rounds})
--up-to    the largest size in curves of growth (${ends.max}); the first two of a curve are always in it
--json     where the figures go (proof/bench/results/latest.json)
--record   also put them into docs/performance/figures.json, in place of earlier ones; then \`npm run docs\`
--profile  also write processor profiles of the server into proof/bench/results (its figures are then lower)
--check    end with an error if a bar is missed, or if something was skipped or is doubtful
--tiny     only try whether everything runs, with next to nothing; the figures mean nothing`;

const flagNames = ['record', 'check', 'profile', 'tiny'] as const;
type Flag = (typeof flagNames)[number];

export type Options = Exclude<ReturnType<typeof readCommandLine>, 'help'>;

/** Fails with a `UsageError`. */
export function readCommandLine(args: readonly string[]) {
  const typed = readArguments(args, ['seconds', 'rounds', 'up-to', 'json'], flagNames);
  if (typed === 'help') return 'help' as const;
  const { given, flags, words } = typed;
  const set = Object.fromEntries(flagNames.map((flag) => [flag, flags.includes(flag)])) as Record<Flag, boolean>;
  const pace: Pace = {
    ...usualPace,
    seconds: readNumber('seconds', given.seconds, { min: 0.01, max: 600 }) ?? usualPace.seconds,
    rounds: readCount('rounds', given.rounds, { min: 1, max: 1_000 }) ?? usualPace.rounds,
  };
  const sizes = sizesUpTo(readCount('up-to', given['up-to'], ends) ?? ends.max);
  if (set.record) checkRecordable(set, pace);
  return {
    ...set,
    plan: set.tiny ? tinyPlan : { ...pace, sizes },
    chosen: chooseMeasurements(words),
    json: given.json ?? join(import.meta.dir, 'results/latest.json'),
  };
}

/** Only figures that are taken with care go to the page. */
function checkRecordable({ tiny, profile }: Readonly<Record<Flag, boolean>>, pace: Pace): void {
  if (tiny) throw new UsageError('Figures of --tiny are not worth recording');
  if (profile) throw new UsageError('Figures are lower with --profile, and not worth recording');
  const { seconds, rounds } = usualPace;
  if (pace.seconds < seconds || pace.rounds < rounds) {
    throw new UsageError(`Figures are worth recording from ${rounds} rounds of ${seconds} s on`);
  }
}
