import type { EngineName } from '../../server/test/support/engines.ts';
import { Misuse, readCount, readDatabase, readSeed, readTyped, seedByChance } from './arguments.ts';
import type { Fault, Prepared } from './fault.ts';
import { faults } from './faults.ts';

/** What was asked for on the command line. */
export interface Asked {
  readonly chosen: readonly Chosen[];
  readonly engines: readonly EngineName[];
  readonly seed: number;
  readonly seconds: number;
}

export interface Chosen {
  readonly name: string;
  readonly inapplicable: Fault['inapplicable'];
  readonly run: Prepared;
  /** The options that it was given, as one would give them again. */
  readonly options: string;
}

export const usage = `npm run chaos -- [fault …] [--database sqlite|postgres|both] [--seed N] [--seconds N]
Without a name, all faults in turn, each on the databases that it can happen to.
--database  the database (both)
--seed      draws the same schedule again; by chance without it
--seconds   ends each run after this time at the latest (900)
${Object.entries(faults).map(describeFault).join('\n')}`;

function describeFault([name, { summary, settings }]: [string, Fault]): string {
  const rows = Object.entries(settings).map(([option, s]) => [`  --${option}`, `${s.summary} (${s.fallback})`]);
  return `\n${name}: ${summary}\n${rows.map(([option = '', text]) => `${option.padEnd(13)} ${text}`).join('\n')}`;
}

/** No fault is given longer than a day. */
const seconds = { least: 1, most: 86_400 };

/** Throws where something cannot be meant. */
export function readCommandLine(args: readonly string[]): Asked | 'help' {
  const settings = [...new Set(Object.values(faults).flatMap((fault) => Object.keys(fault.settings)))];
  const typed = readTyped(args, ['database', 'seed', 'seconds', ...settings]);
  if (typed === 'help') return 'help';
  const { words, given } = typed;
  const names = words.length > 0 ? words : Object.keys(faults);
  const own = settings.filter((option) => given[option] !== undefined);
  const chosen = names.map((name) => choose(name, own, given));
  const strange = own.find((option) => !names.some((name) => faults[name]?.settings[option]));
  if (strange !== undefined) throw new Misuse(`--${strange} is no setting of ${names.join(' or ')}`);
  return {
    chosen,
    engines: readDatabase(given.database ?? 'both', ['sqlite', 'postgres', 'both']),
    seed: readSeed(given.seed) ?? seedByChance(),
    seconds: readCount('seconds', given.seconds, seconds) ?? 900,
  };
}

function choose(name: string, own: readonly string[], given: Readonly<Record<string, string | undefined>>): Chosen {
  const fault = faults[name];
  if (!fault) throw new Misuse(`There is no fault ${name}`);
  const options = own.filter((option) => fault.settings[option]);
  return {
    name,
    inapplicable: fault.inapplicable,
    run: fault.prepare(given),
    options: options.map((option) => ` --${option} ${given[option]}`).join(''),
  };
}
