import { parseArgs } from 'node:util';
import type { EngineName } from '../server/test/support/engines.ts';
import { type Fault, type Prepared, readCount } from './fault.ts';
import { faults } from './faults.ts';

/** What was asked for on the command line. */
export interface Asked {
  readonly help: boolean;
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

/** Throws a few words on what is wrong with the arguments. */
export function readCommandLine(args: string[]): Asked {
  const text = { type: 'string' } as const;
  const settings = Object.values(faults).flatMap((fault) => Object.keys(fault.settings));
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      database: { ...text, default: 'both' },
      seed: text,
      seconds: text,
      help: { type: 'boolean', default: false },
      ...Object.fromEntries(settings.map((name) => [name, text])),
    },
  });
  const given = values as Readonly<Record<string, string | undefined>> & typeof values;
  const names = positionals.length > 0 ? positionals : Object.keys(faults);
  const own = settings.filter((option) => given[option] !== undefined);
  const chosen = names.map((name) => choose(name, own, given));
  const strange = own.find((option) => !names.some((name) => faults[name]?.settings[option]));
  if (strange !== undefined) throw new Error(`--${strange} is no setting of ${names.join(' or ')}`);
  return {
    help: values.help,
    chosen,
    engines: readEngines(values.database),
    seed: readCount('seed', given.seed, Math.floor(Math.random() * 1e9)),
    seconds: readCount('seconds', given.seconds, 900),
  };
}

function choose(name: string, own: readonly string[], given: Readonly<Record<string, string | undefined>>): Chosen {
  const fault = faults[name];
  if (!fault) throw new Error(`there is no fault ${name}`);
  const options = [...new Set(own)].filter((option) => fault.settings[option]);
  return {
    name,
    inapplicable: fault.inapplicable,
    run: fault.prepare(given),
    options: options.map((option) => ` --${option} ${given[option]}`).join(''),
  };
}

function readEngines(asked: string): EngineName[] {
  if (asked === 'sqlite' || asked === 'postgres') return [asked];
  if (asked !== 'both') throw new Error(`--database is sqlite, postgres or both, not ${asked}`);
  return ['sqlite', 'postgres'];
}
