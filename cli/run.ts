import { program } from '@parley/server/lib/program.ts';
import { type Argument, type Command, type Flag, UsageError, type ValueOption } from './command.ts';
import { commands, type Row } from './commands.ts';
import { candidates } from './completion.ts';
import type { CommandContext, EndingSignal } from './context.ts';
import { suggestion } from './known.ts';
import { columns, hint, oneLine, print } from './output.ts';
import packageJson from './package.json' with { type: 'json' };
import { StoppedBy } from './signals.ts';
import { type Style, styleFor } from './style.ts';

const exitCodes = { success: 0, failure: 1, usage: 2 } as const;

/** Runs a command line. Returns the exit code, or the signal to end the process by. A failure is one line on standard error. */
export async function run(typed: readonly string[], context: CommandContext): Promise<number | EndingSignal> {
  try {
    await dispatch(typed, context);
    return exitCodes.success;
  } catch (error) {
    if (error instanceof StoppedBy) return error.signal;
    if (error instanceof UsageError) {
      await complain(context, error.message);
      return exitCodes.usage;
    }
    const { plainLine } = await import('./failure.ts');
    await complain(context, plainLine(error));
    return exitCodes.failure;
  }
}

const complain = (context: CommandContext, line: string): Promise<void> =>
  hint(context, styleFor(context.stderr, context.env)('red', oneLine(line)));

async function dispatch(typed: readonly string[], context: CommandContext): Promise<void> {
  const [first = 'help', ...rest] = typed;
  if (first === '--version' || first === '-v') return print(context, packageJson.version);
  if (first === '--help' || first === '-h') return showHelp([], context);
  if (first === 'help') return showHelp(rest, context);
  // The scripts of `parley completion` call it: `complete -- <words>`.
  if (first === 'complete') return complete(rest.slice(1), context);
  const row = find(typed);
  if (!row) {
    if (rest.some((word) => word === '--help' || word === '-h')) return showHelp([first], context);
    throw unknown(typed);
  }
  await execute(row, typed.slice(words(row).length), context);
}

async function complete(typed: readonly string[], context: CommandContext): Promise<void> {
  const found = await candidates(commands, typed);
  await print(context, ...found.map(({ word, summary }) => `${word}\t${summary}`));
}

async function execute(row: Row, typed: readonly string[], context: CommandContext): Promise<void> {
  const { command } = await row.load();
  try {
    if ((await command.execute(typed, context)) === 'help')
      await print(context, helpFor(row, command, headingsOn(context)));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${error.message} See: ${program} ${row.name} --help`);
  }
}

async function showHelp(topic: readonly string[], context: CommandContext): Promise<void> {
  const row = find(topic);
  if (row) return print(context, helpFor(row, (await row.load()).command, headingsOn(context)));
  const rows = commands.filter((c) => topic.every((word, i) => words(c)[i] === word));
  if (rows.length === 0) throw unknown(topic);
  await print(context, overview(rows, headingsOn(context)));
}

const headingsOn = (context: CommandContext): Style => styleFor(context.stdout, context.env);

const words = ({ name }: Row) => name.split(' ');

const find = (typed: readonly string[]) => commands.find((row) => words(row).every((word, i) => typed[i] === word));

function unknown([first = '', second]: readonly string[]): UsageError {
  if (first.startsWith('-')) return new UsageError(`Give a command before ${first}. See: ${program} help`);
  const group = commands.filter((row) => words(row)[0] === first).map((row) => `${program} ${row.name}`);
  if (group.length === 0) {
    const firsts = [...new Set(commands.map((row) => words(row)[0] ?? ''))];
    return new UsageError(
      `There is no command ${JSON.stringify(first)}.${suggestion(first, firsts)} See: ${program} help`,
    );
  }
  if (second === undefined) return new UsageError(`Choose one: ${group.join(', ')}. See: ${program} help`);
  const meant = suggestion(
    `${first} ${second}`,
    commands.map(({ name }) => name),
  );
  const choice = meant || ` Choose one: ${group.join(', ')}.`;
  return new UsageError(`There is no command ${JSON.stringify(`${first} ${second}`)}.${choice} See: ${program} help`);
}

const environment = [
  ['PARLEY_URL', 'The server for login, chats, messages, send, listen, webhooks … Defaults to http://127.0.0.1:8080.'],
  ['PARLEY_PROFILE', 'The profile to use instead of the one in use. PARLEY_URL overrides it.'],
  ['PARLEY_TOKEN', 'The access token for them. Overrides the saved login.'],
  ['PARLEY_DATA', 'The data folder for serve, user, bot, token, audit, backup and restore. Defaults to ./data.'],
  ['DATABASE_URL', 'The PostgreSQL database for them. Defaults to SQLite in the data folder.'],
  ['PARLEY_BACKUP_PASSPHRASE', 'The passphrase that backup encrypts with, and that restore needs.'],
];

function overview(rows: readonly Row[], style: Style): string {
  return [
    `${style('bold', 'Usage:')} ${program} <command> …`,
    '',
    ...indent(rows.map(({ name, summary }) => [name, summary])),
    '',
    style('bold', 'Environment:'),
    ...indent(environment),
    '',
    `More about a command: ${program} <command> --help`,
  ].join('\n');
}

export function helpFor(row: Row, command: Command, style: Style = (_, text) => text): string {
  const names = Object.entries(command.arguments).map(([name, argument]) => argumentName(name, argument));
  const options = Object.entries({ ...command.options, help: { summary: 'Show this help.' } });
  return [
    `${style('bold', 'Usage:')} ${[program, row.name, ...names, '[options]'].join(' ')}`,
    '',
    command.notes === undefined ? row.summary : `${row.summary} ${command.notes}`,
    '',
    ...indent([
      ...Object.entries(command.arguments).map(([name, argument]) => [argumentName(name, argument), argument.summary]),
      ...options.map(([name, option]) => [optionName(name, option), option.summary]),
    ]),
  ].join('\n');
}

function argumentName(name: string, { rest, optional }: Argument): string {
  if (rest) return `[${name}…]`;
  return optional ? `[${name}]` : `<${name}>`;
}

const optionName = (name: string, option: Flag | ValueOption) =>
  'value' in option ? `--${name} <${option.value}>` : `--${name}`;

const indent = (rows: readonly (readonly string[])[]) => columns(rows).map((line) => `  ${line}`);
