import { parseArgs } from 'node:util';
import type { OperationName } from '@parley/contract';
import type { CommandContext } from './context.ts';
import { suggestion } from './known.ts';
import type { EventIdName } from './response-field.ts';
import { UsageError } from './usage-error.ts';

export { UsageError } from './usage-error.ts';

/** Returns the value of a typed word. Throws an error whose message continues "must be". */
export type Read<T> = (typed: string) => T;

export interface Argument<T = unknown> {
  readonly summary: string;
  readonly read: Read<T>;
  /** Returns the words that a shell may complete it to. */
  readonly complete?: () => readonly string[];
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
  /** Returns the words that a shell may complete it to. */
  readonly complete?: () => readonly string[];
}

/** Every command that can print JSON has it. */
const field = {
  value: 'path',
  summary: 'Print only this field of the JSON, such as chats.name. Elements of lists are on lines of their own.',
  read: (typed: string) => typed,
} as const satisfies ValueOption<string>;

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
  /** The operation whose response --json prints, so that --field is checked before the call. */
  readonly prints?: OperationName;
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
  const known: Options = 'json' in definition.options ? { ...definition.options, field } : definition.options;
  return {
    ...definition,
    options: known,
    async execute(typed, context) {
      const { values, positionals } = parse(known, typed);
      if (values.help) return 'help';
      const given = readArguments(definition.arguments, positionals) as ArgumentValues<A>;
      const options = readOptions(definition.options, values) as OptionValues<O>;
      const selected = values.field;
      if (typeof selected !== 'string') {
        await definition.run(given, options, context);
        return 'done';
      }
      if (definition.prints !== undefined) await requireField(definition.prints, selected);
      await definition.run(given, { ...options, json: true }, selecting(selected, context));
      return 'done';
    },
  };
}

/** Loaded on demand, because the schemas of all responses take a while to load. */
export async function requireField(operation: OperationName, field: string): Promise<void> {
  (await import('./response-field.ts')).requireResponseField(operation, field);
}

/** The same for commands that print events one by one. */
export async function requireEventField(id: EventIdName, { field }: Pick<CommandContext, 'field'>): Promise<void> {
  if (field !== undefined) (await import('./response-field.ts')).requireEventField(id, field);
}

/** Returns the same context with a field. Its own properties must not be read here: `stdin` opens when it is. */
const selecting = (field: string, context: CommandContext): CommandContext =>
  Object.assign(Object.create(context), { field });

export const takesValue = (option: Flag | ValueOption): option is ValueOption => 'value' in option;

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
    const unknown = /^Unknown option '(-[^']*)'/.exec(message)?.[1];
    if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION' || unknown === undefined) throw new UsageError(`${first}.`);
    const meant = suggestion(
      unknown,
      [...Object.keys(options), 'help'].map((name) => `--${name}`),
    );
    throw new UsageError(`${first}.${meant || ' Put -- before words that begin with a dash.'}`);
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
