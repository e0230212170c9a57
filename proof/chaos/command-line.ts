import { randomSeed, readArguments, readCount, readDatabase, readSeed, UsageError } from '../harness/arguments.ts';
import { faults } from './faults.ts';
import type { Scenario, Setting } from './scenario.ts';

export type Options = Exclude<ReturnType<typeof readCommandLine>, 'help'>;

export type Chosen = ReturnType<typeof choose>;

const settingsOf = ({ settings, seconds }: Scenario): Readonly<Record<string, Setting>> => ({
  ...settings,
  traffic: { summary: 'seconds that people write, at least', fallback: seconds },
});

export const usage = `npm run chaos -- [fault …] [--database sqlite|postgres|both] [--seed N] [--seconds N]
Without a name, all faults in turn, each on the databases that it can happen to.
--database  the database (both)
--seed      draws the same schedule again; random without it
--seconds   ends each run after this time at the latest (900)
npm run chaos -- tenants is a run of its own, with its own --help: attackers beside an ordinary person.
${Object.entries(faults).map(describeFault).join('\n')}`;

function describeFault([name, scenario]: [string, Scenario]): string {
  const rows = Object.entries(settingsOf(scenario)).map(([option, { summary, fallback }]) => {
    return `${`  --${option}`.padEnd(13)} ${summary} (${fallback})`;
  });
  return `\n${name}: ${scenario.summary}\n${rows.join('\n')}`;
}

const secondsBounds = { min: 1, max: 86_400 };
const settingBounds = { min: 0, max: 999_999_999 };

/** Fails with a `UsageError`. */
export function readCommandLine(args: readonly string[]) {
  const settings = [...new Set(Object.values(faults).flatMap((fault) => Object.keys(settingsOf(fault))))];
  const typed = readArguments(args, ['database', 'seed', 'seconds', ...settings]);
  if (typed === 'help') return 'help' as const;
  const { words, given } = typed;
  const names = words.length > 0 ? words : Object.keys(faults);
  const own = settings.filter((option) => given[option] !== undefined);
  const chosen = names.map((name) => choose(name, own, given));
  const unused = own.find((option) => !chosen.some(({ settings }) => option in settings));
  if (unused !== undefined) throw new UsageError(`--${unused} is no setting of ${names.join(' or ')}`);
  return {
    chosen,
    engines: readDatabase(given.database ?? 'both', ['sqlite', 'postgres', 'both']),
    seed: readSeed(given.seed) ?? randomSeed(),
    seconds: readCount('seconds', given.seconds, secondsBounds) ?? 900,
  };
}

function choose(name: string, own: readonly string[], given: Readonly<Record<string, string | undefined>>) {
  const scenario = faults[name];
  if (!scenario) throw new UsageError(`There is no fault ${name}`);
  const settings = Object.entries(settingsOf(scenario)).map(([option, { fallback }]) => {
    return [option, readCount(option, given[option], settingBounds) ?? fallback] as const;
  });
  const options = own.filter((option) => settings.some(([known]) => known === option));
  return {
    name,
    scenario,
    settings: Object.fromEntries(settings),
    /** The options that it was given, as one would give them again. */
    options: options.map((option) => ` --${option} ${given[option]}`).join(''),
  };
}
