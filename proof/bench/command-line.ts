import { join } from 'node:path';
import { Misuse, readCount, readNumber, readTyped } from '../chaos/arguments.ts';
import { chooseMeasurements } from './measurements.ts';
import { measurementNames } from './names.ts';
import { ends, type Pace, type Plan, sizesUpTo, tinyPlan, usualPace } from './plan.ts';

export const usage = `npm run bench -- [measurement …] [--seconds N] [--rounds N] [--up-to N] [--json file]
                 [--record] [--check] [--profile] [--tiny]
measurements: ${measurementNames.join(', ')}
  the start of a name will do; all but those of growth where none is named; \`all\` for all of them
--seconds  how long a round lasts (${usualPace.seconds})    --rounds  how many rounds each side runs (${usualPace.rounds})
--up-to    the largest size in curves of growth (${ends.most}); the first two of a curve are always in it
--json     where the figures go (proof/bench/results/latest.json)
--record   also put them into docs/performance/figures.json, in place of earlier ones; then \`npm run docs\`
--profile  also write where the server's time went into proof/bench/results (its figures are then lower)
--check    end with an error where a bar is missed, and where something was skipped or is doubtful
--tiny     only try whether everything runs, with next to nothing; the figures mean nothing`;

/** Those that take no value. */
const flags = ['record', 'check', 'profile', 'tiny'] as const;
type Flag = (typeof flags)[number];

/** What was asked for on the command line. */
export interface Asked extends Readonly<Record<Flag, boolean>> {
  readonly plan: Plan;
  readonly chosen: ReturnType<typeof chooseMeasurements>;
  readonly json: string;
}

/** Throws where something cannot be meant. */
export function readCommandLine(args: readonly string[]): Asked | 'help' {
  const isFlag = (word: string) => flags.some((flag) => word === `--${flag}`);
  const typed = readTyped(
    args.filter((word) => !isFlag(word)),
    ['seconds', 'rounds', 'up-to', 'json'],
  );
  if (typed === 'help') return 'help';
  const { given, words } = typed;
  const set = Object.fromEntries(flags.map((flag) => [flag, args.includes(`--${flag}`)])) as Record<Flag, boolean>;
  const pace: Pace = {
    ...usualPace,
    seconds: readNumber('seconds', given.seconds, { least: 0.01, most: 600 }) ?? usualPace.seconds,
    rounds: readCount('rounds', given.rounds, { least: 1, most: 1_000 }) ?? usualPace.rounds,
  };
  const sizes = sizesUpTo(readCount('up-to', given['up-to'], ends) ?? ends.most);
  if (set.record) checkRecordable(set, pace);
  return {
    ...set,
    plan: set.tiny ? tinyPlan : { ...pace, sizes },
    chosen: chooseMeasurements(words),
    json: given.json ?? join(import.meta.dir, 'results/latest.json'),
  };
}

/** What is on the page is taken with care, or not at all. */
function checkRecordable({ tiny, profile }: Readonly<Record<Flag, boolean>>, pace: Pace): void {
  if (tiny) throw new Misuse('Figures of --tiny are not worth recording');
  if (profile) throw new Misuse('Figures are lower with --profile, and not worth recording');
  const { seconds, rounds } = usualPace;
  if (pace.seconds < seconds || pace.rounds < rounds) {
    throw new Misuse(`Figures are worth recording from ${rounds} rounds of ${seconds} s on`);
  }
}
