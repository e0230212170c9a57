import { closeSync, existsSync, mkdirSync, openSync, unlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { randomSeed, readArguments, readDatabase, readNumber, readSeed, UsageError } from '../harness/arguments.ts';

export const usage = `npm run soak -- [--minutes N] [--database sqlite|postgres] [--rate N] [--seed N] [--json file]
--minutes   how long the load lasts (30)
--database  the database of the server (sqlite)
--rate      messages a second; everything else is in proportion (200)
--seed      draws the same texts, people and failures again; random without it
--json      where the figures go (proof/soak/results/<database>.json)
Ctrl-C ends the load and judges what there is; a second one ends at once.`;

export type Options = Exclude<ReturnType<typeof readCommandLine>, 'help'>;

/** Fails with a `UsageError`. */
export function readCommandLine(args: readonly string[]) {
  const typed = readArguments(args, ['minutes', 'database', 'rate', 'seed', 'json']);
  if (typed === 'help') return 'help' as const;
  const { given, words } = typed;
  if (words[0] !== undefined) throw new UsageError(`${words[0]} is one word too many`);
  const [engine = 'sqlite'] = readDatabase(given.database ?? 'sqlite', ['sqlite', 'postgres']);
  return {
    engine,
    minutes: readNumber('minutes', given.minutes, { min: 0.01, max: 10_000 }) ?? 30,
    sendsPerSecond: readNumber('rate', given.rate, { min: 1, max: 10_000 }) ?? 200,
    seed: readSeed(given.seed) ?? randomSeed(),
    json: writable(resolve(given.json ?? join(import.meta.dir, `results/${engine}.json`))),
  };
}

/** Checks now that a file can be written: after half an hour it would be too late. Leaves an existing file as it is. */
function writable(file: string): string {
  const isNew = !existsSync(file);
  try {
    mkdirSync(dirname(file), { recursive: true });
    closeSync(openSync(file, 'a'));
    if (isNew) unlinkSync(file);
  } catch (error) {
    throw new UsageError(`--json takes a file that can be written, not ${file} (${(error as { code?: string }).code})`);
  }
  return file;
}
