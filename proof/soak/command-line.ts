import { closeSync, existsSync, mkdirSync, openSync, unlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { EngineName } from '../../server/test/support/engines.ts';
import { Misuse, readDatabase, readNumber, readSeed, readTyped, seedByChance } from '../chaos/arguments.ts';

export const usage = `npm run soak -- [--minutes N] [--database sqlite|postgres] [--rate N] [--seed N] [--json file]
--minutes   how long the load lasts (30)
--database  what the server keeps its data in (sqlite)
--rate      messages sent in a second; everything else goes along with them (200)
--seed      draws the same texts, people and troubles again; by chance without it
--json      where the figures go (proof/soak/results/<database>.json)
Ctrl-C ends the load and judges what there is; a second one ends at once.`;

/** What was asked for on the command line. */
export interface Asked {
  readonly engine: EngineName;
  readonly minutes: number;
  readonly sendsPerSecond: number;
  readonly seed: number;
  readonly json: string;
}

/** Throws where something cannot be meant. */
export function readCommandLine(args: readonly string[]): Asked | 'help' {
  const typed = readTyped(args, ['minutes', 'database', 'rate', 'seed', 'json']);
  if (typed === 'help') return 'help';
  const { given, words } = typed;
  if (words[0] !== undefined) throw new Misuse(`${words[0]} is one word too many`);
  const [engine = 'sqlite'] = readDatabase(given.database ?? 'sqlite', ['sqlite', 'postgres']);
  return {
    engine,
    minutes: readNumber('minutes', given.minutes, { least: 0.01, most: 10_000 }) ?? 30,
    sendsPerSecond: readNumber('rate', given.rate, { least: 1, most: 10_000 }) ?? 200,
    seed: readSeed(given.seed) ?? seedByChance(),
    json: writable(resolve(given.json ?? join(import.meta.dir, `results/${engine}.json`))),
  };
}

/** Tried now: after half an hour it would be too late to say so. Leaves what is there as it is. */
function writable(file: string): string {
  const isNew = !existsSync(file);
  try {
    mkdirSync(dirname(file), { recursive: true });
    closeSync(openSync(file, 'a'));
    if (isNew) unlinkSync(file);
  } catch (error) {
    throw new Misuse(`--json takes a file that can be written, not ${file} (${(error as { code?: string }).code})`);
  }
  return file;
}
