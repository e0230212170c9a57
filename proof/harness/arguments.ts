import { parseArgs } from 'node:util';
import type { EngineName } from '../../server/test/support/engines.ts';

/** The command line cannot be understood. The message is a sentence without its full stop. */
export class UsageError extends Error {}

/** The exit code of a usage error, as of `parley`. Other failures exit with 1. */
const usageExitCode = 2;

export interface Arguments<O extends string, F extends string> {
  /** The values of options. */
  readonly given: Readonly<Partial<Record<O, string>>>;
  /** The options without a value that are set. */
  readonly flags: readonly F[];
  readonly words: readonly string[];
}

/** Returns 'help' if `--help` is among the arguments. Fails if an option is unknown or lacks its value. */
export function readArguments<O extends string, F extends string = never>(
  args: readonly string[],
  options: readonly O[],
  flagNames: readonly F[] = [],
): Arguments<O, F> | 'help' {
  const { tokens, positionals } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      ...Object.fromEntries(options.map((name) => [name, { type: 'string' } as const])),
      ...Object.fromEntries(flagNames.map((name) => [name, { type: 'boolean' } as const])),
    },
  });
  const typed = tokens.filter((token) => token.kind === 'option');
  if (typed.some(({ name }) => name === 'help')) return 'help';
  const given: Partial<Record<O, string>> = {};
  const flags: F[] = [];
  for (const { name, rawName, value } of typed) {
    const flag = flagNames.find((one) => one === name);
    const option = options.find((one) => one === name);
    if (flag !== undefined) flags.push(flag);
    else if (option === undefined) throw new UsageError(`There is no option ${rawName}`);
    else if (value === undefined || value === '') throw new UsageError(`--${option} takes a value`);
    else given[option] = value;
  }
  return { given, flags, words: positionals };
}

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** Returns undefined if nothing was typed. Fails if it is out of bounds. */
export function readNumber(name: string, typed: string | undefined, bounds: Bounds): number | undefined {
  return readWithin(name, typed, /^\d+(?:\.\d+)?$/, 'a number', bounds);
}

export function readCount(name: string, typed: string | undefined, bounds: Bounds): number | undefined {
  return readWithin(name, typed, /^\d+$/, 'a whole number', bounds);
}

function readWithin(name: string, typed: string | undefined, form: RegExp, what: string, { min, max }: Bounds) {
  if (typed === undefined) return undefined;
  const value = form.test(typed) ? Number(typed) : Number.NaN;
  if (!(value >= min && value <= max))
    throw new UsageError(`--${name} takes ${what} from ${min} to ${max}, not ${typed}`);
  return value;
}

const seeds = { min: 0, max: 999_999_999 };

export const readSeed = (typed: string | undefined): number | undefined => readCount('seed', typed, seeds);

export const randomSeed = (): number => Math.floor(Math.random() * (seeds.max + 1));

/** Returns the engines for the value of `--database`. */
export function readDatabase(typed: string, choices: readonly (EngineName | 'both')[]): readonly EngineName[] {
  const choice = choices.find((one) => one === typed);
  if (choice) return choice === 'both' ? ['sqlite', 'postgres'] : [choice];
  throw new UsageError(`--database takes ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}, not ${typed}`);
}

/** Reads the command line. Prints the usage and exits if it asks for help; prints one line and exits if it is wrong. */
export function readOrExit<T>(usage: string, read: (args: readonly string[]) => T | 'help'): T {
  try {
    const asked = read(process.argv.slice(2));
    if (asked !== 'help') return asked;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}. --help tells more.`);
    process.exit(usageExitCode);
  }
  console.log(usage);
  process.exit(0);
}

export const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs a tool to its end, and exits. The exit handlers end what it started, and remove its folders. */
export async function runTool(main: () => Promise<void>): Promise<never> {
  for (const signal of endSignals) process.on(signal, () => process.exit(1));
  return exitAfter(main);
}

export async function exitAfter(main: () => Promise<void>): Promise<never> {
  try {
    await main();
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
  process.exit();
}
