import { parseArgs } from 'node:util';
import type { CommandContext } from './context.ts';

/** The command line is wrong. The message is one line that says what to type instead. */
export class UsageError extends Error {}

/** Returns the value of a typed word. Throws an error whose message continues "must be". */
export type Read<T> = (typed: string) => T;

export interface Argument<T = unknown> {
  readonly summary: string;
  readonly read: Read<T>;
  /** Takes all remaining words. */
  readonly rest?: true;
  /** Only the last argument can be optional. */
  readonly optional?: true;
}

export interface Flag {
  readonly summary: string;
}

export interface ValueOption<T = unknown> extends Flag {
  /** The placeholder of the value in the help. */
  readonly value: string;
  readonly read: Read<T>;
}

export type Arguments = Readonly<Record<string, Argument>>;
export type Options = Readonly<Record<string, Flag | ValueOption>>;

type ArgumentValues<A extends Arguments> = {
  readonly [K in keyof A]: A[K] extends { rest: true }
    ? ReturnType<A[K]['read']>[]
    : ReturnType<A[K]['read']> | (A[K] extends { optional: true } ? undefined : never);
};
type OptionValues<O extends Options> = {
  readonly [K in keyof O]: O[K] extends ValueOption<infer T> ? T | undefined : boolean;
};

interface Definition<A extends Arguments, O extends Options> {
  readonly arguments: A;
  readonly options: O;
  /** Shown in the help after the summary. */
  readonly notes?: string;
  readonly run: (given: ArgumentValues<A>, options: OptionValues<O>, context: CommandContext) => Promise<void>;
}

/** A command without its types. */
export interface Command extends Omit<Definition<Arguments, Options>, 'run'> {
  /** Runs the command. Returns 'help', and does nothing, if --help was given. */
  execute(typed: readonly string[], context: CommandContext): Promise<'done' | 'help'>;
}

export function defineCommand<const A extends Arguments, const O extends Options>(
  definition: Definition<A, O>,
): Command {
  return {
    ...definition,
    async execute(typed, context) {
      const { values, positionals } = parse(definition.options, typed);
      if (values.help) return 'help';
      const given = readArguments(definition.arguments, positionals) as ArgumentValues<A>;
      await definition.run(given, readOptions(definition.options, values) as OptionValues<O>, context);
      return 'done';
    },
  };
}

const takesValue = (option: Flag | ValueOption): option is ValueOption => 'value' in option;

type Parsed = Readonly<Record<string, string | boolean | undefined>>;

/** Throws a usage error with the first sentence of the runtime's message. */
function parse(options: Options, typed: readonly string[]): { values: Parsed; positionals: string[] } {
  const known = Object.entries(options).map(
    ([name, option]) => [name, { type: takesValue(option) ? 'string' : 'boolean' }] as const,
  );
  try {
    return parseArgs({
      args: [...typed],
      options: { ...Object.fromEntries(known), help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    }) as { values: Parsed; positionals: string[] };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const [first = message] = message.split(/\.\s/);
    const advice = code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? ' Put -- before words that begin with a dash.' : '';
    throw new UsageError(`${first}.${advice}`);
  }
}

function readArguments(expected: Arguments, positionals: readonly string[]): Record<string, unknown> {
  const left = [...positionals];
  const values = Object.entries(expected).map(([name, { read, rest, optional }]) => {
    if (rest) return [name, left.splice(0).map((typed) => readOne(`<${name}>`, read, typed))];
    const typed = left.shift();
    if (typed === undefined && optional) return [name, undefined];
    if (typed === undefined) throw new UsageError(`<${name}> is missing.`);
    return [name, readOne(`<${name}>`, read, typed)];
  });
  const [extra] = left;
  if (extra !== undefined) throw new UsageError(`Unexpected argument ${JSON.stringify(extra)}.`);
  return Object.fromEntries(values);
}

function readOptions(expected: Options, values: Parsed): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(expected).map(([name, option]) => {
      const typed = values[name];
      if (!takesValue(option)) return [name, typed === true];
      return [name, typeof typed === 'string' ? readOne(`--${name}`, option.read, typed) : undefined];
    }),
  );
}

function readOne<T>(what: string, read: Read<T>, typed: string): T {
  try {
    return read(typed);
  } catch (error) {
    throw new UsageError(`${what} must be ${(error as Error).message}, not ${JSON.stringify(typed)}.`);
  }
}
