import { parseArgs } from 'node:util';
import type { EngineName } from '../../server/test/support/engines.ts';

/** How the commands that try Parley out read what was typed after them: here, in `soak/` and in `fuzz/`. */

/** What was typed cannot be meant; its message is a plain sentence without its full stop. */
export class Misuse extends Error {}

/** The code with which `parley` ends where it was typed wrongly; another failure is 1. */
const misused = 2;

/** Options by their names, and the words beside them. */
export interface Typed<O extends string> {
  readonly given: Readonly<Partial<Record<O, string>>>;
  readonly words: readonly string[];
}

/** Every option takes a value. Answers 'help' where that was asked for, whatever else was typed. */
export function readTyped<O extends string>(args: readonly string[], options: readonly O[]): Typed<O> | 'help' {
  const { tokens, positionals } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      ...Object.fromEntries(options.map((name) => [name, { type: 'string' } as const])),
    },
  });
  const typed = tokens.filter((token) => token.kind === 'option');
  if (typed.some(({ name }) => name === 'help')) return 'help';
  const given: Partial<Record<O, string>> = {};
  for (const { name, rawName, value } of typed) {
    const known = options.find((option) => option === name);
    if (known === undefined) throw new Misuse(`There is no option ${rawName}`);
    if (value === undefined || value === '') throw new Misuse(`--${known} takes a value`);
    given[known] = value;
  }
  return { given, words: positionals };
}

export interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** A number, if one was typed. */
export function readNumber(name: string, typed: string | undefined, { least, most }: Bounds): number | undefined {
  return within(name, typed, /^\d+(?:\.\d+)?$/, `a number from ${least} to ${most}`, { least, most });
}

export function readCount(name: string, typed: string | undefined, { least, most }: Bounds): number | undefined {
  return within(name, typed, /^\d+$/, `a whole number from ${least} to ${most}`, { least, most });
}

function within(name: string, typed: string | undefined, form: RegExp, what: string, { least, most }: Bounds) {
  if (typed === undefined) return undefined;
  const value = form.test(typed) ? Number(typed) : Number.NaN;
  if (!(value >= least && value <= most)) throw new Misuse(`--${name} takes ${what}, not ${typed}`);
  return value;
}

const seeds = { least: 0, most: 999_999_999 };

export const readSeed = (typed: string | undefined): number | undefined => readCount('seed', typed, seeds);

export const seedByChance = (): number => Math.floor(Math.random() * (seeds.most + 1));

const databases: Readonly<Record<string, readonly EngineName[]>> = {
  sqlite: ['sqlite'],
  postgres: ['postgres'],
  both: ['sqlite', 'postgres'],
};

/** The engines that are meant; `choices` are the names that may be typed. */
export function readDatabase(
  typed: string,
  choices: readonly ('sqlite' | 'postgres' | 'both')[],
): readonly EngineName[] {
  const engines = choices.some((choice) => choice === typed) ? databases[typed] : undefined;
  if (!engines) throw new Misuse(`--database takes ${inWords(choices)}, not ${typed}`);
  return engines;
}

const inWords = (choices: readonly string[]): string =>
  `${choices.slice(0, -1).join(', ')} or ${choices[choices.length - 1]}`;

/** What was asked for. Ends the process with a line where that cannot be meant, and with the usage where that was asked for. */
export function readOrEnd<T>(usage: string, read: () => T | 'help'): T {
  try {
    const asked = read();
    if (asked !== 'help') return asked;
  } catch (error) {
    if (!(error instanceof Misuse)) throw error;
    console.error(`${error.message}. --help tells more.`);
    process.exit(misused);
  }
  console.log(usage);
  process.exit(0);
}
