import { commands, type Row } from './commands.ts';
import { helpFor, overview } from './help.ts';
import { hint, print } from './output.ts';
import packageJson from './package.json' with { type: 'json' };
import { oneLine } from './terminal.ts';
import { UsageError } from './usage.ts';

const exitCodes = { done: 0, failed: 1, misused: 2 } as const;

/** Runs one command line and answers the exit code. Whatever goes wrong is one plain line on standard error. */
export async function run(typed: readonly string[]): Promise<number> {
  try {
    await dispatch(typed);
    return exitCodes.done;
  } catch (error) {
    if (error instanceof UsageError) {
      await hint(oneLine(error.message));
      return exitCodes.misused;
    }
    const { plainLine } = await import('./failure.ts');
    await hint(oneLine(plainLine(error)));
    return exitCodes.failed;
  }
}

async function dispatch(typed: readonly string[]): Promise<void> {
  const [first = 'help', ...rest] = typed;
  if (first === '--version' || first === '-v') return print(packageJson.version);
  if (first === '--help' || first === '-h') return showHelp([]);
  if (first === 'help') return showHelp(rest);
  const row = find(typed);
  if (!row) {
    if (rest.some((word) => word === '--help' || word === '-h')) return showHelp([first]);
    throw unknown(typed);
  }
  await execute(row, typed.slice(words(row).length));
}

async function execute(row: Row, typed: readonly string[]): Promise<void> {
  const { command } = await row.load();
  try {
    if ((await command.execute(typed)) === 'help') await print(helpFor(row, command));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${error.message} See: parley ${row.name} --help`);
  }
}

async function showHelp(topic: readonly string[]): Promise<void> {
  const row = find(topic);
  if (row) return print(helpFor(row, (await row.load()).command));
  const rows = commands.filter((c) => topic.every((word, i) => words(c)[i] === word));
  if (rows.length === 0) throw unknown(topic);
  await print(overview(rows));
}

const words = ({ name }: Row) => name.split(' ');

const find = (typed: readonly string[]) => commands.find((row) => words(row).every((word, i) => typed[i] === word));

function unknown([first = '', second]: readonly string[]): UsageError {
  if (first.startsWith('-')) return new UsageError(`${first} comes before a command. See: parley help`);
  const group = commands.filter((row) => words(row)[0] === first).map((row) => `parley ${row.name}`);
  if (group.length === 0) return new UsageError(`There is no command ${JSON.stringify(first)}. See: parley help`);
  const wrong = second === undefined ? '' : `There is no command ${JSON.stringify(`${first} ${second}`)}. `;
  return new UsageError(`${wrong}Choose one: ${group.join(', ')}. See: parley help`);
}
