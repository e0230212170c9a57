import {
  randomSeed,
  readArguments,
  readCount,
  readDatabase,
  readNumber,
  readSeed,
  UsageError,
} from '../harness/arguments.ts';
import { http } from './http.ts';
import { parsers } from './parsers.ts';
import { type Subject, usualSeed } from './subject.ts';

export const usage = `npm run fuzz -- [parsers] [http] [--database sqlite|postgres|both] [--only NAME] [--runs N] [--minutes N] [--seed N] [--path P]
parsers     everything that parses what others have written
http        every operation, alone and together; tokens for apps, pages, uploads, and bytes that are hardly HTTP
--database  the database of the server (both)
--only      the subjects with this in their name
--runs      inputs for each subject (as many as the tests try)
--minutes   goes on with further seeds for this long, each time on a new server
--seed      the first seed (that of the tests, or random with --minutes)
--path      leads straight to the input that failed`;

export type Options = Exclude<ReturnType<typeof readCommandLine>, 'help'>;

export type Suite = 'parsers' | 'http';

const suites: Readonly<Record<Suite, readonly Subject[]>> = {
  parsers,
  http: http(() => {
    throw new Error('there is no server to try them on');
  }).subjects,
};

const isSuite = (word: string): word is Suite => word in suites;

/** Fails with a `UsageError`, also if no subject is chosen. */
export function readCommandLine(args: readonly string[]) {
  const typed = readArguments(args, ['database', 'only', 'runs', 'minutes', 'seed', 'path']);
  if (typed === 'help') return 'help' as const;
  const { given, words } = typed;
  const unknown = words.find((word) => !isSuite(word));
  if (unknown !== undefined) throw new UsageError(`There is no suite ${unknown}`);
  const named = words.length > 0 ? words.filter(isSuite) : (Object.keys(suites) as Suite[]);
  const isChosen = ({ name }: Subject) => name.includes(given.only ?? '');
  const chosen = named.filter((suite) => suites[suite].some(isChosen));
  if (chosen.length === 0) throw new UsageError(`No subject of ${named.join(' or ')} has "${given.only}" in its name`);
  if (given.path !== undefined && !/^\d+(?::\d+)*$/.test(given.path))
    throw new UsageError(`--path takes numbers with colons between them, not ${given.path}`);
  const minutes = readNumber('minutes', given.minutes, { min: 0.01, max: 10_000 }) ?? 0;
  return {
    suites: chosen,
    engines: readDatabase(given.database ?? 'both', ['sqlite', 'postgres', 'both']),
    isChosen,
    runs: readCount('runs', given.runs, { min: 1, max: 1_000_000 }),
    path: given.path,
    /** The time to go on; 0 for a single round. */
    minutes,
    seed: readSeed(given.seed) ?? (minutes > 0 ? randomSeed() : usualSeed),
  };
}
